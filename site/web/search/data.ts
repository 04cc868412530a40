// The search data as the site has it: docs/reference/format.md, "Sites".

// Checks are those of files, two characters each.
type Checks = string;

export interface Index {
  v: number;
  lang: string;
  n: number;
  of: string;
  avg: number[];
  old: number[];
  stops: string[];
  articles: string[];
  first: string;
  terms: Checks;
  words: Checks;
  ends: Checks;
  lengths: Checks;
  per: number;
  stems: Record<string, string>;
}

export const version = 4;

export interface Row {
  t: string;
  p: string;
  f?: string;
  g?: string[];
}

interface Rows {
  of: string;
  x: [number, number][]; // where files of texts begin: note and part
  r: Row[];
}

export interface NoteText {
  d?: string;
  s?: string;
  p: { h?: string; a?: string; t: string }[];
}

interface Texts {
  of: string;
  t: NoteText[];
}

// Postings of a term: parallel lists by note, ascending.
export interface Postings {
  notes: number[];
  kinds: number[];
  at: number[]; // where the note's counts begin
  counts: number[]; // of the fields in kind, in their order
}

// Places are where a term stands, by note and field, and where each time the place
// behind it is; -1 for none.
export type Places = Map<number, Map<number, number>[]>;

// Files loads a file of the site, which calls kb[name] with what is in it. What is
// behind a ? in its name tells caches one version from another.
export type Files = <T>(name: string, file: string) => Promise<T>;

// unpack returns the bytes of a packed file.
async function unpack(packed: string): Promise<Uint8Array> {
  const raw = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const utf8 = new TextDecoder();
const toUTF8 = new TextEncoder();

// fnv1a is the hash in checks, in names, and of terms.
function fnv1a(basis: number, bytes: Uint8Array): number {
  let h = basis;
  for (const c of bytes) h = Math.imul(h ^ c, 16777619);
  return h >>> 0;
}

const basis = 2166136261;
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// checkOf tells the bytes of a file from those of another version.
function checkOf(bytes: Uint8Array): string {
  let h = fnv1a(basis, bytes);
  h ^= (h >>> 12) ^ (h >>> 24);
  return digits[(h >>> 6) & 63] + digits[h & 63];
}

// nameOf is the name of the file that begins with a key.
function nameOf(key: string): string {
  const bytes = toUTF8.encode(key);
  return [basis, ~basis >>> 0].map((b) => fnv1a(b, bytes).toString(16).padStart(8, "0")).join("");
}

// compareBytes orders terms as the server does: by their UTF-8.
export function compareBytes(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for characters beyond all others.
    if (x >= 0xd800 && x < 0xe000) x += 0x10000;
    if (y >= 0xd800 && y < 0xe000) y += 0x10000;
    return x - y;
  }
  return a.length - b.length;
}

class Reader {
  private i = 0;
  private last = new Uint8Array();

  constructor(private b: Uint8Array) {}

  number(): number {
    let n = 0;
    let unit = 1;
    for (;;) {
      const c = this.b[this.i++];
      n += (c & 127) * unit;
      if (c < 128) return n;
      unit *= 128;
    }
  }

  // take returns so many bytes.
  take(n: number): Uint8Array {
    return this.b.subarray(this.i, (this.i += n));
  }

  get ended(): boolean {
    return this.i >= this.b.length;
  }

  // keys reads a list of terms, calling read for what belongs to each.
  keys(read: (key: string) => void = () => {}): string[] {
    const out: string[] = [];
    this.last = new Uint8Array();
    for (let n = this.number(); n > 0; n--) {
      const key = this.key();
      out.push(key);
      read(key);
    }
    return out;
  }

  private key(): string {
    const shared = this.number();
    const more = this.number();
    const term = new Uint8Array(shared + more);
    term.set(this.last.subarray(0, shared));
    term.set(this.b.subarray(this.i, this.i + more), shared);
    this.i += more;
    this.last = term;
    return utf8.decode(term);
  }

  postings(): Postings {
    const n = this.number();
    const p: Postings = { notes: Array(n), kinds: Array(n), at: Array(n), counts: [] };
    for (let i = 0, note = 0; i < n; i++) p.notes[i] = note += this.number();
    for (let i = 0; i < n; i++) p.kinds[i] = this.b[this.i++];
    for (let i = 0; i < n; i++) {
      p.at[i] = p.counts.length;
      for (let kind = p.kinds[i] & 63; kind; kind >>= 1) if (kind & 1) p.counts.push(this.number());
    }
    return p;
  }

  places(): Places {
    const out: Places = new Map();
    for (let note = 0; !this.ended; ) {
      note += this.number();
      const byField: Map<number, number>[] = [];
      for (let f = 0, kind = this.b[this.i++]; f < 7; f++) {
        const list = new Map<number, number>();
        for (let n = kind & (1 << f) ? this.number() : 0, at = 0; n > 0; n--) {
          const gap = this.number();
          at += Math.floor(gap / 2);
          const next = gap % 2 ? this.number() : 1;
          list.set(at, next ? at + next : -1);
        }
        byField.push(list);
      }
      out.set(note, byField);
    }
    return out;
  }
}

