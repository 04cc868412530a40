package vault

import (
	"fmt"
	"strings"

	"kb/gitstore"
)

// oneSided reports whether a conflict is of a file that one side removed and the
// other changed or renamed. No text of it shows that: a line before it does.
func oneSided(c gitstore.Conflict) bool {
	return (c.Kind == gitstore.ConflictModifyDelete || c.Kind == gitstore.ConflictRenameDelete) && c.Ours.IsZero() != c.Theirs.IsZero()
}

// removedMarker begins the line that stands before a file which one side removed.
// It is a conflict marker: while it is there nothing is saved.
const removedMarker = "<<<<<<< removed by "

// markRemoved puts before a text the line that says who removed the file, and who
// changed it.
func markRemoved(c gitstore.Conflict, text, into, name string) string {
	by, other := into, "draft "+name
	if c.Theirs.IsZero() {
		by, other = other, by
	}
	return fmt.Sprintf("%s%s, changed by %s: remove this line to keep the file, or the file to delete it\n%s", removedMarker, by, other, text)
}

// undecided puts a line before each file that one side removed.
func (p *proposal) undecided(files []EditedFile, into, name string) {
	for _, c := range p.merge.Conflicts {
		if !oneSided(c) {
			continue
		}
		for i := range files {
			if f := &files[i]; (f.Path == c.Path || f.Path == c.Also) && !strings.HasPrefix(f.Text, removedMarker) {
				f.Text, f.Conflict = markRemoved(c, f.Text, into, name), true
			}
		}
	}
}
