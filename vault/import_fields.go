package vault

import (
	"strings"

	"kb/note"
)

// importFields are the properties by which kb add knows what it imported. Who
// could set them could have a text of their own taken for the source's.
var importFields = []string{fieldFrom, fieldType, fieldHash, fieldFetched, fieldETag, fieldModified}

// keepImports refuses an agent's change that gives a note other properties of an
// import than it, or a note that the change moves, had.
func (d *drafting) keepImports(g *ground, changes []fileChange) error {
	if name, _ := d.vault.caller.identity(); d.imports || d.restores || d.vault.audience != Agent && name == "" {
		return nil
	}
	had, moved := map[string]importRecord{}, map[importRecord]bool{}
	for _, c := range changes {
		id, ok := g.blob(c.path)
		if !ok {
			continue
		}
		n, err := g.parsed(id)
		if err != nil {
			return err
		}
		had[c.path] = recordOf(n)
		moved[had[c.path]] = moved[had[c.path]] || c.now == nil
	}
	for _, c := range changes {
		if c.now == nil {
			continue
		}
		n, _ := note.Parse(c.now)
		now := recordOf(n)
		was, there := had[c.path]
		if !there && moved[now] {
			continue
		}
		if key := now.differs(was); key != "" {
			return errorf(Protected, "%s: %s is a property that kb add alone sets", c.path, key).
				hint("leave %s as they are, and source and original of a note that has them", strings.Join(importFields, ", "))
		}
	}
	return nil
}

// keepRecord gives an earlier text of a note the record that the note has now, if
// it has one.
func keepRecord(old, now []byte) ([]byte, error) {
	from, _ := note.Parse(now)
	to, _ := note.Parse(old)
	if r := recordOf(from); r.known() == "" || r == recordOf(to) {
		return old, nil
	}
	var fields []note.Field
	for _, key := range append([]string{fieldSource, fieldOriginal}, importFields...) {
		value, _ := from.Field(key)
		fields = append(fields, note.Field{Key: key, Value: value})
	}
	src, err := note.SetFields(old, fields)
	if err != nil {
		return nil, errorf(Usage, "the frontmatter of that version: %w", err).hint("mend the note with other edits")
	}
	return src, nil
}
