package note

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// checkNote fails if what Parse says of src contradicts itself.
func checkNote(t *testing.T, src []byte) {
	t.Helper()
	n, text := Parse(src)
	if alone := Text(src); !bytes.Equal(alone, text) || (alone == nil) != (text == nil) {
		t.Fatalf("the text alone is %q, with the note %q", alone, text)
	}
	if n.Binary {
		if text != nil || len(n.Problems) != 1 {
			t.Fatalf("binary note has text %q or problems %v", text, n.Problems)
		}
		return
	}
	checkProblems(t, n)
	checkChunks(t, n, text)
	checkHeadings(t, n, text)
	checkOffsets(t, n, text)
	checkTexts(t, n)
	again, text2 := Parse(text)
	if !bytes.Equal(text, text2) {
		t.Fatalf("decoding is not idempotent: %q, then %q", text, text2)
	}
	n.Problems = slices.DeleteFunc(n.Problems, func(p Problem) bool { return p.Code == invalidUTF8 || p.Code == tooLarge })
	if diff := cmp.Diff(n, again, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the decoded text parses differently (-source +decoded):\n%s", diff)
	}
}

func checkProblems(t *testing.T, n *Note) {
	t.Helper()
	for _, p := range n.Problems {
		if p.Code == malformedMarkup || p.Message == "" {
			t.Fatalf("problem %+v", p)
		}
		if p.Code == malformedFrontmatter && (n.Body != 0 || len(n.Fields) > 0) {
			t.Fatalf("malformed frontmatter is not text: body at %d, fields %v", n.Body, n.Fields)
		}
	}
}

func checkChunks(t *testing.T, n *Note, text []byte) {
	t.Helper()
	at := n.Body
	for i, c := range n.Chunks {
		switch {
		case c.Start != at || c.End <= c.Start || c.End-c.Start > chunkRecipe.most:
			t.Fatalf("chunk %d is [%d,%d), want a start of %d and at most %d bytes", i, c.Start, c.End, at, chunkRecipe.most)
		case c.Line != LineAt(text, c.Start) || c.EndLine != LineAt(text, c.End-1):
			t.Fatalf("chunk %d [%d,%d) has lines %d to %d", i, c.Start, c.End, c.Line, c.EndLine)
		case c.Heading < -1 || c.Heading >= len(n.Headings):
			t.Fatalf("chunk %d has heading %d of %d", i, c.Heading, len(n.Headings))
		case c.End < len(text) && !utf8.RuneStart(text[c.End]):
			t.Fatalf("chunk %d ends within a character", i)
		}
		at = c.End
	}
	if at != len(text) {
		t.Fatalf("chunks end at %d of %d", at, len(text))
	}
}

func checkHeadings(t *testing.T, n *Note, text []byte) {
	t.Helper()
	slugs := map[string]bool{}
	for i, h := range n.Headings {
		switch {
		case h.Start < n.Body || h.End <= h.Start || h.End > len(text) || h.Line != LineAt(text, h.Start):
			t.Fatalf("heading %+v: body [%d,%d)", h, n.Body, len(text))
		case slugs[h.Slug]:
			t.Fatalf("slug %q twice", h.Slug)
		case n.HeadingAt(h.Start) != i:
			t.Fatalf("HeadingAt(%d) = %d, want %d", h.Start, n.HeadingAt(h.Start), i)
		}
		slugs[h.Slug] = true
		for _, later := range n.Headings[i+1 : min(i+50, len(n.Headings))] {
			inside := later.Start < h.End
			if inside && (later.Level <= h.Level || later.End > h.End) {
				t.Fatalf("section %+v does not hold %+v", h, later)
			}
		}
	}
}

func checkOffsets(t *testing.T, n *Note, text []byte) {
	t.Helper()
	for _, l := range n.Links {
		if l.Start < 0 || l.End <= l.Start || l.End > len(text) || l.Line != LineAt(text, l.Start) || l.Kind == 0 {
			t.Fatalf("link %+v of %d bytes", l, len(text))
		}
	}
	for _, b := range n.Blocks {
		if b.Start < n.Body || b.End <= b.Start || b.End > len(text) || b.Line != LineAt(text, b.Start) || b.ID == "" {
			t.Fatalf("block %+v of [%d,%d)", b, n.Body, len(text))
		}
	}
	at := n.Body
	for _, s := range n.Skip {
		if s.Start < at || s.End <= s.Start || s.End > len(text) {
			t.Fatalf("skip %v after %d of %d", s, at, len(text))
		}
		at = s.End
	}
}

func checkTexts(t *testing.T, n *Note) {
	t.Helper()
	if len(n.Summary) > maxSummary || !utf8.ValidString(n.Summary) || strings.Contains(n.Summary, "\n") {
		t.Fatalf("summary %q", n.Summary)
	}
	seen := map[string]bool{}
	for _, tag := range n.Tags {
		if key := strings.ToLower(tag); tag == "" || tag[0] == '#' || seen[key] {
			t.Fatalf("tags %q", n.Tags)
		} else {
			seen[key] = true
		}
	}
}
