package tui

import (
	"strings"
	"time"
)

// old is the age from which a draft is marked.
const old = 14 * 24 * time.Hour

// draftRows is how many rows a draft takes in the list.
const draftRows = 2

// list is the left side: the drafts that the filter lets through.
type list struct {
	all      []Draft
	shown    []int // positions in all
	filter   string
	selected int // position in shown
	top      int
}

// fill shows drafts that were read, and stays on the selected one; where that is
// gone, on its successor.
func (l *list) fill(drafts []Draft) { l.show(drafts, l.filter) }

// setFilter narrows the list, and stays on the selected draft while it is shown.
func (l *list) setFilter(filter string) { l.show(l.all, filter) }

func (l *list) show(drafts []Draft, filter string) {
	was := l.current()
	l.all, l.filter, l.shown = drafts, filter, nil
	found := false
	for i, d := range l.all {
		if !matches(d, l.filter) {
			continue
		}
		if was != nil && d.Name == was.Name {
			l.selected, found = len(l.shown), true
		}
		l.shown = append(l.shown, i)
	}
	if !found {
		l.selected = min(l.selected, max(len(l.shown)-1, 0))
	}
}

// matches reports whether every word of the filter is in what the list or the
// pane says of a draft.
func matches(d Draft, filter string) bool {
	text := strings.ToLower(strings.Join([]string{d.Name, d.Agent, d.Author, d.Subject}, "\n"))
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// current is the selected draft, nil for none.
func (l *list) current() *Draft {
	if l.selected >= len(l.shown) {
		return nil
	}
	return &l.all[l.shown[l.selected]]
}

// move selects another draft.
func (l *list) move(by int) {
	l.selected = max(0, min(l.selected+by, len(l.shown)-1))
}

// oldOnes counts the drafts that wait for long.
func (l *list) oldOnes(now time.Time) (n int) {
	for _, d := range l.all {
		if isOld(d, now) {
			n++
		}
	}
	return n
}

func isOld(d Draft, now time.Time) bool { return now.Sub(d.Date) >= old }

// view is the list's rows.
func (l *list) view(width, rows int, now time.Time, focused bool, m measure) (out []row) {
	fits := max(rows/draftRows, 1)
	l.top = max(min(l.top, l.selected), l.selected-fits+1, 0)
	for i := l.top; i < len(l.shown) && i < l.top+fits; i++ {
		out = append(out, draftView(l.all[l.shown[i]], width, now, i == l.selected, focused, m)...)
	}
	return out
}

// draftView is a draft's two rows: its name and age; who, and how much.
func draftView(d Draft, width int, now time.Time, selected, focused bool, m measure) []row {
	name, sign, when := plain, good, dim
	mark := "✓"
	if len(d.Problems) > 0 {
		mark, sign = "✗", bad
	}
	waited := age(now.Sub(d.Date))
	if isOld(d, now) {
		waited, when = "old "+waited, warn
	}
	if selected {
		name = strong
	}
	if selected && focused {
		name, sign, when = inverse, inverse, inverse
	}
	age := row{when.paint(waited + " "), len(waited) + 1}
	edge := " "
	if selected {
		edge = "▌"
	}
	head := row{sign.paint(edge + mark + " "), 3}.add(clip(d.Name, width-4-age.width, name, m))
	gap := max(width-head.width-age.width, 0)
	first := head.add(row{name.paint(strings.Repeat(" ", gap)), gap}).add(age)
	return []row{first, spread(clip("   "+about(d), width-1, dim, m), changedLines(d.Added, d.Removed).add(row{" ", 1}), width)}
}

// about says who wrote a draft, what is wrong with it, or how much it is.
func about(d Draft) string {
	from := d.Author
	if d.Agent != "" {
		from = d.Agent
	}
	switch {
	case d.conflicts():
		return from + " · conflicts"
	case len(d.Problems) > 0:
		return from + " · " + plural(len(d.Problems), "problem")
	}
	return from + " · " + plural(d.Notes, "note")
}
