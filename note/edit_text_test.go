package note

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplaceSection(t *testing.T) {
	tests := []struct{ name, src, heading, text, want string }{
		{"between headings", "# A\n\nold\n\n## B\n\nb\n", "A", "new", "# A\n\nnew\n"},
		{"up to the same level", "# A\n\n## B\n\nold\n\n### C\n\nc\n\n## D\nd\n", "## B", "new", "# A\n\n## B\n\nnew\n\n## D\nd\n"},
		{"up to a higher level", "# A\n## B\nold\n# C\n", "B", "new", "# A\n## B\nnew\n# C\n"},
		{"by slug", "# Two Words!\n\nold\n", "two-words", "new", "# Two Words!\n\nnew\n"},
		{"by #slug", "# X\n\n## N\n1\n\n## N\n2\n", "#n-1", "new", "# X\n\n## N\n1\n\n## N\nnew\n"},
		{"by path", "# A\n## N\n1\n# B\n## N\n2\n", "B > N", "new", "# A\n## N\n1\n# B\n## N\nnew\n"},
		{"with markup, its level", "# The `x` **y**\n\nold\n", "The `x` **y**", "new", "# The `x` **y**\n\nnew\n"},
		{"dollars", "# A\n\nold\n", "A", "$& $1 \\1 `x`", "# A\n\n$& $1 \\1 `x`\n"},
		{"empty section", "# A\n# B\n", "A", "new", "# A\n\nnew\n\n# B\n"},
		{"empty section with space", "# A\n\n# B\n", "A", "new", "# A\n\nnew\n\n# B\n"},
		{"empty section at the end", "# A", "A", "new", "# A\n\nnew"},
		{"empty section, newline at the end", "# A\n", "A", "new", "# A\n\nnew\n"},
		{"no text", "# A\n\nold\n\n# B\n", "A", "\n \n", "# A\n\n# B\n"},
		{"no newline at the end", "# A\n\nold", "A", "new\n\n", "# A\n\nnew"},
		{"blank lines at the end", "# A\n\nold\n\n\n", "A", "new", "# A\n\nnew\n\n\n"},
		{"text repeats the heading", "# A\n\nold\n\n# B\n", "A", "# A\n\nnew\n", "# A\n\nnew\n\n# B\n"},
		{"text has another heading", "# A\n\nold\n", "A", "# B\n\nnew\n", "# A\n\n# B\n\nnew\n"},
		{"setext", "A\n===\nold\n\nB\n---\nb\n", "A", "new", "A\n===\nnew\n"},
		{"setext of two lines", "B\nc\n---\nold\n\nD\n---\nd\n", "B c", "new", "B\nc\n---\nnew\n\nD\n---\nd\n"},
		{"text before a setext heading", "A\n---\n```\nx\n```\nB\n---\nb\n", "A", "new", "A\n---\nnew\n\nB\n---\nb\n"},
		{"hash in a code block is no heading", "# A\n\n```\n# B\n```\n\nold\n", "A", "new", "# A\n\nnew\n"},
		{"heading in a quote is none", "# A\n\n> # B\n> x\n\nold\n\n# C\n", "A", "new", "# A\n\nnew\n\n# C\n"},
		{"HTML runs into what follows", "# A\nold\n# B\nb\n", "A", "<div>\nx\n</div>", "# A\n<div>\nx\n</div>\n\n# B\nb\n"},
		{"CRLF", "# A\r\n\r\nold\r\n\r\n# B\r\n", "A", "x\ny\r\nz", "# A\r\n\r\nx\r\ny\r\nz\r\n\r\n# B\r\n"},
		{"BOM and frontmatter", "\xef\xbb\xbf---\na: [\"x\"]\n---\n# A\nold\n", "A", "new", "\xef\xbb\xbf---\na: [\"x\"]\n---\n# A\nnew\n"},
		{"bytes that are not UTF-8", "\xff\xe9\n# A\nold\xe9\n# B\xe9\n\xe9", "A", "é", "\xff\xe9\n# A\né\n# B\xe9\n\xe9"},
		{"definitions that headings below use", "# A\nold\n\n[x]: y\n\n# B [x]\n", "A", "new", "# A\nnew\n\n[x]: y\n\n# B [x]\n"},
		{"definitions that only it uses", "# A\nold [x][Y]\n\n[y]: y\n\n# B\n", "A", "new", "# A\nnew\n\n# B\n"},
		{"definitions that the text has", "# A [x]\nold\n\n[x]: y\n", "A x", "new\n\n[X]: z", "# A [x]\nnew\n\n[X]: z\n"},
		{"definitions and no text", "[X] ![y][z]\n# A\nold\n\n[x]: y\n  \"t\"\n[z]: w\n", "A", "", "[X] ![y][z]\n# A\n[x]: y\n  \"t\"\n[z]: w\n"},
		{"footnotes", "x[^1] y[^2]\n# A\nold[^3]\n\n[^1]: one\n\n    more\n[^2]: two\n[^3]: three\n", "A", "new", "x[^1] y[^2]\n# A\nnew\n\n[^1]: one\n\n    more\n[^2]: two\n"},
		{"definition in code is none", "[x]\n# A\n```\n[x]: y\n```\n", "A", "new", "[x]\n# A\nnew\n"},
		{"a heading of a circumflex", "# ^\nold\n", "^", "new", "# ^\nnew\n"},

		{"block", "a\n\nold\ntwo ^id\n\nb\n", "^id", "new", "a\n\nnew ^id\n\nb\n"},
		{"block with its id given", "old ^id\n", "^id", "new ^id", "new ^id\n"},
		{"block without newline", "old ^id", "^id", "new\nmore", "new\nmore ^id"},
		{"block of a list", "- a\n- old ^id\n- c\n", "^id", "new", "- a\n- new ^id\n- c\n"},
		{"block of a list, with its mark", "- a\n  - old ^id\n- c\n", "^id", "- new", "- a\n  - new ^id\n- c\n"},
		{"item with items below", "1. old ^id\n   - x\n2. b\n", "^id", "new\n\nmore", "1. new ^id\n\n   more\n2. b\n"},
		{"block in a quote", "> old ^id\n> \n> b\n", "^id", "new\nmore", "> new\n> more ^id\n> \n> b\n"},
		{"table", "| a |\n|---|\n| b |\n\n^id\n\nx\n", "^id", "| c |\n|---|\n| d |", "| c |\n|---|\n| d |\n\n^id\n\nx\n"},
		{"paragraph becomes code", "old ^id\n\nx\n", "^id", "```\ncode\n```", "```\ncode\n```\n\n^id\n\nx\n"},
		{"block with CRLF", "a\r\n\r\nold ^id\r\n", "^id", "new\nx", "a\r\n\r\nnew\r\nx ^id\r\n"},
	}
	for _, tt := range tests {
		got, err := ReplaceSection([]byte(tt.src), tt.heading, tt.text)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: (-want +got):\n%s%v", tt.name, diff, err)
		}
	}
}

