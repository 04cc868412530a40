package note

// Recipe names what [Parse] does with bytes. Whatever is stored of a parse is
// stored under it; any change to what Parse returns changes it.
const Recipe = "note/4"

// Note is what the bytes of one note say, and nothing that depends on where
// the note stands. Offsets are bytes into the decoded text (see [Decode]);
// lines count from 1 in the file as stored.
type Note struct {
	Title    string    // frontmatter title, else the text of the level-1 heading if there is only one, else ""
	Aliases  []string  // frontmatter alias and aliases, in order, without repetition
	Tags     []string  // frontmatter, then inline; without '#'; each once whatever its case, in its first spelling
	Fields   []Field   // every top-level property, in source order; of several with one key the last
	Headings []Heading // in source order
	Links    []Link    // in source order; none from code
	Blocks   []Block   // block ids (^id), in source order
	Anchors  []string  // ids of HTML elements, in source order
	Chunks   []Chunk   // in source order; together they tile text[Body:]
	Summary  string    // first real paragraph as plain text, at most 300 bytes
	Words    int       // words of the body; a Han, kana, Thai, … character counts as one
	Body     int       // offset of the body: what follows the frontmatter; 0 if that is malformed, and so text
	Skip     []Span    // parts of the body that say nothing to a reader: HTML and %% comments
	Entities []Entity  // what the note names, by kind and name
	Sketch   Sketch    // for finding notes that say nearly the same
	Problems []Problem // what is wrong with the bytes; never fatal
	Binary   bool      // not text at all: nothing but Problems is set
}

// Field is one property of a note. Value is a string, bool, int64, float64,
// []any or map[string]any of these, or nil. A date stays the string that was
// written.
type Field struct {
	Key   string
	Value any
	Line  int
}

// Heading is a heading of the body. Its section runs from Start to the next
// heading of the same or a higher level.
type Heading struct {
	Level int
	Text  string // plain text, without markup
	Slug  string // GitHub's anchor, made unique within the note: "setup", "setup-1"
	Line  int
	Start int // offset of the heading's own first byte
	End   int // offset of the end of its section
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
	Kind     LinkKind
	Embed    bool
	Target   string
	Fragment string
	Text     string // what a reader sees
	Line     int
	Start    int // offsets of the whole link
	End      int
}

// Block is a block id (^id) and the lines of the block that it names.
type Block struct {
	ID    string // without '^'
	Line  int
	Start int
	End   int
}

// Chunk is a stretch of a note small enough to embed. Chunks break at headings
// first, then at paragraphs, and tile the body.
type Chunk struct {
	Start   int
	End     int
	Line    int // first line
	EndLine int // last line
	Heading int // index into Headings of the innermost section, -1 before the first heading
}

// Span is a half-open range of offsets.
type Span struct {
	Start int
	End   int
}

// Problem is something wrong with a note. Code is stable and lower case with
// underscores: malformed_frontmatter, malformed_markup, binary, too_large,
// invalid_utf8, duplicate_key.
type Problem struct {
	Code    string
	Line    int
	Message string
}
