package cas

import (
	"io/fs"
	"math"

	"golang.org/x/sys/windows"
)

// free returns the bytes that this process can still write below dir, and the
// length that a file of it can have.
func free(dir string) (space, file uint64, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	err = windows.GetDiskFreeSpaceEx(path, &space, nil, nil)
	return space, math.MaxUint64, err
}

func allocated(info fs.FileInfo) int64 { return info.Size() }
