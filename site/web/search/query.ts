// The language of queries and what a query looks up: docs/reference/ranking.md,
// "Queries", is the rule.
import { Analyzer, Kind, classOf, cut, fold, isDense, unaccent, wordly } from "./words";

export const fields = ["title", "alias", "heading", "tag", "meta", "body", "name"];
const fieldOf: Record<string, number> = { title: 0, alias: 1, heading: 2, tag: 3, meta: 4, body: 5, name: 6, path: 6 };
const anyField = -1;
export const allFields = 127;

export const enum Op {
  Leaf,
  List,
  And,
  Or,
}

export interface Node {
  op: Op;
  kids: Node[];
  leaf?: Leaf;
  must?: boolean;
  not?: boolean;
}

interface Leaf {
  text: string;
  field: number;
  phrase: boolean;
  prefix: boolean;
  units: Unit[];
}

// Unit is one thing that is looked up and scored.
export interface Unit {
  word: string;
  terms: string[];
  phrase: string[] | null;
  fields: number; // a bit for each
  factor: number;
  extra: boolean;
  whole: boolean;
  neg: boolean;
  prefix: boolean;
  scored: boolean;
  stop: boolean;
  open: boolean;
  raw: string;
  last: boolean;
  times: number;
  df: number;
  idf: number;
  set: Set<number> | null;
}

export interface Plan {
  root: Node;
  units: Unit[];
  words: number;
  sets: boolean;
  remark: string;
}

class Syntax extends Error {}

const space = (c: string | undefined): boolean => c !== undefined && /\p{White_Space}/u.test(c);

class Parser {
  private i = 0;
  private depth = 0;
  private s: string[];

  constructor(text: string) {
    this.s = Array.from(text);
  }

  // peek skips spaces and returns the next character.
  peek(): string | undefined {
    while (space(this.s[this.i]) || this.s[this.i] === "\0") this.i++;
    return this.s[this.i];
  }

  private rest(): string {
    return this.s.slice(this.i).join("");
  }

  private operator(op: string): boolean {
    this.peek();
    for (let k = 0; k < op.length; k++) if (this.s[this.i + k] !== op[k]) return false;
    const next = this.s[this.i + op.length];
    if (next !== undefined && !space(next) && next !== "(" && next !== ")") return false;
    this.i += op.length;
    return true;
  }

  parse(): Node {
    const n = this.query(0);
    if (this.peek() !== undefined) throw new Syntax("unexpected " + this.rest());
    if (!positive(n) && any(n)) throw new Syntax("nothing to search for but exclusions");
    return n;
  }

  private query(depth: number): Node {
    if (depth > 50) throw new Syntax("too many parentheses");
    return this.joined("OR", Op.Or, () => this.joined("AND", Op.And, () => this.list(depth)));
  }

  private joined(name: string, op: Op, operand: () => Node): Node {
    let n = operand();
    while (this.operator(name)) {
      const next = operand();
      if (!any(next) || !any(n)) throw new Syntax("nothing beside " + name);
      if (n.op !== op) n = { op, kids: [n] };
      n.kids.push(next);
    }
    return n;
  }

  private atOperator(): boolean {
    const i = this.i;
    const is = this.operator("AND") || this.operator("OR");
    this.i = i;
    return is;
  }

  private list(depth: number): Node {
    const n: Node = { op: Op.List, kids: [] };
    for (;;) {
      const c = this.peek();
      if (c === undefined || (c === ")" && this.depth > 0) || this.atOperator()) return n;
      const kid = this.item(depth);
      if (kid) n.kids.push(kid);
    }
  }

  private item(depth: number): Node | null {
    let must = false;
    let not = false;
    if (this.operator("NOT")) {
      if (this.peek() === undefined) throw new Syntax("nothing after NOT");
      not = true;
    } else {
      const c = this.s[this.i];
      if ((c === "+" || c === "-") && this.signs(this.i + 1)) {
        must = c === "+";
        not = c === "-";
        this.i++;
      }
    }
    let n: Node;
    if (this.peek() === "(") {
      this.i++;
      this.depth++;
      n = this.query(depth + 1);
      if (this.peek() !== ")") throw new Syntax("( without )");
      this.i++;
      this.depth--;
    } else {
      const leaf = this.leaf();
      if (!leaf) return null;
      n = { op: Op.Leaf, kids: [], leaf };
      must ||= leaf.field !== anyField && !not;
    }
    if (must || not) n = { op: Op.List, kids: [n] };
    n.must = must;
    n.not = not;
    return n;
  }

  private signs(i: number): boolean {
    const c = this.s[i];
    return c === '"' || c === "(" || wordly(classOf(c)) || isDense(classOf(c));
  }

  private leaf(): Leaf | null {
    const l: Leaf = { text: "", field: anyField, phrase: false, prefix: false, units: [] };
    const colon = this.s.indexOf(":", this.i);
    if (colon >= 0) {
      const f = fieldOf[this.s.slice(this.i, colon).join("").toLowerCase()];
      const next = this.s[colon + 1];
      if (f !== undefined && next !== undefined && !space(next) && next !== ":") {
        l.field = f;
        this.i = colon + 1;
      }
    }
    if (this.peek() === '"') {
      const end = this.s.indexOf('"', this.i + 1);
      if (end < 0) throw new Syntax('" without "');
      l.text = this.s.slice(this.i + 1, end).join("");
      l.phrase = true;
      this.i = end + 1;
      return l;
    }
    const start = this.i;
    while (this.i < this.s.length && !space(this.s[this.i]) && !(this.s[this.i] === ")" && this.depth > 0)) this.i++;
    l.text = this.s.slice(start, this.i).join("");
    if (l.text.endsWith("*")) {
      l.text = l.text.slice(0, -1);
      l.prefix = true;
    }
    return l.text === "" ? null : l;
  }
}

