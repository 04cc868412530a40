// Ranking, as the server's: docs/reference/ranking.md, "Score", is the rule, and
// the order of every sum is the server's too, so that scores are equal to the bit.
import { type Data, type Places, type Postings, compareBytes } from "./data";
import { type Node, Op, type Plan, type Unit, allFields, plan, unit } from "./query";
import type { Analyzer } from "./words";
import { classOf } from "./words";

const k1 = 1.5;
const weights = [3, 2, 1.5, 1.5, 0.5, 1];
const bs = [0.5, 0.3, 0.5, 0.3, 0.3, 0.75];
const nameWeight = 5;
const folderWeight = 0.5;
const nameField = 6;
const obsoleteFactor = 0.5;
const prefixFactor = 0.7;
const spellFactor = 0.6;
const maxExpansions = 4096;
const shortQuery = 5; // words
const maxCompletions = 64;
const noPlace = -2;

export interface Hit {
  note: number;
  score: number;
}

export interface Found {
  hits: Hit[]; // best first
  corrected: [string, string][];
  missing: string[];
  remark: string;
  plan: Plan;
}

export class Engine {
  private weight = new Map<number, number>(); // of the unit in hand, by note
  private average: number[];

  constructor(
    private data: Data,
    private analyzer: Analyzer,
    private stops: Set<string>,
  ) {
    this.average = data.index.avg;
  }

  async search(text: string): Promise<Found> {
    const p = plan(text, this.analyzer, this.stops);
    const found: Found = { hits: [], corrected: [], missing: [], remark: p.remark, plan: p };
    const score = new Map<number, number>();
    const cover = new Map<number, number>();
    for (const u of p.units) for (const t of u.phrase || u.terms) void this.data.postings(t).catch(() => {}); // side by side
    for (let i = 0; i < p.units.length; i++) await this.look(p.units[i], p, found, score, cover); // which may add some
    let wanted = 0;
    for (const u of p.units) if (u.scored && !u.extra) wanted += u.idf;
    const notes: Iterable<number> = p.sets ? this.allowed(p.root, false) : score.keys();
    const old = new Set(this.data.index.old);
    const all: Hit[] = [];
    for (const note of notes) {
      let s = score.get(note) || 0;
      s *= wanted === 0 ? 1 : coordination(p.words, (cover.get(note) || 0) / wanted);
      if (old.has(note)) s *= obsoleteFactor;
      all.push({ note, score: Math.round(s * 1e6) / 1e6 });
    }
    all.sort((a, b) => b.score - a.score || a.note - b.note);
    found.hits = all;
    return found;
  }

  // look looks a unit up and adds its scores.
  private async look(u: Unit, p: Plan, found: Found, score: Map<number, number>, cover: Map<number, number>): Promise<void> {
    await this.collect(u);
    if (this.weight.size && u.last && u.open && p.words <= shortQuery) p.units.push(...(await this.completions(u)));
    if (!this.weight.size && u.open && !u.neg) await this.otherwise(u, found);
    if (!this.weight.size && !u.extra && !u.neg && !found.missing.includes(u.word)) found.missing.push(u.word);
    if (p.sets) u.set = new Set(this.weight.keys());
    if (!u.scored) return;
    u.df = this.weight.size;
    u.idf = idfOf(u.df, this.data.index.n);
    const factor = u.factor * ((2 * u.times) / (1 + u.times));
    for (const [note, w] of this.weight) {
      score.set(note, (score.get(note) || 0) + factor * (u.idf * (((k1 + 1) * w) / (k1 + w))));
      if (!u.extra) cover.set(note, (cover.get(note) || 0) + u.factor * u.idf);
    }
  }

  private async collect(u: Unit): Promise<void> {
    this.weight.clear();
    if (u.phrase) return this.collectPhrase(u, u.phrase);
    if (u.prefix) return this.collectPrefix(u);
    for (const t of u.terms) await this.collectTerm(t, u.fields);
  }

  private add(note: number, w: number): void {
    this.weight.set(note, (this.weight.get(note) || 0) + w);
  }

  // collectTerm adds a term's weights, and returns how many notes have it.
  private async collectTerm(term: string, fields: number): Promise<number> {
    const p = await this.data.postings(term);
    if (!p) return 0;
    await this.data.ready(p.notes.filter((_, i) => p.kinds[i] & fields & 63)); // whose lengths count
    for (let i = 0; i < p.notes.length; i++) {
      const stored = this.weigh(p, i, fields);
      if (stored > 0) this.add(p.notes[i], stored);
    }
    if (fields & (1 << nameField)) {
      for (let i = 0; i < p.notes.length; i++) {
        const kind = p.kinds[i] >> 6;
        if (kind) this.add(p.notes[i], kind & 1 ? nameWeight : folderWeight);
      }
    }
    return p.notes.length;
  }

