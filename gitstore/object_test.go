package gitstore

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/note"
)

func hashOf(k kind, data []byte) oid {
	return oid(sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", k, len(data), data)))
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// putLoose writes an object that git itself might refuse to write.
func putLoose(t testing.TB, dir string, k kind, data []byte) oid {
	t.Helper()
	id := hashOf(k, data)
	putLooseAs(t, dir, id, fmt.Appendf(nil, "%s %d\x00%s", k, len(data), data))
	return id
}

func putLooseAs(t testing.TB, dir string, id oid, raw []byte) {
	t.Helper()
	name := id.String()
	write(t, dir, ".git/objects/"+name[:2]+"/"+name[2:], string(deflate(raw)))
}

// packed is an entry of a pack made by hand.
type packed struct {
	id   oid
	data []byte // header and deflated bytes
}

// entryHeader is the type and size of an entry.
func entryHeader(kind byte, size int) []byte {
	c := kind<<4 | byte(size&15)
	var b []byte
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}

func packedEntry(id oid, kind byte, base []byte, size int, data []byte) packed {
	return packed{id, slices.Concat(entryHeader(kind, size), base, deflate(data))}
}

// putPack writes a pack and its index, as they are told.
func putPack(t testing.TB, dir, name string, entries ...packed) {
	t.Helper()
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(entries)))
	offsets := map[oid]uint32{}
	for _, e := range entries {
		offsets[e.id] = uint32(len(pack))
		pack = append(pack, e.data...)
	}
	sum := sha1.Sum(pack)
	pack = append(pack, sum[:]...)
	write(t, dir, ".git/objects/pack/"+name+".pack", string(pack))

	slices.SortFunc(entries, func(a, b packed) int { return bytes.Compare(a.id[:], b.id[:]) })
	idx := []byte("\xfftOc\x00\x00\x00\x02")
	for b := range 256 {
		n := 0
		for _, e := range entries {
			if int(e.id[0]) <= b {
				n++
			}
		}
		idx = binary.BigEndian.AppendUint32(idx, uint32(n))
	}
	for _, e := range entries {
		idx = append(idx, e.id[:]...)
	}
	for _, e := range entries {
		idx = binary.BigEndian.AppendUint32(idx, crc32.ChecksumIEEE(e.data))
	}
	for _, e := range entries {
		idx = binary.BigEndian.AppendUint32(idx, offsets[e.id])
	}
	idx = append(idx, sum[:]...)
	idxSum := sha1.Sum(idx)
	write(t, dir, ".git/objects/pack/"+name+".idx", string(append(idx, idxSum[:]...)))
}

func deltaHeader(from, to int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
}

