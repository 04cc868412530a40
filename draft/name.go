package draft

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"kb/gitstore"
	"kb/note"
)

const maxName = 64

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// CheckName refuses what is no name for a new draft: 1 to 64 of a-z, 0-9, ".",
// "_" and "-", the first of them a letter or digit, without "..", and not ending
// in "." or ".lock". Errors wrap [ErrName].
func CheckName(name string) error {
	ok := len(name) <= maxName && namePattern.MatchString(name)
	if !ok || strings.Contains(name, "..") || strings.HasSuffix(name, ".lock") || gitstore.CheckRefName(branchPrefix+name) != nil {
		return fmt.Errorf("%w %q: use up to %d of a-z, 0-9, '.', '_' and '-', starting with a letter or digit, without '..' and not ending in '.' or '.lock'", ErrName, name, maxName)
	}
	return nil
}

// What callers decide on. Errors of this package wrap one of these or of
// gitstore's where it applies.
var (
	ErrName       = errors.New("invalid draft name")
	ErrNotFound   = errors.New("no such draft")
	ErrNameTaken  = errors.New("draft name is taken")
	ErrClosed     = errors.New("draft is closed")
	ErrNotClosed  = errors.New("draft is open")
	ErrNoChange   = errors.New("nothing changes")
	ErrCheckedOut = errors.New("draft is checked out")
	ErrMoved      = gitstore.ErrMoved
)

// numbered is name, or name-2, name-3 and so on, cut so that the number fits.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	end := "-" + strconv.Itoa(n)
	return strings.TrimRight(name[:min(len(name), maxName-len(end))], "-._") + end
}

// Name makes a draft's name from a title. It is never empty.
func Name(title string) string {
	name := note.FileSlug(title)
	return strings.TrimRight(name[:min(len(name), maxName)], "-")
}
