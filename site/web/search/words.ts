// Reading words as the server does: docs/reference/ranking.md, "Words" and
// "Languages", is the rule that both follow.
import type { Stemmer } from "./stem";

export const enum Kind {
  Main, // a word at its position
  Part, // a part of one: foo of fooBar
  Whole, // several in one: foobar of foo-bar
}

export interface Token {
  term: string;
  raw: string;
  start: number; // in characters of the text
  end: number;
  kind: Kind;
}

// Classes of characters. From Dense on, words are written without spaces.
const enum Class {
  Separator,
  Letter,
  Digit,
  Extend,
  Apostrophe,
  Dense,
}

const dense: [number, RegExp][] = [
  [Class.Dense, /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u],
  [Class.Dense + 1, /\p{Script=Hangul}/u],
  [Class.Dense + 2, /\p{Script=Thai}/u],
  [Class.Dense + 3, /\p{Script=Lao}/u],
  [Class.Dense + 4, /\p{Script=Khmer}/u],
  [Class.Dense + 5, /\p{Script=Myanmar}/u],
  [Class.Dense + 6, /\p{Script=Tibetan}/u],
];
const letter = /\p{L}/u;
const number = /\p{N}/u;
const mark = /\p{M}/u;
const invisible = /[\u00ad\u200b-\u200d\u2060]/;

const classes = new Map<string, number>();

export function classOf(c: string | undefined): number {
  if (c === undefined) return Class.Separator;
  let k = classes.get(c);
  if (k === undefined) classes.set(c, (k = classify(c)));
  return k;
}

function classify(c: string): number {
  const r = c.codePointAt(0)!;
  if (c === "'" || c === "’" || c === "＇") return Class.Apostrophe;
  if (r < 0x0e00) return alphabetic(c);
  if (r >= 0xff01 && r <= 0xff5e) return classify(String.fromCharCode(r - 0xfee0));
  if (r === 0xff9e || r === 0xff9f) return Class.Extend;
  if (c === "ー" || c === "ｰ") return Class.Dense;
  const a = alphabetic(c);
  if (a === Class.Separator || a === Class.Extend) return a;
  for (const [k, script] of dense) if (script.test(c)) return k;
  return a;
}

function alphabetic(c: string): number {
  if (letter.test(c)) return Class.Letter;
  if (number.test(c)) return Class.Digit;
  if (mark.test(c) || invisible.test(c)) return Class.Extend;
  return Class.Separator;
}

export const wordly = (k: number): boolean => k === Class.Letter || k === Class.Digit;
export const isDense = (k: number): boolean => k >= Class.Dense;

const ascii = (s: string): boolean => /^[\x00-\x7f]*$/.test(s);

// fold removes differences of width, case and invisible characters.
export function fold(s: string): string {
  if (ascii(s)) return s.toLowerCase();
  let out = "";
  for (const c of s) {
    const r = c.codePointAt(0)!;
    if (c === "’" || c === "＇") out += "'";
    else if (r >= 0xff01 && r <= 0xff5e) out += String.fromCharCode(r - 0xfee0).toLowerCase();
    else if (invisible.test(c) || (r >= 0xfe00 && r <= 0xfe0f)) continue;
    else if (c === "İ") out += "i";
    else out += c.toLowerCase();
  }
  return out.normalize("NFC");
}

const foldPair = (s: string): string => s.normalize("NFKC").normalize("NFC");

const nonspacing = /\p{Mn}/u;
const accented = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}]/u;
const plain: Record<string, string> = { ø: "o", ł: "l", đ: "d", ı: "i" };

// unaccent removes accents where a searcher would leave them out.
export function unaccent(s: string): string {
  if (ascii(s)) return s;
  let base = "";
  let out = "";
  for (const c of s.replaceAll("ß", "ss").normalize("NFD")) {
    if (nonspacing.test(c)) {
      if (!base || !accented.test(base)) out += c;
      continue;
    }
    base = c;
    out += plain[c] || c;
  }
  return out.normalize("NFC");
}

const utf8 = new TextEncoder();
const maxTerm = 255;

// cut shortens a term to what the server keeps of it.
export function cut(s: string): string {
  if (s.length * 3 <= maxTerm || utf8.encode(s).length <= maxTerm) return s;
  let n = 0;
  let out = "";
  for (const c of s) {
    n += utf8.encode(c).length;
    if (n > maxTerm) break;
    out += c;
  }
  return out;
}

const upper = /\p{Lu}/u;
const lower = /\p{Ll}/u;

