package gitstore

import (
	"bufio"
	"compress/zlib"
	"fmt"
	"io"
	"slices"
	"sync"
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
	defer inflaters.Put(in)
	var chain []delta // the wanted object's own first
	size := 0
	for {
		if base, ok := r.bases.get(entryKey{p, offset}); ok {
			return r.applyChain(p, chain, base)
		}
		e, err := in.header(p, offset)
		if err != nil {
			return object{}, err
		}
		data, err := in.inflate(p, offset, e.size)
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
	at  packReader
	src *bufio.Reader
	z   io.ReadCloser
}

// packReader reads a pack from an offset on.
type packReader struct {
	pack   *pack
	offset int64
}

func (r *packReader) Read(b []byte) (int, error) {
	n, err := r.pack.file.ReadAt(b, r.offset)
	r.offset += int64(n)
	return n, err
}

var inflaters = sync.Pool{New: func() any {
	return &inflater{src: bufio.NewReaderSize(nil, 8<<10)}
}}

// header reads the header at an offset and leaves src at the deflated bytes.
func (in *inflater) header(p *pack, offset int64) (entry, error) {
	if offset < 12 || offset >= p.size {
		return entry{}, fmt.Errorf("%w: offset %d is outside the pack", ErrCorrupt, offset)
	}
	in.at = packReader{p, offset}
	in.src.Reset(&in.at)
	e, err := readEntry(in.src, p, offset)
	if err == io.EOF {
		err = fmt.Errorf("%w: the pack is cut off", ErrCorrupt)
	}
	return e, err
}

func readEntry(src *bufio.Reader, p *pack, offset int64) (entry, error) {
	c, err := src.ReadByte()
	if err != nil {
		return entry{}, err
	}
	e := entry{kind: kind(c >> 4 & 7), size: int64(c & 15)}
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = src.ReadByte(); err != nil {
			return entry{}, err
		}
		if shift > 50 {
			return entry{}, fmt.Errorf("%w: bad size", ErrCorrupt)
		}
		e.size |= int64(c&0x7f) << shift
	}
	switch {
	case e.kind >= kindCommit && e.kind <= kindTag:
		return e, nil
	case e.kind == 6:
		e.base, err = readBaseOffset(src, offset)
	case e.kind == 7:
		e.base, err = readBaseName(src, p)
	default:
		err = fmt.Errorf("%w: bad type %d", ErrCorrupt, e.kind)
	}
	e.kind = 0
	return e, err
}

func readBaseOffset(src *bufio.Reader, offset int64) (int64, error) {
	c, err := src.ReadByte()
	if err != nil {
		return 0, err
	}
	back := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = src.ReadByte(); err != nil {
			return 0, err
		}
		if back = (back+1)<<7 | int64(c&0x7f); back > offset {
			break
		}
	}
	if back <= 0 || back > offset {
		return 0, fmt.Errorf("%w: bad delta base", ErrCorrupt)
	}
	return offset - back, nil
}

func readBaseName(src *bufio.Reader, p *pack) (int64, error) {
	var id oid
	if _, err := io.ReadFull(src, id[:]); err != nil {
		return 0, io.EOF
	}
	base, ok := p.index.find(id)
	if !ok {
		return 0, fmt.Errorf("%w: delta base %s is not in the pack", ErrCorrupt, id)
	}
	return base, nil
}

// inflate reads exactly size bytes from where header stopped.
func (in *inflater) inflate(p *pack, offset, size int64) ([]byte, error) {
	if size > MaxBlob {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, MaxBlob)
	}
	if size > (p.size-offset)*maxInflate {
		return nil, fmt.Errorf("%w: its header says %d bytes", ErrCorrupt, size)
	}
	if err := in.reset(); err != nil {
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

func (in *inflater) reset() (err error) {
	if in.z == nil {
		in.z, err = zlib.NewReader(in.src)
		return err
	}
	return in.z.(zlib.Resetter).Reset(in.src, nil)
}

var errDelta = fmt.Errorf("%w: bad delta", ErrCorrupt)

// applyDelta makes the object that delta describes in terms of base.
func applyDelta(base, delta []byte) ([]byte, error) {
	from, delta, ok1 := deltaSize(delta)
	size, delta, ok2 := deltaSize(delta)
	if !ok1 || !ok2 || from != uint64(len(base)) {
		return nil, errDelta
	}
	if size > MaxBlob {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, MaxBlob)
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		piece := delta
		if op&0x80 != 0 {
			piece, delta, ok1 = deltaCopy(base, op, delta)
		} else if ok1 = op != 0 && int(op) <= len(delta); ok1 {
			piece, delta = delta[:op], delta[op:]
		}
		if !ok1 || len(out)+len(piece) > int(size) {
			return nil, errDelta
		}
		out = append(out, piece...)
	}
	if len(out) != int(size) {
		return nil, errDelta
	}
	return out, nil
}

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

// deltaCopy reads the operands of a copy: four bytes of offset and three of
// length, of which op says which are not zero.
func deltaCopy(base []byte, op byte, delta []byte) (piece, rest []byte, ok bool) {
	var v [7]byte
	for i := range v {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		v[i], delta = delta[0], delta[1:]
	}
	at := int(v[0]) | int(v[1])<<8 | int(v[2])<<16 | int(v[3])<<24
	n := int(v[4]) | int(v[5])<<8 | int(v[6])<<16
	if n == 0 {
		n = 0x10000
	}
	if at < 0 || at > len(base) || n > len(base)-at {
		return nil, nil, false
	}
	return base[at : at+n], delta, true
}
