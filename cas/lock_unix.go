//go:build unix

package cas

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the kernel's lock on f, which ends with f or its process, or
// fails with ErrLocked.
func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
