package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// prompt is a line that is being written.
type prompt struct {
	before, after string // the cursor
}

// key takes a key, and reports whether it was one of writing.
func (p *prompt) key(name, text string) bool {
	switch name {
	case "left", "ctrl+b":
		p.before, p.after = lastCut(p.before, p.after)
	case "right", "ctrl+f":
		n := firstLength(p.after)
		p.before, p.after = p.before+p.after[:n], p.after[n:]
	case "home", "ctrl+a":
		p.before, p.after = "", p.before+p.after
	case "end", "ctrl+e":
		p.before, p.after = p.before+p.after, ""
	case "backspace", "ctrl+h":
		p.before, _ = lastCut(p.before, "")
	case "delete", "ctrl+d":
		p.after = p.after[firstLength(p.after):]
	case "ctrl+u":
		p.before = ""
	case "ctrl+k":
		p.after = ""
	case "ctrl+w":
		word := strings.TrimRight(p.before, " ")
		p.before = word[:strings.LastIndexByte(word, ' ')+1]
	default:
		if text == "" {
			return false
		}
		p.insert(text)
	}
	return true
}

// insert writes text at the cursor, on one line.
func (p *prompt) insert(text string) {
	p.before += strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case isHidden(r) && !isJoiner(r):
			return -1
		}
		return r
	}, text)
}

func (p *prompt) text() string { return strings.TrimSpace(p.before + p.after) }

// lastCut moves the last character of a text to the beginning of another.
func lastCut(text, next string) (string, string) {
	last := 0
	for at := 0; at < len(text); at += firstLength(text[at:]) {
		last = at
	}
	return text[:last], text[last:] + next
}

// firstLength is the length of the first character of a text.
func firstLength(text string) int {
	cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return len(cluster)
}

// view is the line after a label; where it is too long, the end of what is
// before the cursor is shown.
func (p *prompt) view(label string, width int, m measure) row {
	if len(label) > width/2 {
		label = " > "
	}
	r := row{strong.paint(label), len(label)}
	cursor, rest := " ", p.after
	if n := firstLength(p.after); n > 0 {
		cursor, rest = p.after[:n], p.after[n:]
	}
	before := clipStart(p.before, max(width-r.width-2, 4), plain, m)
	r = r.add(before).add(paint(cells(cursor, m), inverse, inverse, nil))
	return r.add(paint(fit(cells(rest, m), max(width-r.width, 0)), plain, plain, nil))
}
