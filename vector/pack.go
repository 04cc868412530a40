package vector

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"os"
	"sort"
)

// Key names a vector: the hash of the text that it belongs to.
type Key [32]byte

// ErrPack is wrapped by errors about a pack that is damaged, or that holds
// vectors of another embedder.
var ErrPack = errors.New("unusable pack")

// A Pack is an immutable set of vectors of length 1, or 0, by key. It holds the
// keys and the vectors as int8; the exact vectors stay where it was read from.
// It is safe for concurrent use.
//
// The same vectors give the same bytes. A pack's file is, all numbers
// little-endian:
//
//	rows     n × dim float32   the exact vectors, in the order of their keys
//	keys     n × 32 bytes      ascending
//	scales   n × 12 bytes      float32 scale, float32 error, CRC-32C of the row
//	bytes    n × stride int8   row ≈ scale × bytes; stride is dim, padded to 32 with zeros
//	trailer  64 bytes          see putTrailer
type Pack struct {
	dim, stride int
	keys        []byte
	scales      []scale
	quantized   []byte // int8
	rows        io.ReaderAt
	size        int64
	close       func() error
}

// scale says how a row was quantized: row = factor × bytes + e, |e| ≤ err.
type scale struct {
	factor, err float32
	sum         uint32 // CRC-32C of the exact row
}

