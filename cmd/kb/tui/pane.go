package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// pane is the right side: a draft and what it changes.
type pane struct {
	draft  Draft
	diff   *Diff // nil until it is there
	err    error
	choice choice
	items  []item
	scroll scroll

	width  int
	method measure
	now    time.Time
	drawn  map[int][]row   // of lines, at this width
	words  map[hunkAt]bool // hunks whose changed words are marked
}

// maxDrawn is how many lines are kept as they were drawn.
const maxDrawn = 1000

func newPane(d Draft, now time.Time) *pane { return &pane{draft: d, now: now} }

// fill shows what was read of the draft.
func (p *pane) fill(d *Diff, err error) {
	p.diff, p.err = d, err
	if err != nil {
		p.diff = nil
		return
	}
	p.choice, p.items = newChoice(d), listItems(d, p.draft.Problems)
	p.drawn, p.words = map[int][]row{}, map[hunkAt]bool{}
	p.scroll = scroll{items: len(p.items), height: func(i int) int { return len(p.draw(i)) }}
}

// update takes what the list says of the draft now, with the same diff.
func (p *pane) update(d Draft) {
	same := slices.Equal(p.draft.Problems, d.Problems)
	p.draft = d
	if p.diff == nil || same {
		return
	}
	p.items = listItems(p.diff, d.Problems)
	p.scroll.items = len(p.items)
	p.scroll.cursor, p.scroll.top = place{}, place{}
	clear(p.drawn)
}

// resize lays the pane out for a size and a way of counting columns.
func (p *pane) resize(width, rows int, m measure) {
	if width != p.width || m != p.method {
		p.width, p.method = width, m
		clear(p.drawn)
	}
	if p.diff != nil {
		p.scroll.resize(rows - 1) // below the bar
	}
}

// at is the item under the cursor.
func (p *pane) at() item { return p.items[p.scroll.cursor.item] }

// toggle takes what is under the cursor in or out: the hunk or, at its head,
// the note.
func (p *pane) toggle() {
	it := p.at()
	clear(p.drawn) // what is out is dim
	switch {
	case it.note < 0 || it.kind == itemBlank:
	case it.kind == itemHunk || it.kind == itemLine:
		p.choice.toggle(hunkAt{it.note, it.hunk})
	default:
		p.choice.toggleNote(it.note)
	}
}

// toggleAll takes everything out, or in.
func (p *pane) toggleAll() {
	p.choice.toggleAll()
	clear(p.drawn)
}

// seek jumps to the next item of a kind below the head, or with by < 0 to the one
// before.
func (p *pane) seek(by int, kind itemKind) bool {
	for i := p.scroll.cursor.item + by; i >= 0 && i < len(p.items); i += by {
		if p.items[i].kind == kind && p.items[i].note >= 0 {
			p.scroll.jump(i)
			return true
		}
	}
	return false
}

// view is the pane's rows.
func (p *pane) view(rows int, focused bool) []row {
	out := []row{p.bar(focused)}
	switch {
	case p.err != nil:
		for _, line := range wrap(cells(p.err.Error(), p.method), p.width-1) {
			out = append(out, row{" ", 1}.add(paint(line, bad, bad, nil)))
		}
		return out
	case p.diff == nil:
		return append(out, row{}, clip(" reading …", p.width, dim, p.method))
	}
	for at := p.scroll.top; len(out) < rows; {
		drawn := p.draw(at.item)
		out = append(out, p.marked(drawn[at.row], at, focused))
		next := p.scroll.step(at, 1)
		if next == at {
			break
		}
		at = next
	}
	return out
}

// marked puts the cursor before a row.
func (p *pane) marked(r row, at place, focused bool) row {
	gutter := row{" ", 1}
	if at.item == p.scroll.cursor.item && focused {
		gutter.text = accent.paint("▌")
		if at == p.scroll.cursor {
			gutter.text = heading.paint("▐")
		}
	}
	return gutter.add(r)
}

// bar is the first row: which note the cursor is in.
func (p *pane) bar(focused bool) row {
	s := dim
	if focused {
		s = inverse
	}
	if p.diff == nil || p.at().note < 0 {
		return p.rule(clip(" "+p.draft.Name, p.width, s, p.method), "", s)
	}
	n := p.diff.Notes[p.at().note]
	where := fmt.Sprintf(" %d/%d ", p.at().note+1, len(p.diff.Notes))
	path := clipStart(n.Path, max(p.width-len(where)-2, 4), s, p.method)
	return p.rule(row{s.paint(" "), 1}.add(path), where, s)
}

// rule fills a row up to a text at its end.
func (p *pane) rule(left row, right string, s style) row {
	gap := p.width - left.width - len(right)
	if gap < 0 {
		return left
	}
	return left.add(row{s.paint(strings.Repeat(" ", gap) + right), gap + len(right)})
}