  private weigh(p: Postings, i: number, fields: number): number {
    let sum = 0;
    let at = p.at[i];
    for (let f = 0; f < 6; f++) {
      if (!(p.kinds[i] & (1 << f))) continue;
      if (fields & (1 << f)) sum += this.field(f, p.counts[at], p.notes[i]);
      at++;
    }
    return sum;
  }

  private field(f: number, n: number, note: number): number {
    return (weights[f] * n) / (1 - bs[f] + bs[f] * (this.data.length(f, note) / this.average[f]));
  }

  private async collectPrefix(u: Unit): Promise<void> {
    const terms = [...new Set([...(await this.data.beginning(u.raw)), ...u.terms])].sort(compareBytes);
    u.terms = [];
    for (const t of terms) {
      if ((await this.collectTerm(t, u.fields)) > 0) {
        u.terms.push(t);
        if (u.terms.length === maxExpansions) break;
      }
    }
  }

  // collectPhrase weighs a phrase as if it were one term: as often as its words
  // stand behind each other.
  private async collectPhrase(u: Unit, phrase: string[]): Promise<void> {
    const distinct = [...new Set(phrase)];
    if ((await Promise.all(distinct.map((t) => this.data.postings(t)))).includes(undefined)) return;
    const places = new Map<string, Places>();
    await Promise.all(distinct.map(async (t) => places.set(t, await this.data.places(t))));
    const lists = phrase.map((t) => places.get(t)!);
    await this.data.ready(lists[0].keys());
    const named: number[] = [];
    for (const [note, first] of lists[0]) {
      const rest = lists.slice(1).map((l) => l.get(note));
      if (rest.includes(undefined)) continue;
      const follows = (f: number, at: number) => rest.every((r) => (at = r![f].get(at) ?? noPlace) !== noPlace);
      const count = (f: number): number => [...first[f].values()].filter((at) => follows(f, at)).length;
      let w = 0;
      for (let f = 0; f < 6; f++) {
        const n = u.fields & (1 << f) && first[f].size ? count(f) : 0;
        if (n > 0) w += this.field(f, n, note);
      }
      if (w > 0) this.add(note, w);
      if (u.fields & (1 << nameField) && first[nameField].size && count(nameField) > 0) named.push(note);
    }
    for (const note of named) this.add(note, nameWeight);
  }

  // completions are the words of paths that begin as u does, each as a bonus for the
  // notes that are called so.
  private async completions(u: Unit): Promise<Unit[]> {
    const chars = Array.from(u.raw);
    if (classOf(chars[0]) !== 1 || chars.length < 3) return [];
    for (const t of u.terms) if ((await this.data.postings(t))?.kinds.some((kind) => kind >> 6)) return []; // it stands in a path
    const terms = (await this.data.beginning(u.raw, true)).slice(0, maxCompletions);
    for (const t of terms) void this.data.postings(t).catch(() => {}); // side by side
    return terms.map((t) => ({ ...unit(u.word, nameField), terms: [t], factor: prefixFactor, extra: true, scored: true, raw: t, times: 1 }));
  }

  // otherwise reads a word that no note has as the beginning of one, or in another
  // spelling.
  private async otherwise(u: Unit, found: Found): Promise<void> {
    const chars = Array.from(u.raw);
    if (classOf(chars[0]) !== 1) return;
    if (u.last && chars.length >= 3) {
      const begin = { ...u, prefix: true, terms: [...u.terms] };
      await this.collect(begin);
      if (this.weight.size) {
        Object.assign(u, { prefix: true, terms: begin.terms, factor: u.factor * prefixFactor });
        return;
      }
    }
    if (/\p{N}/u.test(u.raw)) return;
    const best = await this.spelling(u.terms[0], u.fields);
    if (!best) return;
    found.corrected.push([u.word, best]);
    u.terms = [best];
    u.factor *= spellFactor;
    await this.collect(u);
  }

  private async spelling(unknown: string, fields: number): Promise<string> {
    const n = Array.from(unknown).length;
    const most = n >= 8 ? 2 : n >= 4 ? 1 : 0;
    for (let d = 1; d <= most; d++) {
      const best = await this.nearest(unknown, d, fields);
      if (best) return best;
    }
    return "";
  }

