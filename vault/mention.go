package vault

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/note"
)

// names is a trie of names by their words, to find all of them in one pass over a
// text, whatever their number.
type names struct {
	next map[string]*names
	doc  int    // whose name ends here; -1 for none, and where several have it
	name string // folded, "" for none
}

func newNames() *names { return &names{next: map[string]*names{}, doc: -1} }

// add makes name lead to a doc. A name that two docs have leads to neither. One
// that does not begin and end with a letter or digit cannot be found in running
// text, nor can a number.
func (t *names) add(name string, doc int) {
	words := wordsOf(name)
	if len(words) == 0 || words[0].Start != 0 || words[len(words)-1].End != len(name) || !nameable(name, len(words)) {
		return
	}
	for _, w := range words {
		key := strings.ToLower(name[w.Start:w.End])
		if t.next[key] == nil {
			t.next[key] = newNames()
		}
		t = t.next[key]
	}
	if t.name != "" && t.doc != doc {
		doc = -1
	}
	t.name, t.doc = foldName(name), doc
}

// nameable reports whether a name says enough: letters at all, and more than two
// of them or, in a script without spaces, more than one.
func nameable(name string, words int) bool {
	letters, unspaced := 0, 0
	for _, r := range name {
		if unicode.IsLetter(r) {
			letters++
		}
		if note.Unspaced(r) {
			unspaced++
		}
	}
	return letters > 2 || unspaced > 1 || letters > 1 && words > 1
}

// found is a name that stands in a text.
type mention struct {
	note.Span
	doc  int
	name string
}

// find returns the names in a text, from left to right, the longest at each place.
func (t *names) find(text string) (out []mention) {
	words := wordsOf(text)
	for i := 0; i < len(words); i++ {
		at, best, end := t, (*names)(nil), i
		for j := i; j < len(words) && at != nil; j++ {
			at = at.next[strings.ToLower(text[words[j].Start:words[j].End])]
			if at != nil && at.name != "" && foldName(text[words[i].Start:words[j].End]) == at.name {
				best, end = at, j
			}
		}
		if best == nil {
			continue
		}
		if best.doc >= 0 {
			out = append(out, mention{note.Span{Start: words[i].Start, End: words[end].End}, best.doc, best.name})
		}
		i = end
	}
	return out
}

// wordsOf are the words of a text: runs of letters, digits and marks; of a script
// without spaces, each character. An apostrophe, hyphen or underscore within a
// word belongs to none, but what it joins is no word of its own: "can't" and
// "snake_case" hold no "can" and no "case".
func wordsOf(s string) (words []note.Span) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			words = append(words, note.Span{Start: start, End: at})
		}
		start = -1
	}
	for i, r := range s {
		switch {
		case note.Unspaced(r):
			end(i)
			words = append(words, note.Span{Start: i, End: i + utf8.RuneLen(r)})
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		case start >= 0 && joins(r) && letterFollows(s[i+utf8.RuneLen(r):]):
		default:
			end(i)
		}
	}
	end(len(s))
	return words
}

// joins reports whether a character makes one word of what stands on both sides.
func joins(r rune) bool {
	return r == '\'' || r == '’' || r == '_' || r == '-' || r == '.' || r == '/' || r == ':'
}

func letterFollows(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !note.Unspaced(r)
}
