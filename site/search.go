package site

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// SearchFields is how many fields of a note have lengths; the words of its path
// are one more. Their order and meaning are the server's, see docs/reference/ranking.md.
const SearchFields = 6

// SearchData is what ranking depends on: the statistics of the published notes
// and the postings of their terms.
type SearchData struct {
	Language string // of the server's analysis
	Average  [SearchFields]float64
	Stops    []string // words left out of plain queries
	Notes    []int    // indexes into Set.Docs, in the order in which ties are broken
	Obsolete []int    // indexes into Notes
	// Each calls fn with every term in byte order; postings ascend by note and are
	// fn's only until it returns.
	Each func(ctx context.Context, fn func(term string, postings []SearchPosting) error) error
	// Streams calls fn with each note's words in their order, which phrases are
	// looked for in, in the server's form (docs/reference/format.md), and its paths.
	Streams func(ctx context.Context, fn func(note int, lengths [SearchFields]uint32, paths []string, stream []byte) error) error
	// Articles are what the language takes off before an apostrophe.
	Articles []string
}

// SearchPosting is what a term is to one note.
type SearchPosting struct {
	Note            int // index into SearchData.Notes
	Counts, Lengths [SearchFields]uint32
	Name, Folder    bool // it stands in the note's file name, or else in a folder's
}

// Sizes of the files of search data, before compression, and how many notes share
// a file of titles. Small files make queries cheap, many files make sites dear.
const (
	shardBytes = 24 << 10
	shardTerms = 2000
	rowsShard  = 64
	textShard  = 24 << 10
	streamSize = 48 << 10
)

// SearchLanguage returns the language by whose rules a site's search reads words:
// a vault's own, but for Polish, whose stemmer is a table too large for a reader
// to load: its words are taken as they are.
func SearchLanguage(language string) string {
	if base, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-"); base == "pl" {
		return "none"
	}
	return language
}

// searchIndex is the file that says where the rest is.
type searchIndex struct {
	Version  int                   `json:"v"`
	Language string                `json:"lang"`
	Notes    int                   `json:"n"`
	Average  [SearchFields]float64 `json:"avg"`
	Obsolete []int                 `json:"old"`
	First    []string              `json:"first"` // of each shard of terms, its first term
	Shards   []string              `json:"shards"`
	Words    map[int]string        `json:"words"` // vocabulary by length in characters
	Rows     []string              `json:"rows"`  // of 64 notes each
	Texts    []string              `json:"texts"`
	TextFrom []int                 `json:"textFrom"` // the first note of each
	Phrases  []string              `json:"phrases"`
	From     []int                 `json:"phrasesFrom"`
	Stops    string                `json:"stops"`
	Stems    map[string]string     `json:"stems"` // stemmers by language
}

// searchVersion is the format's, in kb/search.*.js: a client reads its own only.
const searchVersion = 1

// search writes the search data and returns the name of the file that leads to
// the rest, "" without any.
func (b *builder) search(ctx context.Context) error {
	d := b.set.Search
	if d == nil {
		return nil
	}
	x := &searchIndex{Version: searchVersion, Language: d.Language, Notes: len(d.Notes), Average: d.Average,
		Obsolete: append([]int{}, d.Obsolete...), Words: map[int]string{}}
	var err error
	if err = b.termShards(ctx, x); err != nil {
		return err
	}
	if x.Rows, err = b.rowShards(); err != nil {
		return err
	}
	if err = b.textShards(ctx, x); err != nil {
		return err
	}
	if err = b.streamShards(ctx, x); err != nil {
		return err
	}
	if x.Stems, err = b.stemmers(); err != nil {
		return err
	}
	stops, err := script("stops", map[string][]string{"stops": d.Stops, "articles": d.Articles})
	if err != nil {
		return err
	}
	if x.Stops, err = b.putHashed("q/stops.js", stops); err != nil {
		return err
	}
	raw, err := script("search", x)
	if err != nil {
		return err
	}
	b.searchFile, err = b.putHashed("search.js", raw)
	return err
}

