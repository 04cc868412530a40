package gitstore

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// entryKey names an entry of a pack.
type entryKey struct {
	pack   *pack
	offset int64
}

// entry is the header of a pack's entry.
type entry struct {
	kind kind  // 0 for a delta
	size int64 // inflated, of the delta if it is one
	base int64 // offset of a delta's base
}

// Limits on delta chains. git writes chains of at most 4095.
const (
	maxChain   = 4096
	maxUnpack  = 16 * MaxBlob // bytes made on the way to one object
	maxInflate = 1032         // deflate cannot expand more than this
)

// unpack reads the entry at an offset, applying its chain of deltas.
func (r *Repo) unpack(p *pack, offset int64) (object, error) {
	in := inflaters.Get().(*inflater)
	defer in.done()
	var chain []delta // the wanted object's own first
	size := 0
	for {
		if base, ok := r.bases.get(entryKey{p, offset}); ok {
			return r.applyChain(p, chain, base)
		}
		e, data, err := in.read(p, offset)
		if err != nil {
			return object{}, err
		}
		if e.kind != 0 {
			base := object{e.kind, data}
			r.bases.put(entryKey{p, offset}, base, len(data))
			return r.applyChain(p, chain, base)
		}
		chain = append(chain, delta{offset, data})
		if size += len(data); len(chain) > maxChain {
			return object{}, fmt.Errorf("%w: delta chain without end", ErrCorrupt)
		} else if size > 2*MaxBlob {
			return object{}, fmt.Errorf("%w: more than %d bytes of deltas", ErrTooLarge, 2*MaxBlob)
		}
		offset = e.base
	}
}

// delta is an entry that describes an object in terms of another.
type delta struct {
	offset int64
	data   []byte
}

func (r *Repo) applyChain(p *pack, chain []delta, base object) (object, error) {
	made := 0
	for _, d := range slices.Backward(chain) {
		data, err := applyDelta(base.data, d.data)
		if err != nil {
			return object{}, err
		}
		if made += len(data); made > maxUnpack {
			return object{}, fmt.Errorf("%w: its deltas make more than %d bytes", ErrTooLarge, maxUnpack)
		}
		base.data = data
		r.bases.put(entryKey{p, d.offset}, base, len(data))
	}
	return base, nil
}

// inflater reads entries of packs with buffers that are used again.
type inflater struct {
	buf []byte       // what was read of the pack
	src bytes.Reader // the deflated part of it
	z   io.ReadCloser
}

// Most entries are read whole with their header; a buffer that had to grow past
// the larger size is not kept.
const (
	window    = 4 << 10
	maxWindow = 1 << 20
)

var inflaters = sync.Pool{New: func() any { return &inflater{buf: make([]byte, window)} }}

func (in *inflater) done() {
	if len(in.buf) > maxWindow {
		in.buf = make([]byte, window)
	}
	in.src.Reset(nil)
	inflaters.Put(in)
}

// read reads and inflates the entry at an offset.
func (in *inflater) read(p *pack, offset int64) (entry, []byte, error) {
	if offset < 12 || offset >= p.size {
		return entry{}, nil, fmt.Errorf("%w: offset %d is outside the pack", ErrCorrupt, offset)
	}
	n, err := p.file.ReadAt(in.buf[:window], offset)
	if err != nil && err != io.EOF {
		return entry{}, nil, err
	}
	e, used, err := parseEntry(in.buf[:n], p, offset)
	if err != nil {
		return entry{}, nil, err
	}
	if err := checkSize(p, offset, e.size); err != nil {
		return entry{}, nil, err
	}
	// The deflated bytes are not many more than the inflated ones.
	want := min(int64(used)+e.size+e.size/8+512, p.size-offset)
	if want > int64(n) {
		if n, err = in.more(p, offset, n, int(want)); err != nil {
			return entry{}, nil, err
		}
	}
	data, err := in.inflate(in.buf[used:n], e.size)
	return e, data, err
}

