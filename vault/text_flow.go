package vault

import (
	"strings"
	"unicode/utf8"
)

// styled is a piece of text in one style, "" for none.
type styled struct{ text, code string }

// flow writes one line of text in several styles below each other where it is
// wider than the terminal: broken at spaces where there are some, and with the
// mark at the start of each row. Nothing of the text is left out.
func (t *Text) flow(mark styled, pieces []styled) { t.flowAfter(mark, mark, pieces) }

// hanging is flow with an indentation for the first row, and another for the rest.
func (t *Text) hanging(first, rest string, pieces []styled) {
	t.flowAfter(styled{text: first}, styled{text: rest}, pieces)
}

func (t *Text) flowAfter(mark, rest styled, pieces []styled) {
	room := t.Width - max(printedWidth(mark.text), printedWidth(rest.text))
	f := flowing{t: t, mark: mark, rest: rest, room: room}
	if t.Width <= 0 || room < 10 {
		f.room = 1 << 30
	}
	f.begin()
	for _, p := range pieces {
		f.put(visible(strings.TrimSuffix(p.text, "\r")), p.code)
	}
	f.end()
}

// flowing is a row on its way.
type flowing struct {
	t    *Text
	mark styled // of this row
	rest styled // of the next
	room int    // columns beside the mark
	used int
	row  []styled
}

func (f *flowing) begin() { f.row, f.used = []styled{f.mark}, 0 }

// end writes the row, pieces of one style together.
func (f *flowing) end() {
	var b strings.Builder
	for i := 0; i < len(f.row); {
		j, run := i, ""
		for ; j < len(f.row) && f.row[j].code == f.row[i].code; j++ {
			run += f.row[j].text
		}
		if i = j; i == len(f.row) {
			run = strings.TrimRight(run, " ")
		}
		b.WriteString(f.t.style(f.row[j-1].code, run))
	}
	f.t.Printf("%s\n", b.String())
}

func (f *flowing) next() {
	f.end()
	f.mark = f.rest
	f.begin()
}

// put adds text, word by word.
func (f *flowing) put(text, code string) {
	for text != "" {
		n := strings.IndexByte(text[1:], ' ') + 1 // a word has the space before it
		if n == 0 {
			n = len(text)
		}
		word := text[:n]
		text = text[n:]
		if f.used > 0 && f.used+columnsOf(word) > f.room {
			f.next()
			word = strings.TrimPrefix(word, " ")
		}
		for columnsOf(word) > f.room {
			head := headOf(word, f.room)
			f.add(head, code)
			f.next()
			word = word[len(head):]
		}
		f.add(word, code)
	}
}

func (f *flowing) add(word, code string) {
	if word = expandTabs(word); word != "" {
		f.row = append(f.row, styled{word, code})
		f.used += printedWidth(word)
	}
}

// expandTabs makes the width of tabs known.
func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

func columnsOf(s string) int { return printedWidth(expandTabs(s)) }

// headOf is as much of s as fits, at least one character.
func headOf(s string, columns int) string {
	used := 0
	for i, r := range s {
		w := columnsOf(string(r))
		if i > 0 && used+w > columns {
			return s[:i]
		}
		used += w
		if used >= columns {
			return s[:i+utf8.RuneLen(r)]
		}
	}
	return s
}
