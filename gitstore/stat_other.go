//go:build !linux && !darwin

package gitstore

import "os"

// sysStat returns the change time and inode number of a file: here, none.
func sysStat(os.FileInfo) (ctime int64, inode uint64) { return 0, 0 }

const openFlags = os.O_RDONLY

// lstat is statOf(os.Lstat(file)) for a regular file. ok is false for whatever
// needs a closer look.
func lstat(file string) (s Stat, ok bool) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return Stat{}, false
	}
	return statOf(info), true
}