// more extends what was read of an entry from n to want bytes.
func (in *inflater) more(p *pack, offset int64, n, want int) (int, error) {
	if want > len(in.buf) {
		in.buf = append(make([]byte, 0, want), in.buf[:n]...)[:want]
	}
	k, err := p.file.ReadAt(in.buf[n:want], offset+int64(n))
	if err == io.EOF {
		err = nil
	}
	return n + k, err
}

var errCutOff = fmt.Errorf("%w: the pack is cut off", ErrCorrupt)

// parseEntry reads the header of an entry and tells how long it is.
func parseEntry(b []byte, p *pack, offset int64) (e entry, used int, err error) {
	if len(b) == 0 {
		return e, 0, errCutOff
	}
	c := b[0]
	e = entry{kind: kind(c >> 4 & 7), size: int64(c & 15)}
	used = 1
	for shift := 4; c&0x80 != 0; shift += 7 {
		if used == len(b) {
			return e, 0, errCutOff
		}
		if shift > 50 {
			return e, 0, fmt.Errorf("%w: bad size", ErrCorrupt)
		}
		c = b[used]
		used++
		e.size |= int64(c&0x7f) << shift
	}
	n := 0
	switch {
	case e.kind >= kindCommit && e.kind <= kindTag:
		return e, used, nil
	case e.kind == 6:
		e.base, n, err = baseByOffset(b[used:], offset)
	case e.kind == 7:
		e.base, n, err = baseByName(b[used:], p)
	default:
		err = fmt.Errorf("%w: bad type %d", ErrCorrupt, e.kind)
	}
	e.kind = 0
	return e, used + n, err
}

// baseByOffset reads how far before offset a delta's base begins.
func baseByOffset(b []byte, offset int64) (base int64, used int, err error) {
	back := int64(0)
	for i, c := range b {
		if i > 0 {
			back++
		}
		if back = back<<7 | int64(c&0x7f); back > offset {
			break
		}
		if c&0x80 == 0 {
			if back == 0 {
				break
			}
			return offset - back, i + 1, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: bad delta base", ErrCorrupt)
}

// baseByName reads the hash of a delta's base.
func baseByName(b []byte, p *pack) (base int64, used int, err error) {
	if len(b) < len(oid{}) {
		return 0, 0, errCutOff
	}
	id := oid(b[:len(oid{})])
	base, ok := p.index.find(id)
	if !ok {
		return 0, 0, fmt.Errorf("%w: delta base %s is not in the pack", ErrCorrupt, id)
	}
	return base, len(id), nil
}

// checkSize refuses sizes that are too much, or more than the rest of the pack
// can hold.
func checkSize(p *pack, offset, size int64) error {
	if size > MaxBlob {
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, MaxBlob)
	}
	if size > (p.size-offset)*maxInflate {
		return fmt.Errorf("%w: its header says %d bytes", ErrCorrupt, size)
	}
	return nil
}

// inflate makes exactly size bytes of a deflated stream.
func (in *inflater) inflate(deflated []byte, size int64) ([]byte, error) {
	in.src.Reset(deflated)
	var err error
	if in.z == nil {
		in.z, err = zlib.NewReader(&in.src)
	} else {
		err = in.z.(zlib.Resetter).Reset(&in.src, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in.z, data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	// The end of the stream is where its checksum is compared.
	var more [1]byte
	if n, err := in.z.Read(more[:]); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("%w: its header says %d bytes", ErrCorrupt, size)
	}
	return data, nil
}

// applyDelta makes the object that delta describes in terms of base.
func applyDelta(base, delta []byte) ([]byte, error) {
	_, rest, ok1 := deltaSize(delta)
	size, _, ok2 := deltaSize(rest)
	if ok1 && ok2 && size > MaxBlob {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, MaxBlob)
	}
	out, err := packfile.PatchDelta(base, delta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return out, nil
}

// deltaSize takes one of the two sizes off the beginning of a delta.
func deltaSize(delta []byte) (size uint64, rest []byte, ok bool) {
	for i, c := range delta {
		if i == 9 {
			break
		}
		size |= uint64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return size, delta[i+1:], true
		}
	}
	return 0, nil, false
}
