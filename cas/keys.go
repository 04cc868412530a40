package cas

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Schema is the version of everything this file declares, and of how a value
// is sealed. A change to either adds one to it: an older store is then rebuilt
// and a newer one refused.
const Schema = 4

// Kind says what a fact is about. It is the first byte of the fact's key.
type Kind byte

const (
	Notes    Kind = 'n'
	Claims   Kind = 'a'
	Chunks   Kind = 'k'
	Vectors  Kind = 'v'
	Failures Kind = 'f'
	Dates    Kind = 'h'
	WorkTree Kind = 'w'
)

// facts declares the kinds of facts. A new kind is a constant above and a line here.
var facts = []layout{
	{Notes, 20, KeyDoc{"n recipe:2 blob:20", "a note.Note: fields in a fixed order, varints, texts after their lengths", "what the blob's bytes say"}},
	{Claims, 20, KeyDoc{"a recipe:2 blob:20", "JSON, empty for nothing", "what the blob's frontmatter says about who may see it and whether a site may show it"}},
	{Chunks, 20, KeyDoc{"k recipe:2 blob:20", "32 bytes a chunk", "the hashes of the texts that are embedded of the blob"}},
	{Vectors, hashSize, KeyDoc{"v recipe:2 text:32", "uvarint dimension, float32 each", "the vector of a text, by its hash; numbers are little-endian"}},
	{Failures, hashSize, KeyDoc{"f recipe:2 text:32", "uvarint attempts, reason", "why a text has no vector"}},
	{Dates, 20, KeyDoc{"h recipe:2 commit:20", "opaque", "dates and authors by path, as of the commit"}},
	{WorkTree, 0, KeyDoc{"w recipe:2 worktree…", "opaque", "stat cache of a work tree"}},
}

// What is in the store besides facts.
var (
	schemaKey    = []byte("!schema")
	recipePrefix = []byte("!recipe")
	piecePrefix  = []byte("+")

	others = []KeyDoc{
		{"!schema", "uvarint", "version of the store: newer is refused, older is rebuilt"},
		{"!recipe recipe:2", "string", "the recipe that the number stands for"},
		{"+ sum:20 index:2", "bytes", "one piece of a value too long for one entry; the sum is of fact key and value"},
	}
)

// KeyDoc describes one kind of key for people. Numbers in keys are big-endian.
type KeyDoc struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
}

// Keys describes every key that a store can hold.
func Keys() []KeyDoc {
	docs := append([]KeyDoc(nil), others...)
	for _, l := range facts {
		docs = append(docs, l.doc)
	}
	return docs
}

type layout struct {
	kind Kind
	id   int // bytes of the id; 0: from 1 to maxID
	doc  KeyDoc
}

const maxID = 255

func (k Kind) layout() (layout, bool) {
	for _, l := range facts {
		if l.kind == k {
			return l, true
		}
	}
	return layout{}, false
}

// String returns the kind's letter.
func (k Kind) String() string { return string(rune(k)) }

// MarshalText makes the letter the key of a JSON object, too.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Key names a fact: the kind of fact, the recipe that derived it, and what it
// was derived from.
type Key struct {
	Kind   Kind
	Recipe RecipeID
	ID     string // raw bytes
}

// Key returns the key of the fact of kind k about id under recipe r.
func (k Kind) Key(r RecipeID, id []byte) Key { return Key{k, r, string(id)} }

// String returns the key as people read it: kind, recipe number, id.
func (k Key) String() string {
	id := hex.EncodeToString([]byte(k.ID))
	if l, _ := k.Kind.layout(); l.id == 0 && utf8.ValidString(k.ID) {
		id = strconv.Quote(k.ID)
	}
	return fmt.Sprintf("%s %d %s", k.Kind, k.Recipe, id)
}

func (k Key) check() error {
	l, ok := k.Kind.layout()
	switch {
	case !ok:
		return fmt.Errorf("key %s: unknown kind", k)
	case k.Recipe == 0:
		return fmt.Errorf("key %s: no recipe", k)
	case l.id != 0 && len(k.ID) != l.id:
		return fmt.Errorf("key %s: id of %d bytes, want %d", k, len(k.ID), l.id)
	case len(k.ID) == 0 || len(k.ID) > maxID:
		return fmt.Errorf("key %s: id of %d bytes, want 1 to %d", k, len(k.ID), maxID)
	}
	return nil
}

func (k Key) bytes() []byte {
	return append(kindPrefix(k.Kind, k.Recipe), k.ID...)
}

// kindPrefix starts the keys of all facts of one kind and recipe.
func kindPrefix(k Kind, r RecipeID) []byte {
	return binary.BigEndian.AppendUint16([]byte{byte(k)}, uint16(r))
}

func parseKey(b []byte) (Key, error) {
	if len(b) < 3 {
		return Key{}, fmt.Errorf("key %x: too short", b)
	}
	k := Key{Kind(b[0]), RecipeID(binary.BigEndian.Uint16(b[1:])), string(b[3:])}
	return k, k.check()
}

func recipeKey(r RecipeID) []byte {
	return binary.BigEndian.AppendUint16(bytes.Clone(recipePrefix), uint16(r))
}

func parseRecipeKey(b []byte) (RecipeID, error) {
	n, ok := bytes.CutPrefix(b, recipePrefix)
	if !ok || len(n) != 2 || binary.BigEndian.Uint16(n) == 0 {
		return 0, fmt.Errorf("key %q: not a recipe's", b)
	}
	return RecipeID(binary.BigEndian.Uint16(n)), nil
}

func pieceKey(sum [sumSize]byte, index int) []byte {
	return binary.BigEndian.AppendUint16(append(bytes.Clone(piecePrefix), sum[:]...), uint16(index))
}

func parsePieceKey(b []byte) (sum [sumSize]byte, index int, err error) {
	if len(b) != 1+sumSize+2 || !bytes.HasPrefix(b, piecePrefix) {
		return sum, 0, fmt.Errorf("key %x: not a piece's", b)
	}
	return [sumSize]byte(b[1:]), int(binary.BigEndian.Uint16(b[1+sumSize:])), nil
}
