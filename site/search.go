package site

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io/fs"
	"strings"

	"kb/note"
)

// SearchFields is how many fields of a note have lengths; the words of its path
// are one more. Their order and meaning are the server's, see docs/reference/ranking.md.
const SearchFields = 6

// SearchData is what ranking depends on: the statistics of the published notes
// and the postings of their terms.
type SearchData struct {
	Language string // of the analysis
	Average  [SearchFields]float64
	Stops    []string               // words left out of plain queries
	Articles []string               // what the language takes off before an apostrophe
	Notes    []int                  // indexes into Set.Docs, in the order in which ties are broken
	Obsolete []int                  // indexes into Notes
	Lengths  [][SearchFields]uint32 // of the notes' fields

	// Each calls fn with every term in byte order; postings ascend by note and are
	// fn's only until it returns.
	Each func(ctx context.Context, fn func(term string, postings []SearchPosting) error) error
	// Streams calls fn with every note in turn: its words in their order, which
	// phrases are looked for in. A stream is sections that no phrase crosses: the
	// field in one byte, or SearchFields for a path, the number of words in four,
	// little-endian, and three for each word's hash.
	Streams func(ctx context.Context, fn func(note int, stream []byte) error) error
	// Alone returns what Each and Streams would say of one note if it had the bytes
	// of a blob.
	Alone func(ctx context.Context, note int, blob note.ID) (*SearchNote, error)
	// Hash is of a term, as streams have it.
	Hash func(term string) uint32
}

// SearchPosting is what a term is to one note.
type SearchPosting struct {
	Note         int // index into SearchData.Notes
	Counts       [SearchFields]uint32
	Name, Folder bool // it stands in the note's file name, or else in a folder's
}

// SearchNote is what one note adds to the search.
type SearchNote struct {
	Terms    map[string]SearchPosting
	Stream   []byte
	Body     []byte // what it says after its frontmatter
	Lengths  [SearchFields]uint32
	Obsolete bool
}

// SearchLanguage returns the language by whose rules a site's search reads words:
// a vault's own, but for Polish, whose stemmer is a table too large for a reader
// to load: its words are taken as they are.
func SearchLanguage(language string) string {
	if baseLanguage(language) == "pl" {
		return "none"
	}
	return language
}

func baseLanguage(language string) string {
	base, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-")
	return base
}

// searchIndex is the file that says what the rest is. A list of checks is a string:
// those of files, checkSize characters each.
type searchIndex struct {
	Version  int                   `json:"v"`
	Language string                `json:"lang"`
	Notes    int                   `json:"n"`
	Numbers  string                `json:"of"` // a hash of what the notes' numbers mean
	Average  [SearchFields]float64 `json:"avg"`
	Obsolete []int                 `json:"old"`
	Stops    []string              `json:"stops"`
	Articles []string              `json:"articles"`
	First    string                `json:"first"` // the file that says where files of terms, words and ends begin
	Terms    string                `json:"terms"` // checks of these files
	Words    string                `json:"words"`
	Ends     string                `json:"ends"`
	Lengths  string                `json:"lengths"` // and of those of lengths
	Each     int                   `json:"per"`     // rows in a file
	Stems    map[string]string     `json:"stems"`   // stemmers by language
}

// searchVersion is the format's: a client reads its own only.
const searchVersion = 4

// search writes the search data: docs/reference/format.md, "Sites".
func (b *builder) search(ctx context.Context) error {
	if b.set.Search == nil {
		return nil
	}
	key := b.searchInputs()
	x, texts, err := b.searchChanged(ctx, key)
	if errors.Is(err, errNoPart) {
		if err := b.out.discard(assetDir + "/q/"); err != nil {
			return err
		}
		x, texts, err = b.searchAnew(ctx, key)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(b.searchLengths(x), b.searchRows(x, texts), b.stemmers(x)); err != nil {
		return err
	}
	raw, err := script("search", x)
	if err != nil {
		return err
	}
	b.searchFile, err = b.putHashed("search.js", raw)
	b.out.note(searchKey, key+" "+b.searchFile)
	return err
}

// newIndex is what is the same whatever the terms are.
func (b *builder) newIndex(key string) *searchIndex {
	d := b.set.Search
	return &searchIndex{Version: searchVersion, Language: d.Language, Notes: len(d.Notes), Numbers: key[:hashSize], Average: d.Average,
		Obsolete: append([]int{}, d.Obsolete...), Stops: append([]string{}, d.Stops...), Articles: append([]string{}, d.Articles...)}
}

// searchAnew makes terms and texts from the postings of all. It returns where files
// of texts begin, too.
func (b *builder) searchAnew(ctx context.Context, key string) (*searchIndex, []textAt, error) {
	x := b.newIndex(key)
	if err := b.searchTerms(ctx, x); err != nil {
		return nil, nil, err
	}
	texts, err := b.searchTexts(ctx, x)
	return x, texts, err
}

// shardEnds reports whether a file of small things ends after an item: files have
// half of target bytes and more, seldom one and a half and at most twice so many, and
// the items alone decide between which, so that a change in one place does not move
// all that follows.
func shardEnds(size, item, target int, key string) bool {
	h := fnv.New32a()
	h.Write([]byte(key))
	return size >= 2*target || size >= target/2 && int(h.Sum32()%uint32(target/4)) < item
}

// uvarints appends numbers.
func uvarints(buf []byte, numbers ...int) []byte {
	for _, n := range numbers {
		buf = binary.AppendUvarint(buf, uint64(n))
	}
	return buf
}

// stemmers writes the stemmers that queries may need: of the vault's own language,
// and of those that words of other scripts are read as.
func (b *builder) stemmers(x *searchIndex) error {
	x.Stems = map[string]string{}
	for _, language := range []string{"en", "ru", "ar", "hi", baseLanguage(x.Language)} {
		raw, err := assetFiles.ReadFile("assets/stem/stem-" + language + ".js")
		if errors.Is(err, fs.ErrNotExist) || x.Stems[language] != "" {
			continue // its words have no endings taken off
		}
		if err == nil {
			x.Stems[language], err = b.putHashed("q/stem-"+language+".js", raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
