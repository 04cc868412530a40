// Stemmers: the server's own, translated from the Go that Snowball's compiler
// made (see stem.go), and what is done to a word before them.

export type Stemmer = (folded: string) => string;

// Env is Snowball's environment. A word is a string of bytes here, each
// character one byte of its UTF-8, as the translated stemmers expect.
class Env {
  Cursor = 0;
  Limit: number;
  LimitBackward = 0;
  Bra = 0;
  Ket: number;

  constructor(private current: string) {
    this.Limit = this.Ket = current.length;
  }

  Current(): string {
    return this.current;
  }

  private boundary(i: number): boolean {
    return i <= 0 || i >= this.current.length || (this.current.charCodeAt(i) & 0xc0) !== 0x80;
  }

  ReplaceS(bra: number, ket: number, s: string): number {
    const adjustment = s.length - (ket - bra);
    this.current = this.current.slice(0, bra) + s + this.current.slice(Math.max(bra, ket));
    this.Limit += adjustment;
    if (this.Cursor >= ket) this.Cursor += adjustment;
    else if (this.Cursor > bra) this.Cursor = bra;
    return adjustment;
  }

  EqS(s: string): boolean {
    if (this.Cursor >= this.Limit || !this.current.startsWith(s, this.Cursor)) return false;
    this.Cursor += s.length;
    while (!this.boundary(this.Cursor)) this.Cursor++;
    return true;
  }

  EqSB(s: string): boolean {
    const at = this.Cursor - s.length;
    if (at < this.LimitBackward || !this.boundary(at) || !this.current.startsWith(s, at)) return false;
    this.Cursor = at;
    return true;
  }

  SliceFrom(s: string): boolean {
    this.ReplaceS(this.Bra, this.Ket, s);
    return true;
  }

  SliceDel(): boolean {
    return this.SliceFrom("");
  }

  SliceTo(): string {
    return this.current.slice(this.Bra, this.Ket);
  }

  Insert(bra: number, ket: number, s: string): void {
    const adjustment = this.ReplaceS(bra, ket, s);
    if (bra <= this.Bra) this.Bra += adjustment;
    if (bra <= this.Ket) this.Ket += adjustment;
  }

  NextChar(): void {
    this.Cursor++;
    while (!this.boundary(this.Cursor)) this.Cursor++;
  }

  PrevChar(): void {
    this.Cursor--;
    while (!this.boundary(this.Cursor)) this.Cursor--;
  }

  ByteIndexForHop(delta: number): number {
    let at = this.Cursor;
    for (; delta > 0; delta--) {
      at++;
      while (at <= this.current.length && !this.boundary(at)) at++;
    }
    for (; delta < 0; delta++) {
      at--;
      while (at >= 0 && !this.boundary(at)) at--;
    }
    return at;
  }

  // rune decodes the character at the cursor; -1 for none.
  private rune(): number {
    const b = (k: number) => this.current.charCodeAt(this.Cursor + k) & 0x3f;
    const c = this.current.charCodeAt(this.Cursor);
    if (Number.isNaN(c)) return -1;
    if (c < 0x80) return c;
    if (c < 0xe0) return ((c & 0x1f) << 6) | b(1);
    if (c < 0xf0) return ((c & 0x0f) << 12) | (b(1) << 6) | b(2);
    return ((c & 0x07) << 18) | (b(1) << 12) | (b(2) << 6) | b(3);
  }

  private grouped(chars: number[], min: number, max: number): boolean {
    const r = this.rune();
    return r >= min && r <= max && (chars[(r - min) >> 3] & (1 << ((r - min) & 7))) !== 0;
  }

  InGrouping(chars: number[], min: number, max: number): boolean {
    if (this.Cursor >= this.Limit || !this.grouped(chars, min, max)) return false;
    this.NextChar();
    return true;
  }

  OutGrouping(chars: number[], min: number, max: number): boolean {
    if (this.Cursor >= this.Limit || this.grouped(chars, min, max)) return false;
    this.NextChar();
    return true;
  }

  InGroupingB(chars: number[], min: number, max: number): boolean {
    return this.backward(() => this.grouped(chars, min, max));
  }

  OutGroupingB(chars: number[], min: number, max: number): boolean {
    return this.backward(() => !this.grouped(chars, min, max));
  }

  private backward(test: () => boolean): boolean {
    if (this.Cursor <= this.LimitBackward) return false;
    this.PrevChar();
    if (test()) return true;
    this.NextChar();
    return false;
  }

  FindAmong(list: Among[], context: unknown): number {
    const c = this.Cursor;
    return this.among(list, context, (w, k) => (c + k === this.Limit ? -1 : this.current.charCodeAt(c + k) - w.Str.charCodeAt(k)), (w) => c + w.Str.length);
  }

  FindAmongB(list: Among[], context: unknown): number {
    const c = this.Cursor;
    return this.among(
      list,
      context,
      (w, k) => (c - k === this.LimitBackward ? -1 : this.current.charCodeAt(c - k - 1) - w.Str.charCodeAt(w.Str.length - k - 1)),
      (w) => c - w.Str.length,
    );
  }