const (
	packMagic   = "kbpack\x00\x01" // the last byte is the version
	trailerSize = 64
	scaleSize   = 12
	maxRows     = 1 << 27
	lengthSlack = 1e-3 // how far from 1 the length of a vector may be
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WritePack writes a pack of vectors, which come with their keys ascending and
// distinct. fingerprint is that of the embedder they were made with.
func WritePack(w io.Writer, fingerprint string, dim int, vectors iter.Seq2[Key, []float32]) error {
	if dim < 1 || dim > maxDim {
		return fmt.Errorf("write pack: vectors of %d dimensions", dim)
	}
	b := packWriter{w: w, dim: dim, stride: strideOf(dim), row: make([]byte, 4*dim)}
	for key, v := range vectors {
		if err := b.add(key, v); err != nil {
			return fmt.Errorf("write pack: vector %x: %w", key[:8], err)
		}
	}
	if err := b.finish(fingerprint); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	return nil
}

func strideOf(dim int) int { return (dim + block - 1) / block * block }

// packWriter writes rows as they come and keeps the rest of the file for the end.
type packWriter struct {
	w                       io.Writer
	dim, stride             int
	keys, scales, quantized []byte
	row                     []byte
}

func (b *packWriter) add(key Key, v []float32) error {
	n := len(b.keys)
	switch {
	case len(v) != b.dim:
		return fmt.Errorf("%d dimensions, not %d", len(v), b.dim)
	case n > 0 && bytes.Compare(b.keys[n-len(key):], key[:]) >= 0:
		return errors.New("keys do not ascend")
	case n/len(key) == maxRows:
		return errors.New("too many vectors")
	}
	if err := checkUnit(v); err != nil {
		return err
	}
	for i, x := range v {
		binary.LittleEndian.PutUint32(b.row[4*i:], math.Float32bits(x))
	}
	b.keys = append(b.keys, key[:]...)
	var s scale
	b.quantized, s = quantize(b.quantized, v, b.stride)
	b.scales = binary.LittleEndian.AppendUint32(b.scales, math.Float32bits(s.factor))
	b.scales = binary.LittleEndian.AppendUint32(b.scales, math.Float32bits(s.err))
	b.scales = binary.LittleEndian.AppendUint32(b.scales, crc32.Checksum(b.row, castagnoli))
	_, err := b.w.Write(b.row)
	return err
}

func (b *packWriter) finish(fingerprint string) error {
	t := trailer{dim: b.dim, rows: len(b.keys) / len(Key{}), print: sha256.Sum256([]byte(fingerprint))}
	for _, part := range [][]byte{b.keys, b.scales, b.quantized} {
		t.sum = crc32.Update(t.sum, castagnoli, part)
		if _, err := b.w.Write(part); err != nil {
			return err
		}
	}
	_, err := b.w.Write(t.encode())
	return err
}

// checkUnit returns an error unless v has length 1 or 0.
func checkUnit(v []float32) error {
	length := math.Sqrt(Dot(v, v))
	if length != 0 && !(math.Abs(length-1) <= lengthSlack) {
		return fmt.Errorf("a vector of length %v, not 1", length)
	}
	return nil
}

// quantize appends v as int8, padded to stride bytes.
func quantize(dst []byte, v []float32, stride int) ([]byte, scale) {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	s := scale{factor: float32(largest / 127)}
	var lost float64
	for _, x := range v {
		q := 0.0
		if s.factor > 0 {
			q = min(127, max(-127, math.RoundToEven(float64(x)/float64(s.factor))))
		}
		e := float64(x) - q*float64(s.factor) // the product is exact
		lost += float64(e * e)                // converted, so that nothing is fused
		dst = append(dst, byte(int8(q)))
	}
	s.err = float32(math.Sqrt(lost)*(1+1e-6)) + math.SmallestNonzeroFloat32
	return append(dst, make([]byte, stride-len(v))...), s
}

// A trailer ends the file of a pack.
type trailer struct {
	dim, rows int
	print     [sha256.Size]byte // of the fingerprint
	sum       uint32            // CRC-32C of keys, scales and bytes
}

func (t trailer) encode() []byte {
	b := append(make([]byte, 0, trailerSize), packMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(t.dim))
	b = binary.LittleEndian.AppendUint32(b, uint32(t.rows))
	b = append(b, t.print[:]...)
	b = binary.LittleEndian.AppendUint32(b, t.sum)
	b = append(b, make([]byte, 8)...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeTrailer(b []byte) (t trailer, err error) {
	switch {
	case string(b[:len(packMagic)]) != packMagic:
		return t, errors.New("no pack of this version, or truncated")
	case crc32.Checksum(b[:trailerSize-4], castagnoli) != binary.LittleEndian.Uint32(b[trailerSize-4:]):
		return t, errors.New("checksum of the trailer")
	}
	t.dim = int(binary.LittleEndian.Uint32(b[8:]))
	t.rows = int(binary.LittleEndian.Uint32(b[12:]))
	copy(t.print[:], b[16:])
	t.sum = binary.LittleEndian.Uint32(b[48:])
	if t.dim < 1 || t.dim > maxDim || t.rows > maxRows {
		return t, fmt.Errorf("%d vectors of %d dimensions", t.rows, t.dim)
	}
	return t, nil
}

// OpenPack opens the file of a pack. It keeps the file open until Close. An
// error wraps ErrPack if the file is damaged or made with another fingerprint.
func OpenPack(name, fingerprint string) (*Pack, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var p *Pack
	if err == nil {
		p, err = ReadPack(f, info.Size(), fingerprint)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open pack %s: %w", name, err)
	}
	p.close = f.Close
	return p, nil
}

// NewPack returns a pack in memory, of what WritePack takes.
func NewPack(fingerprint string, dim int, vectors iter.Seq2[Key, []float32]) (*Pack, error) {
	var b bytes.Buffer
	if err := WritePack(&b, fingerprint, dim, vectors); err != nil {
		return nil, err
	}
	return ReadPack(bytes.NewReader(b.Bytes()), int64(b.Len()), fingerprint)
}

// ReadPack reads a pack of size bytes. src must not change while the pack is in
// use: exact vectors are read from it when they are needed, and checked.
func ReadPack(src io.ReaderAt, size int64, fingerprint string) (*Pack, error) {
	t, err := readTrailer(src, size)
	if err != nil {
		return nil, err
	}
	if t.print != sha256.Sum256([]byte(fingerprint)) {
		return nil, fmt.Errorf("%w: its vectors are of another model or recipe", ErrPack)
	}
	return readPack(src, size, t)
}

// VerifyPack reads the whole file of a pack, of whichever embedder, and compares
// every checksum. An error wraps ErrPack if the file is damaged.
func VerifyPack(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t, err := readTrailer(f, info.Size())
	if err != nil {
		return err
	}
	p, err := readPack(f, info.Size(), t)
	if err != nil {
		return err
	}
	r := newRowReader(p)
	for i := range p.Len() {
		if err := r.read(i); err != nil {
			return err
		}
	}
	return nil
}

func readTrailer(src io.ReaderAt, size int64) (t trailer, err error) {
	var end [trailerSize]byte
	if size < trailerSize {
		return t, fmt.Errorf("%w: truncated", ErrPack)
	}
	if _, err := src.ReadAt(end[:], size-trailerSize); err != nil && err != io.EOF {
		return t, fmt.Errorf("read pack: %w", err)
	}
	if t, err = decodeTrailer(end[:]); err != nil {
		return t, fmt.Errorf("%w: %w", ErrPack, err)
	}
	return t, nil
}

func readPack(src io.ReaderAt, size int64, t trailer) (*Pack, error) {
	p := &Pack{dim: t.dim, stride: strideOf(t.dim), rows: src, size: size, close: func() error { return nil }}
	if want := int64(t.rows)*int64(4*p.dim+len(Key{})+scaleSize+p.stride) + trailerSize; size != want {
		return nil, fmt.Errorf("%w: %d bytes, not %d", ErrPack, size, want)
	}
	return p, p.load(t)
}

// load reads all but the exact rows.
func (p *Pack) load(t trailer) error {
	start := int64(t.rows) * int64(4*p.dim)
	b := make([]byte, p.size-trailerSize-start)
	if _, err := p.rows.ReadAt(b, start); err != nil && err != io.EOF {
		return fmt.Errorf("read pack: %w", err)
	}
	if crc32.Checksum(b, castagnoli) != t.sum {
		return fmt.Errorf("%w: checksum", ErrPack)
	}
	p.keys, b = b[:t.rows*len(Key{})], b[t.rows*len(Key{}):]
	p.scales = make([]scale, t.rows)
	for i := range p.scales {
		s := b[i*scaleSize:]
		p.scales[i] = scale{
			factor: math.Float32frombits(binary.LittleEndian.Uint32(s)),
			err:    math.Float32frombits(binary.LittleEndian.Uint32(s[4:])),
			sum:    binary.LittleEndian.Uint32(s[8:]),
		}
	}
	p.quantized = b[t.rows*scaleSize:]
	return nil
}

// Len is how many vectors p has.
func (p *Pack) Len() int { return len(p.scales) }

// Dim is the length of the vectors.
func (p *Pack) Dim() int { return p.dim }

// Close closes the file of p, if it has one.
func (p *Pack) Close() error { return p.close() }

// WriteTo writes the file of p.
func (p *Pack) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(p.rows, 0, p.size))
}

// Key returns the key of vector i. Keys ascend.
func (p *Pack) Key(i int) Key { return Key(p.keys[i*len(Key{}):]) }

// Find returns the number of the vector with a key.
func (p *Pack) Find(key Key) (i int, found bool) {
	n := p.Len()
	order := func(i int) int { return bytes.Compare(key[:], p.keys[i*len(key):][:len(key)]) }
	// Keys are hashes: the first bits say about where a key stands.
	guess := int(uint64(binary.BigEndian.Uint32(key[:])) * uint64(n) >> 32)
	lo, hi := guess, guess
	for step := 16; lo > 0 && order(lo) < 0; step *= 4 {
		lo = max(0, lo-step)
	}
	for step := 16; hi < n && order(hi) > 0; step *= 4 {
		hi = min(n, hi+step)
	}
	i, found = sort.Find(hi-lo, func(i int) int { return order(lo + i) })
	if !found && hi < n && order(hi) == 0 {
		return hi, true
	}
	return lo + i, found
}

// Vector returns vector i, exactly as it was written.
func (p *Pack) Vector(i int) ([]float32, error) {
	r := newRowReader(p)
	return r.row, r.read(i)
}

// A rowReader reads exact rows, one after the other, into row.
type rowReader struct {
	p   *Pack
	buf []byte
	row []float32
}

func newRowReader(p *Pack) *rowReader {
	return &rowReader{p, make([]byte, 4*p.dim), make([]float32, p.dim)}
}

func (r *rowReader) read(i int) error {
	if _, err := r.p.rows.ReadAt(r.buf, int64(i)*int64(len(r.buf))); err != nil && err != io.EOF {
		return fmt.Errorf("read vector %d of pack: %w", i, err)
	}
	if crc32.Checksum(r.buf, castagnoli) != r.p.scales[i].sum {
		return fmt.Errorf("%w: checksum of vector %d", ErrPack, i)
	}
	for j := range r.row {
		r.row[j] = math.Float32frombits(binary.LittleEndian.Uint32(r.buf[4*j:]))
	}
	return nil
}
