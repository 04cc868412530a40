package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// searchKey is the name in the build file under which it says what the search data
// was made of.
const searchKey = "#search"

// searchOnce makes the search data, unless what is there was made of the same.
func (b *builder) searchOnce(ctx context.Context) error {
	if b.set.Search == nil {
		return nil
	}
	key := b.searchInputs()
	if b.keepSearch(key) {
		return nil
	}
	if err := b.search(ctx); err != nil {
		return err
	}
	b.out.note(searchKey, key)
	return nil
}

// searchInputs is a hash of all that the search data depends on.
func (b *builder) searchInputs() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s %q %q\n", Recipe, searchVersion, b.set.Search.Language, b.set.Recipes, b.site.Script)
	for i, d := range b.set.Docs {
		fmt.Fprintf(h, "%q %q %s %q %s %q %s\n", d.Collection, d.Path, d.Blob, d.Title, d.Updated, d.Tags, b.graph.pages[i])
	}
	for _, c := range b.set.Collections {
		io.WriteString(h, c.Name+"\n")
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// keepSearch keeps the files of the search data, if all are there and were made
// of the same.
func (b *builder) keepSearch(key string) bool {
	if b.out.keyOf(searchKey) != key {
		return false
	}
	var kept []string
	for name, f := range b.out.files {
		leads := strings.HasPrefix(name, assetDir+"/search.")
		if f.was == "" || !leads && !strings.HasPrefix(name, assetDir+"/q/") {
			continue
		}
		if !b.out.keep(name, f.wasKey) {
			b.out.forget(kept...)
			return false
		}
		if kept = append(kept, name); leads {
			b.searchFile = name
		}
	}
	if b.searchFile == "" {
		b.out.forget(kept...)
		return false
	}
	b.out.note(searchKey, key)
	return true
}
