// The search data as the site has it: docs/reference/format.md, "Sites".

// FileList is hashes of files' names, ten characters each.
type FileList = string;

// Sorted is words in byte order in several files, of which first tells where they
// begin.
interface Sorted {
  first: string[];
  files: FileList;
}

export interface Index {
  v: number;
  lang: string;
  n: number;
  avg: number[];
  old: number[];
  stops: string[];
  articles: string[];
  first: string[];
  terms: FileList;
  places: FileList;
  long: Record<string, FileList>;
  words: Record<string, FileList>;
  heads: Sorted;
  tails: Sorted;
  lengths: FileList;
  per: number;
  rows: FileList;
  texts: FileList;
  stems: Record<string, string>;
}

export const version = 2;

export interface Row {
  t: string;
  p: string;
  f?: string;
  d?: string;
  g?: string[];
}

export interface NoteText {
  s?: string;
  p: { h?: string; a?: string; t: string }[];
}

// Postings of a term: parallel lists by note, ascending.
export interface Postings {
  notes: number[];
  kinds: number[];
  at: number[]; // where the note's counts begin
  counts: number[]; // of the fields in kind, in their order
}

// Places are where a term stands: by note, by field, ascending.
export type Places = Map<number, number[][]>;

// Files loads a file of the site, which calls kb[name] with what is in it.
export type Files = <T>(name: string, file: string) => Promise<T>;

// unpack returns the bytes of a packed file.
async function unpack(packed: string): Promise<Uint8Array> {
  const raw = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const utf8 = new TextDecoder();

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

  get position(): number {
    return this.i;
  }

  skip(n: number): void {
    this.i += n;
  }

  // key reads the next term of a list.
  key(): string {
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

  places(end: number): Places {
    const out: Places = new Map();
    for (let note = 0; this.i < end; ) {
      note += this.number();
      const byField: number[][] = [];
      for (let f = 0, kind = this.b[this.i++]; f < 7; f++) {
        const list: number[] = [];
        if (kind & (1 << f)) for (let n = this.number(), at = 0; n > 0; n--) list.push((at += this.number()));
        byField.push(list);
      }
      out.set(note, byField);
    }
    return out;
  }
}

function readTerms(b: Uint8Array): Map<string, Postings> {
  const r = new Reader(b);
  const out = new Map<string, Postings>();
  for (let n = r.number(); n > 0; n--) out.set(r.key(), r.postings());
  return out;
}

function readWords(b: Uint8Array): [string, number][] {
  const r = new Reader(b);
  const out: [string, number][] = [];
  for (let n = r.number(); n > 0; n--) out.push([r.key(), r.number()]);
  return out;
}

function find(from: number[], note: number): number {
  let low = 0;
  let high = from.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (from[mid] <= note) low = mid + 1;
    else high = mid;
  }
  return low - 1;
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

// covering is the numbers of the shards that may have terms that begin so.
function covering(first: string[], prefix: string): number[] {
  const out: number[] = [];
  for (let i = Math.max(0, shardOf(first, prefix)); i < first.length; i++) {
    if (compareBytes(first[i], prefix) > 0 && !first[i].startsWith(prefix)) break;
    out.push(i);
  }
  return out;
}

const backwards = (s: string): string => Array.from(s).reverse().join("");

const hash = (files: FileList, i: number): string => files.slice(10 * i, 10 * i + 10);

// Data reads the search data as it is needed, each file once.
export class Data {
  private read = new Map<string, Promise<unknown>>();
  private fieldLengths: number[] = [];

  constructor(
    readonly index: Index,
    private files: Files,
  ) {}

  private part<T>(name: string, file: string, read: (b: Uint8Array) => T): Promise<T> {
    let p = this.read.get(name + file);
    if (!p) {
      p = this.files<string>(name, `kb/q/${name}.${file}.js`).then(unpack).then(read);
      this.read.set(name + file, p);
      p.catch(() => this.read.delete(name + file)); // it may be tried again
    }
    return p as Promise<T>;
  }

  // ready loads what every query needs.
  async ready(): Promise<void> {
    if (this.fieldLengths.length) return;
    this.fieldLengths = await this.part("lengths", this.index.lengths, (b) => {
      const r = new Reader(b);
      return Array.from({ length: 6 * this.index.n }, () => r.number());
    });
  }

  // length is of a field of a note: ready must have been awaited.
  length(field: number, note: number): number {
    return this.fieldLengths[field * this.index.n + note];
  }

  private long(term: string): FileList | undefined {
    return Object.hasOwn(this.index.long, term) ? this.index.long[term] : undefined;
  }

  private shard(i: number): Promise<Map<string, Postings>> {
    return this.part("terms", hash(this.index.terms, i), readTerms);
  }

  async postings(term: string): Promise<Postings | undefined> {
    const own = this.long(term);
    if (own) return this.part("list", hash(own, 0), (b) => new Reader(b).postings());
    const i = shardOf(this.index.first, term);
    return i < 0 ? undefined : (await this.shard(i)).get(term);
  }

  // places returns where a term stands that has postings.
  async places(term: string): Promise<Places> {
    const own = this.long(term);
    if (own) return this.part("placed", hash(own, 1), (b) => new Reader(b).places(b.length));
    const i = shardOf(this.index.first, term);
    const terms = this.shard(i);
    const bytes = await this.part("places", hash(this.index.places, i), (b) => b);
    const r = new Reader(bytes);
    for (const t of (await terms).keys()) {
      const size = r.number();
      if (t === term) return r.places(r.position + size);
      r.skip(size);
    }
    return new Map();
  }

  // beginning returns the terms that begin so, but no tags.
  async beginning(prefix: string): Promise<string[]> {
    const shards = covering(this.index.first, prefix).map((i) => this.shard(i));
    const out = Object.keys(this.index.long);
    for (const shard of await Promise.all(shards)) out.push(...shard.keys());
    return out.filter((term) => term.startsWith(prefix) && term[0] !== "\u0001");
  }

  // words returns the terms of so many characters with the numbers of their notes.
  words(length: number): Promise<[string, number][]> {
    const file = this.index.words[length];
    return file ? this.part("words", file, readWords) : Promise.resolve([]);
  }

  // around returns the words with one of these beginnings, and those with the end.
  async around(beginnings: string[], end: string): Promise<[string, number][]> {
    const words = async (sorted: Sorted, prefix: string) => {
      const lists = covering(sorted.first, prefix).map((i) => this.part("words", hash(sorted.files, i), readWords));
      return (await Promise.all(lists)).flat().filter(([w]) => w.startsWith(prefix));
    };
    const [tails, ...heads] = await Promise.all([words(this.index.tails, backwards(end)), ...beginnings.map((b) => words(this.index.heads, b))]);
    return [...new Map([...heads.flat(), ...tails.map(([w, n]): [string, number] => [backwards(w), n])])];
  }

  async row(note: number): Promise<Row> {
    const rows = await this.part("rows", hash(this.index.rows, Math.floor(note / this.index.per)), readJSON<Row[]>);
    return rows[note % this.index.per];
  }

  async text(note: number): Promise<NoteText> {
    const list = await this.part("textList", this.index.texts, readJSON<{ from: number[]; files: FileList }>);
    const i = find(list.from, note);
    return (await this.part("texts", hash(list.files, i), readJSON<NoteText[]>))[note - list.from[i]];
  }
}

function readJSON<T>(b: Uint8Array): T {
  return JSON.parse(utf8.decode(b)) as T;
}
