package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"slices"

	"kb/cas"
	"kb/note"
	"kb/vector"
)

// roster says where a pack has the vectors of each note that it has whole, so
// that a view of many notes need not look for each text. It lies beside the pack,
// and is, all numbers little-endian:
//
//	magic    8 bytes
//	recipe   8 bytes       the beginning of the SHA-256 of Recipe
//	vectors  uint32        of the pack
//	notes    uint32
//	ids      notes × 20    ascending
//	ends     notes × uint32, where each note's rows end
//	rows     uint32 each
//	sum      CRC-32C of all before
type roster struct {
	ids  []note.ID
	ends []uint32
	rows []int32
}

const (
	rosterMagic  = "kbnotes\x01"
	rosterSuffix = ".notes"
	rosterHead   = rosterStart + 8
	rosterStart  = len(rosterMagic) + 8 // of the counts
	idSize       = len(note.ID{})
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// of returns the rows of each of ids, which ascend; nil for a note that is not
// on the roster.
func (r *roster) of(ids []note.ID) [][]int32 {
	out := make([][]int32, len(ids))
	if r == nil {
		return out
	}
	k := 0
	for i, id := range ids {
		for k < len(r.ids) && compareIDs(r.ids[k], id) < 0 {
			k++
		}
		if k < len(r.ids) && r.ids[k] == id {
			out[i] = r.rowsAt(k)
		}
	}
	return out
}

// rowsAt returns the rows of note k; never nil.
func (r *roster) rowsAt(k int) []int32 {
	start := uint32(0)
	if k > 0 {
		start = r.ends[k-1]
	}
	return r.rows[start:r.ends[k]:r.ends[k]]
}

// newRoster lists the notes whose every text p has.
func (x *Index) newRoster(ctx context.Context, p *vector.Pack) (*roster, error) {
	r := &roster{rows: []int32{}}
	err := x.facts.EachChunks(ctx, x.chunks, func(id note.ID, texts []cas.Hash) error {
		start := len(r.rows)
		for _, h := range texts {
			row, ok := p.Find(vector.Key(h))
			if !ok {
				r.rows = r.rows[:start]
				return nil
			}
			r.rows = append(r.rows, int32(row))
		}
		r.ids = append(r.ids, id)
		r.ends = append(r.ends, uint32(len(r.rows)))
		return nil
	})
	return r, err
}

// rosterBegins is how the file of a roster begins: what is embedded of a note is
// part of what it says.
func rosterBegins() string {
	sum := sha256.Sum256([]byte(Recipe))
	return rosterMagic + string(sum[:8])
}

func (r *roster) encode(vectors int) []byte {
	b := make([]byte, 0, rosterHead+len(r.ids)*(idSize+4)+4*len(r.rows)+4)
	b = append(b, rosterBegins()...)
	b = binary.LittleEndian.AppendUint32(b, uint32(vectors))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.ids)))
	for _, id := range r.ids {
		b = append(b, id[:]...)
	}
	for _, end := range r.ends {
		b = binary.LittleEndian.AppendUint32(b, end)
	}
	for _, row := range r.rows {
		b = binary.LittleEndian.AppendUint32(b, uint32(row))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

var errRoster = errors.New("no roster of this pack")

// decodeRoster reads the roster of a pack of so many vectors.
func decodeRoster(b []byte, vectors int) (*roster, error) {
	if len(b) < rosterHead+4 || string(b[:rosterStart]) != rosterBegins() {
		return nil, errRoster
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum || binary.LittleEndian.Uint32(b[rosterStart:]) != uint32(vectors) {
		return nil, errRoster
	}
	n := int(binary.LittleEndian.Uint32(b[rosterStart+4:]))
	body = body[rosterHead:]
	if n > len(body)/(idSize+4) {
		return nil, errRoster
	}
	r := &roster{ids: make([]note.ID, n), ends: make([]uint32, n)}
	for i := range r.ids {
		copy(r.ids[i][:], body[i*idSize:])
	}
	ends, rows := body[n*idSize:][:4*n], body[n*(idSize+4):]
	for i := range r.ends {
		r.ends[i] = binary.LittleEndian.Uint32(ends[4*i:])
	}
	r.rows = make([]int32, len(rows)/4)
	for i := range r.rows {
		r.rows[i] = int32(binary.LittleEndian.Uint32(rows[4*i:]))
	}
	return r, r.check(vectors)
}

// check returns an error unless every row is one of the pack's.
func (r *roster) check(vectors int) error {
	outside := func(row int32) bool { return row < 0 || int(row) >= vectors }
	last := uint32(0)
	if n := len(r.ends); n > 0 {
		last = r.ends[n-1]
	}
	if !slices.IsSorted(r.ends) || int(last) != len(r.rows) || slices.ContainsFunc(r.rows, outside) {
		return errRoster
	}
	return nil
}

// readRoster reads a roster from its file; nil when it is of no use.
func readRoster(name string, vectors int) *roster {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	r, err := decodeRoster(b, vectors)
	if err != nil {
		return nil
	}
	return r
}
