package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kb/internal/diff"
)

const (
	widePane  = 72 // the width from which lines have their numbers
	leastName = 12 // columns of a note's name
)

// draw is an item's rows, without the column of the cursor.
func (p *pane) draw(i int) []row {
	it := p.items[i]
	if it.kind != itemLine {
		return p.drawHead(it)
	}
	if rows, ok := p.drawn[i]; ok {
		return rows
	}
	if len(p.drawn) >= maxDrawn {
		clear(p.drawn)
	}
	p.drawn[i] = p.drawLine(it)
	return p.drawn[i]
}

func (p *pane) drawHead(it item) []row {
	switch it.kind {
	case itemSubject:
		return p.broken("", p.draft.Subject, strong)
	case itemAuthor:
		return p.broken("", p.about(), dim)
	case itemProblem:
		if it.note >= 0 {
			return p.broken("    ✗ ", p.problem(p.draft.Problems[it.line], false), bad)
		}
		return p.broken("✗ ", p.problem(p.draft.Problems[it.line], true), bad)
	case itemMore:
		return p.broken("  ", fmt.Sprintf("and %d more, at their notes", it.line), bad)
	case itemNote:
		return []row{p.noteHead(it.note)}
	case itemRemark:
		return p.broken("    ", p.diff.Notes[it.note].Remark, dim)
	case itemHunk:
		return []row{p.hunkHead(it)}
	}
	return []row{{}}
}

// broken is a text on as many rows as it needs; those after the first begin
// where its text began.
func (p *pane) broken(lead, text string, s style) (rows []row) {
	indent := total(cells(lead, p.method))
	for i, line := range wrap(cells(text, p.method), p.width-1-indent) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		rows = append(rows, row{s.paint(lead), indent}.add(paint(line, s, s, nil)))
	}
	return rows
}

// about says where a draft is from.
func (p *pane) about() string {
	d := p.draft
	from := d.Author
	if d.Agent != "" {
		from = d.Agent
	}
	when := "just now"
	if waited := p.now.Sub(d.Date); waited >= time.Minute {
		when = age(waited) + " ago"
	}
	parts := []string{from, when, "into " + d.Into}
	if d.Behind > 0 {
		parts = append(parts, fmt.Sprintf("%d behind", d.Behind))
	}
	return strings.Join(append(parts, d.Commit[:min(7, len(d.Commit))]), " · ")
}

// problem is a problem with its place: PATH:12: in the head, line 12: at the note.
func (p *pane) problem(x Problem, named bool) string {
	switch {
	case named && x.Path != "" && x.Line > 0:
		return fmt.Sprintf("%s:%d: %s", x.Path, x.Line, x.Message)
	case named && x.Path != "":
		return x.Path + ": " + x.Message
	case x.Line > 0:
		return fmt.Sprintf("line %d: %s", x.Line, x.Message)
	}
	return x.Message
}

func (p *pane) noteHead(i int) row {
	n := p.diff.Notes[i]
	what := row{}
	if n.Kind != NoteChanged {
		what = clip(" "+string(n.Kind), p.width, warn, p.method)
	}
	counts := row{"  ", 2}.add(changedLines(n.Added, n.Removed))
	head := box(p.choice.chosen(i), p.choice.hunks(i))
	left := p.width - 1 - head.width - what.width - counts.width
	if left < leastName {
		left, what, counts = p.width-1-head.width, row{}, row{}
	}
	name := n.Path
	if n.From != "" {
		name = n.From + " → " + n.Path
	}
	return head.add(clipStart(name, left, strong, p.method)).add(what).add(counts)
}

// hunkHead tells which lines of the note a hunk is, and under which heading.
func (p *pane) hunkHead(it item) row {
	h := p.diff.Notes[it.note].Hunks[it.hunk]
	text := fmt.Sprintf("line %d", max(h.NewFirst, 1))
	if h.Heading != "" {
		text += " · " + h.Heading
	}
	head := row{"    ", 4}
	if p.choice.divisible(it.note) {
		head = row{"  ", 2}.add(box(b2i(p.choice.has(hunkAt{it.note, it.hunk})), 1))
	}
	return head.add(clip(text, p.width-1-head.width, accent, p.method))
}

// box is a check box: all, none or some.
func box(chosen, of int) row {
	switch chosen {
	case of:
		return row{good.paint("[x]") + " ", 4}
	case 0:
		return row{dim.paint("[ ]") + " ", 4}
	}
	return row{warn.paint("[-]") + " ", 4}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func changedLines(plus, minus int) row {
	r := row{}
	if plus > 0 {
		text := fmt.Sprintf("+%d", plus)
		r = row{added.paint(text), len(text)}
	}
	if minus > 0 {
		if plus > 0 {
			r = r.add(row{" ", 1})
		}
		text := fmt.Sprintf("-%d", minus)
		r = r.add(row{removed.paint(text), len(text)})
	}
	return r
}

// drawLine breaks a line of a hunk, with its sign, and on a wide pane its
// number, before the first row.
func (p *pane) drawLine(it item) (rows []row) {
	line := p.line(it)
	base, on := lineStyles(line.Kind)
	if !p.choice.has(hunkAt{it.note, it.hunk}) {
		base, on = dim, dim
	}
	lead := row{base.paint(string(rune(line.Kind))) + " ", 2}
	if p.width >= widePane {
		number := line.New
		if line.Kind == diff.Removed {
			number = line.Old
		}
		lead = row{dim.paint(fmt.Sprintf("%5d ", number)), 6}.add(lead)
	}
	shown := cells(line.Text, p.method)
	if line.Kind != diff.Same {
		showTrailing(shown)
		if line.Open {
			shown = append(shown, literal(" no line end", len(line.Text))...)
		}
	}
	for _, part := range wrap(shown, p.width-1-lead.width) {
		rows = append(rows, lead.add(paint(part, base, on, line.Marks)))
		lead = row{strings.Repeat(" ", lead.width), lead.width}
	}
	return rows
}

// line is a line of a hunk with its changed words marked.
func (p *pane) line(it item) diff.Line {
	h := &p.diff.Notes[it.note].Hunks[it.hunk]
	if at := (hunkAt{it.note, it.hunk}); !p.words[at] {
		p.words[at] = true
		h.trimReturns()
		h.Words()
	}
	return h.Lines[it.line]
}

// trimReturns hides the carriage returns of a note that has them at every line's
// end. One that is not like the other lines is shown.
func (h *Hunk) trimReturns() {
	if slices.ContainsFunc(h.Lines, func(l diff.Line) bool { return !strings.HasSuffix(l.Text, "\r") }) {
		return
	}
	for i := range h.Lines {
		h.Lines[i].Text = strings.TrimSuffix(h.Lines[i].Text, "\r")
	}
}

func lineStyles(kind diff.Kind) (base, on style) {
	switch kind {
	case diff.Added:
		return added, addedOn
	case diff.Removed:
		return removed, removeOn
	}
	return plain, plain
}

// showTrailing makes the spaces at a line's end visible.
func showTrailing(line []cell) {
	for i := len(line) - 1; i >= 0 && line[i].text == " "; i-- {
		line[i].text = "·"
	}
}

// age is how long ago something was: "3d".
func age(d time.Duration) string {
	switch hours := int(d.Hours()); {
	case hours >= 48:
		return fmt.Sprintf("%dd", hours/24)
	case hours >= 1:
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dm", max(int(d.Minutes()), 0))
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
