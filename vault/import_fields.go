package vault

import (
	"fmt"
	"maps"
	"slices"
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
	had := map[string]map[string]string{}
	for _, c := range changes {
		if id, ok := g.blob(c.path); ok {
			src, err := g.bytes(id)
			if err != nil {
				return err
			}
			had[c.path] = importedAs(src)
		}
	}
	for _, c := range changes {
		now, was := importedAs(c.now), had[c.path]
		if c.now == nil || was == nil && anyEqual(had, now) {
			continue
		}
		for _, key := range importFields {
			if now[key] != was[key] {
				return errorf(Protected, "%s: %s is a property that kb add alone sets", c.path, key).hint("leave %s as they are", strings.Join(importFields, ", "))
			}
		}
	}
	return nil
}

// anyEqual reports whether one of the notes that a change finds has those
// properties: it is moved.
func anyEqual(had map[string]map[string]string, now map[string]string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(had)), func(was map[string]string) bool { return maps.Equal(was, now) })
}

// importedAs are the properties of an import that a note has.
func importedAs(src []byte) map[string]string {
	n, _ := note.Parse(src)
	has := map[string]string{}
	for _, f := range n.Fields {
		if key := strings.ToLower(f.Key); slices.Contains(importFields, key) {
			has[key] = fmt.Sprint(f.Value)
		}
	}
	return has
}
