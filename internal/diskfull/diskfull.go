// Package diskfull knows the errors with which systems say that there is no room:
// on the disk, in what a user may have of it, or in the longest file that a process may make.
package diskfull

import (
	"errors"
	"slices"
	"syscall"
)

// Is reports whether an error says so.
func Is(err error) bool {
	var no syscall.Errno
	return errors.As(err, &no) && slices.Contains(errnos, no)
}
