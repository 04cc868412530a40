package gitstore

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// collecting reports whether a garbage collection seems to go on: whether git's
// lock for that is held. git ignores one that is twelve hours old, or of a process
// of this machine that is gone; so does this.
func (r *Repo) collecting() bool {
	const tooOld = 12 * time.Hour
	file := filepath.Join(r.commonDir, "gc.pid")
	info, err := os.Stat(file)
	if err != nil || time.Since(info.ModTime()) > tooOld {
		return false
	}
	b, err := readSmall(file)
	if err != nil {
		return false
	}
	pid, host, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	here, err := os.Hostname()
	if n, e := strconv.Atoi(pid); err == nil && e == nil && host == here {
		return alive(n)
	}
	return true
}
