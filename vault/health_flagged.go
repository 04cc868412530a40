package vault

import "kb/note"

// howToConfirm is what a person calls, and what an agent does: both read the same
// findings.
const howToConfirm = "kb edit --confirm, kb_edit confirm"

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
	return message, "mend it, then confirm it: " + howToConfirm
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