func TestHostileObjects(t *testing.T) {
	t.Parallel()
	zeros := func(n int) []byte { return make([]byte, n) }
	id := func(n byte) oid { return oid{n, 1, 2} }
	base := []byte("a base of some bytes")
	baseID := hashOf(kindBlob, base)
	cases := []struct {
		name string
		make func(t *testing.T, dir string) oid
		want error
	}{
		{"good pack", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base))
			return baseID
		}, nil},
		{"good delta by name", func(t *testing.T, d string) oid {
			delta := append(deltaHeader(len(base), len(base)+1), 0x90, byte(len(base)), 1, '!')
			res := hashOf(kindBlob, append(slices.Clone(base), '!'))
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base), packedEntry(res, 7, baseID[:], len(delta), delta))
			return res
		}, nil},
		{"damaged copy beside a good one", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-a", packedEntry(baseID, 3, nil, len(base), zeros(len(base))))
			putPack(t, d, "pack-b", packedEntry(baseID, 3, nil, len(base), base))
			return baseID
		}, nil},
		{"delta bomb", func(t *testing.T, d string) oid {
			delta := deltaHeader(len(base), 1<<30)
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base), packedEntry(id(9), 7, baseID[:], len(delta), delta))
			return id(9)
		}, ErrTooLarge},
		{"delta bomb in the middle of a chain", func(t *testing.T, d string) oid {
			big := deltaHeader(len(base), 1<<30)
			small := append(deltaHeader(1<<30, 1), 1, 'x')
			mid := id(8)
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base),
				packedEntry(mid, 7, baseID[:], len(big), big), packedEntry(id(9), 7, mid[:], len(small), small))
			return id(9)
		}, ErrTooLarge},
		{"delta cycle", func(t *testing.T, d string) oid {
			a, b := id(8), id(9)
			delta := append(deltaHeader(1, 1), 1, 'x')
			putPack(t, d, "pack-x", packedEntry(a, 7, b[:], len(delta), delta), packedEntry(b, 7, a[:], len(delta), delta))
			return a
		}, ErrCorrupt},
		{"delta on itself by offset", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(id(9), 6, []byte{0}, 3, []byte("abc")))
			return id(9)
		}, ErrCorrupt},
		{"delta base before the pack", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(id(9), 6, []byte{0x7f}, 3, []byte("abc")))
			return id(9)
		}, ErrCorrupt},
		{"delta copies past its base", func(t *testing.T, d string) oid {
			delta := append(deltaHeader(len(base), 100), 0x91, 10, 100)
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base), packedEntry(id(9), 7, baseID[:], len(delta), delta))
			return id(9)
		}, ErrCorrupt},
		{"delta is short", func(t *testing.T, d string) oid {
			delta := append(deltaHeader(len(base), 100), 1, 'x')
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base), packedEntry(id(9), 7, baseID[:], len(delta), delta))
			return id(9)
		}, ErrCorrupt},
		{"delta with reserved instruction", func(t *testing.T, d string) oid {
			delta := append(deltaHeader(len(base), 1), 0)
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base), packedEntry(id(9), 7, baseID[:], len(delta), delta))
			return id(9)
		}, ErrCorrupt},
		{"delta base is elsewhere", func(t *testing.T, d string) oid {
			b := putLoose(t, d, kindBlob, base)
			delta := append(deltaHeader(len(base), 1), 1, 'x')
			putPack(t, d, "pack-x", packedEntry(id(9), 7, b[:], len(delta), delta))
			return id(9)
		}, ErrCorrupt},
		{"packed size lies high", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(id(9), 3, nil, 60<<20, []byte("abc")))
			return id(9)
		}, ErrCorrupt},
		{"packed size lies low", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(id(9), 3, nil, 3, zeros(1<<20)))
			return id(9)
		}, ErrCorrupt},
		{"packed giant", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(id(9), 3, nil, 1<<40, nil))
			return id(9)
		}, ErrTooLarge},
		{"packed wrong hash", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(id(9), 3, nil, 3, []byte("abc")))
			return id(9)
		}, ErrCorrupt},
		{"packed bad type", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(id(9), 5, nil, 3, []byte("abc")))
			return id(9)
		}, ErrCorrupt},
		{"packed bad stream", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packed{id(9), append(entryHeader(3, 3), "garbage"...)})
			return id(9)
		}, ErrCorrupt},
		{"index without pack", func(t *testing.T, d string) oid {
			putPack(t, d, "pack-x", packedEntry(baseID, 3, nil, len(base), base))
			os.Remove(filepath.Join(d, ".git/objects/pack/pack-x.pack"))
			return baseID
		}, ErrNotFound},
		{"broken index", func(t *testing.T, d string) oid {
			write(t, d, ".git/objects/pack/pack-x.idx", "\xfftOc\x00\x00\x00\x02"+strings.Repeat("\xff", 2000))
			write(t, d, ".git/objects/pack/pack-x.pack", "")
			return baseID
		}, ErrNotFound},
		{"loose size lies low", func(t *testing.T, d string) oid {
			putLooseAs(t, d, id(9), append([]byte("blob 10\x00"), zeros(1<<24)...))
			return id(9)
		}, ErrCorrupt},
		{"loose size lies high", func(t *testing.T, d string) oid {
			putLooseAs(t, d, id(9), []byte("blob 60000000\x00abc"))
			return id(9)
		}, ErrCorrupt},
		{"loose giant", func(t *testing.T, d string) oid {
			putLooseAs(t, d, id(9), []byte("blob 100000000000\x00abcde"))
			return id(9)
		}, ErrTooLarge},
		{"loose negative", func(t *testing.T, d string) oid {
			putLooseAs(t, d, id(9), []byte("blob -5\x00abcde"))
			return id(9)
		}, ErrCorrupt},
		{"loose without header", func(t *testing.T, d string) oid {
			putLooseAs(t, d, id(9), bytes.Repeat([]byte("x"), 100))
			return id(9)
		}, ErrCorrupt},
		{"loose unknown kind", func(t *testing.T, d string) oid {
			putLooseAs(t, d, id(9), []byte("blah 1\x00x"))
			return id(9)
		}, ErrCorrupt},
		{"loose wrong hash", func(t *testing.T, d string) oid {
			putLooseAs(t, d, id(9), []byte("blob 1\x00x"))
			return id(9)
		}, ErrCorrupt},
		{"loose empty file", func(t *testing.T, d string) oid {
			n := id(9).String()
			write(t, d, ".git/objects/"+n[:2]+"/"+n[2:], "")
			return id(9)
		}, ErrCorrupt},
		{"a tree is no blob", func(t *testing.T, d string) oid {
			return putLoose(t, d, kindTree, nil)
		}, ErrCorrupt},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newRepo(t, nil)
			id := c.make(t, d)
			got, err := mustOpen(t, d).Blob(note.ID(id))
			if !errors.Is(err, c.want) || c.want == nil && note.Hash(got) != note.ID(id) {
				t.Errorf("Blob: %d bytes, %v; want %v", len(got), err, c.want)
			}
		})
	}
}