const any = (n: Node): boolean => n.op === Op.Leaf || n.kids.some(any);
const positive = (n: Node): boolean => !n.not && (n.op === Op.Leaf || n.kids.some(positive));

function parse(text: string): [Node, string] {
  try {
    return [new Parser(text).parse(), ""];
  } catch (e) {
    if (!(e instanceof Syntax)) throw e;
    const words = text.split(/\p{White_Space}+/u).filter((w) => w);
    const kids = words.map((w): Node => ({ op: Op.Leaf, kids: [], leaf: { text: w, field: anyField, phrase: false, prefix: false, units: [] } }));
    return [{ op: Op.List, kids }, "read as plain words: " + e.message];
  }
}

const tagMark = "\u0001";
const maxUnits = 512;

export function plan(text: string, analyzer: Analyzer, stops: Set<string>): Plan {
  const [root, remark] = parse(text);
  const p: Plan = { root, units: [], words: 0, sets: false, remark };
  const seen = new Map<string, Unit>();
  fill(p, root, analyzer, stops, seen, true);
  p.root = prune(root);
  p.sets = !plainList(p.root);
  if (!p.sets) dropStops(p);
  p.words = p.units.filter((u) => u.scored && !u.extra).length;
  if (p.units.length && !p.sets) {
    const last = [...p.units].reverse().find((u) => !u.extra);
    if (last) last.last = true;
  }
  return p;
}

function plainList(n: Node): boolean {
  if (n.op !== Op.List || n.must || n.not) return n.op === Op.Leaf && !n.must && !n.not;
  return n.kids.every((k) => k.op === Op.Leaf);
}

function prune(n: Node): Node {
  n.kids = n.kids.map(prune).filter((k) => (k.op === Op.Leaf ? k.leaf!.units.length : k.kids.length) > 0);
  return n;
}

function fill(p: Plan, n: Node, a: Analyzer, stops: Set<string>, seen: Map<string, Unit>, scored: boolean): void {
  if (n.not) scored = false;
  for (const k of n.kids) fill(p, k, a, stops, seen, scored);
  if (!n.leaf) return;
  for (const u of analyze(n.leaf, a, stops)) {
    if (p.units.length === maxUnits) break;
    const key = JSON.stringify([u.fields, u.extra, u.prefix, u.terms, u.phrase]);
    const first = seen.get(key);
    u.neg = !scored;
    u.scored = scored && !first;
    if (scored && first) first.times++;
    else if (scored) {
      seen.set(key, u);
      u.times = 1;
    }
    n.leaf.units.push(u);
    p.units.push(u);
  }
}

export const unit = (word: string, field: number): Unit => ({
  word, terms: [], phrase: null, fields: field === anyField ? allFields : 1 << field, factor: 1, extra: false, whole: false, neg: false,
  prefix: false, scored: false, stop: false, open: false, raw: "", last: false, times: 0, df: 0, idf: 0, set: null,
});

const single = (s: string): boolean => Array.from(s).length === 1 && isDense(classOf(s));

function analyze(l: Leaf, a: Analyzer, stops: Set<string>): Unit[] {
  if (l.field === fieldOf.tag && !l.phrase && !l.prefix) {
    const tag = fold(l.text.replace(/^#/, "").replace(/^\/+|\/+$/g, ""));
    if (tag) return [{ ...unit(l.text, l.field), terms: [cut(tagMark + tag)] }];
  }
  const tokens = a.tokens(l.text);
  if (l.phrase) return phrase(l, tokens.filter((t) => t.kind === Kind.Main).map((t) => t.term));
  const units: Unit[] = [];
  tokens.forEach((t, i) => {
    const extra = t.kind !== Kind.Main;
    if (extra && isDense(classOf(Array.from(t.raw)[0]))) return; // a pair of the query holds it already
    const u = unit(t.raw, l.field);
    Object.assign(u, { terms: [t.term], extra, open: !extra, raw: cut(unaccent(fold(t.raw))), whole: t.kind === Kind.Whole, factor: extra ? 0.5 : 1 });
    if (l.prefix && i === tokens.length - 1) Object.assign(u, { prefix: true, open: false });
    if (single(t.raw)) Object.assign(u, { prefix: true, open: false, raw: t.term });
    u.stop = l.field === anyField && !l.prefix && stops.has(u.raw);
    units.push(u);
  });
  return units;
}

function phrase(l: Leaf, terms: string[]): Unit[] {
  if (!terms.length) return [];
  const u = unit(l.text, l.field);
  if (terms.length === 1) Object.assign(u, { terms, raw: terms[0], prefix: single(terms[0]) });
  else u.phrase = terms;
  return [u];
}

function dropStops(p: Plan): void {
  const kept = p.units.filter((u) => !u.stop);
  if (kept.some((u) => !u.extra)) p.units = kept;
}
