package tui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestActions(t *testing.T) {
	for _, tt := range []struct {
		name   string
		keys   []string
		did    []string
		status string
	}{
		{"merge", []string{"m", "y"}, []string{"merge retry-notes at 1a2b3c4d5e: []"}, "merged retry-notes"},
		{"merge, then the next", []string{"end", "m", "y", "m"}, []string{"merge 日本語のノート at 4d5e6f7a8b: []"}, "not merged: old.md:3: both"},
		{"not after all", []string{"m", "n"}, nil, "not merged"},
		{"another key is no yes", []string{"m", "m", "enter", "esc"}, nil, "not merged"},
		{"without a note", []string{"tab", "n", "space", "m", "y"},
			[]string{"merge retry-notes at 1a2b3c4d5e: [{reference/deeply/nested/directory/of/notes/http-status-codes.md []} {guides/backoff.md []}]"}, "merged"},
		{"one hunk of one note", []string{"a", "tab", "n", "]", "]", "space", "m", "y"},
			[]string{"merge retry-notes at 1a2b3c4d5e: [{guides/retry.md [1]}]"}, "merged"},
		{"a note out and in", []string{"tab", "n", "space", "space", "m", "y"}, []string{"merge retry-notes at 1a2b3c4d5e: []"}, "merged"},
		{"nothing", []string{"a", "m"}, nil, "nothing is chosen"},
		{"failed check", []string{"down", "m"}, nil, "not merged: glossary.md: the frontmatter has no title"},
		{"conflict", []string{"down", "down", "m"}, nil, "not merged: old.md:3: both the draft and main"},
		{"reject", []string{"r", "text:no  sources", "enter"}, []string{"reject retry-notes at 1a2b3c4d5e: no  sources"}, "rejected retry-notes; kb review reopen"},
		{"reject without a reason", []string{"r", "text:  ", "enter"}, nil, "the agent needs a reason"},
		{"do not reject", []string{"r", "text:x", "esc"}, nil, "not rejected"},
		{"letters of a reason are no commands", []string{"r", "text:qm?", "backspace", "text:/", "enter"}, []string{"reject retry-notes at 1a2b3c4d5e: qm/"}, "rejected"},
		{"a filtered one", []string{"/", "text:grace", "backspace", "enter", "r", "text:old", "enter"},
			[]string{"reject a-name-that-is-much-too-long-for-the-list-at-the-left at 3c4d5e6f7a: old"}, "rejected"},
		{"quit", []string{"q"}, nil, "quit"},
		{"interrupt anywhere", []string{"r", "text:x", "ctrl+c"}, nil, "quit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			desk := newTable()
			s := show(t, desk, 80, 24, tt.keys...)
			if !strings.HasPrefix(s.status.text, tt.status) {
				t.Errorf("status %q, want %q", s.status.text, tt.status)
			}
			picture(t, s)
			press(t, s, "y") // nothing is asked any more
			if diff := cmp.Diff(tt.did, desk.did); diff != "" {
				t.Errorf("did (-want +got):\n%s", diff)
			}
		})
	}
}

// A problem of a note is in the way only while the note is chosen.
func TestProblemOfAnotherNote(t *testing.T) {
	desk := newTable()
	desk.drafts[1].Problems = glossaryProblems[:2]
	show(t, desk, 80, 24, "down", "tab", "n", "space", "m", "y")
	want := []string{"merge broken-links at 2b3c4d5e6f: [{image.md []} {x.png []}]"}
	if diff := cmp.Diff(want, desk.did); diff != "" {
		t.Errorf("did (-want +got):\n%s", diff)
	}
}

// A draft that moved is not merged; it is read again and can be merged then.
func TestMoved(t *testing.T) {
	desk := newTable()
	desk.moved = map[string]string{"retry-notes": "ffffffffff"}
	s := show(t, desk, 80, 24, "tab", "n", "space", "m", "y")
	if len(desk.did) > 0 || !strings.Contains(s.status.text, "moved meanwhile") {
		t.Errorf("did %v and said %q", desk.did, s.status.text)
	}
	if !s.pane.choice.all() {
		t.Error("what was left out of the old diff is left out of the new one")
	}
	press(t, s, "m", "y")
	if want := []string{"merge retry-notes at ffffffffff: []"}; !cmp.Equal(want, desk.did) {
		t.Errorf("did %v, want %v", desk.did, want)
	}
}

// A draft that moves between the list and its diff is shown as it is then.
func TestMovedBeforeShown(t *testing.T) {
	desk := newTable()
	desk.gone = map[string]string{"retry-notes": "ffffffffff"}
	s := show(t, desk, 80, 24)
	if got := picture(t, s); !strings.Contains(got, "fffffff") || !strings.Contains(got, "guides/retry.md") {
		t.Errorf("not shown:\n%s", got)
	}
}

