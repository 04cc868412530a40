package tui

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"kb/internal/diff"
)

func TestCells(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		"a\tb\t":          "a→  b→  ",
		"\x1b[2J":         "␛[2J",
		"a\u202eb":        "a<202E>b",
		"zero\u200bwidth": "zero<200B>width",
		"la\u200dtin":     "la<200D>tin",
		"می\u200cخواهم":   "می\u200cخواهم",
		"\xff\xfe":        `\xff\xfe`,
		"e\u0301":         "e\u0301",
		"日本語":             "日本語",
		"👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽": "👨 ❤ 👍",
		"1\ufe0f\u20e3": "1\u20e3",
		"\u2028":        "<2028>",
		"line\r":        "line␍",
	} {
		var got strings.Builder
		for _, c := range cells(in, ansi.WcWidth) {
			got.WriteString(c.text)
		}
		if got.String() != want {
			t.Errorf("%q is shown as %q, want %q", in, got.String(), want)
		}
	}
}

// A line with more marks than a character can bear does not blow up a cell.
func TestStackedMarks(t *testing.T) {
	line := cells("a"+strings.Repeat("\u0301", 1000), ansi.WcWidth)
	for _, c := range line {
		if len(c.text) > 32 {
			t.Fatalf("a cell of %d bytes", len(c.text))
		}
	}
}

func TestLongLine(t *testing.T) {
	line := cells(strings.Repeat("x", 3*maxColumns), ansi.WcWidth)
	if n := total(line); n > maxColumns+50 {
		t.Errorf("%d columns, want about %d", n, maxColumns)
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 8, []string{"one two ", "three"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"日本語のノート", 5, []string{"日本", "語の", "ノー", "ト"}},
		{"a 日本語", 4, []string{"a 日", "本語"}},
		{"exactly8", 8, []string{"exactly8"}},
	} {
		var got []string
		for _, r := range wrap(cells(tt.in, ansi.WcWidth), tt.width) {
			got = append(got, paint(r, plain, plain, nil).text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q at %d (-want +got):\n%s", tt.in, tt.width, diff)
		}
	}
}

func TestPaintMarksWords(t *testing.T) {
	got := paint(cells("wait two seconds", ansi.WcWidth), added, addedOn, []diff.Span{{Start: 5, End: 8}})
	if want := "\x1b[32mwait \x1b[m\x1b[1;4;32mtwo\x1b[m\x1b[32m seconds\x1b[m"; got.text != want {
		t.Errorf("%q, want %q", got.text, want)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		in, want, start string
		width           int
	}{
		{"short", "short", "short", 5},
		{"longer than that", "longer …", "…an that", 8},
		{"日本語のノート", "日本…", "…ート", 6},
	} {
		if got := clip(tt.in, tt.width, plain, ansi.WcWidth); got.text != tt.want || got.width > tt.width {
			t.Errorf("clip(%q, %d) = %q of %d columns, want %q", tt.in, tt.width, got.text, got.width, tt.want)
		}
		if got := clipStart(tt.in, tt.width, plain, ansi.WcWidth); got.text != tt.start || got.width > tt.width {
			t.Errorf("clipStart(%q, %d) = %q of %d columns, want %q", tt.in, tt.width, got.text, got.width, tt.start)
		}
	}
}

// Whatever the text, its cells hold nothing that a terminal obeys, they cover all
// of it in order, and rows are not too wide.
func FuzzCells(f *testing.F) {
	f.Add("a\x1b]0;x\x07\u202e\t日本👨\u200d👩 \xff", 7)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 2 + max(width, -width)%200
		for _, m := range []measure{ansi.WcWidth, ansi.GraphemeWidth} {
			line := cells(text, m)
			for i, c := range line {
				if i > 0 && c.at < line[i-1].at || c.at > len(text) {
					t.Fatalf("cell %d of %q is at %d", i, text, c.at)
				}
				if strings.ContainsFunc(c.text, func(r rune) bool { return unicode.IsControl(r) || isHidden(r) && !isJoiner(r) }) {
					t.Fatalf("%q is shown as %q", text, c.text)
				}
			}
			for _, r := range wrap(line, width) {
				if n := total(r); n > width && len(r) > 1 {
					t.Fatalf("a row of %d columns, want %d: %q", n, width, text)
				}
			}
		}
	})
}
