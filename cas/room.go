package cas

import "fmt"

const (
	// Badger writes through memory maps of sparse files: a disk that fills up
	// under them ends the process with SIGBUS, where a write would have failed.
	// So a write begins only where its whole path to disk, with the compaction it may set
	// off, has room.
	reserve = 8 * memTable

	// the longest file that Badger makes: the log of a memtable
	longestFile = 2 * memTable
)

// roomToWrite fails with ErrFull when the file system of dir cannot take n more
// bytes and what the store needs to work.
func roomToWrite(dir string, n int) error { return room(dir, uint64(reserve+2*n)) }

// roomToClose fails with ErrFull when what is in memory may have no room on disk.
func roomToClose(dir string) error { return room(dir, 2*memTable) }

func room(dir string, need uint64) error {
	space, file, err := free(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if file < longestFile {
		return fmt.Errorf("%w: files are limited to %d bytes, and it needs %d", ErrFull, file, longestFile)
	}
	if space < need {
		return fmt.Errorf("%w: %d MiB are free, and it needs %d", ErrFull, space>>20, need>>20)
	}
	return nil
}
