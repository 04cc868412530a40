package note

import (
	"sort"
	"strings"
)

// HeadingPath returns the texts of the headings from the outermost down to
// Headings[i]; nil when i is no index.
func (n *Note) HeadingPath(i int) []string {
	if i < 0 || i >= len(n.Headings) {
		return nil
	}
	var path []string
	level := n.Headings[i].Level + 1
	for ; i >= 0 && level > 1; i-- {
		if n.Headings[i].Level < level {
			level = n.Headings[i].Level
			path = append(path, n.Headings[i].Text)
		}
	}
	for a, b := 0, len(path)-1; a < b; a, b = a+1, b-1 {
		path[a], path[b] = path[b], path[a]
	}
	return path
}

// HeadingAt returns the index of the innermost section that holds offset, -1
// before the first heading.
func (n *Note) HeadingAt(offset int) int {
	return sort.Search(len(n.Headings), func(i int) bool { return n.Headings[i].Start > offset }) - 1
}

// ChunkAt returns the index of the chunk that holds offset, -1 for none.
func (n *Note) ChunkAt(offset int) int {
	i := sort.Search(len(n.Chunks), func(i int) bool { return n.Chunks[i].End > offset })
	if i == len(n.Chunks) || offset < n.Chunks[i].Start {
		return -1
	}
	return i
}

// FindHeading returns the index of the heading that s names: by its text or
// slug, "## text" with its level, "#slug", or a path of texts from above, "A >
// B" or "A#B", in which steps may be left out. Case does not count unless several
// headings differ by it alone. The first that fits is meant.
func (n *Note) FindHeading(s string) (int, bool) {
	if all := n.FindHeadings(s); len(all) > 0 {
		return all[0], true
	}
	return -1, false
}

// FindHeadings returns the indices of all headings that s names equally well;
// see [Note.FindHeading].
func (n *Note) FindHeadings(s string) []int {
	s = strings.TrimSpace(s)
	level := len(s) - len(strings.TrimLeft(s, "#"))
	text := strings.TrimSpace(s[level:])
	if text == "" {
		return nil
	}
	rules := []func(h *Heading) bool{
		func(h *Heading) bool { return level == 1 && s[1:] == h.Slug },
		func(h *Heading) bool { return h.Text == text && (level == 0 || h.Level == level) },
		func(h *Heading) bool { return strings.EqualFold(h.Text, text) && (level == 0 || h.Level == level) },
		func(h *Heading) bool { return level <= 1 && h.Slug == strings.ToLower(text) },
		func(h *Heading) bool { return level <= 1 && strings.EqualFold(h.Text, text) },
	}
	for _, fits := range rules {
		if all := n.headingsThat(fits); len(all) > 0 {
			return all
		}
	}
	for _, separator := range []string{">", "#"} {
		if steps := strings.Split(text, separator); len(steps) > 1 {
			if all := n.findPath(steps); len(all) > 0 {
				return all
			}
		}
	}
	slug := Slug(text)
	return n.headingsThat(func(h *Heading) bool { return slug != "" && (h.Slug == slug || Slug(h.Text) == slug) })
}

func (n *Note) headingsThat(fits func(h *Heading) bool) (all []int) {
	for i := range n.Headings {
		if fits(&n.Headings[i]) {
			all = append(all, i)
		}
	}
	return all
}

// findPath finds the headings whose path has the steps in their order and ends
// with the last of them.
func (n *Note) findPath(steps []string) (all []int) {
	last := strings.TrimSpace(steps[len(steps)-1])
	for i := range n.Headings {
		if strings.EqualFold(n.Headings[i].Text, last) && hasSteps(n.HeadingPath(i), steps) {
			all = append(all, i)
		}
	}
	return all
}

func hasSteps(path, steps []string) bool {
	for _, step := range steps {
		i := 0
		for i < len(path) && !strings.EqualFold(path[i], strings.TrimSpace(step)) {
			i++
		}
		if i == len(path) {
			return false
		}
		path = path[i+1:]
	}
	return true
}
