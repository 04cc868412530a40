package site

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// natural compares names as people order them: numbers by their value, so that 2
// comes before 10, and letters without regard to case. Names that differ are never
// equal.
func natural(a, b string) int {
	x, y := strings.ToLower(a), strings.ToLower(b)
	for x != "" && y != "" {
		m, restX := digits(x)
		n, restY := digits(y)
		if m != "" && n != "" {
			m, n = strings.TrimLeft(m, "0"), strings.TrimLeft(n, "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			x, y = restX, restY
			continue
		}
		if x[0] != y[0] {
			break
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(strings.Compare(x, y), strings.Compare(a, b))
}

// digits splits the digits from the beginning of s.
func digits(s string) (number, rest string) {
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return s[:end], s[end:]
}

// orderFolders lists the notes of each folder in the order in which readers turn
// from one to the next: the folder's own first.
func (b *builder) orderFolders() {
	b.inFolder, b.turn = map[place][]int{}, make([]int, len(b.set.Docs))
	for i, d := range b.set.Docs {
		at := place{d.Collection, folderOf(d)}
		b.inFolder[at] = append(b.inFolder[at], i)
	}
	for _, docs := range b.inFolder {
		slices.SortFunc(docs, func(i, j int) int {
			x, y := b.set.Docs[i], b.set.Docs[j]
			if own := isFolderNote(x); own != isFolderNote(y) {
				if own {
					return -1
				}
				return 1
			}
			return natural(path.Base(x.Path), path.Base(y.Path))
		})
		for n, i := range docs {
			b.turn[i] = n
		}
	}
}

// beside returns the doc that is that many after doc i in its folder, or before it.
func (b *builder) beside(i, by int) (j int, ok bool) {
	docs := b.inFolder[place{b.set.Docs[i].Collection, folderOf(b.set.Docs[i])}]
	n := b.turn[i] + by
	if n < 0 || n >= len(docs) {
		return 0, false
	}
	return docs[n], true
}

// linkBeside is a link to such a doc, nil when there is none.
func (b *builder) linkBeside(page string, i, by int) *link {
	j, ok := b.beside(i, by)
	if !ok {
		return nil
	}
	return &link{relative(page, b.graph.pages[j]), b.set.Docs[j].Title}
}

// arrange orders a folder of the navigation and those in it: folders first.
func (n *navNode) arrange() {
	slices.SortStableFunc(n.Items, func(a, b *navNode) int {
		if folder := a.Items != nil; folder != (b.Items != nil) {
			if folder {
				return -1
			}
			return 1
		}
		return natural(a.name, b.name)
	})
	for _, item := range n.Items {
		item.arrange()
	}
}
