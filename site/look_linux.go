package site

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// looker looks at many files below a directory, one folder after another: their names
// are then short, and the system finds them the sooner.
type looker struct {
	top    string
	folder string // that is open, if fd is
	fd     int
	opened bool
}

// untouched reports whether a file is a regular one, has a size, and was not written
// after a time.
func (l *looker) untouched(name string, size int64, since time.Time) bool {
	at := strings.LastIndexByte(name, '/') + 1
	if folder := name[:at]; !l.opened || folder != l.folder {
		l.close()
		fd, err := unix.Open(l.top+"/"+folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return false
		}
		l.folder, l.fd, l.opened = folder, fd, true
	}
	var st unix.Stat_t
	if unix.Fstatat(l.fd, name[at:], &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	return st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size == size && !time.Unix(st.Mtim.Unix()).After(since)
}

func (l *looker) close() {
	if l.opened {
		_ = unix.Close(l.fd)
		l.opened = false
	}
}
