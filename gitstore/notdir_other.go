//go:build windows || plan9

package gitstore

import "io/fs"

// errNotDir is what a path through a file gives.
var errNotDir = fs.ErrNotExist
