package vault

import (
	"regexp"
	"slices"
	"strings"

	"kb/note"
)

// identifiers are the properties that say which one thing a note is about. Their
// functions leave out of a value what tells nothing apart.
var identifiers = map[string]func(string) string{
	"id":        strings.TrimSpace,
	"uid":       strings.TrimSpace,
	"uuid":      strings.ToLower,
	"permalink": bareAddress,
	"url":       bareAddress,
	"doi":       bareDOI,
	"isbn":      bareISBN,
}

// mostRivals is how many notes may claim a thing: a value that more have names a
// sort of notes.
const mostRivals = 3

// thing is what an identifier names.
type thing struct{ key, value string }

// claimed are the things that the note claims to be about: nothing, if it is obsolete.
func (c *card) claimed() []thing {
	if c.obsolete {
		return nil
	}
	return c.things()
}

// things are what the note's properties identify, each once.
func (c *card) things() (out []thing) {
	for _, p := range c.fields {
		key := strings.ToLower(p.Key)
		bare := identifiers[key]
		if bare == nil {
			continue
		}
		if t := (thing{key, bare(c.single(key))}); t.value != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// single is the one value of a property, "" when it has none or several.
func (c *card) single(key string) string {
	if values := (&note.Note{Fields: c.fields}).Texts(key); len(values) == 1 {
		return values[0]
	}
	return ""
}

// sayRival tells what else two notes that claim to be about the same thing say of
// it that cannot both be so.
func sayRival(x *inspector, i int, m mark) (message, mend string) {
	here := x.cards[i]
	t := here.claimed()[m.nth]
	other := x.firstWith(holding{x.docs[i].col, t.key, t.value})
	message = t.key + " " + clip(here.text(t.key), 60) + " also belongs to " + x.docs[other].path
	if differ := here.contradicts(x.cards[other]); len(differ) > 0 {
		const most = 3
		message += ", which says otherwise in " + strings.Join(differ[:min(most, len(differ))], ", ")
	}
	return message, "give one its own " + t.key + ", merge them, or mark one as superseded"
}

// ofTheNote are properties that are about a note, not about what it describes.
var ofTheNote = []string{"title", "status", "date", "created", "updated", "modified", "confirmed", "summary", "description"}

// contradicts lists the properties that both have, with one value each, and not
// the same.
func (c *card) contradicts(o *card) (keys []string) {
	for _, p := range c.fields {
		key := strings.ToLower(p.Key)
		a, b := c.single(key), o.single(key)
		if a != "" && b != "" && !strings.EqualFold(a, b) && identifiers[key] == nil && !slices.Contains(ofTheNote, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

var notOfISBN = regexp.MustCompile(`[^0-9X]`)

func bareISBN(s string) string { return notOfISBN.ReplaceAllString(strings.ToUpper(s), "") }

// bareDOI is a DOI without its resolver.
func bareDOI(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if i := strings.Index(s, "10."); i >= 0 {
		return s[i:]
	}
	return s
}

// bareAddress is an address without what servers do not tell apart: a slash at the end.
func bareAddress(s string) string { return strings.TrimSuffix(strings.TrimSpace(s), "/") }
