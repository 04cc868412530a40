package gitstore

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"kb/note"
)

// Stat is what the file system says of a file, and when the file was hashed.
// While all but the last two fields stay the same, so do the bytes.
type Stat struct {
	Size   int64
	Mtime  int64  // nanoseconds since 1970
	Ctime  int64  // likewise; 0 where there is none
	Inode  uint64 // 0 where there is none
	Hashed int64  // when the bytes were read, nanoseconds since 1970
	EOL    uint8  // what hashing did about line ends
}

func statOf(info os.FileInfo) Stat {
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	s.Ctime, s.Inode = sysStat(info)
	return s
}

// sameFile reports whether the file system says the same in both.
func (s Stat) sameFile(o Stat) bool {
	s.Hashed, s.EOL = o.Hashed, o.EOL
	return s == o
}

// racyNanos covers file systems that keep times in steps of two seconds: a file
// written so shortly before it was hashed may have been written again within
// the same step.
const racyNanos = int64(2 * time.Second)

// settled reports whether the file was left alone long enough before it was
// hashed for a later change to show.
func (s Stat) settled() bool {
	return max(s.Mtime, s.Ctime) < s.Hashed-racyNanos
}

// StatCache remembers the hashes of files in a work tree by their paths from
// its root. It must be safe for concurrent use. It need not keep what it is
// given, and whatever it returns is checked before it is believed.
type StatCache interface {
	Get(path string) (Stat, note.ID, bool)
	Put(path string, s Stat, id note.ID)
}

// Stats is a [StatCache] in memory. The zero Stats is ready for use.
type Stats struct {
	mu    sync.RWMutex
	files map[string]cachedFile
	dirty bool
}

type cachedFile struct {
	stat Stat
	id   note.ID
}

// Get returns what was put for a path.
func (c *Stats) Get(path string) (Stat, note.ID, bool) {
	c.mu.RLock()
	f, ok := c.files[path]
	c.mu.RUnlock()
	if !ok {
		return Stat{}, note.ID{}, false
	}
	return f.stat, f.id, true
}

// Put remembers a path, replacing what was known of it.
func (c *Stats) Put(path string, s Stat, id note.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = map[string]cachedFile{}
	}
	c.files[path] = cachedFile{stat: s, id: id}
	c.dirty = true
}

// Len returns the number of paths.
func (c *Stats) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.files)
}

// Changed reports whether something was put or dropped since Load or Save.
func (c *Stats) Changed() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.dirty
}

// Keep drops every path for which keep returns false.
func (c *Stats) Keep(keep func(path string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range c.files {
		if !keep(path) {
			delete(c.files, path)
			c.dirty = true
		}
	}
}

// The saved form is a magic line, a count, the files in order of path (uvarints
// and the hash), and the SHA-1 of all that.
const statsMagic = "kb stat cache 1\n"

// Save writes the cache. Equal caches are written as equal bytes.
func (c *Stats) Save(w io.Writer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := sha1.New()
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	paths := make([]string, 0, len(c.files))
	for path := range c.files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	buf := binary.AppendUvarint([]byte(statsMagic), uint64(len(paths)))
	for _, path := range paths {
		buf = c.files[path].append(buf, path)
		out.Write(buf) // errors stay until Flush
		buf = buf[:0]
	}
	out.Write(buf)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("save stat cache: %w", err)
	}
	if _, err := w.Write(sum.Sum(nil)); err != nil {
		return fmt.Errorf("save stat cache: %w", err)
	}
	c.dirty = false
	return nil
}

func (f cachedFile) append(buf []byte, path string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(path)))
	buf = append(buf, path...)
	for _, v := range [...]int64{f.stat.Size, f.stat.Mtime, f.stat.Ctime, int64(f.stat.Inode), f.stat.Hashed} {
		buf = binary.AppendVarint(buf, v)
	}
	buf = append(buf, f.stat.EOL)
	return append(buf, f.id[:]...)
}

// Load replaces the cache by what Save wrote. Of damaged or foreign bytes, or
// when reading fails, an empty cache remains, and the error says why; a caller
// may go on with it.
func (c *Stats) Load(r io.Reader) error {
	files, err := readStats(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files, c.dirty = files, err != nil
	if err != nil {
		return fmt.Errorf("load stat cache: %w", err)
	}
	return nil
}

var errStats = errors.New("damaged, or of another version")

func readStats(r io.Reader) (map[string]cachedFile, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	body := b[:max(0, len(b)-sha1.Size)]
	sum := sha1.Sum(body)
	rest, ok := bytes.CutPrefix(body, []byte(statsMagic))
	if !ok || !bytes.Equal(sum[:], b[len(body):]) {
		return nil, errStats
	}
	d := statsDecoder{rest: rest}
	n := d.uvarint()
	files := make(map[string]cachedFile, min(n, uint64(len(body)/28)))
	for ; n > 0 && !d.bad; n-- {
		path, f := d.file()
		files[path] = f
	}
	if d.bad || len(d.rest) > 0 {
		return nil, errStats
	}
	return files, nil
}

// statsDecoder takes values off bytes; past their end it turns bad.
type statsDecoder struct {
	rest []byte
	bad  bool
}

func (d *statsDecoder) file() (string, cachedFile) {
	f := cachedFile{}
	path := string(d.bytes(d.uvarint()))
	f.stat.Size, f.stat.Mtime, f.stat.Ctime = d.varint(), d.varint(), d.varint()
	f.stat.Inode, f.stat.Hashed = uint64(d.varint()), d.varint()
	if eol := d.bytes(1); len(eol) == 1 {
		f.stat.EOL = eol[0]
	}
	copy(f.id[:], d.bytes(sha1.Size))
	return path, f
}

func (d *statsDecoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *statsDecoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.bytes(uint64(max(n, 0)))
	d.bad = d.bad || n <= 0
	return v
}

func (d *statsDecoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.bytes(uint64(max(n, 0)))
	d.bad = d.bad || n <= 0
	return v
}