func TestActionFails(t *testing.T) {
	desk := newTable()
	desk.err = errors.New("guides/retry.md has changes\x1b[2J that are not committed\nkb: hint: commit them")
	s := show(t, desk, 80, 24, "m", "y")
	if got := picture(t, s); !strings.Contains(got, " guides/retry.md has changes␛[2J that are not committed kb: hint: commit them") {
		t.Errorf("the error is not shown:\n%s", got)
	}
}

// q while something is on its way closes the screen after it.
func TestQuitWhileBusy(t *testing.T) {
	s := show(t, newTable(), 80, 24, "m")
	_, merging := s.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
	press(t, s, "m", "r", "q")
	if s.mode != browsing || s.status.text == "quit" {
		t.Fatalf("mode %d, status %q while busy", s.mode, s.status.text)
	}
	run(t, s, merging)
	if s.status.text != "quit" {
		t.Errorf("status %q, want quit", s.status.text)
	}
}

// The diff of a draft that is no longer selected is not shown.
func TestLateDiff(t *testing.T) {
	s := show(t, newTable(), 80, 24)
	late := diffMsg{Draft{Name: "broken-links", Commit: "1a2b3c4d5e"}, glossaryDiff(), nil}
	send(t, s, late)
	if s.pane.diff.Notes[0].Path != "guides/retry.md" {
		t.Errorf("shown: %s", s.pane.diff.Notes[0].Path)
	}
}

// R reads the draft again, though its commit is the same.
func TestReload(t *testing.T) {
	desk := newTable()
	s := show(t, desk, 80, 24, "a")
	desk.diffs["retry-notes"] = glossaryDiff()
	press(t, s, "R")
	if got := picture(t, s); !strings.Contains(got, "glossary.md") {
		t.Errorf("not read again:\n%s", got)
	}
}

// A list that is longer than the screen follows the selection.
func TestLongList(t *testing.T) {
	desk := newTable()
	for i := range 40 {
		d := desk.drafts[0]
		d.Name = fmt.Sprintf("draft-%02d", i)
		desk.diffs[d.Name] = retryDiff()
		desk.drafts = append(desk.drafts, d)
	}
	s := show(t, desk, 80, 24)
	for _, step := range []struct{ key, name string }{{"end", "draft-39"}, {"k", "draft-38"}, {"home", "retry-notes"}} {
		press(t, s, step.key)
		if got := picture(t, s); !strings.Contains(got, "▌✓ "+step.name) {
			t.Errorf("%s is not shown:\n%s", step.name, got)
		}
	}
}

// A long message does not push the screen away.
func TestLongMessage(t *testing.T) {
	desk := newTable()
	desk.err = errors.New(strings.Repeat("word ", 300))
	s := show(t, desk, 80, 24, "m", "y")
	if n := strings.Count(picture(t, s), "word"); n < 30 || n > 48 {
		t.Errorf("%d words of the message are shown:\n%s", n, picture(t, s))
	}
}

// What came in the way meanwhile is shown, and is in the way.
func TestNewProblem(t *testing.T) {
	desk := newTable()
	desk.err = errors.New("draft retry-notes and main changed the same")
	s := show(t, desk, 80, 24, "tab", "n", "n", "space", "n")
	desk.drafts[0].Problems = []Problem{{Path: "guides/retry.md", Line: 3, Message: "both changed it", Conflict: true}}
	press(t, s, "m", "y")
	if got := picture(t, s); !strings.Contains(got, "✗ line 3: both changed it") || !strings.Contains(got, "changed the same") {
		t.Errorf("the conflict is not shown:\n%s", got)
	}
	if s.pane.choice.all() {
		t.Error("the choice is forgotten, though the draft is the same")
	}
	press(t, s, "m")
	if !strings.HasPrefix(s.status.text, "not merged: guides/retry.md:3: ") {
		t.Errorf("status %q", s.status.text)
	}
}

// A new note is merged whole, wherever the cursor is in it.
func TestIndivisible(t *testing.T) {
	desk := newTable()
	show(t, desk, 80, 24, "tab", "n", "n", "down", "down", "space", "m", "y")
	if want := []string{"merge retry-notes at 1a2b3c4d5e: [{guides/retry.md []} {guides/backoff.md []}]"}; !cmp.Equal(want, desk.did) {
		t.Errorf("did %v, want %v", desk.did, want)
	}
}