// termShards writes terms with their postings, and the vocabulary.
func (b *builder) termShards(ctx context.Context, x *searchIndex) error {
	var shard termShard
	words := map[int]*termShard{}
	flush := func() error {
		if shard.terms == 0 {
			return nil
		}
		name, err := b.putPacked("terms", fmt.Sprintf("q/t%d.js", len(x.Shards)), shard.take())
		x.Shards = append(x.Shards, name)
		return err
	}
	err := b.set.Search.Each(ctx, func(term string, postings []SearchPosting) error {
		if shard.terms == 0 {
			x.First = append(x.First, term)
		}
		shard.add(term, postings)
		if term[0] > ' ' {
			n := utf8.RuneCountInString(term)
			if words[n] == nil {
				words[n] = &termShard{}
			}
			words[n].addWord(term, len(postings))
		}
		if len(shard.buf) < shardBytes && shard.terms < shardTerms {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	for n, w := range words {
		if x.Words[n], err = b.putPacked("words", fmt.Sprintf("q/w%d.js", n), w.take()); err != nil {
			return err
		}
	}
	return nil
}

// termShard is terms in byte order, as bytes: a count of terms, then each with the
// length of what it shares with the one before, the rest, and its postings. All
// numbers are unsigned varints.
//
//	posting  note (less the one before), kind, and for each field in kind: count, length
//	kind     a bit for each field, then one for the file name, one for a folder
type termShard struct {
	buf   []byte
	terms int
	last  string
}

func (s *termShard) key(term string) {
	shared := 0
	for shared < len(term) && shared < len(s.last) && term[shared] == s.last[shared] {
		shared++
	}
	s.buf = binary.AppendUvarint(s.buf, uint64(shared))
	s.buf = binary.AppendUvarint(s.buf, uint64(len(term)-shared))
	s.buf = append(s.buf, term[shared:]...)
	s.last = term
	s.terms++
}

func (s *termShard) add(term string, postings []SearchPosting) {
	s.key(term)
	s.buf = binary.AppendUvarint(s.buf, uint64(len(postings)))
	last := 0
	for _, p := range postings {
		s.buf = binary.AppendUvarint(s.buf, uint64(p.Note-last))
		last = p.Note
		var kind uint64
		for f, n := range p.Counts {
			if n > 0 {
				kind |= 1 << f
			}
		}
		if p.Name {
			kind |= 1 << SearchFields
		}
		if p.Folder {
			kind |= 1 << (SearchFields + 1)
		}
		s.buf = binary.AppendUvarint(s.buf, kind)
		for f, n := range p.Counts {
			if n > 0 {
				s.buf = binary.AppendUvarint(s.buf, uint64(n))
				s.buf = binary.AppendUvarint(s.buf, uint64(p.Lengths[f]))
			}
		}
	}
}

// addWord adds a term with the number of its notes alone.
func (s *termShard) addWord(term string, notes int) {
	s.key(term)
	s.buf = binary.AppendUvarint(s.buf, uint64(notes))
}

// take returns the shard's bytes and empties it.
func (s *termShard) take() []byte {
	out := append(binary.AppendUvarint(nil, uint64(s.terms)), s.buf...)
	*s = termShard{}
	return out
}

// putPacked writes bytes as a script that hands them over: compressed, since not
// every host does, in base64, since a script is text.
func (b *builder) putPacked(function, name string, data []byte) (string, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	raw := fmt.Appendf(nil, "kb.%s(%q)\n", function, base64.StdEncoding.EncodeToString(packed.Bytes()))
	return b.putHashed(name, raw)
}

// row is a note as a result shows it.
type row struct {
	Title string   `json:"t"`
	Page  string   `json:"p"`
	Path  string   `json:"f"` // collection and folder, for reading
	Date  string   `json:"d,omitempty"`
	Tags  []string `json:"g,omitempty"`
}

func (b *builder) rowShards() (names []string, err error) {
	for from := 0; from < len(b.set.Search.Notes); from += rowsShard {
		part := b.set.Search.Notes[from:min(from+rowsShard, len(b.set.Search.Notes))]
		rows := make([]row, len(part))
		for k, i := range part {
			d := b.set.Docs[i]
			rows[k] = row{Title: d.Title, Page: b.graph.pages[i], Path: b.where(d), Date: d.Updated, Tags: d.Tags}
		}
		raw, err := script("rows", rows)
		if err != nil {
			return nil, err
		}
		name, err := b.putHashed(fmt.Sprintf("q/r%d.js", from/rowsShard), raw)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// where is the place of a note in words: its collection, where there are several,
// and its folders.
func (b *builder) where(d *Doc) string {
	return b.graph.prefix(d.Collection) + " / " + folderOf(d)
}

// noteText is what excerpts are made of: the headings with their anchors, and the
// text below each, as a reader sees it.
type noteText struct {
	Summary string     `json:"s,omitempty"`
	Parts   []textPart `json:"p"`
}

type textPart struct {
	Heading string `json:"h,omitempty"`
	Anchor  string `json:"a,omitempty"`
	Text    string `json:"t"`
}

func (b *builder) textShards(ctx context.Context, x *searchIndex) error {
	var texts []noteText
	size := 0
	flush := func() error {
		if len(texts) == 0 {
			return nil
		}
		raw, err := script("texts", texts)
		if err != nil {
			return err
		}
		name, err := b.putPacked("texts", fmt.Sprintf("q/x%d.js", len(x.Texts)), raw[len("kb.texts("):len(raw)-2])
		x.Texts = append(x.Texts, name)
		texts, size = nil, 0
		return err
	}
	for k, i := range b.set.Search.Notes {
		if len(texts) == 0 {
			x.TextFrom = append(x.TextFrom, k)
		}
		t, n, err := b.noteText(ctx, b.set.Docs[i])
		if err != nil {
			return err
		}
		texts = append(texts, t)
		if size += n; size >= textShard {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// noteText returns a note's text by its headings, and its size.
func (b *builder) noteText(ctx context.Context, d *Doc) (t noteText, size int, err error) {
	text, err := b.text(ctx, d)
	if err != nil {
		return t, 0, err
	}
	t.Summary, t.Parts = d.Note.Summary, []textPart{}
	add := func(heading, anchor string, from, to int) {
		s := tidy(plain(d.Note, text, from, to))
		if s != "" || heading != "" {
			t.Parts = append(t.Parts, textPart{heading, anchor, s})
			size += len(s) + len(heading) + len(anchor)
		}
	}
	starts := make([]int, 0, len(d.Note.Headings)+1)
	for _, h := range d.Note.Headings {
		starts = append(starts, h.Start)
	}
	starts = append(starts, len(text))
	slices.Sort(starts)
	add("", "", d.Note.Body, starts[0])
	for k, h := range d.Note.Headings {
		line := h.Start + len(lineOf(text, h.Start))
		add(h.Text, h.Slug, min(line, starts[k+1]), starts[k+1])
	}
	return t, size, nil
}

// streamShards writes the words of the notes in their order.
func (b *builder) streamShards(ctx context.Context, x *searchIndex) error {
	var buf []byte
	flush := func() error {
		if len(buf) == 0 {
			return nil
		}
		name, err := b.putPacked("phrases", fmt.Sprintf("q/p%d.js", len(x.Phrases)), buf)
		x.Phrases, buf = append(x.Phrases, name), nil
		return err
	}
	err := b.set.Search.Streams(ctx, func(note int, lengths [SearchFields]uint32, paths []string, stream []byte) error {
		if len(buf) == 0 {
			x.From = append(x.From, note)
		}
		for _, n := range lengths {
			buf = binary.AppendUvarint(buf, uint64(n))
		}
		buf = binary.AppendUvarint(buf, uint64(len(paths)))
		for _, p := range paths {
			buf = binary.AppendUvarint(buf, uint64(len(p)))
			buf = append(buf, p...)
		}
		buf = binary.AppendUvarint(buf, uint64(len(stream)))
		if buf = append(buf, stream...); len(buf) >= streamSize {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// stemmers writes the stemmers that queries may need: of the vault's own language,
// and of those that words of other scripts are read as.
func (b *builder) stemmers() (map[string]string, error) {
	out := map[string]string{}
	own, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(b.set.Search.Language, "_", "-")), "-")
	for _, language := range []string{"en", "ru", "ar", "hi", own} {
		raw, err := assetFiles.ReadFile("assets/stem/stem-" + language + ".js")
		if errors.Is(err, fs.ErrNotExist) || out[language] != "" {
			continue // the language has none of Snowball's
		}
		if err != nil {
			return nil, err
		}
		if out[language], err = b.putHashed("q/stem-"+language+".js", raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}
