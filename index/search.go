package index

import (
	"context"
	"runtime"

	"kb/note"
)

// Mode is how a query's text is read.
type Mode uint8

const (
	ModeText    Mode = iota // the language of query.go, ranked
	ModeLiteral             // an exact string within a line
	ModeRegex               // an RE2 expression within a line
)

// Query is a question to a view. The zero value of every field but Text is useful.
type Query struct {
	Text string
	Mode Mode
	// Keep narrows what is shown, not the statistics: members for which it is
	// false are not in the result. Nil keeps all.
	Keep func(member int) bool
	// Boost raises the scores of the notes for which it is true, in every mode.
	Boost    func(member int) bool
	Max      int     // hits to return; 10 when 0
	Offset   int     // hits to leave out first
	MinScore float64 // if positive
	Explain  bool
	// Finished says that nobody is typing: the last word is not completed.
	Finished bool
	// NoExcerpt leaves out what needs the notes' text.
	NoExcerpt bool
	// Meaning ranks by meaning as well as by words, in ModeText.
	Meaning *Meaning
}

// Result is the answer to a query. Total counts the notes that match, hits and
// what Offset and Max cut off.
type Result struct {
	Hits          []Hit
	Total         int
	LowConfidence bool         // no hit has much of the query's words, or is very near in meaning
	Missing       []string     // words of the query that no note has, in any spelling
	Corrected     []Correction // words that were read otherwise
	Note          string       // how the query was read, when not as written
}

// Correction tells that a word of the query was read as another.
type Correction struct{ From, To string }

// Hit is a note that matches, at the first of its paths that Keep keeps.
type Hit struct {
	Member      int   // index into the view's members
	Also        []int // the note's other kept paths
	Score       float64
	Terms       []string // words of the query that the note has
	Chunk       int      // index into the note's Chunks of the one that Excerpt is from; -1 for none
	Heading     []string // headings above the excerpt, outermost first
	HeadingSlug string
	Lines       [2]int      // of the chunk; zero without one
	Excerpt     string      // plain text on one line
	Marks       []note.Span // of matched words in Excerpt, in bytes
	Matches     []Line      // in literal and regex mode: matching lines
	MatchCount  int         // in literal and regex mode: all matching lines
	Near        *Near       // in meaning, if that was asked for and is known
	Explain     *Explanation
}

// Line is a matching line of a note. Marks are the matches, in bytes of Text.
type Line struct {
	Number int
	Text   string
	Marks  []note.Span
}

// Explanation tells how a score came about: the sum of the contributions, times
// Coverage, times Obsolete, is the score by words. With [Meaning], see there. Boost
// is the part of its size by which the note's score, whatever the mode, was raised.
type Explanation struct {
	Terms    []TermExplanation
	Coverage float64
	Obsolete float64
	Words    float64 // the score by words
	Best     float64 // the best such score in the view
	Weight   float64 // of the cosine
	Boost    float64 // 0 for a note that [Query.Boost] leaves
}

// TermExplanation is what one term of the query gave.
type TermExplanation struct {
	Term         string
	Notes        int // document frequency
	IDF          float64
	Fields       map[string]float64 // weighted frequency by field
	Weighted     float64            // their sum
	Contribution float64
}

// Search answers q. Words are never an error; the error is the context's, a
// bad regular expression's, or the storage's.
func (v *View) Search(ctx context.Context, q Query) (*Result, error) {
	defer runtime.KeepAlive(v) // and with it, the mapped segments
	if q.Max <= 0 {
		q.Max = 10
	}
	q.Offset = max(q.Offset, 0)
	if q.Mode != ModeText {
		return v.searchLines(ctx, q)
	}
	return v.searchText(ctx, q)
}
