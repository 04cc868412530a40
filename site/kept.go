package site

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"

	"kb/note"
)

// kept is what a build hands to the next, so that this one need not ask for notes
// that did not change: what lists show of each doc, and what its page was made of. A
// doc's history and the texts that many docs share are read when they are wanted.
type kept struct {
	manifest string // SHA-256 of manifest.json: the site that all of this is about
	siteKey  string
	nav      string // names of files
	graph    string

	folders  []keptFolder
	tags     map[string]string
	files    []File // without blobs
	attached map[int]attachment
	search   []int // the notes of the search data; nil for a site without

	texts []string // what docs share: dates, commits, authors
	docs  []keptDoc
	order []int // the docs of all folders, folder after folder
}

// keptFolder is a folder, its page, and how many docs stand in it: those are next in
// kept.order.
type keptFolder struct {
	place
	page string
	docs int
}

// keptDoc is a doc with the name of its page.
type keptDoc struct {
	row      string // the bytes that all of it was read from
	doc      Doc
	page     string
	summary  string
	versions string // packed
	targets  []target
	heir     string // what took its place, if it says that it is obsolete
	obsolete bool
}

// keptFormat begins the bytes of a kept, and is another for each form of them.
const keptFormat = "kb site 1\n"

var errKept = errors.New("what the build before left is damaged, or of another version")

var keptSums = crc32.MakeTable(crc32.Castagnoli)

// packer writes numbers and strings.
type packer struct {
	buf     []byte
	texts   []string
	numbers map[string]int // of texts
}

func (p *packer) number(ns ...int) { p.buf = uvarints(p.buf, ns...) }

func (p *packer) str(ss ...string) {
	for _, s := range ss {
		p.buf = append(binary.AppendUvarint(p.buf, uint64(len(s))), s...)
	}
}

// text writes a string that others are likely to be equal to.
func (p *packer) text(ss ...string) {
	for _, s := range ss {
		n, ok := p.numbers[s]
		if !ok {
			n = len(p.texts)
			p.numbers[s] = n
			p.texts = append(p.texts, s)
		}
		p.number(n)
	}
}

// bytes are k, for the next build.
func (k *kept) bytes() []byte {
	p := &packer{texts: slices.Clip(k.texts), numbers: make(map[string]int, len(k.texts))}
	for n, s := range k.texts {
		p.numbers[s] = n
	}
	size := 0
	for i := range k.docs {
		if d := &k.docs[i]; d.row == "" {
			d.row = d.pack(p)
		}
		size += len(k.docs[i].row)
	}
	p.buf = append(make([]byte, 0, size+1<<20), keptFormat...)
	p.str(k.manifest, k.siteKey, k.nav, k.graph)
	p.number(len(p.texts))
	p.str(p.texts...)
	p.number(len(k.folders))
	for _, f := range k.folders {
		p.str(f.collection, f.path, f.page)
		p.number(f.docs)
	}
	p.number(len(k.order))
	p.number(k.order...)
	p.number(len(k.tags))
	for _, tag := range slices.Sorted(maps.Keys(k.tags)) {
		p.str(tag, k.tags[tag])
	}
	k.packFiles(p)
	p.number(boolInt(k.search != nil), len(k.search))
	p.number(k.search...)
	p.number(len(k.docs))
	for i := range k.docs {
		p.str(k.docs[i].row)
	}
	return binary.LittleEndian.AppendUint32(p.buf, crc32.Checksum(p.buf, keptSums))
}

func (k *kept) packFiles(p *packer) {
	p.number(len(k.files))
	for _, f := range k.files {
		p.str(f.Collection, f.Path)
	}
	p.number(len(k.attached))
	for _, i := range slices.Sorted(maps.Keys(k.attached)) {
		a := k.attached[i]
		p.number(i)
		p.str(a.name)
		p.number(a.width, a.height)
	}
}

// pack makes the row of a doc.
func (d *keptDoc) pack(p *packer) string {
	whole := p.buf
	p.buf = nil
	x := &d.doc
	p.text(x.Collection)
	p.str(x.Path, x.Title, d.page, d.summary, string(x.Blob[:]))
	p.text(x.Updated, x.Commit, x.Author, x.Language)
	p.str(x.Translated, d.heir)
	p.number(boolInt(d.obsolete) | boolInt(x.MoreVersions)<<1)
	for _, list := range [][]string{x.Tags, x.Aliases} {
		p.number(len(list))
		p.str(list...)
	}
	p.number(len(d.targets))
	for _, t := range d.targets {
		p.number(t.nth, t.start, t.doc+1, t.file+1, boolInt(t.embed)|boolInt(t.part)<<1)
	}
	if d.versions == "" {
		d.versions = packVersions(p, x)
	}
	p.str(d.versions)
	row := string(p.buf)
	p.buf = whole
	return row
}

func packVersions(p *packer, d *Doc) string {
	row := p.buf
	p.buf = nil
	p.number(len(d.Versions))
	for _, v := range d.Versions {
		p.text(v.Commit, v.Date, v.Author, v.Subject)
		p.number(boolInt(v.Path != d.Path))
		if v.Path != d.Path {
			p.str(v.Path)
		}
	}
	out := string(p.buf)
	p.buf = row
	return out
}

// unpacker reads what a packer wrote. After an error it reads nothing, and says so
// in bad.
type unpacker struct {
	rest string
	bad  bool
}

