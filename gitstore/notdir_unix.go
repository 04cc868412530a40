//go:build !windows && !plan9

package gitstore

import "syscall"

// errNotDir is what a path through a file gives.
var errNotDir error = syscall.ENOTDIR
