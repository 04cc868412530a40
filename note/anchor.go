package note

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/net/html"
)

// anchorFact is the id of an HTML element: what a link can lead to.
type anchorFact struct {
	id     string
	offset int
}

// addAnchors records the ids in the HTML of src[start:end].
func (f *facts) addAnchors(start, end int) {
	for _, id := range tagIDs(f.src[start:end]) {
		f.anchors = append(f.anchors, anchorFact{id, start})
	}
}

// tagIDs are the ids of the elements of HTML, in order.
func tagIDs(src []byte) (ids []string) {
	if !bytes.ContainsAny(src, "=") {
		return nil
	}
	z := html.NewTokenizer(bytes.NewReader(src))
	for z.Next() != html.ErrorToken {
		t := z.Token()
		if t.Type != html.StartTagToken && t.Type != html.SelfClosingTagToken {
			continue
		}
		for _, a := range t.Attr {
			if namesPlace(t, a) {
				ids = append(ids, a.Val)
			}
		}
	}
	return ids
}

// anchorNames are the recorded ids, each once.
func (f *facts) anchorNames() (names []string) {
	slices.SortStableFunc(f.anchors, func(a, b anchorFact) int { return cmp.Compare(a.offset, b.offset) })
	seen := map[string]bool{}
	for _, a := range f.anchors {
		if !seen[a.id] {
			seen[a.id] = true
			names = append(names, a.id)
		}
	}
	return names
}
