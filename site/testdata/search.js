// search/node.ts
var import_node_fs = require("node:fs");
var import_node_readline = require("node:readline");

// search/data.ts
var version = 4;
async function unpack(packed) {
  const raw = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
var utf8 = new TextDecoder();
var toUTF8 = new TextEncoder();
function fnv1a(basis2, bytes2) {
  let h = basis2;
  for (const c of bytes2) h = Math.imul(h ^ c, 16777619);
  return h >>> 0;
}
var basis = 2166136261;
var digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
function checkOf(bytes2) {
  let h = fnv1a(basis, bytes2);
  h ^= h >>> 12 ^ h >>> 24;
  return digits[h >>> 6 & 63] + digits[h & 63];
}
function nameOf(key) {
  const bytes2 = toUTF8.encode(key);
  return [basis, ~basis >>> 0].map((b) => fnv1a(b, bytes2).toString(16).padStart(8, "0")).join("");
}
function compareBytes(a, b) {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 55296 && x < 57344) x += 65536;
    if (y >= 55296 && y < 57344) y += 65536;
    return x - y;
  }
  return a.length - b.length;
}
var Reader = class {
  constructor(b) {
    this.b = b;
  }
  b;
  i = 0;
  last = new Uint8Array();
  number() {
    let n = 0;
    let unit2 = 1;
    for (; ; ) {
      const c = this.b[this.i++];
      n += (c & 127) * unit2;
      if (c < 128) return n;
      unit2 *= 128;
    }
  }
  // take returns so many bytes.
  take(n) {
    return this.b.subarray(this.i, this.i += n);
  }
  get ended() {
    return this.i >= this.b.length;
  }
  // keys reads a list of terms, calling read for what belongs to each.
  keys(read = () => {
  }) {
    const out = [];
    this.last = new Uint8Array();
    for (let n = this.number(); n > 0; n--) {
      const key = this.key();
      out.push(key);
      read(key);
    }
    return out;
  }
  key() {
    const shared = this.number();
    const more = this.number();
    const term = new Uint8Array(shared + more);
    term.set(this.last.subarray(0, shared));
    term.set(this.b.subarray(this.i, this.i + more), shared);
    this.i += more;
    this.last = term;
    return utf8.decode(term);
  }
  postings() {
    const n = this.number();
    const p = { notes: Array(n), kinds: Array(n), at: Array(n), counts: [] };
    for (let i = 0, note = 0; i < n; i++) p.notes[i] = note += this.number();
    for (let i = 0; i < n; i++) p.kinds[i] = this.b[this.i++];
    for (let i = 0; i < n; i++) {
      p.at[i] = p.counts.length;
      for (let kind = p.kinds[i] & 63; kind; kind >>= 1) if (kind & 1) p.counts.push(this.number());
    }
    return p;
  }
  places() {
    const out = /* @__PURE__ */ new Map();
    for (let note = 0; !this.ended; ) {
      note += this.number();
      const byField = [];
      for (let f = 0, kind = this.b[this.i++]; f < 7; f++) {
        const list = /* @__PURE__ */ new Map();
        for (let n = kind & 1 << f ? this.number() : 0, at = 0; n > 0; n--) {
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
};
function readTerms(b) {
  const r = new Reader(b);
  const check2 = utf8.decode(r.take(2));
  const items = /* @__PURE__ */ new Map();
  r.keys((key) => items.set(key, r.postings()));
  return { check: check2, items };
}
function readWords(b) {
  const r = new Reader(b);
  const out = /* @__PURE__ */ new Map();
  r.keys((key) => {
    const postings = r.postings();
    if (!postings.notes.length) out.set(key, { named: r.number() === 1 });
    else out.set(key, { named: postings.kinds.some((kind) => kind >> 6), postings, places: r.take(r.number()) });
  });
  return out;
}
function joined(parts) {
  if (parts.length < 2) return parts[0];
  const p = { notes: [], kinds: [], at: [], counts: [] };
  for (const q of parts) {
    for (let i = 0; i < q.notes.length; i++) {
      p.notes.push(q.notes[i]);
      p.kinds.push(q.kinds[i]);
      p.at.push(q.at[i] + p.counts.length);
    }
    for (const n of q.counts) p.counts.push(n);
  }
  return p;
}
function shardOf(first, term) {
  let low = 0;
  let high = first.length;
  while (low < high) {
    const mid = low + high >> 1;
    if (compareBytes(first[mid], term) <= 0) low = mid + 1;
    else high = mid;
  }
  return low - 1;
}
function covering(first, term, prefix = term) {
  const out = [];
  for (let i = Math.max(0, shardOf(first, term)); i < first.length; i++) {
    if (compareBytes(first[i], term) > 0 && !first[i].startsWith(prefix)) break;
    out.push(i);
  }
  return out;
}
var backwards = (s) => Array.from(s).reverse().join("");
var lengthKey = (n) => n.toString(36).padStart(2, "0");
var check = (checks, i) => checks.slice(2 * i, 2 * i + 2);
var lengthsShard = 512;
var fewNotes = 4096;
var Data = class {
  // version is that of the index: what else is in its name but what it is.
  constructor(index, version2, files2) {
    this.index = index;
    this.version = version2;
    this.files = files2;
  }
  index;
  version;
  files;
  read = /* @__PURE__ */ new Map();
  listed = /* @__PURE__ */ new Map();
  fieldLengths = [];
  // by shard
  runs;
  // part loads a file, unless it was. It is of this index if sound says so: if not,
  // some cache may have one that is not, or the site has changed.
  part(kind, name, sound, read) {
    const id = kind + "." + name;
    let p = this.read.get(id);
    if (!p) {
      p = this.load(id, kind, sound, read);
      this.read.set(id, p);
      p.catch(() => this.read.delete(id));
    }
    return p;
  }
  async load(id, kind, sound, read) {
    for (const version2 of [this.version, this.version + "-" + Date.now()]) {
      const bytes2 = await unpack(await this.files(kind, `kb/q/${id}.js?${version2}`));
      const data = read(bytes2);
      if (sound(bytes2, data)) return data;
    }
    throw new Error("the site has changed: load the page anew");
  }
  // begin loads what every query needs.
  begin() {
    if (!this.runs) {
      this.runs = this.part("first", this.index.first, () => true, (b) => {
        const r = new Reader(b);
        const shards = (kind) => ({ kind, first: r.keys(), checks: this.index[kind] });
        return { terms: shards("terms"), words: shards("words"), ends: shards("ends") };
      });
      this.runs.catch(() => this.runs = void 0);
      if (this.index.n <= fewNotes) void this.ready(Array(this.index.n).keys()).catch(() => {
      });
    }
    return this.runs;
  }
  // ready loads the lengths of notes.
  async ready(notes) {
    const wanted = /* @__PURE__ */ new Set();
    for (const note of notes) wanted.add(Math.floor(note / lengthsShard));
    await Promise.all([...wanted].filter((i) => !this.fieldLengths[i]).map(async (i) => {
      const sound = (b) => checkOf(b) === check(this.index.lengths, i);
      this.fieldLengths[i] = await this.part("lengths", String(i), sound, (b) => {
        const r = new Reader(b);
        const out = [];
        while (!r.ended) out.push(r.number());
        return out;
      });
    }));
  }
  // length is of a field of a note, for which ready must have been awaited.
  length(field, note) {
    const lengths = this.fieldLengths[Math.floor(note / lengthsShard)];
    return lengths[field * lengths.length / 6 + note % lengthsShard];
  }
  shard(s, i, read) {
    return this.part(s.kind, nameOf(s.first[i]), (b) => checkOf(b) === check(s.checks, i), read);
  }
  // word returns a term of the vocabulary; of tags there are only rare ones in it.
  async word(term) {
    const { words: words2 } = await this.begin();
    const i = shardOf(words2.first, term);
    return i < 0 ? void 0 : (await this.shard(words2, i, readWords)).get(term);
  }
  // segments are the items of a term that is not rare, with the file of each.
  async segments(term) {
    const { terms } = await this.begin();
    const files2 = covering(terms.first, term, term + "\0");
    const found = await Promise.all(files2.map((i) => this.shard(terms, i, readTerms)));
    const of = (key) => key === term || key.startsWith(term + "\0");
    return found.flatMap(({ items }, k) => [...items].filter(([key]) => of(key)).map(([key, postings]) => ({ file: files2[k], key, postings })));
  }
  postings(term) {
    let p = this.listed.get(term);
    if (!p) {
      p = this.segments(term).then(async (parts) => joined(parts.map((s) => s.postings)) || (await this.word(term))?.postings);
      this.listed.set(term, p);
      p.catch(() => this.listed.delete(term));
    }
    return p;
  }
  // places returns where a term stands that has postings.
  async places(term) {
    const rare = (await this.word(term))?.places;
    if (rare) return new Reader(rare).places();
    const { terms } = await this.begin();
    const lists = (await this.segments(term)).map(async ({ file, key }) => {
      const { check: check2, items } = await this.shard(terms, file, readTerms);
      const bytes2 = await this.part("places", nameOf(terms.first[file]), (b) => checkOf(b) === check2, (b) => b);
      const r = new Reader(bytes2);
      for (const k of items.keys()) {
        const list = r.take(r.number());
        if (k === key) return [...new Reader(list).places()];
      }
      return [];
    });
    return new Map((await Promise.all(lists)).flat());
  }
  // beginning returns the terms that begin so, but no tags: all, or those of paths.
  async beginning(prefix, named = false) {
    const { words: words2 } = await this.begin();
    const shards = await Promise.all(covering(words2.first, prefix).map((i) => this.shard(words2, i, readWords)));
    const found = shards.flatMap((s) => [...s]).filter(([term, word]) => term.startsWith(prefix) && term[0] !== "" && (word.named || !named));
    return found.map(([term]) => term);
  }
  // ending returns the words of so many characters that end so.
  async ending(length, end) {
    const { ends } = await this.begin();
    const prefix = lengthKey(length) + backwards(end);
    const shards = await Promise.all(covering(ends.first, prefix).map((i) => this.shard(ends, i, (b) => new Reader(b).keys())));
    return shards.flat().filter((key) => key.startsWith(prefix)).map((key) => backwards(key.slice(2)));
  }
  rows(note) {
    return this.part("rows", String(Math.floor(note / this.index.per)), this.numbered, readJSON);
  }
  // numbered reports whether data numbers notes as the index does.
  numbered = (_, data) => data.of === this.index.of;
  async row(note) {
    return (await this.rows(note)).r[note % this.index.per];
  }
  // text returns the text of a note, which may be in several files.
  async text(note) {
    const { x } = await this.rows(note);
    const before = x.filter(([n, part]) => n < note || n === note && part === 0).slice(-1);
    const files2 = await Promise.all([...before, ...x.filter(([n, part]) => n === note && part > 0)].map(async ([n, part]) => {
      const texts = await this.part("texts", n + "-" + part, this.numbered, readJSON);
      return texts.t[note - n];
    }));
    return { d: files2[0].d, s: files2[0].s, p: files2.flatMap((t) => t.p) };
  }
};
function readJSON(b) {
  return JSON.parse(utf8.decode(b));
}

// search/words.ts
var dense = [
  [5 /* Dense */, /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u],
  [5 /* Dense */ + 1, /\p{Script=Hangul}/u],
  [5 /* Dense */ + 2, /\p{Script=Thai}/u],
  [5 /* Dense */ + 3, /\p{Script=Lao}/u],
  [5 /* Dense */ + 4, /\p{Script=Khmer}/u],
  [5 /* Dense */ + 5, /\p{Script=Myanmar}/u],
  [5 /* Dense */ + 6, /\p{Script=Tibetan}/u]
];
var letter = /\p{L}/u;
var number = /\p{N}/u;
var mark = /\p{M}/u;
var invisible = /[\u00ad\u200b-\u200d\u2060]/;
var classes = /* @__PURE__ */ new Map();
function classOf(c) {
  if (c === void 0) return 0 /* Separator */;
  let k = classes.get(c);
  if (k === void 0) classes.set(c, k = classify(c));
  return k;
}
function classify(c) {
  const r = c.codePointAt(0);
  if (c === "'" || c === "’" || c === "＇") return 4 /* Apostrophe */;
  if (r < 3584) return alphabetic(c);
  if (r >= 65281 && r <= 65374) return classify(String.fromCharCode(r - 65248));
  if (r === 65438 || r === 65439) return 3 /* Extend */;
  if (c === "ー" || c === "ｰ") return 5 /* Dense */;
  const a = alphabetic(c);
  if (a === 0 /* Separator */ || a === 3 /* Extend */) return a;
  for (const [k, script] of dense) if (script.test(c)) return k;
  return a;
}
function alphabetic(c) {
  if (letter.test(c)) return 1 /* Letter */;
  if (number.test(c)) return 2 /* Digit */;
  if (mark.test(c) || invisible.test(c)) return 3 /* Extend */;
  return 0 /* Separator */;
}
var wordly = (k) => k === 1 /* Letter */ || k === 2 /* Digit */;
var isDense = (k) => k >= 5 /* Dense */;
var ascii = (s) => /^[\x00-\x7f]*$/.test(s);
function fold(s) {
  if (ascii(s)) return s.toLowerCase();
  let out = "";
  for (const c of s) {
    const r = c.codePointAt(0);
    if (c === "’" || c === "＇") out += "'";
    else if (r >= 65281 && r <= 65374) out += String.fromCharCode(r - 65248).toLowerCase();
    else if (invisible.test(c) || r >= 65024 && r <= 65039) continue;
    else if (c === "İ") out += "i";
    else out += c.toLowerCase();
  }
  return out.normalize("NFC");
}
var foldPair = (s) => s.normalize("NFKC").normalize("NFC");
var nonspacing = /\p{Mn}/u;
var accented = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}]/u;
var plain = { ø: "o", ł: "l", đ: "d", ı: "i" };
function unaccent(s) {
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
var utf82 = new TextEncoder();
var maxTerm = 255;
function cut(s) {
  if (s.length * 3 <= maxTerm || utf82.encode(s).length <= maxTerm) return s;
  let n = 0;
  let out = "";
  for (const c of s) {
    n += utf82.encode(c).length;
    if (n > maxTerm) break;
    out += c;
  }
  return out;
}
var upper = /\p{Lu}/u;
var lower = /\p{Ll}/u;
function camelParts(s) {
  const rs = Array.from(s);
  if (utf82.encode(s).length < 4 || !rs.slice(1).some((c) => upper.test(c))) return [];
  const parts = [];
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
var Analyzer = class {
  constructor(stem) {
    this.stem = stem;
  }
  stem;
  words = /* @__PURE__ */ new Map();
  // forget makes words be read anew, by other stemmers.
  forget() {
    this.words.clear();
  }
  // normalize returns the term of one piece of text.
  normalize(raw) {
    const s = fold(raw);
    if (s === "" || utf82.encode(s).length > maxTerm) return unaccent(s);
    return unaccent(this.stem(s) || s);
  }
  tokens(text) {
    const s = Array.from(text);
    const out = [];
    for (let i = 0; i < s.length; ) {
      const c = classOf(s[i]);
      if (wordly(c)) i = this.compound(out, s, i);
      else if (isDense(c)) i = this.run(out, s, i, c);
      else i++;
    }
    return out;
  }
  compound(out, s, start) {
    let whole = "";
    let pieces = 0;
    let i = start;
    for (; ; ) {
      let end = pieceEnd(s, i);
      this.piece(out, s.slice(i, end).join(""), i, end);
      pieces++;
      const j = joint(s, end);
      if (pieces > 1 || j > 0) whole += s.slice(i, end).join("");
      const n = suffix(s, i, end);
      if (j === 0 && n > 0) {
        const raw = s.slice(i, end + n).join("");
        out.push({ term: cut(unaccent(fold(raw))), raw, start: i, end: end + n, kind: 2 /* Whole */ });
        end += n;
      }
      i = end + j;
      if (j === 0) break;
    }
    if (pieces > 1 && pieces <= 6 && utf82.encode(whole).length <= 48) {
      const term = this.word(whole).main;
      if (term) out.push({ term, raw: s.slice(start, i).join(""), start, end: i, kind: 2 /* Whole */ });
    }
    return i;
  }
  piece(out, raw, start, end) {
    const w = this.word(raw);
    if (!w.main) return;
    out.push({ term: w.main, raw, start, end, kind: 0 /* Main */ });
    for (const term of w.parts) out.push({ term, raw, start, end, kind: 1 /* Part */ });
  }
  word(raw) {
    let w = this.words.get(raw);
    if (!w) {
      w = { main: cut(this.normalize(raw)), parts: camelParts(raw).map((p) => cut(this.normalize(p))).filter((p) => p) };
      this.words.set(raw, w);
    }
    return w;
  }
  // run reads characters of a script without spaces: overlapping pairs.
  run(out, s, i, c) {
    let first = i;
    let mid = i;
    let n = 0;
    const pair = (start, end, kind) => {
      const raw = s.slice(start, end).join("");
      out.push({ term: cut(foldPair(raw)), raw, start, end, kind });
    };
    for (; i < s.length; i++) {
      const k = classOf(s[i]);
      if (k !== c && k !== 3 /* Extend */) break;
      if (k === c) {
        if (n === 2) {
          pair(first, i, 0 /* Main */);
          first = mid;
          n = 1;
        }
        mid = i;
        n++;
      }
    }
    pair(first, i, 0 /* Main */);
    if (n === 2) pair(mid, i, 1 /* Part */);
    return i;
  }
};
function pieceEnd(s, i) {
  let last = 0 /* Separator */;
  for (; i < s.length; i++) {
    const c = classOf(s[i]);
    if (c === 4 /* Apostrophe */) {
      if (last !== 1 /* Letter */ || classOf(s[i + 1]) !== 1 /* Letter */) return i;
    } else if (c !== 1 /* Letter */ && c !== 2 /* Digit */ && c !== 3 /* Extend */) return i;
    if (c !== 3 /* Extend */) last = c;
  }
  return i;
}
function joint(s, i) {
  let n = 0;
  switch (s[i]) {
    case "-":
    case "_":
    case ".":
      n = 1;
      break;
    case ",":
      if (classOf(s[i - 1]) === 2 /* Digit */ && classOf(s[i + 1]) === 2 /* Digit */) n = 1;
      break;
    case ":":
      if (s[i + 1] === ":") n = 2;
  }
  return n > 0 && wordly(classOf(s[i + n])) ? n : 0;
}
function suffix(s, start, i) {
  let n = 0;
  if (s[i] === "+" && s[i + 1] === "+") n = 2;
  else if (s[i] === "#" && i - start === 1) n = 1;
  if (n > 0 && !wordly(classOf(s[i + n])) && s[i + n] !== s[i]) return n;
  return 0;
}

// search/query.ts
var fieldOf = { title: 0, alias: 1, heading: 2, tag: 3, meta: 4, body: 5, name: 6, path: 6 };
var anyField = -1;
var allFields = 127;
var Syntax = class extends Error {
};
var space = (c) => c !== void 0 && /\p{White_Space}/u.test(c);
var Parser = class {
  i = 0;
  depth = 0;
  s;
  constructor(text) {
    this.s = Array.from(text);
  }
  // peek skips spaces and returns the next character.
  peek() {
    while (space(this.s[this.i]) || this.s[this.i] === "\0") this.i++;
    return this.s[this.i];
  }
  rest() {
    return this.s.slice(this.i).join("");
  }
  operator(op) {
    this.peek();
    for (let k = 0; k < op.length; k++) if (this.s[this.i + k] !== op[k]) return false;
    const next = this.s[this.i + op.length];
    if (next !== void 0 && !space(next) && next !== "(" && next !== ")") return false;
    this.i += op.length;
    return true;
  }
  parse() {
    const n = this.query(0);
    if (this.peek() !== void 0) throw new Syntax("unexpected " + this.rest());
    if (!positive(n) && any(n)) throw new Syntax("nothing to search for but exclusions");
    return n;
  }
  query(depth) {
    if (depth > 50) throw new Syntax("too many parentheses");
    return this.joined("OR", 3 /* Or */, () => this.joined("AND", 2 /* And */, () => this.list(depth)));
  }
  joined(name, op, operand) {
    let n = operand();
    while (this.operator(name)) {
      const next = operand();
      if (!any(next) || !any(n)) throw new Syntax("nothing beside " + name);
      if (n.op !== op) n = { op, kids: [n] };
      n.kids.push(next);
    }
    return n;
  }
  atOperator() {
    const i = this.i;
    const is = this.operator("AND") || this.operator("OR");
    this.i = i;
    return is;
  }
  list(depth) {
    const n = { op: 1 /* List */, kids: [] };
    for (; ; ) {
      const c = this.peek();
      if (c === void 0 || c === ")" && this.depth > 0 || this.atOperator()) return n;
      const kid = this.item(depth);
      if (kid) n.kids.push(kid);
    }
  }
  item(depth) {
    let must = false;
    let not = false;
    if (this.operator("NOT")) {
      if (this.peek() === void 0) throw new Syntax("nothing after NOT");
      not = true;
    } else {
      const c = this.s[this.i];
      if ((c === "+" || c === "-") && this.signs(this.i + 1)) {
        must = c === "+";
        not = c === "-";
        this.i++;
      }
    }
    let n;
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
      n = { op: 0 /* Leaf */, kids: [], leaf };
      must ||= leaf.field !== anyField && !not;
    }
    if (must || not) n = { op: 1 /* List */, kids: [n] };
    n.must = must;
    n.not = not;
    return n;
  }
  signs(i) {
    const c = this.s[i];
    return c === '"' || c === "(" || wordly(classOf(c)) || isDense(classOf(c));
  }
  leaf() {
    const l = { text: "", field: anyField, phrase: false, prefix: false, units: [] };
    const colon = this.s.indexOf(":", this.i);
    if (colon >= 0) {
      const f = fieldOf[this.s.slice(this.i, colon).join("").toLowerCase()];
      const next = this.s[colon + 1];
      if (f !== void 0 && next !== void 0 && !space(next) && next !== ":") {
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
};
var any = (n) => n.op === 0 /* Leaf */ || n.kids.some(any);
var positive = (n) => !n.not && (n.op === 0 /* Leaf */ || n.kids.some(positive));
function parse(text) {
  try {
    return [new Parser(text).parse(), ""];
  } catch (e) {
    if (!(e instanceof Syntax)) throw e;
    const words2 = text.split(/\p{White_Space}+/u).filter((w) => w);
    const kids = words2.map((w) => ({ op: 0 /* Leaf */, kids: [], leaf: { text: w, field: anyField, phrase: false, prefix: false, units: [] } }));
    return [{ op: 1 /* List */, kids }, "read as plain words: " + e.message];
  }
}
var tagMark = "";
var maxUnits = 512;
function plan(text, analyzer, stops) {
  const [root, remark] = parse(text);
  const p = { root, units: [], words: 0, sets: false, remark };
  const seen = /* @__PURE__ */ new Map();
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
function plainList(n) {
  if (n.op !== 1 /* List */ || n.must || n.not) return n.op === 0 /* Leaf */ && !n.must && !n.not;
  return n.kids.every((k) => k.op === 0 /* Leaf */);
}
function prune(n) {
  n.kids = n.kids.map(prune).filter((k) => (k.op === 0 /* Leaf */ ? k.leaf.units.length : k.kids.length) > 0);
  return n;
}
function fill(p, n, a, stops, seen, scored) {
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
var unit = (word, field) => ({
  word,
  terms: [],
  phrase: null,
  fields: field === anyField ? allFields : 1 << field,
  factor: 1,
  extra: false,
  whole: false,
  neg: false,
  prefix: false,
  scored: false,
  stop: false,
  open: false,
  raw: "",
  last: false,
  times: 0,
  df: 0,
  idf: 0,
  set: null
});
var single = (s) => Array.from(s).length === 1 && isDense(classOf(s));
function analyze(l, a, stops) {
  if (l.field === fieldOf.tag && !l.phrase && !l.prefix) {
    const tag = fold(l.text.replace(/^#/, "").replace(/^\/+|\/+$/g, ""));
    if (tag) return [{ ...unit(l.text, l.field), terms: [cut(tagMark + tag)] }];
  }
  const tokens = a.tokens(l.text);
  if (l.phrase) return phrase(l, tokens.filter((t) => t.kind === 0 /* Main */).map((t) => t.term));
  const units = [];
  tokens.forEach((t, i) => {
    const extra = t.kind !== 0 /* Main */;
    if (extra && isDense(classOf(Array.from(t.raw)[0]))) return;
    const u = unit(t.raw, l.field);
    Object.assign(u, { terms: [t.term], extra, open: !extra, raw: cut(unaccent(fold(t.raw))), whole: t.kind === 2 /* Whole */, factor: extra ? 0.5 : 1 });
    if (l.prefix && i === tokens.length - 1) Object.assign(u, { prefix: true, open: false });
    if (single(t.raw)) Object.assign(u, { prefix: true, open: false, raw: t.term });
    u.stop = l.field === anyField && !l.prefix && stops.has(u.raw);
    units.push(u);
  });
  return units;
}
function phrase(l, terms) {
  if (!terms.length) return [];
  const u = unit(l.text, l.field);
  if (terms.length === 1) Object.assign(u, { terms, raw: terms[0], prefix: single(terms[0]) });
  else u.phrase = terms;
  return [u];
}
function dropStops(p) {
  const kept = p.units.filter((u) => !u.stop);
  if (kept.some((u) => !u.extra)) p.units = kept;
}

// search/engine.ts
var k1 = 1.5;
var weights = [3, 2, 1.5, 1.5, 0.5, 1];
var bs = [0.5, 0.3, 0.5, 0.3, 0.3, 0.75];
var nameWeight = 5;
var folderWeight = 0.5;
var nameField = 6;
var obsoleteFactor = 0.5;
var prefixFactor = 0.7;
var spellFactor = 0.6;
var maxExpansions = 4096;
var shortQuery = 5;
var maxCompletions = 64;
var noPlace = -2;
var Engine = class {
  constructor(data, analyzer, stops) {
    this.data = data;
    this.analyzer = analyzer;
    this.stops = stops;
    this.average = data.index.avg;
  }
  data;
  analyzer;
  stops;
  weight = /* @__PURE__ */ new Map();
  // of the unit in hand, by note
  average;
  async search(text) {
    const p = plan(text, this.analyzer, this.stops);
    const found = { hits: [], corrected: [], missing: [], remark: p.remark, plan: p };
    const score = /* @__PURE__ */ new Map();
    const cover = /* @__PURE__ */ new Map();
    for (const u of p.units) for (const t of u.phrase || u.terms) void this.data.postings(t).catch(() => {
    });
    for (let i = 0; i < p.units.length; i++) await this.look(p.units[i], p, found, score, cover);
    let wanted = 0;
    for (const u of p.units) if (u.scored && !u.extra) wanted += u.idf;
    const notes = p.sets ? this.allowed(p.root, false) : score.keys();
    const old = new Set(this.data.index.old);
    const all = [];
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
  async look(u, p, found, score, cover) {
    await this.collect(u);
    if (this.weight.size && u.last && u.open && p.words <= shortQuery) p.units.push(...await this.completions(u));
    if (!this.weight.size && u.open && !u.neg) await this.otherwise(u, found);
    if (!this.weight.size && !u.extra && !u.neg && !found.missing.includes(u.word)) found.missing.push(u.word);
    if (p.sets) u.set = new Set(this.weight.keys());
    if (!u.scored) return;
    u.df = this.weight.size;
    u.idf = idfOf(u.df, this.data.index.n);
    const factor = u.factor * (2 * u.times / (1 + u.times));
    for (const [note, w] of this.weight) {
      score.set(note, (score.get(note) || 0) + factor * (u.idf * ((k1 + 1) * w / (k1 + w))));
      if (!u.extra) cover.set(note, (cover.get(note) || 0) + u.factor * u.idf);
    }
  }
  async collect(u) {
    this.weight.clear();
    if (u.phrase) return this.collectPhrase(u, u.phrase);
    if (u.prefix) return this.collectPrefix(u);
    for (const t of u.terms) await this.collectTerm(t, u.fields);
  }
  add(note, w) {
    this.weight.set(note, (this.weight.get(note) || 0) + w);
  }
  // collectTerm adds a term's weights, and returns how many notes have it.
  async collectTerm(term, fields) {
    const p = await this.data.postings(term);
    if (!p) return 0;
    await this.data.ready(p.notes.filter((_, i) => p.kinds[i] & fields & 63));
    for (let i = 0; i < p.notes.length; i++) {
      const stored = this.weigh(p, i, fields);
      if (stored > 0) this.add(p.notes[i], stored);
    }
    if (fields & 1 << nameField) {
      for (let i = 0; i < p.notes.length; i++) {
        const kind = p.kinds[i] >> 6;
        if (kind) this.add(p.notes[i], kind & 1 ? nameWeight : folderWeight);
      }
    }
    return p.notes.length;
  }
  weigh(p, i, fields) {
    let sum = 0;
    let at = p.at[i];
    for (let f = 0; f < 6; f++) {
      if (!(p.kinds[i] & 1 << f)) continue;
      if (fields & 1 << f) sum += this.field(f, p.counts[at], p.notes[i]);
      at++;
    }
    return sum;
  }
  field(f, n, note) {
    return weights[f] * n / (1 - bs[f] + bs[f] * (this.data.length(f, note) / this.average[f]));
  }
  async collectPrefix(u) {
    const terms = [.../* @__PURE__ */ new Set([...await this.data.beginning(u.raw), ...u.terms])].sort(compareBytes);
    u.terms = [];
    for (const t of terms) {
      if (await this.collectTerm(t, u.fields) > 0) {
        u.terms.push(t);
        if (u.terms.length === maxExpansions) break;
      }
    }
  }
  // collectPhrase weighs a phrase as if it were one term: as often as its words
  // stand behind each other.
  async collectPhrase(u, phrase2) {
    const distinct = [...new Set(phrase2)];
    if ((await Promise.all(distinct.map((t) => this.data.postings(t)))).includes(void 0)) return;
    const places = /* @__PURE__ */ new Map();
    await Promise.all(distinct.map(async (t) => places.set(t, await this.data.places(t))));
    const lists = phrase2.map((t) => places.get(t));
    await this.data.ready(lists[0].keys());
    const named = [];
    for (const [note, first] of lists[0]) {
      const rest = lists.slice(1).map((l) => l.get(note));
      if (rest.includes(void 0)) continue;
      const follows = (f, at) => rest.every((r) => (at = r[f].get(at) ?? noPlace) !== noPlace);
      const count = (f) => [...first[f].values()].filter((at) => follows(f, at)).length;
      let w = 0;
      for (let f = 0; f < 6; f++) {
        const n = u.fields & 1 << f && first[f].size ? count(f) : 0;
        if (n > 0) w += this.field(f, n, note);
      }
      if (w > 0) this.add(note, w);
      if (u.fields & 1 << nameField && first[nameField].size && count(nameField) > 0) named.push(note);
    }
    for (const note of named) this.add(note, nameWeight);
  }
  // completions are the words of paths that begin as u does, each as a bonus for the
  // notes that are called so.
  async completions(u) {
    const chars2 = Array.from(u.raw);
    if (classOf(chars2[0]) !== 1 || chars2.length < 3) return [];
    for (const t of u.terms) if ((await this.data.postings(t))?.kinds.some((kind) => kind >> 6)) return [];
    const terms = (await this.data.beginning(u.raw, true)).slice(0, maxCompletions);
    for (const t of terms) void this.data.postings(t).catch(() => {
    });
    return terms.map((t) => ({ ...unit(u.word, nameField), terms: [t], factor: prefixFactor, extra: true, scored: true, raw: t, times: 1 }));
  }
  // otherwise reads a word that no note has as the beginning of one, or in another
  // spelling.
  async otherwise(u, found) {
    const chars2 = Array.from(u.raw);
    if (classOf(chars2[0]) !== 1) return;
    if (u.last && chars2.length >= 3) {
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
  async spelling(unknown, fields) {
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
  async nearest(unknown, edits, fields) {
    const ascii2 = /^[\x00-\x7f]*$/.test(unknown);
    const near = (await this.alike(Array.from(unknown), edits)).filter((w) => (!ascii2 || /^[\x00-\x7f]*$/.test(w)) && within(unknown, w, edits));
    near.sort(compareBytes);
    if (near.length === 1 && fields === allFields) return near[0];
    let best = "";
    let most = 0;
    await Promise.all(near.map((t) => this.data.postings(t)));
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
  async alike(c, edits) {
    const lengths = Array.from({ length: 2 * edits + 1 }, (_, i) => c.length - edits + i);
    const end = edits === 1 ? c.slice(-2).join("") : "";
    const beginnings = edits > 1 ? [] : c.length === 4 ? [c[0] + c[1], c[0] + c[2]] : [c[0] + c[1]];
    const lists = await Promise.all([...lengths.map((n) => this.data.ending(n, end)), ...beginnings.map((b) => this.data.beginning(b))]);
    return [...new Set(lists.flat())];
  }
  // allowed is the notes that a query's structure allows.
  allowed(n, strict) {
    switch (n.op) {
      case 0 /* Leaf */:
        return leafSet(n.leaf.units, strict);
      case 3 /* Or */:
        return new Set(n.kids.flatMap((k) => [...this.allowed(k, strict)]));
      case 2 /* And */:
        return n.kids.map((k) => this.allowed(k, true)).reduce(intersect);
    }
    let must = null;
    const any2 = /* @__PURE__ */ new Set();
    let shoulds = 0;
    for (const k of n.kids) {
      if (k.not) continue;
      if (k.must) {
        const s = this.allowed(k, true);
        must = must ? intersect(must, s) : s;
      } else {
        shoulds++;
        for (const note of this.allowed(k, strict && n.kids.length === 1)) any2.add(note);
      }
    }
    let all = must || any2;
    if (!must && !shoulds) all = new Set(Array(this.data.index.n).keys());
    for (const k of n.kids) if (k.not) for (const note of this.allowed(k, true)) all.delete(note);
    return all;
  }
};
function leafSet(units, strict) {
  const any2 = /* @__PURE__ */ new Set();
  let all = null;
  for (const u of units) {
    for (const note of u.set) any2.add(note);
    if (!u.extra) all = all ? intersect(all, u.set) : new Set(u.set);
  }
  if (!strict || !all) return any2;
  for (const u of units) if (u.whole) for (const note of u.set) all.add(note);
  return all;
}
function intersect(a, b) {
  return new Set([...a].filter((x) => b.has(x)));
}
function idfOf(df, n) {
  return Math.round(Math.log(1 + (n - df + 0.5) / (df + 0.5)) * (1 << 20)) / (1 << 20);
}
function coordination(words2, part) {
  const c = 1 / (1 + words2);
  return 1 - c + c * part;
}
function within(a, b, edits) {
  const x = Array.from(a);
  const y = Array.from(b);
  if (Math.abs(x.length - y.length) > edits) return false;
  let before = [];
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

// search/excerpt.ts
var width = 200;
function excerpt(note, units, analyzer) {
  const idf = /* @__PURE__ */ new Map();
  const prefixes = [];
  for (const u of units) {
    if (u.neg) continue;
    for (const t of u.phrase || u.terms) idf.set(t, Math.max(idf.get(t) || 0, u.idf || 1));
    if (u.prefix && u.raw) prefixes.push([u.raw, u.idf || 1]);
  }
  const value = (t) => {
    const v = idf.get(t.term);
    if (v !== void 0) return v;
    return prefixes.find(([p]) => t.term.startsWith(p))?.[1] || 0;
  };
  let best = { part: -1, worth: 0, from: 0, tokens: [] };
  note.p.forEach((part2, i) => {
    const met = (text) => analyzer.tokens(text).filter((t) => t.kind !== 1 /* Part */ && value(t) > 0);
    const tokens = met(part2.t);
    const counts = /* @__PURE__ */ new Map();
    const values = /* @__PURE__ */ new Map();
    for (const t of [...tokens, ...met(part2.h || "")]) {
      counts.set(t.term, (counts.get(t.term) || 0) + 1);
      values.set(t.term, value(t));
    }
    const dense2 = densest(tokens, value);
    let worth = dense2.worth;
    for (const [term, n] of counts) worth += values.get(term) * n / (n + 1);
    if (worth > best.worth) best = { part: i, worth, from: dense2.from, tokens };
  });
  if (best.part < 0) return { date: note.d || "", heading: "", anchor: "", text: [{ s: note.s || "", mark: false }] };
  const part = note.p[best.part];
  return { date: note.d || "", heading: part.h || "", anchor: part.a || "", text: stretch(part.t, best.from, best.tokens) };
}
function densest(tokens, value) {
  let best = { worth: 0, from: 0 };
  tokens.forEach((first, i) => {
    const seen = /* @__PURE__ */ new Set();
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
function stretch(text, place, tokens) {
  const s = Array.from(text);
  const space2 = (i) => /\s/.test(s[i]);
  let from = Math.max(0, place - 40);
  while (from > 0 && from > place - 60 && !space2(from - 1)) from--;
  let to = Math.min(s.length, place + width);
  while (to < s.length && to < place + width + 20 && !space2(to)) to++;
  const out = [{ s: from > 0 ? "… " : "", mark: false }];
  let at = from;
  for (const t of tokens) {
    const start = Math.max(t.start, at);
    if (start >= t.end || t.end > to) continue;
    const word = s.slice(start, t.end).join("");
    if (t.start < start && out[out.length - 1].mark) out[out.length - 1].s += word;
    else out.push({ s: s.slice(at, start).join(""), mark: false }, { s: word, mark: true });
    at = t.end;
  }
  out.push({ s: s.slice(at, to).join("") + (to < s.length ? " …" : ""), mark: false });
  return out.filter((p) => p.s);
}

// search/stem.ts
var Env = class {
  constructor(current) {
    this.current = current;
    this.Limit = this.Ket = current.length;
  }
  current;
  Cursor = 0;
  Limit;
  LimitBackward = 0;
  Bra = 0;
  Ket;
  Current() {
    return this.current;
  }
  boundary(i) {
    return i <= 0 || i >= this.current.length || (this.current.charCodeAt(i) & 192) !== 128;
  }
  ReplaceS(bra, ket, s) {
    const adjustment = s.length - (ket - bra);
    this.current = this.current.slice(0, bra) + s + this.current.slice(Math.max(bra, ket));
    this.Limit += adjustment;
    if (this.Cursor >= ket) this.Cursor += adjustment;
    else if (this.Cursor > bra) this.Cursor = bra;
    return adjustment;
  }
  EqS(s) {
    if (this.Cursor >= this.Limit || !this.current.startsWith(s, this.Cursor)) return false;
    this.Cursor += s.length;
    while (!this.boundary(this.Cursor)) this.Cursor++;
    return true;
  }
  EqSB(s) {
    const at = this.Cursor - s.length;
    if (at < this.LimitBackward || !this.boundary(at) || !this.current.startsWith(s, at)) return false;
    this.Cursor = at;
    return true;
  }
  SliceFrom(s) {
    this.ReplaceS(this.Bra, this.Ket, s);
    return true;
  }
  SliceDel() {
    return this.SliceFrom("");
  }
  SliceTo() {
    return this.current.slice(this.Bra, this.Ket);
  }
  Insert(bra, ket, s) {
    const adjustment = this.ReplaceS(bra, ket, s);
    if (bra <= this.Bra) this.Bra += adjustment;
    if (bra <= this.Ket) this.Ket += adjustment;
  }
  NextChar() {
    this.Cursor++;
    while (!this.boundary(this.Cursor)) this.Cursor++;
  }
  PrevChar() {
    this.Cursor--;
    while (!this.boundary(this.Cursor)) this.Cursor--;
  }
  ByteIndexForHop(delta) {
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
  rune() {
    const b = (k) => this.current.charCodeAt(this.Cursor + k) & 63;
    const c = this.current.charCodeAt(this.Cursor);
    if (Number.isNaN(c)) return -1;
    if (c < 128) return c;
    if (c < 224) return (c & 31) << 6 | b(1);
    if (c < 240) return (c & 15) << 12 | b(1) << 6 | b(2);
    return (c & 7) << 18 | b(1) << 12 | b(2) << 6 | b(3);
  }
  grouped(chars2, min, max) {
    const r = this.rune();
    return r >= min && r <= max && (chars2[r - min >> 3] & 1 << (r - min & 7)) !== 0;
  }
  InGrouping(chars2, min, max) {
    if (this.Cursor >= this.Limit || !this.grouped(chars2, min, max)) return false;
    this.NextChar();
    return true;
  }
  OutGrouping(chars2, min, max) {
    if (this.Cursor >= this.Limit || this.grouped(chars2, min, max)) return false;
    this.NextChar();
    return true;
  }
  InGroupingB(chars2, min, max) {
    return this.backward(() => this.grouped(chars2, min, max));
  }
  OutGroupingB(chars2, min, max) {
    return this.backward(() => !this.grouped(chars2, min, max));
  }
  backward(test) {
    if (this.Cursor <= this.LimitBackward) return false;
    this.PrevChar();
    if (test()) return true;
    this.NextChar();
    return false;
  }
  FindAmong(list, context) {
    const c = this.Cursor;
    return this.among(list, context, (w, k) => c + k === this.Limit ? -1 : this.current.charCodeAt(c + k) - w.Str.charCodeAt(k), (w) => c + w.Str.length);
  }
  FindAmongB(list, context) {
    const c = this.Cursor;
    return this.among(
      list,
      context,
      (w, k) => c - k === this.LimitBackward ? -1 : this.current.charCodeAt(c - k - 1) - w.Str.charCodeAt(w.Str.length - k - 1),
      (w) => c - w.Str.length
    );
  }
  // among finds the longest of a sorted list that stands at the cursor.
  among(list, context, compare, end) {
    let i = 0;
    let j = list.length;
    let commonI = 0;
    let commonJ = 0;
    for (let first = false; ; ) {
      const k = i + (j - i >> 1);
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
    for (; ; ) {
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
};
var bytes = (s) => {
  let out = "";
  for (const b of new TextEncoder().encode(s)) out += String.fromCharCode(b);
  return out;
};
var chars = (s) => new TextDecoder().decode(Uint8Array.from(s, (c) => c.charCodeAt(0)));
var runtime = {
  RuneCountInString: (s) => Array.from(chars(s)).length,
  words: (stem) => (env) => {
    const word = env.Current();
    env.ReplaceS(0, word.length, bytes(stem(chars(word))));
    return true;
  }
};
function snowball(make) {
  const stem = make(runtime);
  return (word) => {
    const env = new Env(bytes(word));
    stem(env);
    return chars(env.Current());
  };
}
function scriptOf(s) {
  const r = s.codePointAt(0);
  if (r < 592 || /^\p{Script=Latin}/u.test(s)) return 1 /* Latin */;
  if (r < 880) return 0 /* Other */;
  if (r >= 1024 && r < 1328) return 2 /* Cyrillic */;
  if (/^\p{Script=Arabic}/u.test(s)) return 3 /* Arabic */;
  if (/^\p{Script=Devanagari}/u.test(s)) return 4 /* Devanagari */;
  return 0 /* Other */;
}
var own = { ar: 3, bg: 2, ckb: 3, el: 0, fa: 3, hi: 4, hy: 0, ru: 2, ta: 0 };
var usual = { [1 /* Latin */]: "en", [2 /* Cyrillic */]: "ru", [3 /* Arabic */]: "ar", [4 /* Devanagari */]: "hi" };
function germanNormalize(s) {
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
function stemmerOf(grammar, loadStemmer) {
  const loaded = /* @__PURE__ */ new Map();
  const articles = new Set(grammar.articles);
  const languageOf = (s) => {
    const script = scriptOf(s);
    if (grammar.language === "none") return "none";
    if (script === (own[grammar.language] ?? 1 /* Latin */)) return grammar.language;
    return usual[script] || "";
  };
  const stem = (s) => {
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
  const ready = async (text) => {
    const wanted = /* @__PURE__ */ new Set();
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

// search/searcher.ts
var Searcher = class _Searcher {
  constructor(data, engine, analyzer, ready) {
    this.data = data;
    this.engine = engine;
    this.analyzer = analyzer;
    this.ready = ready;
  }
  data;
  engine;
  analyzer;
  ready;
  static async open(files2, file) {
    const index = await files2("search", file);
    if (index.v !== version) throw new Error("the search data is of another version: load the page anew");
    const [language] = index.lang.toLowerCase().replaceAll("_", "-").split("-");
    const { stem, ready } = stemmerOf({ language, articles: index.articles }, async (l) => index.stems[l] ? snowball(await files2("stem", index.stems[l])) : void 0);
    const data = new Data(index, file.split(".")[1], files2);
    void data.begin().catch(() => {
    });
    const analyzer = new Analyzer(stem);
    return new _Searcher(data, new Engine(data, analyzer, new Set(index.stops)), analyzer, ready);
  }
  async search(query) {
    if (await this.ready(query)) this.analyzer.forget();
    const { hits, plan: plan2, ...said } = await this.engine.search(query);
    const result = async (h) => ({
      note: h.note,
      row: await this.data.row(h.note),
      score: h.score,
      excerpt: async () => excerpt(await this.data.text(h.note), plan2.units, this.analyzer)
    });
    return { ...said, total: hits.length, results: (from, to) => Promise.all(hits.slice(from, to).map(result)) };
  }
};

// search/node.ts
var [dir, mode] = process.argv.slice(2);
var kb = {};
function files(name, file) {
  return new Promise((done) => {
    kb[name] = done;
    new Function("kb", (0, import_node_fs.readFileSync)(dir + "/" + file.split("?")[0], "utf8"))(kb);
  });
}
async function lines(answer) {
  for await (const line of (0, import_node_readline.createInterface)({ input: process.stdin, crlfDelay: Infinity })) {
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  }
}
async function queries() {
  const kb2 = {};
  new Function("window", (0, import_node_fs.readFileSync)(dir + "/kb/site.js", "utf8"))({ kb: kb2 });
  const searcher = await Searcher.open(files, kb2.at.search);
  await lines(async (query) => (await (await searcher.search(query)).results(0, 10)).map((r) => ({ note: r.note, page: r.row.p, score: r.score })));
}
async function words() {
  const stemmer = async (language) => {
    const file = `stem-${language}.js`;
    return (0, import_node_fs.existsSync)(dir + "/" + file) ? snowball(await files("stem", file)) : void 0;
  };
  await lines(async (grammar) => {
    const { stem, ready } = stemmerOf(grammar, stemmer);
    const analyzer = new Analyzer(stem);
    await ready(grammar.words.join(" "));
    return grammar.words.map((w) => analyzer.tokens(w).map((t) => [t.term, t.raw, t.kind]));
  });
}
void (mode === "words" ? words() : queries());