// Shards are the files of terms in byte order: where each begins, and their checks.
interface Shards {
  kind: string;
  first: string[];
  checks: Checks;
}

interface Listed {
  check: string; // of the file of places
  items: Map<string, Postings>; // of a term, and of its segments
}

function readTerms(b: Uint8Array): Listed {
  const r = new Reader(b);
  const check = utf8.decode(r.take(2));
  const items = new Map<string, Postings>();
  r.keys((key) => items.set(key, r.postings()));
  return { check, items };
}

// Word is a term of the vocabulary, with what it is to its notes if it is rare.
interface Word {
  named: boolean; // it stands in a path
  postings?: Postings;
  places?: Uint8Array;
}

function readWords(b: Uint8Array): Map<string, Word> {
  const r = new Reader(b);
  const out = new Map<string, Word>();
  r.keys((key) => {
    const postings = r.postings();
    if (!postings.notes.length) out.set(key, { named: r.number() === 1 });
    else out.set(key, { named: postings.kinds.some((kind) => kind >> 6), postings, places: r.take(r.number()) });
  });
  return out;
}

// joined is postings one after the other.
function joined(parts: Postings[]): Postings | undefined {
  if (parts.length < 2) return parts[0];
  const p: Postings = { notes: [], kinds: [], at: [], counts: [] };
  for (const q of parts) {
    for (let i = 0; i < q.notes.length; i++) {
      p.notes.push(q.notes[i]);
      p.kinds.push(q.kinds[i]);
      p.at.push(q.at[i] + p.counts.length);
    }
    for (const n of q.counts) p.counts.push(n); // behind those of the parts before
  }
  return p;
}

// shardOf is the number of the shard that a term is in, if anywhere.
function shardOf(first: string[], term: string): number {
  let low = 0;
  let high = first.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (compareBytes(first[mid], term) <= 0) low = mid + 1;
    else high = mid;
  }
  return low - 1;
}

// covering is the numbers of the shards that may have a term, or terms that begin
// so.
function covering(first: string[], term: string, prefix = term): number[] {
  const out: number[] = [];
  for (let i = Math.max(0, shardOf(first, term)); i < first.length; i++) {
    if (compareBytes(first[i], term) > 0 && !first[i].startsWith(prefix)) break;
    out.push(i);
  }
  return out;
}

const backwards = (s: string): string => Array.from(s).reverse().join("");

// lengthKey is what words of so many characters begin with among the ends.
const lengthKey = (n: number): string => n.toString(36).padStart(2, "0");

const check = (checks: Checks, i: number): string => checks.slice(2 * i, 2 * i + 2);

const lengthsShard = 512; // notes
const fewNotes = 4096; // whose lengths are loaded at once

// Data reads the search data as it is needed, each file once.
export class Data {
  private read = new Map<string, Promise<unknown>>();
  private listed = new Map<string, Promise<Postings | undefined>>();
  private fieldLengths: number[][] = []; // by shard
  private runs: Promise<{ terms: Shards; words: Shards; ends: Shards }> | undefined;

  // version is that of the index: what else is in its name but what it is.
  constructor(
    readonly index: Index,
    private version: string,
    private files: Files,
  ) {}

  // part loads a file, unless it was. It is of this index if sound says so: if not,
  // some cache may have one that is not, or the site has changed.
  private part<T>(kind: string, name: string, sound: (b: Uint8Array, data: T) => boolean, read: (b: Uint8Array) => T): Promise<T> {
    const id = kind + "." + name;
    let p = this.read.get(id);
    if (!p) {
      p = this.load(id, kind, sound, read);
      this.read.set(id, p);
      p.catch(() => this.read.delete(id)); // it may be tried again
    }
    return p as Promise<T>;
  }

  private async load<T>(id: string, kind: string, sound: (b: Uint8Array, data: T) => boolean, read: (b: Uint8Array) => T): Promise<T> {
    for (const version of [this.version, this.version + "-" + Date.now()]) {
      const bytes = await unpack(await this.files<string>(kind, `kb/q/${id}.js?${version}`));
      const data = read(bytes);
      if (sound(bytes, data)) return data;
    }
    throw new Error("the site has changed: load the page anew");
  }

  // begin loads what every query needs.
  begin(): Promise<{ terms: Shards; words: Shards; ends: Shards }> {
    if (!this.runs) {
      this.runs = this.part("first", this.index.first, () => true, (b) => {
        const r = new Reader(b);
        const shards = (kind: "terms" | "words" | "ends") => ({ kind, first: r.keys(), checks: this.index[kind] });
        return { terms: shards("terms"), words: shards("words"), ends: shards("ends") };
      });
      this.runs.catch(() => (this.runs = undefined));
      if (this.index.n <= fewNotes) void this.ready(Array(this.index.n).keys()).catch(() => {});
    }
    return this.runs;
  }

