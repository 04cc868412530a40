package export

import (
	"fmt"
	"io"
	"strings"

	"kb/note"
)

// Markdown writes the docs from first on as one Markdown document: for each its
// metadata, a separator, its body with headings one level deeper, links between
// exported notes turned into links within the document, and embedded notes put
// in their place. It stops before the doc that would exceed budget bytes (0:
// no limit), and returns how many it wrote.
func Markdown(w io.Writer, s *Set, first, budget int) (int, error) {
	s.prepare()
	out := &counter{w: w}
	for i := first; i < len(s.Docs); i++ {
		n, text, err := s.Read(i)
		if err != nil {
			return i - first, fmt.Errorf("export %s: %w", s.Docs[i].Path, err)
		}
		var b strings.Builder
		s.head(&b, i)
		x := rewriter{set: s, doc: i, shift: 1, anchors: true}
		body, err := x.body(n, text, note.Span{Start: n.Body, End: len(text)})
		if err != nil {
			return i - first, err
		}
		b.WriteString(renameFootnotes(strings.TrimSpace(body), s.anchors[i]))
		b.WriteString("\n\n")
		if budget > 0 && i > first && out.n+b.Len() > budget {
			return i - first, nil
		}
		if _, err := io.WriteString(out, b.String()); err != nil {
			return i - first, err
		}
	}
	return len(s.Docs) - first, nil
}

// head writes what stands before a doc's body.
func (s *Set) head(b *strings.Builder, i int) {
	d := s.Docs[i]
	fmt.Fprintf(b, "---\n\n<a id=\"%s\"></a>\n\n# %s\n\n", s.anchors[i], oneLine(d.Title))
	item := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "- %s: %s\n", name, oneLine(value))
		}
	}
	item("path", "`"+d.Collection+"/"+d.Path+"`")
	item("tags", strings.Join(d.Tags, ", "))
	item("status", d.Status)
	item("created", d.Created)
	item("updated", d.Updated)
	item("source", "<"+d.URI+">")
	b.WriteString("\n")
}

type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += n
	return n, err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// pathWords is a path as a heading would have it, without its extension.
func pathWords(p string) string {
	if i := strings.LastIndexByte(p, '.'); i > strings.LastIndexByte(p, '/')+1 {
		p = p[:i]
	}
	return separators.Replace(p)
}

// numbered returns a with the first number that makes it free.
func numbered(a string, n int, taken map[string]int) string {
	for {
		try := fmt.Sprintf("%s-%d", a, n)
		if taken[try] == 0 {
			taken[try]++
			return try
		}
		n++
	}
}