// allBlobs lists every blob of a repository.
func allBlobs(t testing.TB, dir string) []note.ID {
	t.Helper()
	var ids []note.ID
	for line := range strings.SplitSeq(git(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"), "\n") {
		if s, ok := strings.CutPrefix(line, "blob "); ok {
			ids = append(ids, blobID(t, s))
		}
	}
	return ids
}

func TestBlobsAgreeWithGit(t *testing.T) {
	d := vault(t, "kepano-obsidian")
	r := mustOpen(t, d)
	ids := allBlobs(t, d)
	got := map[note.ID][]byte{}
	err := r.Blobs(context.Background(), ids, func(id note.ID, src []byte, err error) error {
		got[id] = src
		return err
	})
	if err != nil || len(got) != len(ids) {
		t.Fatalf("Blobs: %d of %d, %v", len(got), len(ids), err)
	}
	for _, id := range ids {
		if note.Hash(got[id]) != id {
			t.Errorf("%s: its bytes have another hash", id)
		}
	}
	for _, id := range ids[:10] {
		if want := tryGitRaw(d, "cat-file", "blob", id.String()); !bytes.Equal(want, got[id]) {
			t.Errorf("%s differs from git's", id)
		}
		// What is handed out is the caller's.
		b, err := r.Blob(id)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			b[i] = 'x'
		}
		if again, _ := r.Blob(id); note.Hash(again) != id {
			t.Errorf("%s: the caller wrote into the cache", id)
		}
	}
}

