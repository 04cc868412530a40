package site

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
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
	Terms  map[string]SearchPosting
	Stream []byte
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

// searchIndex is the file that says where the rest is. A list of files is a string:
// their hashes, ten characters each.
type searchIndex struct {
	Version  int                   `json:"v"`
	Language string                `json:"lang"`
	Notes    int                   `json:"n"`
	Average  [SearchFields]float64 `json:"avg"`
	Obsolete []int                 `json:"old"`
	Stops    []string              `json:"stops"`
	Articles []string              `json:"articles"`
	First    []string              `json:"first"`  // where each shard of terms begins
	Terms    fileList              `json:"terms"`  // shards of terms with their postings
	Places   fileList              `json:"places"` // where the terms of each such shard stand
	Long     map[string]fileList   `json:"long"`   // terms with files of their own: postings, places
	Words    map[int]fileList      `json:"words"`  // vocabulary by length in characters
	Heads    wordFiles             `json:"heads"`  // vocabulary from the beginnings of words
	Tails    wordFiles             `json:"tails"`  // and from their ends, words written backwards
	Lengths  fileList              `json:"lengths"`
	Each     int                   `json:"per"` // rows in a file
	Rows     fileList              `json:"rows"`
	Texts    fileList              `json:"texts"`
	Stems    map[string]string     `json:"stems"` // stemmers by language
}

// wordFiles are words in byte order, in several files.
type wordFiles struct {
	First []string `json:"first"` // where each begins
	Files fileList `json:"files"`
}

// fileList is hashes in the names of files, one after the other.
type fileList string

// searchVersion is the format's: a client reads its own only.
const searchVersion = 2

// search writes the search data: docs/reference/format.md, "Sites".
func (b *builder) search(ctx context.Context) error {
	if b.set.Search == nil {
		return nil
	}
	key := b.searchInputs()
	x, err := b.searchChanged(ctx, key)
	if errors.Is(err, errNoPart) {
		if err := b.out.discard(assetDir + "/q/"); err != nil {
			return err
		}
		x, err = b.searchAnew(ctx)
	}
	if err != nil {
		return err
	}
	for _, step := range []func(*searchIndex) error{b.searchLengths, b.searchRows, b.stemmers} {
		if err := step(x); err != nil {
			return err
		}
	}
	raw, err := script("search", x)
	if err != nil {
		return err
	}
	b.searchFile, err = b.putHashed("search.js", raw)
	b.out.note(searchKey, key+" "+b.searchFile)
	return err
}

// newIndex is what is the same whatever the search data is made of.
func (b *builder) newIndex() *searchIndex {
	d := b.set.Search
	return &searchIndex{Version: searchVersion, Language: d.Language, Notes: len(d.Notes), Average: d.Average,
		Obsolete: append([]int{}, d.Obsolete...), Stops: append([]string{}, d.Stops...), Articles: append([]string{}, d.Articles...),
		Long: map[string]fileList{}, Words: map[int]fileList{}}
}

// searchAnew makes terms and texts from the postings of all.
func (b *builder) searchAnew(ctx context.Context) (*searchIndex, error) {
	x := b.newIndex()
	if err := b.searchTerms(ctx, x); err != nil {
		return nil, err
	}
	return x, b.searchTexts(ctx, x)
}

// shardEnds reports whether a file of small things ends after an item: files have
// some half to twice of target bytes, and the items alone decide between which, so
// that a change in one place does not move all that follows.
func shardEnds(size, item, target int, key string) bool {
	h := fnv.New32a()
	h.Write([]byte(key))
	return size >= 2*target || size >= target/2 && int(h.Sum32()%uint32(target/2)) < item
}

// partName is the file of a part of the search data; partKey its key in the build
// file.
func partName(function, hash string) string {
	return assetDir + "/q/" + function + "." + hash + ".js"
}

const (
	partKey  = "search"
	hashSize = 10
)

// putPart writes bytes as a script that hands them over: compressed, since not
// every host does, in base64, since a script is text. The same bytes are one file,
// and one that is there already is not made again.
func (b *builder) putPart(function string, data []byte) (fileList, error) {
	hash := sumOf(data)[:hashSize]
	name := partName(function, hash)
	if b.out.has(name) || b.out.keep(name, partKey) {
		return fileList(hash), nil
	}
	packed, err := deflate(data)
	if err != nil {
		return "", err
	}
	raw := fmt.Appendf(nil, "kb.%s(%q)\n", function, base64.StdEncoding.EncodeToString(packed))
	return fileList(hash), b.out.put(name, partKey, raw)
}

func deflate(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
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
