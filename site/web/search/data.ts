// The search data as the site has it: see search.go for what is in the files.

export interface Index {
  v: number;
  lang: string;
  n: number;
  avg: number[];
  old: number[];
  first: string[];
  shards: string[];
  words: Record<string, string>;
  rows: string[];
  texts: string[];
  textFrom: number[];
  phrases: string[];
  phrasesFrom: number[];
  stops: string;
  stems: Record<string, string>;
}

export interface Row {
  t: string;
  p: string;
  f: string;
  d?: string;
  g?: string[];
}

export interface NoteText {
  s?: string;
  p: { h?: string; a?: string; t: string }[];
}

// Postings of a term: parallel lists by note, ascending. tf and len hold what
// follows each other for the fields in kind, in their order.
export interface Postings {
  notes: number[];
  kinds: number[];
  at: number[]; // where the note's numbers begin in counts
  counts: number[]; // count, length, count, length …
}

// Files loads a file of the site, which calls kb[name] with what is in it.
export type Files = <T>(name: string, file: string) => Promise<T>;

// unpack returns the bytes of a packed file.
export async function unpack(packed: string): Promise<Uint8Array> {
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

  bytes(n: number): Uint8Array {
    this.i += n;
    return this.b.subarray(this.i - n, this.i);
  }

  // key reads the next term.
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
}

function readTerms(b: Uint8Array): Map<string, Postings> {
  const r = new Reader(b);
  const out = new Map<string, Postings>();
  for (let n = r.number(); n > 0; n--) {
    const term = r.key();
    const p: Postings = { notes: [], kinds: [], at: [], counts: [] };
    let note = 0;
    for (let k = r.number(); k > 0; k--) {
      note += r.number();
      const kind = r.number();
      p.notes.push(note);
      p.kinds.push(kind);
      p.at.push(p.counts.length);
      for (let f = 0; f < 6; f++) if (kind & (1 << f)) p.counts.push(r.number(), r.number());
    }
    out.set(term, p);
  }
  return out;
}

function readWords(b: Uint8Array): [string, number][] {
  const r = new Reader(b);
  const out: [string, number][] = [];
  for (let n = r.number(); n > 0; n--) out.push([r.key(), r.number()]);
  return out;
}

// Stream is a note's words in their order: see index.View.EachStream.
export interface Stream {
  lengths: number[];
  paths: string[];
  words: Uint8Array;
}

function readStreams(b: Uint8Array, n: number): Stream[] {
  const r = new Reader(b);
  const out: Stream[] = [];
  for (; n > 0; n--) {
    const lengths = Array.from({ length: 6 }, () => r.number());
    const paths = Array.from({ length: r.number() }, () => utf8.decode(r.bytes(r.number())));
    out.push({ lengths, paths, words: r.bytes(r.number()) });
  }
  return out;
}

// find returns the number of the file that holds a note, by the first of each.
function find(from: number[], note: number): number {
  let i = from.length - 1;
  while (from[i] > note) i--;
  return i;
}

// Data reads the search data as it is needed.
export class Data {
  private shards = new Map<number, Promise<Map<string, Postings>>>();
  private streams = new Map<number, Promise<Stream[]>>();
  private vocabulary = new Map<number, Promise<[string, number][]>>();

  constructor(
    readonly index: Index,
    private files: Files,
  ) {}

  private async packed(name: string, file: string): Promise<Uint8Array> {
    return unpack(await this.files<string>(name, file));
  }

  // shardOf is the number of the shard that a term is in, if anywhere.
  private shardOf(term: string): number {
    let low = 0;
    let high = this.index.first.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (compareBytes(this.index.first[mid], term) <= 0) low = mid + 1;
      else high = mid;
    }
    return low - 1;
  }

  private shard(i: number): Promise<Map<string, Postings>> {
    let p = this.shards.get(i);
    if (!p) this.shards.set(i, (p = this.packed("terms", this.index.shards[i]).then(readTerms)));
    return p;
  }

  async postings(term: string): Promise<Postings | undefined> {
    const i = this.shardOf(term);
    return i < 0 ? undefined : (await this.shard(i)).get(term);
  }

  // beginning returns the terms that begin so, in byte order, but no tags.
  async beginning(prefix: string): Promise<string[]> {
    const out: string[] = [];
    for (let i = Math.max(0, this.shardOf(prefix)); i < this.index.shards.length; i++) {
      if (compareBytes(this.index.first[i], prefix) > 0 && !this.index.first[i].startsWith(prefix)) break;
      for (const term of (await this.shard(i)).keys()) if (term.startsWith(prefix) && term[0] !== "\u0001") out.push(term);
    }
    return out;
  }

  // words returns the terms of so many characters with the numbers of their notes.
  words(length: number): Promise<[string, number][]> {
    const file = this.index.words[length];
    if (!file) return Promise.resolve([]);
    let p = this.vocabulary.get(length);
    if (!p) this.vocabulary.set(length, (p = this.packed("words", file).then(readWords)));
    return p;
  }

  async row(note: number): Promise<Row> {
    return (await this.files<Row[]>("rows", this.index.rows[note >> 6]))[note & 63];
  }

  async text(note: number): Promise<NoteText> {
    const i = find(this.index.textFrom, note);
    const texts = JSON.parse(utf8.decode(await this.packed("texts", this.index.texts[i]))) as NoteText[];
    return texts[note - this.index.textFrom[i]];
  }

  async stream(note: number): Promise<Stream> {
    const from = this.index.phrasesFrom;
    const i = find(from, note);
    let p = this.streams.get(i);
    if (!p) {
      const n = (from[i + 1] ?? this.index.n) - from[i];
      this.streams.set(i, (p = this.packed("phrases", this.index.phrases[i]).then((b) => readStreams(b, n))));
    }
    return (await p)[note - from[i]];
  }
}
