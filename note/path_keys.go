package note

import (
	"path"
	"strings"
)

// PathKeys tell which links a change of a collection's paths can lead elsewhere:
// those that name a path that came or went, or a folder above it.
type PathKeys map[string]bool

// Add takes in a path that came or went.
func (k PathKeys) Add(p string) {
	p = fold(p)
	name := path.Base(p)
	stem, _ := noteStem(name)
	k[name], k[stem] = true, true
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		k[path.Base(dir)] = true
	}
}

// MayMean reports whether any of links can lead elsewhere. Where it says no, a
// [Resolver] of the paths before and one of those after give the same answer.
func (k PathKeys) MayMean(links []Link) bool {
	if len(k) == 0 {
		return false
	}
	for _, l := range links {
		if l.Kind == AutoLink || l.Target == "" {
			continue
		}
		target := fold(strings.ReplaceAll(l.Target, `\`, "/"))
		plain, _, _ := strings.Cut(target, "?")
		if k.has(target) || plain != target && k.has(plain) {
			return true
		}
	}
	return false
}

func (k PathKeys) has(target string) bool {
	name := path.Base(path.Clean(target))
	return name == "." || name == ".." || name == "/" || k[name]
}