func TestReplaceSectionRefuses(t *testing.T) {
	src := "# A\n\n## N\n\nx ^b\n\n## N\n\ny ^c\n\nz ^c\n"
	tests := []struct {
		name, src, heading, text, want string
		is                             error
	}{
		{"no heading", src, "M", "x", `no heading "M"; the note has # A, ## N, ## N`, nil},
		{"no heading at all", "x", "M", "x", `no heading "M"; the note has none`, nil},
		{"no heading of a level", src, "### Q", "x", `no heading "### Q"; the note has # A, ## N, ## N`, nil},
		{"no block", src, "^q", "x", "no block ^q; the note has ^b, ^c, ^c", nil},
		{"two", src, "N", "x", `heading "N" stands 2 times: #n (line 3), #n-1 (line 7)`, nil},
		{"two of a level", src, "## n", "x", `heading "## n" stands 2 times: #n (line 3), #n-1 (line 7)`, nil},
		{"two blocks", src, "^c", "x", "block ^c stands 2 times: line 9, line 11", nil},
		{"open fence", src, "#n", "```\nx", "", ErrStructure},
		{"open HTML comment", src, "#n", "<!-- x", "", ErrStructure},
		{"NUL", src, "A", "\x00", "", ErrText},
		{"empty block", src, "^b", " ", "", ErrText},
		{"UTF-16", "\xfe\xff\x00a", "A", "x", "", ErrUneditable},
		{"made frontmatter", "---\n# A\nx\n", "A", "a: b\n---\n", "", ErrFrontmatter},
	}
	for _, tt := range tests {
		got, err := ReplaceSection([]byte(tt.src), tt.heading, tt.text)
		if got != nil || err == nil || tt.is != nil && !errors.Is(err, tt.is) || tt.want != "" && err.Error() != tt.want {
			t.Errorf("%s: %q, %v; want %s %v", tt.name, got, err, tt.want, tt.is)
		}
	}
	var none *NoHeadingError
	if _, err := ReplaceSection([]byte(src), "M", ""); !errors.As(err, &none) || len(none.Headings) != 3 {
		t.Errorf("%v", err)
	}
	many := strings.Repeat("# A\n", 50)
	if _, err := ReplaceSection([]byte(many), "A", ""); !strings.HasSuffix(err.Error(), "and 30 more") {
		t.Errorf("%v", err)
	}
}

