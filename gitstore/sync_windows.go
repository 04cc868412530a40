package gitstore

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// syncDir does nothing: NTFS keeps names durable in its journal.
func syncDir(string) error { return nil }

// flock takes the kernel's lock on a file without waiting, and reports whether
// it has it. Closing the file, or dying, gives it up.
func flock(f *os.File) (bool, error) {
	const far = 1 << 30 // past what is written to the file
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: far})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// alive supposes that there is a process of that number.
func alive(int) bool { return true }
