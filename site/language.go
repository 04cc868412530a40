package site

import (
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// translation is a page that says the same in another language.
type translation struct {
	link
	Language string // BCP 47
	Here     bool   // it is the page itself
}

// languageOf is the language of a doc as pages name it: the site's, where the doc
// names none or what is none.
func (b *builder) languageOf(d *Doc) string {
	if tag, err := language.Parse(d.Language); err == nil && d.Language != "" {
		return tag.String()
	}
	return b.site.Language
}

// group finds the docs that say the same.
func (b *builder) group() {
	b.versions = map[place][]int{}
	for i, d := range b.set.Docs {
		if d.Translated != "" {
			at := place{d.Collection, d.Translated}
			b.versions[at] = append(b.versions[at], i)
		}
	}
}

// translations are the pages that say the same as doc i, itself among them, in the
// order of their languages: one of each. There are none where it is alone.
func (b *builder) translations(page string, i int) (out []translation) {
	d := b.set.Docs[i]
	if d.Translated == "" {
		return nil
	}
	seen := map[string]bool{b.languageOf(d): true}
	for _, j := range b.versions[place{d.Collection, d.Translated}] {
		l := b.languageOf(b.set.Docs[j])
		if i != j && seen[l] {
			continue
		}
		seen[l] = true
		out = append(out, translation{link{relative(page, b.graph.pages[j]), b.set.Docs[j].Title}, l, i == j})
	}
	if len(out) < 2 {
		return nil
	}
	slices.SortStableFunc(out, func(x, y translation) int { return strings.Compare(x.Language, y.Language) })
	return out
}
