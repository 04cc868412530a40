package vault

import "kb/note"

// flag reports what somebody flagged, with the reason.
func (x *inspector) flag(h *CollectionHealth, i int) {
	c := x.cards[i]
	since := c.day(keyFlagged)
	if said := c.text(keyFlagged); said == "" || said == "false" {
		return
	}
	message := "flagged"
	if since != "" {
		message += " on " + since
	}
	if why := c.text(keyFlaggedReason); why != "" {
		message += ": " + oneLine(why, 300)
	}
	x.issue(&h.Flagged, i, c.lineOf(keyFlagged), "mend it, then confirm it: kb_edit confirm", "%s", message)
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
