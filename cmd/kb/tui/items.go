package tui

// item is a thing of the right pane that takes one row or, broken, several.
type item struct {
	kind itemKind
	note int // position in Diff.Notes; -1 above them
	hunk int // in Note.Hunks
	line int // in Hunk.Lines, or in Draft.Problems; of itemMore, how many
}

type itemKind byte

const (
	itemSubject itemKind = iota // of the draft
	itemAuthor
	itemProblem
	itemMore // how many problems the head leaves out
	itemBlank
	itemNote
	itemRemark
	itemHunk
	itemLine
)

// mostProblems is how many problems of notes stand in the head, too.
const mostProblems = 4

// listItems lays a diff out: the draft with its problems, then each note with
// its own, and its hunks.
func listItems(d *Diff, problems []Problem) []item {
	list := append([]item{{kind: itemSubject, note: -1}, {kind: itemAuthor, note: -1}}, headProblems(d, problems)...)
	for i := range d.Notes {
		list = append(list, item{kind: itemBlank, note: i - 1})
		list = appendNote(list, d, i, problems)
	}
	return list
}

// headProblems are the draft's own problems, and some of its notes' unless they
// are in sight anyway.
func headProblems(d *Diff, problems []Problem) (list []item) {
	known := map[string]bool{}
	for _, n := range d.Notes {
		known[n.Path] = true
	}
	shown, left := 0, 0
	for i, p := range problems {
		switch {
		case !known[p.Path]:
			list = append(list, item{kind: itemProblem, note: -1, line: i})
		case len(d.Notes) == 1:
		case shown < mostProblems:
			shown++
			list = append(list, item{kind: itemProblem, note: -1, line: i})
		default:
			left++
		}
	}
	if left > 0 {
		list = append(list, item{kind: itemMore, note: -1, line: left})
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
