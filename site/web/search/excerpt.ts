// The passage of a note that a result shows.
import type { NoteText } from "./data";
import type { Unit } from "./query";
import { type Analyzer, Kind, type Token } from "./words";

export interface Excerpt {
  heading: string;
  anchor: string;
  text: { s: string; mark: boolean }[];
}

const width = 220; // characters

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
  let best = { part: -1, worth: 0, tokens: [] as Token[] };
  note.p.forEach((part, i) => {
    const tokens = analyzer.tokens(part.t).filter((t) => t.kind !== Kind.Part && value(t) > 0);
    const counts = new Map<string, number>();
    for (const t of [...tokens, ...analyzer.tokens(part.h || "").filter((x) => value(x) > 0)]) counts.set(t.term, (counts.get(t.term) || 0) + 1);
    let worth = 0;
    for (const [term, n] of counts) worth += ((idf.get(term) || prefixes.find(([p]) => term.startsWith(p))?.[1] || 0) * n) / (n + 1);
    if (worth > best.worth) best = { part: i, worth, tokens };
  });
  if (best.part < 0) return { heading: "", anchor: "", text: [{ s: note.s || "", mark: false }] };
  const part = note.p[best.part];
  return { heading: part.h || "", anchor: part.a || "", text: stretch(part.t, best.tokens, value) };
}

// stretch cuts the text around its densest words.
function stretch(text: string, tokens: Token[], value: (t: Token) => number): { s: string; mark: boolean }[] {
  const s = Array.from(text);
  let from = 0;
  let most = -1;
  for (const first of tokens) {
    const seen = new Set<string>();
    let worth = 0;
    for (const t of tokens) {
      if (t.start < first.start || t.end > first.start + width || seen.has(t.term)) continue;
      seen.add(t.term);
      worth += value(t);
    }
    if (worth > most) [most, from] = [worth, first.start];
  }
  from = Math.max(0, from - 40);
  while (from > 0 && !/\s/.test(s[from - 1])) from--;
  let to = Math.min(s.length, from + width);
  while (to < s.length && !/\s/.test(s[to]) && to < from + width + 20) to++;
  const out: { s: string; mark: boolean }[] = [];
  let at = from;
  for (const t of tokens) {
    if (t.start < at || t.end > to) continue;
    out.push({ s: s.slice(at, t.start).join(""), mark: false }, { s: s.slice(t.start, t.end).join(""), mark: true });
    at = t.end;
  }
  out.push({ s: s.slice(at, to).join("") + (to < s.length ? " …" : ""), mark: false });
  if (from > 0) out.unshift({ s: "… ", mark: false });
  return out.filter((p) => p.s);
}
