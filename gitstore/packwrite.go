package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// flushPack writes all of the batch as one pack, which git is held off until the
// batch's refs have moved: `git gc --prune=now` removes loose objects, however
// new, that no ref led to when it looked, but never what is in such a pack.
func (b *Batch) flushPack() error {
	pack, index, err := encodePack(b.order, b.made)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.repo.packs.objectDirs[0], "pack")
	for _, dir := range [...]string{dir, filepath.Join(b.repo.commonDir, "kb")} {
		if err := makeDir(dir); err != nil {
			return err
		}
	}
	b.repo.sweep(dir)
	base := filepath.Join(dir, fmt.Sprintf("pack-%x", pack[len(pack)-sha1.Size:]))
	for _, f := range [...]struct {
		end  string
		data []byte
	}{{".keep", []byte(keepNote)}, {".pack", pack}, {".idx", index}} {
		if err := b.repo.writeNew(base+f.end, f.data); err != nil {
			return fmt.Errorf("write pack: %w", err)
		}
		b.repo.step("pack written")
	}
	b.kept = append(b.kept, base+".keep")
	return syncDir(dir)
}

// release lets git do with the batch's packs as it likes.
func (b *Batch) release() {
	for _, keep := range b.kept {
		os.Remove(keep)
	}
}

// keepNote is what we write into a pack's .keep file.
const keepNote = "kb\n"

// sweep removes what writers that died or gave up long ago have left.
func (r *Repo) sweep(packs string) {
	const long = time.Hour
	isOld := func(file string) bool {
		info, err := os.Stat(file)
		return err == nil && time.Since(info.ModTime()) > long
	}
	keeps, _ := filepath.Glob(filepath.Join(packs, "pack-*.keep"))
	for _, file := range keeps {
		if note, err := readSmall(file); err == nil && string(note) == keepNote && isOld(file) {
			os.Remove(file)
		}
	}
	news, _ := filepath.Glob(filepath.Join(r.commonDir, "kb", freshPattern))
	for _, file := range news {
		if isOld(file) {
			os.Remove(file)
		}
	}
}

// freshPattern names what is on its way to objects/pack. Had it one of git's own
// names for such files, and stood there, git would take it away.
const freshPattern = "new-*"

// writeNew writes a file, durably and under its name only when it is whole.
func (r *Repo) writeNew(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Join(r.commonDir, "kb"), freshPattern)
	if err != nil {
		return err
	}
	err = writeSynced(f, data)
	if err == nil {
		err = os.Chmod(f.Name(), 0o444)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// packItem is an object in a pack that is being made.
type packItem struct {
	id     oid
	offset int
	crc    uint32
}

// maxPack is what the short offsets of an index reach.
const maxPack int64 = 1<<31 - 1

// encodePack makes a pack, version 2, of whole objects, and its index, version 2.
func encodePack(ids []oid, objects map[oid]object) (pack, index []byte, err error) {
	var b bytes.Buffer
	b.WriteString("PACK")
	b.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 2), uint32(len(ids))))
	list := make([]packItem, len(ids))
	for i, id := range ids {
		o := objects[id]
		start := b.Len()
		b.Write(packHeader(o))
		w := zlib.NewWriter(&b)
		if _, err := w.Write(o.data); err != nil {
			return nil, nil, err
		}
		if err := w.Close(); err != nil {
			return nil, nil, err
		}
		if int64(b.Len()) > maxPack {
			return nil, nil, fmt.Errorf("%w: a pack of more than %d bytes", ErrTooLarge, maxPack)
		}
		list[i] = packItem{id, start, crc32.ChecksumIEEE(b.Bytes()[start:])}
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes(), encodePackIndex(list, sum), nil
}

// packHeader is the kind and length of an object: four bits of the length in the
// first byte, then seven in each.
func packHeader(o object) []byte {
	n := len(o.data)
	header := []byte{byte(o.kind)<<4 | byte(n&15)}
	for n >>= 4; n > 0; n >>= 7 {
		header[len(header)-1] |= 0x80
		header = append(header, byte(n&0x7f))
	}
	return header
}

func encodePackIndex(list []packItem, pack [sha1.Size]byte) []byte {
	slices.SortFunc(list, func(a, b packItem) int { return bytes.Compare(a.id[:], b.id[:]) })
	out := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	for first, n := 0, 0; first < 256; first++ {
		for n < len(list) && int(list[n].id[0]) <= first {
			n++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	for _, p := range list {
		out = append(out, p.id[:]...)
	}
	for _, p := range list {
		out = binary.BigEndian.AppendUint32(out, p.crc)
	}
	for _, p := range list {
		out = binary.BigEndian.AppendUint32(out, uint32(p.offset))
	}
	out = append(out, pack[:]...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
