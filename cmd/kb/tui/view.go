package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// The sizes that the layout turns at.
const (
	twoPanes     = 64 // columns for list and diff side by side
	listNarrow   = 24
	listWide     = 44
	leastColumns = 16
	leastRows    = 5
	statusRows   = 3 // at most
)

// View draws the screen.
func (s *screen) View() tea.View {
	v := tea.NewView(s.draw())
	v.AltScreen = true
	return v
}

// draw is the screen as lines of exactly its height.
func (s *screen) draw() string {
	if s.width < leastColumns || s.height < leastRows {
		return clip("too small", s.width, plain, s.method).text
	}
	foot := s.foot()
	rows := append([]row{s.head()}, s.body(s.height-1-len(foot))...)
	rows = append(rows, foot...)
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.text
	}
	return strings.Join(lines, "\n")
}

// listWidth is the columns of the list: all where only one side has room.
func (s *screen) listWidth() int {
	if s.width < twoPanes {
		return s.width
	}
	return max(listNarrow, min(s.width/3, listWide))
}

// layOut tells the pane its size.
func (s *screen) layOut() {
	if s.pane == nil || s.width < leastColumns || s.height < leastRows {
		return
	}
	width := s.width
	if s.width >= twoPanes {
		width = s.width - s.listWidth() - 1
	}
	s.pane.resize(width, s.height-1-len(s.foot()), s.method)
}

// head says how many drafts there are.
func (s *screen) head() row {
	text := "reading …"
	if s.read {
		text = plural(len(s.list.all), "draft")
		if n := s.list.oldOnes(s.clock()); n > 0 {
			text += fmt.Sprintf(", %d old", n)
		}
	}
	if s.list.filter != "" {
		text = fmt.Sprintf("%d of %s match %q", len(s.list.shown), text, s.list.filter)
	}
	left := row{title.paint(" kb review "), len(" kb review ")}
	return left.add(clip(" "+text, s.width-left.width, plain, s.method))
}

// body is the two sides, or the one that has the keys.
func (s *screen) body(rows int) []row {
	switch {
	case s.mode == helping:
		return exactly(s.help(), rows)
	case len(s.list.shown) == 0:
		return exactly(s.empty(), rows)
	case s.width >= twoPanes:
		return s.beside(rows)
	case s.onDiff:
		return exactly(s.pane.view(rows, true), rows)
	}
	return exactly(s.list.view(s.width, rows, s.clock(), true, s.method), rows)
}

func (s *screen) beside(rows int) []row {
	width := s.listWidth()
	left := exactly(s.list.view(width, rows, s.clock(), !s.onDiff, s.method), rows)
	right := exactly(s.pane.view(rows, s.onDiff), rows)
	for i := range left {
		left[i] = left[i].pad(width).add(row{dim.paint("│"), 1}).add(right[i])
	}
	return left
}

// exactly cuts rows, or adds empty ones.
func exactly(rows []row, n int) []row {
	for len(rows) < n {
		rows = append(rows, row{})
	}
	return rows[:n]
}

// empty is what stands instead of an empty list.
func (s *screen) empty() []row {
	text := ""
	switch {
	case len(s.list.all) > 0:
		text = " No draft matches; esc shows all."
	case s.read:
		text = " No drafts to review."
	}
	return []row{{}, clip(text, s.width, plain, s.method)}
}

// foot is the status, and the keys or what is asked.
func (s *screen) foot() []row {
	return append(s.statusView(), s.ask())
}

func (s *screen) statusView() (rows []row) {
	text := strings.ReplaceAll(s.status.text, "\n", " ")
	for i, line := range wrap(cells(text, s.method), s.width-2) {
		if i < statusRows && i < s.height-leastRows+1 {
			rows = append(rows, row{" ", 1}.add(paint(line, s.status.style, s.status.style, nil)))
		}
	}
	return rows
}

func (s *screen) ask() row {
	switch s.mode {
	case confirming:
		const answer = "? y/n" // stays in sight
		question := clip(" "+s.question(), s.width-len(answer), strong, s.method)
		return question.add(row{strong.paint(answer), len(answer)})
	case rejecting:
		return s.prompt.view(" reject because: ", s.width, s.method)
	case filtering:
		return s.prompt.view(" filter: ", s.width, s.method)
	case helping:
		return clip(" any key goes back", s.width, dim, s.method)
	}
	return s.hints()
}

// hint is a key at the foot.
type hint struct{ key, does string }

// hints are the keys that fit, the most needed first.
func (s *screen) hints() row {
	keys := []hint{{"↑↓", "draft"}, {"tab", "diff"}}
	if s.onDiff {
		keys = []hint{{"↑↓", "line"}, {"tab", "list"}, {"space", "choose"}}
	}
	keys = append(keys, hint{"m", "merge"}, hint{"r", "reject"}, hint{"n/p", "note"}, hint{"/", "filter"})
	last := hintView(hint{"?", "help"}).add(hintView(hint{"q", "quit"}))
	r := row{}
	for _, k := range keys {
		h := hintView(k)
		if r.width+h.width+last.width > s.width {
			break
		}
		r = r.add(h)
	}
	if r.width+last.width > s.width {
		return hintView(hint{"?", "help"})
	}
	return r.add(last)
}

func hintView(h hint) row {
	return clip(" "+h.key, 20, strong, 0).add(clip(" "+h.does+" ", 20, dim, 0))
}

var helpText = []hint{
	{"", "Drafts are at the left, what one changes at the right."},
	{"", ""},
	{"tab", "go from one side to the other; enter, esc too"},
	{"↑ ↓", "next draft, or line; also k j, home end"},
	{"pgup pgdn", "page of the diff; also b f"},
	{"n p", "next, previous note"},
	{"] [", "next, previous hunk"},
	{"x X", "next, previous problem"},
	{"space", "take the note or hunk out, or in again"},
	{"a", "take all out, or in"},
	{"m", "merge what is chosen; the rest stays a draft"},
	{"r", "reject, with a reason that the agent reads"},
	{"/", "filter by name, agent, author or subject"},
	{"R", "read the drafts again"},
	{"q", "quit"},
	{"", ""},
	{"", "A failed check or a conflict is in the way of"},
	{"", "merging the note that has it: kb review edit NAME"},
	{"", "mends it. Each action is a command too: kb review merge,"},
	{"", "reject, reopen, undo."},
}

// help is the page of keys.
func (s *screen) help() []row {
	out := []row{{}}
	for _, h := range helpText {
		line := clip("  "+h.key, 13, strong, s.method).pad(13)
		if h.key == "" {
			line = row{"  ", 2}
		}
		out = append(out, line.add(clip(h.does, s.width-line.width, plain, s.method)))
	}
	return out
}
