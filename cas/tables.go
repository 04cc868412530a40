package cas

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
)

// checkTables verifies every checksum of the tables that the manifest in o.Dir
// names. A directory with neither is a store yet to be made.
func checkTables(o badger.Options) error {
	f, err := os.Open(filepath.Join(o.Dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) && !hasTables(o.Dir) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	m, _, err := badger.ReplayManifestFile(f, o.ExternalMagicVersion, o)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for id, t := range m.Tables {
		if t.Compression != options.None {
			return fmt.Errorf("table %d is compressed", id)
		}
		g.Go(func() error { return checkTable(table.NewFilename(id, o.Dir)) })
	}
	return g.Wait()
}

func hasTables(dir string) bool {
	tables, err := filepath.Glob(filepath.Join(globEscape(dir), "*.sst"))
	return err == nil && len(tables) > 0
}

// checkTable verifies the checksums of one table: a row of blocks, then their index,
// then four bytes of its length, its checksum, and four bytes of that one's length.
func checkTable(path string) (err error) {
	defer func() {
		if p := recover(); p != nil { // a length that leads outside
			err = fmt.Errorf("table %s: %v", filepath.Base(path), p)
		}
	}()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	rest, sum := cutTail(data)
	rest, index := cutTail(rest)
	if err := verifySum(index, sum); err != nil {
		return fmt.Errorf("table %s: index: %w", filepath.Base(path), err)
	}
	blocks := fb.GetRootAsTableIndex(index, 0)
	if blocks.OffsetsLength() == 0 {
		return fmt.Errorf("table %s: no blocks", filepath.Base(path))
	}
	for i := range blocks.OffsetsLength() {
		var at fb.BlockOffset
		blocks.Offsets(&at, i)
		block, sum := cutTail(rest[at.Offset() : at.Offset()+at.Len()])
		if err := verifySum(block, sum); err != nil {
			return fmt.Errorf("table %s: block %d: %w", filepath.Base(path), i, err)
		}
	}
	return nil
}

// cutTail cuts off b's last four bytes, a big-endian length, and as many bytes before them.
func cutTail(b []byte) (rest, tail []byte) {
	end := len(b) - 4
	start := end - int(binary.BigEndian.Uint32(b[end:]))
	return b[:start], b[start:end]
}

func verifySum(data, sum []byte) error {
	want := new(pb.Checksum)
	if err := proto.Unmarshal(sum, want); err != nil {
		return err
	}
	return y.VerifyChecksum(data, want)
}
