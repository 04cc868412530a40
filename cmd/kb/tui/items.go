package tui

// item is a thing of the right pane that takes one row or, broken, several.
type item struct {
	kind itemKind
	note int // position in Diff.Notes; -1 above them
	hunk int // in Note.Hunks
	line int // in Hunk.Lines, or in Draft.Problems
}

type itemKind byte

const (
	itemSubject itemKind = iota // of the draft
	itemAuthor
	itemProblem
	itemBlank
	itemNote
	itemRemark
	itemHunk
	itemLine
)

// listItems lays a diff out: the draft, its own problems, then each note with
// its problems and hunks.
func listItems(d *Diff, problems []Problem) []item {
	known := map[string]bool{}
	for _, n := range d.Notes {
		known[n.Path] = true
	}
	list := []item{{kind: itemSubject}, {kind: itemAuthor}}
	for i, p := range problems {
		if !known[p.Path] {
			list = append(list, item{kind: itemProblem, note: -1, line: i})
		}
	}
	for i := range list {
		list[i].note = -1
	}
	for i := range d.Notes {
		list = append(list, item{kind: itemBlank, note: i - 1})
		list = appendNote(list, d, i, problems)
	}
	return list
}

func appendNote(list []item, d *Diff, i int, problems []Problem) []item {
	n := &d.Notes[i]
	list = append(list, item{kind: itemNote, note: i})
	for k, p := range problems {
		if p.Path == n.Path {
			list = append(list, item{kind: itemProblem, note: i, line: k})
		}
	}
	if n.Remark != "" {
		list = append(list, item{kind: itemRemark, note: i})
	}
	for h := range n.Hunks {
		list = appendHunk(list, &n.Hunks[h], i, h)
	}
	return list
}

func appendHunk(list []item, h *Hunk, note, hunk int) []item {
	list = append(list, item{kind: itemHunk, note: note, hunk: hunk})
	for k := range h.Lines {
		list = append(list, item{kind: itemLine, note: note, hunk: hunk, line: k})
	}
	return list
}
