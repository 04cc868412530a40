package embed

import (
	"crypto/sha256"
	"sort"
	"strings"

	"kb/cas"
	"kb/note"
)

// Recipe names what [Texts] makes of a note.
const Recipe = "chunk/1 " + note.Recipe

// Texts returns what is embedded of a note, a text for each of its chunks: the
// note's title and the headings above the chunk on a line, and the chunk as a
// reader sees it, with links as their text and without comments. text is what
// [note.Parse] decoded.
func Texts(n *note.Note, text []byte) []string {
	texts := make([]string, len(n.Chunks))
	for i, c := range n.Chunks {
		head := n.HeadingPath(c.Heading)
		if n.Title != "" && (len(head) == 0 || head[0] != n.Title) {
			head = append([]string{n.Title}, head...)
		}
		body := strings.TrimSpace(readable(n, text, c.Start, min(c.End, len(text))))
		texts[i] = strings.TrimSpace(strings.Join(head, " > ") + "\n\n" + body)
	}
	return texts
}

// hashOf names a text.
func hashOf(text string) cas.Hash { return sha256.Sum256([]byte(text)) }

// hashes names texts.
func hashes(texts []string) []cas.Hash {
	out := make([]cas.Hash, len(texts))
	for i, t := range texts {
		out[i] = hashOf(t)
	}
	return out
}

// readable is text[from:to] with links as their text and without comments.
func readable(n *note.Note, text []byte, from, to int) string {
	var b strings.Builder
	link := sort.Search(len(n.Links), func(i int) bool { return n.Links[i].Start >= from })
	skip := sort.Search(len(n.Skip), func(i int) bool { return n.Skip[i].End > from })
	for at := from; at < to; {
		next, resume := to, to
		instead := ""
		if skip < len(n.Skip) && n.Skip[skip].Start < next {
			next, resume = n.Skip[skip].Start, n.Skip[skip].End
		}
		if link < len(n.Links) && n.Links[link].Start < next {
			next, resume, instead = n.Links[link].Start, n.Links[link].End, n.Links[link].Text
		}
		b.Write(text[at:max(at, next)])
		b.WriteString(instead)
		at = max(at, resume)
		for link < len(n.Links) && n.Links[link].Start < at {
			link++
		}
		for skip < len(n.Skip) && n.Skip[skip].End <= at {
			skip++
		}
	}
	return b.String()
}