func TestAppendText(t *testing.T) {
	for _, tt := range []struct{ src, text, want string }{
		{"a\n", "b", "a\n\nb\n"},
		{"a", "b\n", "a\n\nb\n"},
		{"a\n\n", "\n\nb", "a\n\nb\n"},
		{"", "b", "b\n"},
		{"- a\n", "- b", "- a\n- b\n"},
		{"- a", "- b", "- a\n- b\n"},
		{"- a\n", "* b", "- a\n\n* b\n"},
		{"1. a\n", "2. b", "1. a\n2. b\n"},
		{"|a|\n|-|\n", "|b|", "|a|\n|-|\n|b|\n"},
		{"a\r\nb\r\n", "x\ny", "a\r\nb\r\n\r\nx\r\ny\r\n"},
		{"---\na: b\n---\n", "x", "---\na: b\n---\nx\n"},
		{"---\na: b\n---", "x", "---\na: b\n---\n\nx\n"},
		{"---\na: [\n---\n", "x", "---\na: [\n---\n\nx\n"},
		{"a\n", " \n", "a\n"},
		{"a\xe9", "$&", "a\xe9\n\n$&\n"},
	} {
		if got, err := AppendText([]byte(tt.src), tt.text); string(got) != tt.want || err != nil {
			t.Errorf("append %q to %q: %q, %v; want %q", tt.text, tt.src, got, err, tt.want)
		}
	}
	if got, err := AppendText([]byte("---\na: b\n"), "y: z\n---\n"); !errors.Is(err, ErrFrontmatter) {
		t.Errorf("frontmatter closed: %q, %v", got, err)
	}
}

