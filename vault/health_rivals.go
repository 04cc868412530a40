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

// rivals finds notes that claim to be about the one thing that an earlier one is
// about. Obsolete notes claim nothing.
func (x *inspector) rivals(f *collectionFindings, docs []int) {
	claims := map[thing][]int{}
	for _, i := range docs {
		if !x.cards[i].obsolete {
			for _, t := range x.cards[i].things() {
				claims[t] = append(claims[t], i)
			}
		}
	}
	for t, by := range claims {
		if len(by) > mostRivals {
			continue
		}
		for _, i := range by[1:] {
			f.add(findConflicting, i, x.cards[i].lineOf(t.key), by[0], sayRival(t.key))
		}
	}
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

// sayRival is about the identifier of that name, and tells what else the two notes
// say of the thing that cannot both be so.
func sayRival(key string) wording {
	return func(x *inspector, f finding) (message, mend string) {
		here, there := x.cards[f.doc], x.cards[f.other]
		message = key + " " + clip(here.text(key), 60) + " also belongs to " + x.docs[f.other].path
		if differ := here.contradicts(there); len(differ) > 0 {
			const most = 3
			message += ", which says otherwise in " + strings.Join(differ[:min(most, len(differ))], ", ")
		}
		return message, "give one its own " + key + ", merge them, or mark one as superseded"
	}
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