// However narrow the screen, it is seen that an answer is asked for.
func TestQuestionIsSeen(t *testing.T) {
	for _, width := range []int{16, 40, 80, 200} {
		if got := picture(t, show(t, newTable(), width, 24, "tab", "n", "space", "m")); !strings.HasSuffix(got, "? y/n\n") {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}

func TestPaste(t *testing.T) {
	desk := newTable()
	s := show(t, desk, 80, 24)
	send(t, s, tea.PasteMsg{Content: "my"})
	if s.mode != browsing {
		t.Error("pasted text is taken for keys")
	}
	press(t, s, "r")
	send(t, s, tea.PasteMsg{Content: "two\nlines\x1b"})
	press(t, s, "enter", "/")
	send(t, s, tea.PasteMsg{Content: "grace"})
	if got := picture(t, s); !strings.Contains(got, "old.md") {
		t.Errorf("the draft that the pasted filter leaves is not shown:\n%s", got)
	}
	if want := []string{"reject retry-notes at 1a2b3c4d5e: two lines"}; !cmp.Equal(want, desk.did) {
		t.Errorf("did %q, want %q", desk.did, want)
	}
}

func TestPrompt(t *testing.T) {
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{"home", "text:>"}, ">one twö 日"},
		{[]string{"left", "left", "backspace", "text:o"}, "one two 日"},
		{[]string{"ctrl+w"}, "one twö"},
		{[]string{"home", "right", "text:-"}, "o-ne twö 日"},
		{[]string{"up", "pgdown"}, "one twö 日"},
	} {
		p := prompt{before: "one twö 日"}
		for _, k := range tt.keys {
			text, typed := strings.CutPrefix(k, "text:")
			p.key(k, text[:len(text)*b2i(typed)])
		}
		if p.text() != tt.want {
			t.Errorf("%v: %q, want %q", tt.keys, p.text(), tt.want)
		}
	}
}

// large is a draft of many notes with long lines.
func large(notes, lines int) *table {
	d := &Diff{}
	for i := range notes {
		var text []string
		for k := range lines {
			text = append(text, fmt.Sprintf("+line %d %s", k, strings.Repeat("word ", k%60)))
		}
		d.Notes = append(d.Notes, Note{Path: fmt.Sprintf("notes/%02d.md", i), Kind: NoteAdded, Added: lines, Hunks: []Hunk{hunk(1, "", text...)}})
	}
	return &table{drafts: []Draft{{Name: "large", Commit: "1", Into: "main", Notes: notes, Date: today}}, diffs: map[string]*Diff{"large": d}}
}

// Of a large draft only what is near the window is laid out.
func TestLargeDraft(t *testing.T) {
	s := show(t, large(50, 500), 80, 24, "tab", "end", "pgup", "home", "pgdown", "n", "n", "p")
	for range 60 {
		press(t, s, "pgdown")
		picture(t, s)
	}
	for range 50 {
		press(t, s, "n")
		picture(t, s)
	}
	if got := len(s.pane.drawn); got > maxDrawn {
		t.Errorf("%d lines are kept drawn", got)
	}
	s.pane.width = 0 // forget
	s.layOut()
	picture(t, s)
	if got := len(s.pane.drawn); got > 4*s.height {
		t.Errorf("%d of 25,000 lines were laid out for a window of %d", got, s.height)
	}
	if !strings.Contains(picture(t, s), "notes/49.md") {
		t.Errorf("not at the last note:\n%s", picture(t, s))
	}
}