func (u *unpacker) number() int {
	var n uint64
	for i := range min(len(u.rest), binary.MaxVarintLen64) {
		c := u.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.rest = u.rest[i+1:]
			return int(n)
		}
	}
	u.rest, u.bad = "", true
	return 0
}

// count is a number of things that are all yet to come, a byte each at least.
func (u *unpacker) count() int {
	n := u.number()
	if n < 0 || n > len(u.rest) {
		u.rest, u.bad = "", true
		return 0
	}
	return n
}

func (u *unpacker) str() string {
	n := u.count()
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

// text reads one of the strings that many docs share.
func (u *unpacker) text(texts []string) string {
	n := u.number()
	if n < 0 || n >= len(texts) {
		u.bad = true
		return ""
	}
	return texts[n]
}

func (u *unpacker) strs() []string {
	n := u.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = u.str()
	}
	return out
}

func (u *unpacker) numbers() []int {
	out := make([]int, u.count())
	for i := range out {
		out[i] = u.number()
	}
	return out
}

// readKept reads what bytes made.
func readKept(raw []byte) (*kept, error) {
	if len(raw) < len(keptFormat)+4 || string(raw[:len(keptFormat)]) != keptFormat {
		return nil, errKept
	}
	body := raw[:len(raw)-4]
	if crc32.Checksum(body, keptSums) != binary.LittleEndian.Uint32(raw[len(body):]) {
		return nil, errKept
	}
	u := &unpacker{rest: string(body[len(keptFormat):])}
	k := &kept{manifest: u.str(), siteKey: u.str(), nav: u.str(), graph: u.str(), texts: u.strs(), tags: map[string]string{}, attached: map[int]attachment{}}
	k.folders = make([]keptFolder, u.count())
	for i := range k.folders {
		k.folders[i] = keptFolder{place{u.str(), u.str()}, u.str(), u.number()}
	}
	k.order = u.numbers()
	for range u.count() {
		tag := u.str()
		k.tags[tag] = u.str()
	}
	k.files = make([]File, u.count())
	for i := range k.files {
		k.files[i] = File{Collection: u.str(), Path: u.str()}
	}
	for range u.count() {
		i := u.number()
		k.attached[i] = attachment{u.str(), u.number(), u.number()}
	}
	searched := u.number() == 1
	if k.search = u.numbers(); !searched {
		k.search = nil
	}
	k.docs = make([]keptDoc, u.count())
	for i := range k.docs {
		d := &k.docs[i]
		d.row = u.str()
		if !d.unpack(k.texts) {
			return nil, errKept
		}
	}
	if u.bad || u.rest != "" {
		return nil, errKept
	}
	return k, nil
}

// unpack reads the row of a doc, but for its versions.
func (d *keptDoc) unpack(texts []string) bool {
	u := &unpacker{rest: d.row}
	text := func() string { return u.text(texts) }
	x := &d.doc
	x.Collection = text()
	x.Path, x.Title, d.page, d.summary = u.str(), u.str(), u.str(), u.str()
	if copy(x.Blob[:], u.str()) != len(note.ID{}) {
		return false
	}
	x.Updated, x.Commit, x.Author, x.Language = text(), text(), text(), text()
	x.Translated, d.heir = u.str(), u.str()
	flags := u.number()
	d.obsolete, x.MoreVersions = flags&1 == 1, flags>>1&1 == 1
	x.Tags, x.Aliases = u.strs(), u.strs()
	if n := u.count(); n > 0 {
		d.targets = make([]target, n)
	}
	for i := range d.targets {
		t := target{nth: u.number(), start: u.number(), doc: u.number() - 1, file: u.number() - 1}
		flags := u.number()
		t.embed, t.part = flags&1 == 1, flags>>1&1 == 1
		d.targets[i] = t
	}
	d.versions = u.str()
	return !u.bad
}

// history reads the versions of a doc.
func (k *kept) history(i int) ([]Version, error) {
	d := &k.docs[i]
	u := &unpacker{rest: d.versions}
	text := func() string { return u.text(k.texts) }
	var out []Version
	for range u.count() {
		v := Version{Commit: text(), Date: text(), Author: text(), Subject: text(), Path: d.doc.Path}
		if u.number() == 1 {
			v.Path = u.str()
		}
		out = append(out, v)
	}
	if u.bad {
		return nil, errKept
	}
	return out, nil
}

// keep is what b made, for the next build.
func (b *builder) keep(manifest string) *kept {
	k := &kept{manifest: manifest, siteKey: b.siteKey, nav: b.navFile, graph: b.graphFile, tags: b.tagPages, files: b.set.Files, attached: b.attachments,
		docs: make([]keptDoc, len(b.set.Docs))}
	for _, at := range slices.SortedFunc(maps.Keys(b.folders), place.compare) {
		docs := b.inFolder[at]
		k.folders = append(k.folders, keptFolder{at, b.folders[at], len(docs)})
		k.order = append(k.order, docs...)
	}
	if b.set.Search != nil {
		k.search = append([]int{}, b.set.Search.Notes...)
	}
	for i, d := range b.set.Docs {
		k.docs[i] = keptDoc{doc: *d, page: b.graph.pages[i], summary: d.Note.Summary, targets: b.graph.targets[i]}
		k.docs[i].obsolete, k.docs[i].heir = d.Note.Obsolete(), heir(d.Note)
	}
	return k
}

// heir names what took the place of a note that says that it is obsolete.
func heir(n *note.Note) string {
	if !n.Obsolete() {
		return ""
	}
	return n.Superseded()
}