func tryGitRaw(dir string, args ...string) []byte {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, _ := cmd.Output()
	return out
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "a", "b": "b", "c": "c"})
	r := mustOpen(t, d)
	a, gone := note.Hash([]byte("a")), note.Hash([]byte("gone"))
	ids := []note.ID{a, gone, a, note.Hash([]byte("b"))}
	calls, missing := 0, 0
	err := r.Blobs(context.Background(), ids, func(id note.ID, src []byte, err error) error {
		calls++
		if errors.Is(err, ErrNotFound) && id == gone {
			missing++
		} else if err != nil || note.Hash(src) != id {
			t.Errorf("%s: %q, %v", id, src, err)
		}
		return nil
	})
	if err != nil || calls != 4 || missing != 1 {
		t.Errorf("%d calls, %d missing, %v", calls, missing, err)
	}
	calls = 0
	if err := r.Blobs(context.Background(), ids, func(note.ID, []byte, error) error { calls++; return io.EOF }); err != io.EOF || calls != 1 {
		t.Errorf("after an error: %d calls, %v", calls, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := r.Blobs(ctx, ids, func(note.ID, []byte, error) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := r.Blobs(context.Background(), nil, nil); err != nil {
		t.Errorf("no ids: %v", err)
	}
}

// TestReadWhileGitRepacks reads everything again and again while another
// process commits, packs, repacks and prunes.
func TestReadWhileGitRepacks(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/n%d.md", i%4, i)] = strings.Repeat(fmt.Sprintf("note %d\n", i), 50)
	}
	d := newRepo(t, files)
	r := mustOpen(t, d)
	r.trees, r.bases = newLRU[oid, *tree](0), newLRU[entryKey, object](0) // read it all, each time
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				id, err := r.Resolve("HEAD")
				if err != nil {
					t.Errorf("resolve: %v", err)
					return
				}
				if err := readAll(r, id); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	rounds := 2
	if long {
		rounds = 10
	}
	for i := range rounds {
		commit(t, d, "more", map[string]string{"new.md": fmt.Sprint(i)})
		git(t, d, "gc", "-q", "--prune=now")
		commit(t, d, "more", map[string]string{"new.md": fmt.Sprint("b", i)})
		git(t, d, "repack", "-adq")
		git(t, d, "prune-packed", "-q")
		git(t, d, "pack-refs", "--all")
	}
	close(stop)
	readers.Wait()
	head, _ := r.Resolve("HEAD")
	if err := readAll(r, head); err != nil {
		t.Error(err)
	}
}

// TestPackVanishesWhileOpening is a repack between the listing of the indexes
// and the opening of the packs.
func TestPackVanishesWhileOpening(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "a"})
	git(t, d, "repack", "-adq")
	r := mustOpen(t, d)
	file := strings.TrimSuffix(indexFiles(r.packs.objectDirs)[0], ".idx") + ".pack"
	away := file + ".away"
	if err := os.Rename(file, away); err != nil {
		t.Fatal(err)
	}
	id := note.Hash([]byte("a"))
	if _, err := r.Blob(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("without the pack: %v", err)
	}
	if !r.packs.current.partial {
		t.Fatal("the list does not know that a pack is missing")
	}
	if err := os.Rename(away, file); err != nil {
		t.Fatal(err)
	}
	if b, err := r.Blob(id); err != nil || string(b) != "a" {
		t.Errorf("with the pack back, and the indexes as they were: %q, %v", b, err)
	}
}

func readAll(r *Repo, id CommitID) error {
	files, _, err := r.Files(context.Background(), id, "")
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := r.Blob(f.Blob); err != nil {
			return err
		}
	}
	return nil
}

func FuzzApplyDelta(f *testing.F) {
	f.Add([]byte("hello world"), append(deltaHeader(11, 6), 0x90, 5, 1, '!'))
	f.Add([]byte("x"), deltaHeader(1, 0))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := applyDelta(base, delta)
		if err == nil {
			from, rest, _ := deltaSize(delta)
			size, _, _ := deltaSize(rest)
			if from != uint64(len(base)) || size != uint64(len(out)) {
				t.Errorf("made %d bytes of %d; the delta says %d of %d", len(out), len(base), size, from)
			}
		}
	})
}

// When git replaced packs, those that are gone are closed and forgotten, with all
// that was kept of them; those that stayed are not opened again.
func TestPacksThatAreGone(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "a"})
	git(t, d, "repack", "-adq")
	r := mustOpen(t, d)
	read := func() *packList {
		t.Helper()
		head, _ := r.Resolve("HEAD")
		r.packs.looked = time.Time{}
		if err := readAll(r, head); err != nil {
			t.Fatal(err)
		}
		return r.packs.current
	}
	first := read().packs[0]
	commit(t, d, "more", map[string]string{"b": "b"})
	git(t, d, "repack", "-dq")
	if two := read(); len(two.packs) != 2 || two.packs[0] != first && two.packs[1] != first {
		t.Errorf("%d packs, the first of which is open twice", len(two.packs))
	}
	if _, err := first.file.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("a pack that stayed: %v", err)
	}
	inUse, err := r.packs.acquire()
	if err != nil {
		t.Fatal(err)
	}
	git(t, d, "repack", "-adq")
	if one := read(); len(one.packs) != 1 || one.packs[0] == first {
		t.Fatalf("%d packs, want a new one", len(one.packs))
	}
	if _, err := first.file.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("a pack that is read was closed: %v", err)
	}
	r.packs.release(inUse)
	if _, err := first.file.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a pack that is gone is open: %v", err)
	}
	for k := range r.bases.items {
		if k.pack != r.packs.current.packs[0] {
			t.Fatalf("objects of %s are kept", filepath.Base(k.pack.name))
		}
	}
}
