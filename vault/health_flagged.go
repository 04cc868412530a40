package vault

import (
	"strings"
	"unicode"

	"kb/note"
)

// flagged reports whether somebody flagged the note.
func (c *card) flagged() bool {
	said := c.text(keyFlagged)
	return said != "" && said != "false"
}

// sayFlagged tells when and why a note was flagged.
func sayFlagged(x *inspector, i int, _ mark) (message, mend string) {
	c := x.cards[i]
	message = "flagged"
	if since := c.day(keyFlagged); since != "" {
		message += " on " + since
	}
	if why := c.text(keyFlaggedReason); why != "" {
		message += ": " + oneLine(why, 300)
	}
	return message, "mend it, then confirm it: " + x.confirm(i)
}

// confirm is how the reader of a finding confirms a note.
func (x *inspector) confirm(i int) string {
	if x.v.audience == Agent {
		return "kb_edit confirm"
	}
	return "kb edit --confirm " + quoted(x.docs[i].path)
}

// quoted is a path as a shell takes it for one word.
func quoted(p string) string {
	if strings.ContainsFunc(p, func(r rune) bool {
		return !strings.ContainsRune("/.-_", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
	}
	return p
}

// day is the date that a property holds, "" for none.
func (c *card) day(key string) string {
	t, ok := note.ParseDate(c.text(key))
	if !ok {
		return ""
	}
	return day(t)
}

// text is a property as one text.
func (c *card) text(key string) string { return (&note.Note{Fields: c.fields}).String(key) }
