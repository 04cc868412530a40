package embed

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"kb/vector"
)

// Fault is a file of vectors that cannot be used. It is a copy of what the store
// has, and is made again.
type Fault struct {
	File string // its name, below the directory of all
	Err  error
}

// Verify reads every file of vectors below dir, of whichever model, and compares
// every checksum.
func Verify(dir string) (faults []Fault) {
	packs, _ := filepath.Glob(filepath.Join(dir, "*", "*"+packSuffix))
	rosters, _ := filepath.Glob(filepath.Join(dir, "*", "*"+rosterSuffix))
	for _, name := range slices.Concat(packs, rosters) {
		verify := vector.VerifyPack
		if filepath.Ext(name) == rosterSuffix {
			verify = verifyRoster
		}
		if err := verify(name); err != nil && !os.IsNotExist(err) { // replaced just now
			rel, _ := filepath.Rel(dir, name)
			faults = append(faults, Fault{filepath.ToSlash(rel), err})
		}
	}
	return faults
}

// verifyRoster reads a roster. One of another recipe is as good as none.
func verifyRoster(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if len(b) < rosterHead+4 || crc32.Checksum(b[:len(b)-4], castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return fmt.Errorf("%w: checksum", errRoster)
	}
	return nil
}