  // nearest is the most frequent term within so many edits, the first in byte
  // order of equals.
  private async nearest(unknown: string, edits: number, fields: number): Promise<string> {
    const ascii = /^[\x00-\x7f]*$/.test(unknown);
    const near = (await this.alike(Array.from(unknown), edits)).filter((w) => (!ascii || /^[\x00-\x7f]*$/.test(w)) && within(unknown, w, edits));
    near.sort(compareBytes);
    if (near.length === 1 && fields === allFields) return near[0];
    let best = "";
    let most = 0;
    await Promise.all(near.map((t) => this.data.postings(t))); // side by side
    for (const term of near) {
      this.weight.clear();
      const notes = await this.collectTerm(term, fields);
      const n = fields === allFields ? notes : this.weight.size;
      if (n > most) [best, most] = [term, n];
    }
    this.weight.clear();
    return best;
  }

  // alike returns words among which are all those within so many edits. One edit
  // leaves two characters at one end, unless it swaps the middle ones of four.
  private async alike(c: string[], edits: number): Promise<string[]> {
    const lengths = Array.from({ length: 2 * edits + 1 }, (_, i) => c.length - edits + i);
    const end = edits === 1 ? c.slice(-2).join("") : "";
    const beginnings = edits > 1 ? [] : c.length === 4 ? [c[0] + c[1], c[0] + c[2]] : [c[0] + c[1]];
    const lists = await Promise.all([...lengths.map((n) => this.data.ending(n, end)), ...beginnings.map((b) => this.data.beginning(b))]);
    return [...new Set(lists.flat())];
  }

  // allowed is the notes that a query's structure allows.
  private allowed(n: Node, strict: boolean): Set<number> {
    switch (n.op) {
      case Op.Leaf:
        return leafSet(n.leaf!.units, strict);
      case Op.Or:
        return new Set(n.kids.flatMap((k) => [...this.allowed(k, strict)]));
      case Op.And:
        return n.kids.map((k) => this.allowed(k, true)).reduce(intersect);
    }
    let must: Set<number> | null = null;
    const any = new Set<number>();
    let shoulds = 0;
    for (const k of n.kids) {
      if (k.not) continue;
      if (k.must) {
        const s = this.allowed(k, true);
        must = must ? intersect(must, s) : s;
      } else {
        shoulds++;
        for (const note of this.allowed(k, strict && n.kids.length === 1)) any.add(note);
      }
    }
    let all = must || any;
    if (!must && !shoulds) all = new Set(Array(this.data.index.n).keys());
    for (const k of n.kids) if (k.not) for (const note of this.allowed(k, true)) all.delete(note);
    return all;
  }
}

function leafSet(units: Unit[], strict: boolean): Set<number> {
  const any = new Set<number>();
  let all: Set<number> | null = null;
  for (const u of units) {
    for (const note of u.set!) any.add(note);
    if (!u.extra) all = all ? intersect(all, u.set!) : new Set(u.set);
  }
  if (!strict || !all) return any;
  for (const u of units) if (u.whole) for (const note of u.set!) all.add(note);
  return all;
}

function intersect(a: Set<number>, b: Set<number>): Set<number> {
  return new Set([...a].filter((x) => b.has(x)));
}

function idfOf(df: number, n: number): number {
  return Math.round(Math.log(1 + (n - df + 0.5) / (df + 0.5)) * (1 << 20)) / (1 << 20);
}

function coordination(words: number, part: number): number {
  const c = 1 / (1 + words);
  return 1 - c + c * part;
}

// within reports whether b is at most so many edits from a: insertions, deletions,
// replacements, and swaps of neighbours.
export function within(a: string, b: string, edits: number): boolean {
  const x = Array.from(a);
  const y = Array.from(b);
  if (Math.abs(x.length - y.length) > edits) return false;
  let before: number[] = [];
  let row = Array.from({ length: y.length + 1 }, (_, j) => j);
  for (let i = 1; i <= x.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= y.length; j++) {
      let d = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (x[i - 1] === y[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && x[i - 1] === y[j - 2] && x[i - 2] === y[j - 1]) d = Math.min(d, before[j - 2] + 1);
      next.push(d);
      least = Math.min(least, d);
    }
    if (least > edits) return false;
    before = row;
    row = next;
  }
  return row[y.length] <= edits;
}
