package gitstore

import (
	"os"
	"syscall"
)

// sysStat returns the change time and inode number of a file.
func sysStat(info os.FileInfo) (ctime int64, inode uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctim.Nano(), s.Ino
}

// openFlags keep a FIFO that has taken a file's place from blocking.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// lstat is statOf(os.Lstat(file)) for a regular file, without making anything
// that outlives it. ok is false for whatever needs a closer look.
func lstat(file string) (s Stat, ok bool) {
	var st syscall.Stat_t
	if err := syscall.Lstat(file, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return Stat{}, false
	}
	return Stat{Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Inode: st.Ino}, true
}