  // among finds the longest of a sorted list that stands at the cursor.
  private among(list: Among[], context: unknown, compare: (w: Among, k: number) => number, end: (w: Among) => number): number {
    let i = 0;
    let j = list.length;
    let commonI = 0;
    let commonJ = 0;
    for (let first = false; ; ) {
      const k = i + ((j - i) >> 1);
      let diff = 0;
      let common = Math.min(commonI, commonJ);
      const w = list[k];
      for (; common < w.Str.length; common++) {
        diff = compare(w, common);
        if (diff !== 0) break;
      }
      if (diff < 0) {
        j = k;
        commonJ = common;
      } else {
        i = k;
        commonI = common;
      }
      if (j - i <= 1) {
        if (i > 0 || j === i || first) break;
        first = true;
      }
    }
    for (;;) {
      const w = list[i];
      if (commonI >= w.Str.length) {
        this.Cursor = end(w);
        if (!w.F) return w.B;
        const yes = w.F(this, context);
        this.Cursor = end(w);
        if (yes) return w.B;
      }
      i = w.A;
      if (i < 0) return 0;
    }
  }
}

interface Among {
  Str: string;
  A: number;
  B: number;
  F: ((env: Env, context: unknown) => boolean) | null;
}

// Translated is what a stemmer's file hands over.
export type Translated = (runtime: unknown) => (env: Env) => boolean;

const bytes = (s: string): string => {
  let out = "";
  for (const b of new TextEncoder().encode(s)) out += String.fromCharCode(b);
  return out;
};

const chars = (s: string): string => new TextDecoder().decode(Uint8Array.from(s, (c) => c.charCodeAt(0)));

// runtime is what stemmers' files get: words makes a Snowball stemmer of another.
const runtime = {
  RuneCountInString: (s: string): number => Array.from(chars(s)).length,
  words: (stem: Stemmer) => (env: Env): boolean => {
    const word = env.Current();
    env.ReplaceS(0, word.length, bytes(stem(chars(word))));
    return true;
  },
};

// snowball makes a stemmer of a translated one.
export function snowball(make: Translated): Stemmer {
  const stem = make(runtime);
  return (word) => {
    const env = new Env(bytes(word));
    stem(env);
    return chars(env.Current());
  };
}

const enum Script {
  Other,
  Latin,
  Cyrillic,
  Arabic,
  Devanagari,
}

function scriptOf(s: string): Script {
  const r = s.codePointAt(0)!;
  if (r < 0x250 || /^\p{Script=Latin}/u.test(s)) return Script.Latin;
  if (r < 0x370) return Script.Other;
  if (r >= 0x400 && r < 0x530) return Script.Cyrillic;
  if (/^\p{Script=Arabic}/u.test(s)) return Script.Arabic;
  if (/^\p{Script=Devanagari}/u.test(s)) return Script.Devanagari;
  return Script.Other;
}

const own: Record<string, Script> = { ar: 3, bg: 2, ckb: 3, el: 0, fa: 3, hi: 4, hy: 0, ru: 2, ta: 0 };
const usual: Partial<Record<Script, string>> = { [Script.Latin]: "en", [Script.Cyrillic]: "ru", [Script.Arabic]: "ar", [Script.Devanagari]: "hi" };

// germanNormalize is bleve's: umlauts and their spellings become their vowels.
function germanNormalize(s: string): string {
  let out = "";
  let state = "N";
  for (const c of s) {
    switch (c) {
      case "a":
      case "o":
        state = "U";
        break;
      case "u":
        state = state === "N" ? "U" : "V";
        break;
      case "e": {
        const gone = state === "U";
        state = "V";
        if (gone) continue;
        break;
      }
      case "i":
      case "q":
      case "y":
        state = "V";
        break;
      case "ä":
      case "ö":
      case "ü":
        out += c === "ä" ? "a" : c === "ö" ? "o" : "u";
        state = "V";
        continue;
      case "ß":
        out += "ss";
        state = "N";
        continue;
      default:
        state = "N";
    }
    out += c;
  }
  return out;
}

export interface Grammar {
  language: string;
  articles: string[];
}

// stemmerOf returns what a folded word becomes. Stemmers are loaded when a word of
// their script is first met: ready must be awaited before words of a text are read;
// it tells whether some words are read otherwise than before.
export function stemmerOf(grammar: Grammar, loadStemmer: (language: string) => Promise<Stemmer | undefined>) {
  const loaded = new Map<string, Stemmer | undefined>();
  const articles = new Set(grammar.articles);
  const languageOf = (s: string): string => {
    const script = scriptOf(s);
    if (grammar.language === "none") return "none";
    if (script === (own[grammar.language] ?? Script.Latin)) return grammar.language;
    return usual[script] || "";
  };
  const stem: Stemmer = (s) => {
    const language = languageOf(s);
    const m = /^(.*)'[sS]$/su.exec(s);
    if (m) s = m[1];
    if (language === grammar.language && articles.size) {
      const at = s.indexOf("'");
      if (at >= 0 && articles.has(s.slice(0, at))) s = s.slice(at + 1);
    }
    if (language === "tr" && s.includes("'")) s = s.slice(0, s.indexOf("'"));
    s = s.replaceAll("'", "");
    if (language === "de") s = germanNormalize(s);
    return loaded.get(language)?.(s) ?? s;
  };
  const ready = async (text: string): Promise<boolean> => {
    const wanted = new Set<string>();
    for (const c of text) if (/[\p{L}\p{N}]/u.test(c)) wanted.add(languageOf(c));
    let more = false;
    for (const language of wanted) {
      if (loaded.has(language)) continue;
      const stemmer = await loadStemmer(language);
      loaded.set(language, stemmer);
      more ||= !!stemmer;
    }
    return more;
  };
  return { stem, ready };
}
