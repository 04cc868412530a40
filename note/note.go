package note

// Recipe names what [Parse] does with bytes. Whatever is stored of a parse is
// stored under it; any change to what Parse returns changes it.
const Recipe = "note/4"

// Note is what the bytes of one note say, and nothing that depends on where
// the note stands. Offsets are bytes into the decoded text (see [Decode]);
// lines count from 1 in the file as stored.
type Note struct {
	Title    string    `cbor:"t,omitempty"` // frontmatter title, else the text of the level-1 heading if there is only one, else ""
	Aliases  []string  `cbor:"a,omitempty"` // frontmatter alias and aliases, in order, without repetition
	Tags     []string  `cbor:"g,omitempty"` // frontmatter, then inline; without '#'; each once whatever its case, in its first spelling
	Fields   []Field   `cbor:"f,omitempty"` // every top-level property, in source order; of several with one key the last
	Headings []Heading `cbor:"h,omitempty"` // in source order
	Links    []Link    `cbor:"l,omitempty"` // in source order; none from code
	Blocks   []Block   `cbor:"b,omitempty"` // block ids (^id), in source order
	Anchors  []string  `cbor:"i,omitempty"` // ids of HTML elements, in source order
	Chunks   []Chunk   `cbor:"c,omitempty"` // in source order; together they tile text[Body:]
	Summary  string    `cbor:"s,omitempty"` // first real paragraph as plain text, at most 300 bytes
	Words    int       `cbor:"w,omitempty"` // words of the body; a Han, kana, Thai, … character counts as one
	Body     int       `cbor:"o,omitempty"` // offset of the body: what follows the frontmatter; 0 if that is malformed, and so text
	Skip     []Span    `cbor:"k,omitempty"` // parts of the body that say nothing to a reader: HTML and %% comments
	Entities []Entity  `cbor:"e,omitempty"` // what the note names, by kind and name
	Sketch   Sketch    `cbor:"m,omitempty"` // for finding notes that say nearly the same
	Problems []Problem `cbor:"p,omitempty"` // what is wrong with the bytes; never fatal
	Binary   bool      `cbor:"x,omitempty"` // not text at all: nothing but Problems is set
}

// Field is one property of a note. Value is a string, bool, int64, float64,
// []any or map[string]any of these, or nil. A date stays the string that was
// written.
type Field struct {
	Key   string `cbor:"k"`
	Value any    `cbor:"v"`
	Line  int    `cbor:"l"`
}

// Heading is a heading of the body. Its section runs from Start to the next
// heading of the same or a higher level.
type Heading struct {
	Level int    `cbor:"v"`
	Text  string `cbor:"t"` // plain text, without markup
	Slug  string `cbor:"s"` // GitHub's anchor, made unique within the note: "setup", "setup-1"
	Line  int    `cbor:"l"`
	Start int    `cbor:"o"` // offset of the heading's own first byte
	End   int    `cbor:"e"` // offset of the end of its section
}

// LinkKind tells how a link was written.
type LinkKind uint8

const (
	WikiLink     LinkKind = iota + 1 // [[target#fragment|text]], ![[…]]
	MarkdownLink                     // [text](target), ![…](…), [text][ref]
	AutoLink                         // <https://…>, bare URL
)

// Link is one link of a note. Target is as written, percent-decoded for
// Markdown links, without its fragment; it is "" for a link within the note.
// Fragment is a heading's text or slug, or "^id" for a block.
type Link struct {
	Kind     LinkKind `cbor:"k"`
	Embed    bool     `cbor:"e,omitempty"`
	Target   string   `cbor:"t,omitempty"`
	Fragment string   `cbor:"f,omitempty"`
	Text     string   `cbor:"x,omitempty"` // what a reader sees
	Line     int      `cbor:"l"`
	Start    int      `cbor:"o"` // offsets of the whole link
	End      int      `cbor:"n"`
}

// Block is a block id (^id) and the lines of the block that it names.
type Block struct {
	ID    string `cbor:"i"` // without '^'
	Line  int    `cbor:"l"`
	Start int    `cbor:"o"`
	End   int    `cbor:"e"`
}

// Chunk is a stretch of a note small enough to embed. Chunks break at headings
// first, then at paragraphs, and tile the body.
type Chunk struct {
	Start   int `cbor:"o"`
	End     int `cbor:"e"`
	Line    int `cbor:"l"` // first line
	EndLine int `cbor:"m"` // last line
	Heading int `cbor:"h"` // index into Headings of the innermost section, -1 before the first heading
}

// Span is a half-open range of offsets.
type Span struct {
	Start int `cbor:"s"`
	End   int `cbor:"e"`
}

// Problem is something wrong with a note. Code is stable and lower case with
// underscores: malformed_frontmatter, malformed_markup, binary, too_large,
// invalid_utf8, duplicate_key.
type Problem struct {
	Code    string `cbor:"c"`
	Line    int    `cbor:"l,omitempty"`
	Message string `cbor:"m"`
}