func TestPrependText(t *testing.T) {
	for _, tt := range []struct{ src, text, want string }{
		{"a\n", "b", "b\n\na\n"},
		{"", "b", "b\n"},
		{"# T\n\na\n", "b", "# T\n\nb\n\na\n"},
		{"# T\na\n", "b", "# T\n\nb\n\na\n"},
		{"# T", "b", "# T\n\nb\n"},
		{"T\n===\na", "b", "T\n===\n\nb\n\na"},
		{"## T\na\n", "b", "b\n\n## T\na\n"},
		{"---\nx: 1\n---\n# T\n\na", "b", "---\nx: 1\n---\n# T\n\nb\n\na"},
		{"---\nx: 1\n---\na", "b", "---\nx: 1\n---\nb\n\na"},
		{"---\nx: 1\n---", "b", "---\nx: 1\n---\nb\n"},
		{"---\r\nx: 1\r\n---\r\n\r\na\r\n", "b\nc", "---\r\nx: 1\r\n---\r\n\r\nb\r\nc\r\n\r\na\r\n"},
		{"\xef\xbb\xbfa", "b", "\xef\xbb\xbfb\n\na"},
		{"x:: 1\na\n", "b", "x:: 1\nb\n\na\n"},
	} {
		if got, err := PrependText([]byte(tt.src), tt.text); string(got) != tt.want || err != nil {
			t.Errorf("prepend %q to %q: %q, %v; want %q", tt.text, tt.src, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		src, text string
		want      error
	}{
		{"---\na: [\n---\n", "x", ErrFrontmatter},
		{"a\n", "---\nx: 1\n---\n", ErrFrontmatter},
		{"a\n", "x:: 1", ErrFrontmatter},
		{"# A\n## B\n", "```", ErrStructure},
	} {
		if got, err := PrependText([]byte(tt.src), tt.text); !errors.Is(err, tt.want) || got != nil {
			t.Errorf("prepend %q to %q: %q, %v; want %v", tt.text, tt.src, got, err, tt.want)
		}
	}
}

func TestReplaceSpan(t *testing.T) {
	for _, tt := range []struct{ src, old, new, want string }{
		{"a b c", "b", "$& $1", "a $& $1 c"},
		{"---\nx: b\n---\na b c", "b", "d", "---\nx: b\n---\na d c"},
		{"a\r\nb\r\nc", "a\nb", "x\ny", "x\r\ny\r\nc"},
		{"a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		{"a b", "b", "", "a "},
		{"a.b a*b", "a*b", "[", "a.b ["},
		{"é\xe9 b", "b", "c", "é\xe9 c"},
	} {
		if got, err := ReplaceSpan([]byte(tt.src), tt.old, tt.new); string(got) != tt.want || err != nil {
			t.Errorf("replace %q by %q in %q: %q, %v; want %q", tt.old, tt.new, tt.src, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		src, old, new string
		want          error
	}{
		{"a", "b", "c", ErrNoSpan},
		{"a", "", "c", ErrNoSpan},
		{"a", "A", "c", ErrNoSpan},
		{"---\nx: b\n---\na", "b", "c", ErrNoSpan},
		{"---\nx: b\n---\na", "---\na", "c", ErrNoSpan},
		{"---\nx: [\n---\na", "[", "1", ErrFrontmatter},
		{"a b", "b", "\x00", ErrText},
		{"a\x00b", "b", "c", ErrUneditable},
	} {
		if got, err := ReplaceSpan([]byte(tt.src), tt.old, tt.new); !errors.Is(err, tt.want) || got != nil {
			t.Errorf("replace %q in %q: %q, %v; want %v", tt.old, tt.src, got, err, tt.want)
		}
	}
	var many *AmbiguousSpanError
	_, err := ReplaceSpan([]byte("x\naaa\n\naa"), "aa", "b")
	if !errors.As(err, &many) || err.Error() != "the text to replace occurs 3 times, in lines 2, 2, 4" {
		t.Errorf("%v", err)
	}
}

// FuzzEdits makes edits of any text: bytes outside them stay, and what follows
// a section reads as before.
func FuzzEdits(f *testing.F) {
	for _, s := range []string{"# A\n\nb\n\n## C\nd ^e\n", "---\na: b\n---\nx\r\n\r\n> - y ^z\n\nT\n---\n", "\xef\xbb\xbf\xef\xbb\xbfa\r\r\n\xff\xfe\xe9\r\nb", "|a|\n|-|\n\n^t\n", "```\n# a\n", "%%\n# a\n%%\n# b"} {
		f.Add([]byte(s), "new\ntext")
		f.Add([]byte(s), "```\n")
		f.Add([]byte(s), "- x\n\n\ty")
	}
	f.Fuzz(func(t *testing.T, src []byte, text string) {
		s, err := openSource(src)
		if err != nil {
			return
		}
		if got := s.bytes(); !bytes.Equal(got, src) {
			t.Fatalf("no edit gives %q", got)
		}
		at := alignment{source: s, raw: leadingMarks(src)}
		if at.to(len(s.text)) != len(src) && len(s.text) > 0 {
			t.Fatalf("the end of %q is at %d of %d", s.text, at.raw, len(src))
		}
		if out, err := AppendText(src, text); err == nil && !bytes.HasPrefix(out, src) {
			t.Errorf("append: %q", out)
		}
		if out, err := PrependText(src, text); err == nil && !isInsertion(src, out) {
			t.Errorf("prepend: %q", out)
		}
		for i, h := range s.note.Headings {
			out, err := ReplaceSection(src, "#"+h.Slug, text)
			if err != nil {
				continue
			}
			before, after := source{raw: src, text: s.text}, mustOpen(t, out)
			if k := len(after.note.Headings); k <= i || after.note.Headings[i].Text != h.Text && i == 0 {
				t.Errorf("section %+v lost its heading: %q", h, out)
			}
			a := alignment{source: &before, raw: leadingMarks(src)}
			start := a.to(headingEnd(s.text, h.Start))
			checkOnly(t, fmt.Sprintf("#%s by %q", h.Slug, text), src, out, start, a.to(h.End))
		}
		for _, b := range s.note.Blocks {
			if out, err := ReplaceSection(src, "^"+b.ID, text); err == nil {
				if after := mustOpen(t, out); len(after.note.Blocks) == 0 {
					t.Errorf("^%s is lost: %q", b.ID, out)
				}
			}
		}
	})
}

// isInsertion reports whether out is src with something put in at one place.
func isInsertion(src, out []byte) bool {
	same := 0
	for same < len(src) && same < len(out) && src[same] == out[same] {
		same++
	}
	return len(out) >= len(src) && bytes.HasSuffix(out[same:], src[same:])
}

func mustOpen(t *testing.T, src []byte) *source {
	t.Helper()
	s, err := openSource(src)
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	return s
}