// However the screen is resized, the cursor stays on its item and in the window.
func TestResize(t *testing.T) {
	s := show(t, large(3, 300), 120, 40, "tab", "n", "n", "pgdown", "pgdown", "down")
	at := s.pane.scroll.cursor.item
	for _, size := range [][2]int{{80, 24}, {30, 8}, {10, 2}, {200, 50}, {64, 5}, {63, 24}, {16, 5}, {120, 40}} {
		send(t, s, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		got := picture(t, s)
		if s.pane.scroll.cursor.item != at {
			t.Errorf("at %v the cursor is on item %d, was on %d", size, s.pane.scroll.cursor.item, at)
		}
		if size[1] > leastRows && size[0] >= leastColumns && !strings.Contains(got, "▐") {
			t.Errorf("at %v the cursor is out of the window:\n%s", size, got)
		}
	}
}

// Nothing that a draft says reaches the terminal as a command to it.
func TestHostileText(t *testing.T) {
	const evil = "\x1b[2J\x1b]0;owned\x07\u202eevil\x9b31m\r\n\x00"
	s := show(t, hostile(evil), 120, 40)
	for _, keys := range [][]string{{"tab", "n"}, {"m"}, {"/", "text:x"}, {"esc", "tab", "a", "r", "text:x", "enter"}} {
		press(t, s, keys...)
		safe(t, s)
	}
	s = show(t, hostile(evil), 40, 12, "tab", "n")
	s.pane.err = errors.New(evil)
	safe(t, s)
	s.list.filter = evil
	safe(t, s)
}

// hostile is a desk that says evil wherever it can.
func hostile(evil string) *table {
	desk := newTable()
	desk.drafts = []Draft{{Name: evil, Commit: evil, Into: evil, Subject: evil, Author: evil, Agent: evil, Date: today,
		Problems: []Problem{{Path: evil, Message: evil}, {Message: evil}}}}
	desk.diffs = map[string]*Diff{evil: {
		Notes: []Note{{Path: evil, From: evil, Kind: Kind(evil), Remark: evil, Hunks: []Hunk{hunk(1, evil, "+"+evil, "-"+evil, " "+evil)}}},
	}}
	return desk
}

// safe fails if the screen has more than text and our own colours.
func safe(t *testing.T, s *screen) {
	t.Helper()
	text := s.draw()
	for _, st := range []style{strong, dim, inverse, title, accent, heading, good, bad, warn, odd, addedOn, removeOn} {
		text = strings.ReplaceAll(text, "\x1b["+string(st)+"m", "")
	}
	text = strings.ReplaceAll(text, "\x1b[m", "")
	for _, line := range strings.Split(text, "\n") {
		if strings.ContainsFunc(line, isHidden) {
			t.Errorf("a hidden character is shown: %q", line)
		}
	}
	if n := strings.Count(text, "\n") + 1; n != s.height {
		t.Errorf("%d rows, want %d", n, s.height)
	}
}

// A terminal that joins characters is believed.
func TestGraphemes(t *testing.T) {
	s := show(t, newTable(), 80, 24, "end")
	picture(t, s)
	send(t, s, tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
	if s.method != ansi.GraphemeWidth {
		t.Error("columns are counted by code point still")
	}
	picture(t, s)
}

// An unreadable desk is said, and R reads again.
func TestUnreadable(t *testing.T) {
	desk := &failing{table: newTable(), err: errors.New("no repository")}
	s := show(t, desk, 80, 24)
	if got := picture(t, s); !strings.Contains(got, "the drafts cannot be read: no repository") {
		t.Errorf("not said:\n%s", got)
	}
	press(t, s, "tab", "space", "a", "m", "r", "n", "p", "[", "]", "up", "down", "pgdown", "enter", "esc")
	picture(t, s)
	desk.err = nil
	press(t, s, "R")
	if got := picture(t, s); !strings.Contains(got, "guides/retry.md") || strings.Contains(got, "cannot be read") {
		t.Errorf("not read again:\n%s", got)
	}
}

// failing cannot list drafts while err is set.
type failing struct {
	*table
	err error
}

func (f *failing) Drafts(ctx context.Context) ([]Draft, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.table.Drafts(ctx)
}

func BenchmarkScroll(b *testing.B) {
	desk := large(50, 2000)
	s := newScreen(context.Background(), desk, func() time.Time { return today })
	s.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	s.Update(s.reload())
	s.Update(diffMsg{desk.drafts[0], desk.diffs["large"], nil})
	s.onDiff = true
	for b.Loop() {
		s.Update(tea.KeyPressMsg{Code: tea.KeyPgDown})
		s.View()
	}
}

// Whatever is pressed, at whatever size, the screen is whole and the cursor in it.
func TestRandomKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 11))
	keys := []string{"up", "down", "left", "right", "tab", "enter", "esc", "home", "end", "pgup", "pgdown", "backspace", "space",
		"n", "p", "]", "[", "a", "m", "y", "r", "/", "?", "j", "k", "g", "G", "R", "b", "f", "日"}
	for range 10 {
		s := show(t, newTable(), 80, 24)
		var did []string
		for range 150 {
			k := keys[r.IntN(len(keys))]
			if did = append(did, k); r.IntN(10) == 0 {
				send(t, s, tea.WindowSizeMsg{Width: 1 + r.IntN(150), Height: 1 + r.IntN(50)})
			}
			press(t, s, k)
			got := picture(t, s)
			if s.onDiff && s.mode == browsing && s.ready() && s.height > leastRows+statusRows && s.width >= leastColumns && !strings.Contains(got, "▐") {
				t.Errorf("the cursor is not shown:\n%s", got)
			}
			if t.Failed() {
				t.Fatalf("after %v at %dx%d:\n%s", did, s.width, s.height, got)
			}
		}
	}
}