  // ready loads the lengths of notes.
  async ready(notes: Iterable<number>): Promise<void> {
    const wanted = new Set<number>();
    for (const note of notes) wanted.add(Math.floor(note / lengthsShard));
    await Promise.all([...wanted].filter((i) => !this.fieldLengths[i]).map(async (i) => {
      const sound = (b: Uint8Array) => checkOf(b) === check(this.index.lengths, i);
      this.fieldLengths[i] = await this.part("lengths", String(i), sound, (b) => {
        const r = new Reader(b);
        const out: number[] = [];
        while (!r.ended) out.push(r.number());
        return out;
      });
    }));
  }

  // length is of a field of a note, for which ready must have been awaited.
  length(field: number, note: number): number {
    const lengths = this.fieldLengths[Math.floor(note / lengthsShard)];
    return lengths[(field * lengths.length) / 6 + (note % lengthsShard)];
  }

  private shard<T>(s: Shards, i: number, read: (b: Uint8Array) => T): Promise<T> {
    return this.part(s.kind, nameOf(s.first[i]), (b) => checkOf(b) === check(s.checks, i), read);
  }

  // word returns a term of the vocabulary; of tags there are only rare ones in it.
  private async word(term: string): Promise<Word | undefined> {
    const { words } = await this.begin();
    const i = shardOf(words.first, term);
    return i < 0 ? undefined : (await this.shard(words, i, readWords)).get(term);
  }

  // segments are the items of a term that is not rare, with the file of each.
  private async segments(term: string): Promise<{ file: number; key: string; postings: Postings }[]> {
    const { terms } = await this.begin();
    const files = covering(terms.first, term, term + "\0");
    const found = await Promise.all(files.map((i) => this.shard(terms, i, readTerms)));
    const of = (key: string) => key === term || key.startsWith(term + "\0");
    return found.flatMap(({ items }, k) => [...items].filter(([key]) => of(key)).map(([key, postings]) => ({ file: files[k], key, postings })));
  }

  postings(term: string): Promise<Postings | undefined> {
    let p = this.listed.get(term);
    if (!p) {
      p = this.segments(term).then(async (parts) => joined(parts.map((s) => s.postings)) || (await this.word(term))?.postings);
      this.listed.set(term, p);
      p.catch(() => this.listed.delete(term));
    }
    return p;
  }

  // places returns where a term stands that has postings.
  async places(term: string): Promise<Places> {
    const rare = (await this.word(term))?.places;
    if (rare) return new Reader(rare).places();
    const { terms } = await this.begin();
    const lists = (await this.segments(term)).map(async ({ file, key }) => {
      const { check, items } = await this.shard(terms, file, readTerms);
      const bytes = await this.part("places", nameOf(terms.first[file]), (b) => checkOf(b) === check, (b) => b);
      const r = new Reader(bytes);
      for (const k of items.keys()) {
        const list = r.take(r.number());
        if (k === key) return [...new Reader(list).places()];
      }
      return [];
    });
    return new Map((await Promise.all(lists)).flat());
  }

  // beginning returns the terms that begin so, but no tags: all, or those of paths.
  async beginning(prefix: string, named = false): Promise<string[]> {
    const { words } = await this.begin();
    const shards = await Promise.all(covering(words.first, prefix).map((i) => this.shard(words, i, readWords)));
    const found = shards.flatMap((s) => [...s]).filter(([term, word]) => term.startsWith(prefix) && term[0] !== "\u0001" && (word.named || !named));
    return found.map(([term]) => term);
  }

  // ending returns the words of so many characters that end so.
  async ending(length: number, end: string): Promise<string[]> {
    const { ends } = await this.begin();
    const prefix = lengthKey(length) + backwards(end);
    const shards = await Promise.all(covering(ends.first, prefix).map((i) => this.shard(ends, i, (b) => new Reader(b).keys())));
    return shards.flat().filter((key) => key.startsWith(prefix)).map((key) => backwards(key.slice(2)));
  }

  private rows(note: number): Promise<Rows> {
    return this.part("rows", String(Math.floor(note / this.index.per)), this.numbered, readJSON<Rows>);
  }

  // numbered reports whether data numbers notes as the index does.
  private numbered = (_: Uint8Array, data: { of: string }): boolean => data.of === this.index.of;

  async row(note: number): Promise<Row> {
    return (await this.rows(note)).r[note % this.index.per];
  }

  // text returns the text of a note, which may be in several files.
  async text(note: number): Promise<NoteText> {
    const { x } = await this.rows(note);
    const before = x.filter(([n, part]) => n < note || (n === note && part === 0)).slice(-1);
    const files = await Promise.all([...before, ...x.filter(([n, part]) => n === note && part > 0)].map(async ([n, part]) => {
      const texts = await this.part("texts", n + "-" + part, this.numbered, readJSON<Texts>);
      return texts.t[note - n];
    }));
    return { d: files[0].d, s: files[0].s, p: files.flatMap((t) => t.p) };
  }
}

function readJSON<T>(b: Uint8Array): T {
  return JSON.parse(utf8.decode(b)) as T;
}
