package tui

import (
	"fmt"
	"strings"
	"testing"
)

// What is left out is dim as soon as it is.
func TestOutIsDim(t *testing.T) {
	const line = "\x1b[2m+\x1b[m \x1b[2mtags: [http, retry]\x1b[m"
	s := show(t, newTable(), 80, 24, "tab", "n", "]")
	for i, key := range []string{"space", "space", "a", "a"} {
		press(t, s, key)
		if got, want := strings.Contains(s.draw(), line), i%2 == 0; got != want {
			t.Errorf("after %d keys the line is dim: %v, want %v", i+1, got, want)
		}
	}
}

// Carriage returns are shown where they are not everywhere.
func TestCarriageReturns(t *testing.T) {
	desk := newTable()
	desk.diffs["retry-notes"] = &Diff{Notes: []Note{{Path: "crlf.md", Kind: NoteChanged, Hunks: []Hunk{
		hunk(1, "", " same\r", "-old\r", "+new\r"), hunk(9, "", " plain", "-ended", "+ended\r")}}}}
	got := picture(t, show(t, desk, 80, 24))
	if strings.Contains(got, "new␍") || !strings.Contains(got, "+ ended␍") {
		t.Errorf("shown:\n%s", got)
	}
}

// The problems of a draft of many notes are seen without scrolling, some of them.
func TestProblemsInHead(t *testing.T) {
	desk := large(50, 10)
	for i := range 9 {
		desk.drafts[0].Problems = append(desk.drafts[0].Problems, Problem{Path: fmt.Sprintf("notes/%02d.md", 20+i), Message: "no tags"})
	}
	s := show(t, desk, 80, 24)
	got := picture(t, s)
	for _, want := range []string{"✗ notes/20.md: no tags", "✗ notes/23.md: no tags", "and 5 more, at their notes"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown:\n%s", want, got)
		}
	}
	for _, step := range []struct{ key, bar string }{{"x", "notes/20.md"}, {"x", "notes/21.md"}, {"X", "notes/20.md"}, {"X", "notes/20.md"}} {
		press(t, s, step.key)
		if at := s.pane.at(); at.kind != itemProblem || !strings.Contains(picture(t, s), "│ "+step.bar) {
			t.Errorf("%s does not lead to the problem of %s:\n%s", step.key, step.bar, picture(t, s))
		}
	}
}
