package export

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"kb/note"
)

// line is a chunk as JSONL writes it.
type line struct {
	ID         string   `json:"id"`
	URI        string   `json:"uri"`
	Path       string   `json:"path"`
	Collection string   `json:"collection"`
	Title      string   `json:"title"`
	Heading    []string `json:"heading"`
	Lines      [2]int   `json:"lines"`
	Tags       []string `json:"tags"`
	Text       string   `json:"text"`
}

// JSONL writes each chunk of the docs from first on as a line of JSON with its
// citation, for retrieval and training. It stops before the doc that would
// exceed budget bytes, and returns how many docs it wrote.
func JSONL(w io.Writer, s *Set, first, budget int) (int, error) {
	out := &counter{w: w}
	for i := first; i < len(s.Docs); i++ {
		n, text, err := s.Read(i)
		if err != nil {
			return i - first, fmt.Errorf("export %s: %w", s.Docs[i].Path, err)
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		for k, c := range n.Chunks {
			if err := e.Encode(s.chunk(i, k, n, string(text[c.Start:c.End]))); err != nil {
				return i - first, err
			}
		}
		if budget > 0 && i > first && out.n+b.Len() > budget {
			return i - first, nil
		}
		if _, err := io.WriteString(out, b.String()); err != nil {
			return i - first, err
		}
	}
	return len(s.Docs) - first, nil
}

func (s *Set) chunk(i, k int, n *note.Note, text string) line {
	d, c := s.Docs[i], n.Chunks[k]
	l := line{
		ID:         fmt.Sprintf("%s/%s#%05d", d.Collection, d.Path, k),
		URI:        d.URI,
		Path:       d.Path,
		Collection: d.Collection,
		Title:      d.Title,
		Heading:    []string{},
		Lines:      [2]int{c.Line, c.EndLine},
		Tags:       append([]string{}, d.Tags...),
		Text:       text,
	}
	if c.Heading >= 0 {
		l.Heading = append(l.Heading, n.HeadingPath(c.Heading)...)
		l.URI += "#" + url.PathEscape(n.Headings[c.Heading].Slug)
	}
	return l
}

// LLMs writes an llms.txt: a title, a summary, and a link for each note below
// its section. With full, the notes follow, as [Markdown] writes them.
func LLMs(w io.Writer, s *Set, title, summary string, full bool) error {
	fmt.Fprintf(w, "# %s\n\n", oneLine(title))
	if summary != "" {
		fmt.Fprintf(w, "> %s\n\n", oneLine(summary))
	}
	last := "\x00"
	for _, d := range s.Docs {
		if section := d.Collection + "/" + directory(d.Path); section != last {
			fmt.Fprintf(w, "## %s\n\n", strings.TrimSuffix(section, "/"))
			last = section
		}
		fmt.Fprintf(w, "- [%s](%s)", escapeLabel(oneLine(d.Title)), d.URI)
		if d.Summary != "" {
			fmt.Fprintf(w, ": %s", oneLine(d.Summary))
		}
		fmt.Fprintln(w)
	}
	if !full {
		_, err := fmt.Fprintln(w)
		return err
	}
	fmt.Fprintln(w)
	_, err := Markdown(w, s, 0, 0)
	return err
}

func directory(p string) string {
	dir, _, ok := strings.Cut(p, "/")
	if !ok {
		return ""
	}
	return dir
}

// Bundle writes the notes as a zip of files whose links lead to each other as
// ordinary Markdown links, whoever reads them. The files' times are fixed, so
// that the same docs give the same bytes.
func Bundle(w io.Writer, s *Set) error {
	s.prepare()
	z := zip.NewWriter(w)
	for i, d := range s.Docs {
		n, text, err := s.Read(i)
		if err != nil {
			return fmt.Errorf("export %s: %w", d.Path, err)
		}
		x := rewriter{set: s, doc: i}
		body, err := x.body(n, text, note.Span{Start: 0, End: len(text)})
		if err != nil {
			return err
		}
		f, err := z.CreateHeader(&zip.FileHeader{
			Name:     d.Collection + "/" + d.Path,
			Method:   zip.Deflate,
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(f, body); err != nil {
			return err
		}
	}
	return z.Close()
}