// camelParts splits fooBar and HTTPServer; none when there is one part.
function camelParts(s: string): string[] {
  const rs = Array.from(s);
  if (utf8.encode(s).length < 4 || !rs.slice(1).some((c) => upper.test(c))) return [];
  const parts: string[] = [];
  let start = 0;
  for (let i = 1; i < rs.length; i++) {
    const up = upper.test(rs[i]);
    const lowUp = up && lower.test(rs[i - 1]);
    const acronym = up && i + 1 < rs.length && upper.test(rs[i - 1]) && lower.test(rs[i + 1]) && rs.slice(i + 1).join("") !== "s";
    if (!lowUp && !acronym) continue;
    if (i - start < 2 || rs.length - i < 2 || parts.length === 6) return [];
    parts.push(rs.slice(start, i).join(""));
    start = i;
  }
  if (!parts.length) return [];
  parts.push(rs.slice(start).join(""));
  return parts;
}

export class Analyzer {
  private words = new Map<string, { main: string; parts: string[] }>();

  constructor(private stem: Stemmer) {}

  // forget makes words be read anew, by other stemmers.
  forget(): void {
    this.words.clear();
  }

  // normalize returns the term of one piece of text.
  normalize(raw: string): string {
    const s = fold(raw);
    if (s === "" || utf8.encode(s).length > maxTerm) return unaccent(s);
    return unaccent(this.stem(s) || s);
  }

  tokens(text: string): Token[] {
    const s = Array.from(text);
    const out: Token[] = [];
    for (let i = 0; i < s.length; ) {
      const c = classOf(s[i]);
      if (wordly(c)) i = this.compound(out, s, i);
      else if (isDense(c)) i = this.run(out, s, i, c);
      else i++;
    }
    return out;
  }

  private compound(out: Token[], s: string[], start: number): number {
    let whole = "";
    let pieces = 0;
    let i = start;
    for (;;) {
      let end = pieceEnd(s, i);
      this.piece(out, s.slice(i, end).join(""), i, end);
      pieces++;
      const j = joint(s, end);
      if (pieces > 1 || j > 0) whole += s.slice(i, end).join("");
      const n = suffix(s, i, end);
      if (j === 0 && n > 0) {
        const raw = s.slice(i, end + n).join("");
        out.push({ term: cut(unaccent(fold(raw))), raw, start: i, end: end + n, kind: Kind.Whole });
        end += n;
      }
      i = end + j;
      if (j === 0) break;
    }
    if (pieces > 1 && pieces <= 6 && utf8.encode(whole).length <= 48) {
      const term = this.word(whole).main;
      if (term) out.push({ term, raw: s.slice(start, i).join(""), start, end: i, kind: Kind.Whole });
    }
    return i;
  }

  private piece(out: Token[], raw: string, start: number, end: number): void {
    const w = this.word(raw);
    if (!w.main) return;
    out.push({ term: w.main, raw, start, end, kind: Kind.Main });
    for (const term of w.parts) out.push({ term, raw, start, end, kind: Kind.Part });
  }

  private word(raw: string): { main: string; parts: string[] } {
    let w = this.words.get(raw);
    if (!w) {
      w = { main: cut(this.normalize(raw)), parts: camelParts(raw).map((p) => cut(this.normalize(p))).filter((p) => p) };
      this.words.set(raw, w);
    }
    return w;
  }

  // run reads characters of a script without spaces: overlapping pairs.
  private run(out: Token[], s: string[], i: number, c: number): number {
    let first = i;
    let mid = i;
    let n = 0;
    const pair = (start: number, end: number, kind: Kind) => {
      const raw = s.slice(start, end).join("");
      out.push({ term: cut(foldPair(raw)), raw, start, end, kind });
    };
    for (; i < s.length; i++) {
      const k = classOf(s[i]);
      if (k !== c && k !== Class.Extend) break;
      if (k === c) {
        if (n === 2) {
          pair(first, i, Kind.Main);
          first = mid;
          n = 1;
        }
        mid = i;
        n++;
      }
    }
    pair(first, i, Kind.Main);
    if (n === 2) pair(mid, i, Kind.Part);
    return i;
  }
}

function pieceEnd(s: string[], i: number): number {
  let last: number = Class.Separator;
  for (; i < s.length; i++) {
    const c = classOf(s[i]);
    if (c === Class.Apostrophe) {
      if (last !== Class.Letter || classOf(s[i + 1]) !== Class.Letter) return i;
    } else if (c !== Class.Letter && c !== Class.Digit && c !== Class.Extend) return i;
    if (c !== Class.Extend) last = c;
  }
  return i;
}

function joint(s: string[], i: number): number {
  let n = 0;
  switch (s[i]) {
    case "-":
    case "_":
    case ".":
      n = 1;
      break;
    case ",":
      if (classOf(s[i - 1]) === Class.Digit && classOf(s[i + 1]) === Class.Digit) n = 1;
      break;
    case ":":
      if (s[i + 1] === ":") n = 2;
  }
  return n > 0 && wordly(classOf(s[i + n])) ? n : 0;
}

function suffix(s: string[], start: number, i: number): number {
  let n = 0;
  if (s[i] === "+" && s[i + 1] === "+") n = 2;
  else if (s[i] === "#" && i - start === 1) n = 1;
  if (n > 0 && !wordly(classOf(s[i + n])) && s[i + n] !== s[i]) return n;
  return 0;
}
