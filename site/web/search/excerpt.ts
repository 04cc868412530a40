// The passage of a note that a result shows.
import type { NoteText } from "./data";
import type { Unit } from "./query";
import { type Analyzer, Kind, type Token } from "./words";

export interface Excerpt {
  date: string; // of the note
  heading: string;
  anchor: string;
  text: { s: string; mark: boolean }[];
}

const width = 200; // characters

// excerpt finds the part of a note that holds most of what was asked for, by the
// rarity of the words, and the stretch of it to show.
export function excerpt(note: NoteText, units: Unit[], analyzer: Analyzer): Excerpt {
  const idf = new Map<string, number>();
  const prefixes: [string, number][] = [];
  for (const u of units) {
    if (u.neg) continue;
    for (const t of u.phrase || u.terms) idf.set(t, Math.max(idf.get(t) || 0, u.idf || 1));
    if (u.prefix && u.raw) prefixes.push([u.raw, u.idf || 1]);
  }
  const value = (t: Token): number => {
    const v = idf.get(t.term);
    if (v !== undefined) return v;
    return prefixes.find(([p]) => t.term.startsWith(p))?.[1] || 0;
  };
  let best = { part: -1, worth: 0, from: 0, tokens: [] as Token[] };
  note.p.forEach((part, i) => {
    const met = (text: string) => analyzer.tokens(text).filter((t) => t.kind !== Kind.Part && value(t) > 0);
    const tokens = met(part.t);
    const counts = new Map<string, number>();
    const values = new Map<string, number>();
    for (const t of [...tokens, ...met(part.h || "")]) {
      counts.set(t.term, (counts.get(t.term) || 0) + 1);
      values.set(t.term, value(t));
    }
    const dense = densest(tokens, value);
    let worth = dense.worth;
    for (const [term, n] of counts) worth += (values.get(term)! * n) / (n + 1);
    if (worth > best.worth) best = { part: i, worth, from: dense.from, tokens };
  });
  if (best.part < 0) return { date: note.d || "", heading: "", anchor: "", text: [{ s: note.s || "", mark: false }] };
  const part = note.p[best.part];
  return { date: note.d || "", heading: part.h || "", anchor: part.a || "", text: stretch(part.t, best.from, best.tokens) };
}

// densest is where the stretch of a text begins that holds the most worth of
// different words.
function densest(tokens: Token[], value: (t: Token) => number): { worth: number; from: number } {
  let best = { worth: 0, from: 0 };
  tokens.forEach((first, i) => {
    const seen = new Set<string>();
    let worth = 0;
    for (let k = i; k < tokens.length && tokens[k].end <= first.start + width; k++) {
      if (seen.has(tokens[k].term)) continue;
      seen.add(tokens[k].term);
      worth += value(tokens[k]);
    }
    if (worth > best.worth) best = { worth, from: first.start };
  });
  return best;
}

// stretch cuts the text around a place, at spaces if there are any near.
function stretch(text: string, place: number, tokens: Token[]): { s: string; mark: boolean }[] {
  const s = Array.from(text);
  const space = (i: number) => /\s/.test(s[i]);
  let from = Math.max(0, place - 40);
  while (from > 0 && from > place - 60 && !space(from - 1)) from--;
  let to = Math.min(s.length, place + width);
  while (to < s.length && to < place + width + 20 && !space(to)) to++;
  const out = [{ s: from > 0 ? "… " : "", mark: false }];
  let at = from;
  for (const t of tokens) {
    const start = Math.max(t.start, at);
    if (start >= t.end || t.end > to) continue;
    const word = s.slice(start, t.end).join("");
    if (t.start < start && out[out.length - 1].mark) out[out.length - 1].s += word; // the pairs of 東京都 overlap
    else out.push({ s: s.slice(at, start).join(""), mark: false }, { s: word, mark: true });
    at = t.end;
  }
  out.push({ s: s.slice(at, to).join("") + (to < s.length ? " …" : ""), mark: false });
  return out.filter((p) => p.s);
}
