package site

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

// former are the bytes of all notes, as a repository keeps them.
var former sync.Map

// searchable gives a set a search of its words as they stand, with hashes so short
// that many words share one.
func searchable(t testing.TB, s *Set) *Set {
	d := &SearchData{Language: "en", Hash: func(term string) uint32 {
		h := fnv.New32a()
		h.Write([]byte(term))
		return h.Sum32() % 1500
	}}
	number := map[note.ID]int{}
	var blobs []note.ID
	for i, doc := range s.Docs {
		if _, ok := number[doc.Blob]; !ok {
			number[doc.Blob] = len(blobs)
			blobs = append(blobs, doc.Blob)
			d.Notes = append(d.Notes, i)
		}
	}
	for _, blob := range blobs {
		raw, err := s.Read(context.Background(), "notes", blob)
		if err != nil {
			t.Fatal(err)
		}
		former.Store(blob, raw)
	}
	alone := func(n int, blob note.ID) (*SearchNote, error) {
		raw, ok := former.Load(blob)
		if !ok {
			return nil, fs.ErrNotExist
		}
		parsed, text := note.Parse(raw.([]byte))
		out := &SearchNote{Terms: map[string]SearchPosting{}, Body: text[parsed.Body:]}
		section := func(field byte, words []string, mark func(p *SearchPosting)) {
			out.Stream = binary.LittleEndian.AppendUint32(append(out.Stream, field), uint32(len(words)))
			for _, w := range words {
				p := out.Terms[w]
				p.Note = n
				mark(&p)
				out.Terms[w] = p
				h := d.Hash(w)
				out.Stream = append(out.Stream, byte(h), byte(h>>8), byte(h>>16))
			}
		}
		section(5, strings.Fields(string(raw.([]byte))), func(p *SearchPosting) { p.Counts[5]++ })
		for _, doc := range s.Docs {
			if number[doc.Blob] == n {
				section(SearchFields, strings.FieldsFunc(doc.Path, func(r rune) bool { return r == '/' || r == '.' }), func(p *SearchPosting) { p.Name = true })
			}
		}
		out.Lengths[5] = uint32(len(out.Stream))
		out.Terms["\x01tag"+fmt.Sprint(len(raw.([]byte))%7)] = SearchPosting{Note: n, Counts: [SearchFields]uint32{3: 1}}
		return out, nil
	}
	d.Alone = func(_ context.Context, n int, blob note.ID) (*SearchNote, error) { return alone(n, blob) }
	terms := map[string][]SearchPosting{}
	var streams [][]byte
	for n, blob := range blobs {
		one, err := alone(n, blob)
		if err != nil {
			t.Fatal(err)
		}
		for term, p := range one.Terms {
			terms[term] = append(terms[term], p)
		}
		streams = append(streams, one.Stream)
		d.Lengths = append(d.Lengths, one.Lengths)
	}
	d.Average = averageOf(d.Lengths)
	d.Each = func(_ context.Context, fn func(string, []SearchPosting) error) error {
		for _, term := range slices.Sorted(maps.Keys(terms)) {
			if err := fn(term, terms[term]); err != nil {
				return err
			}
		}
		return nil
	}
	d.Streams = func(_ context.Context, fn func(int, []byte) error) error {
		for n, stream := range streams {
			if err := fn(n, stream); err != nil {
				return err
			}
		}
		return nil
	}
	s.Search = d
	return s
}

func averageOf(lengths [][SearchFields]uint32) (out [SearchFields]float64) {
	for _, of := range lengths {
		out[5] += float64(of[5])
	}
	out[5] /= float64(len(lengths))
	return out
}

// wordsOf writes a text of words that are the rarer the greater their number, with
// links and headings now and then.
func wordsOf(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		word := fmt.Sprintf("w%d", int(4000*r.Float64()*r.Float64()*r.Float64()))
		switch r.IntN(1000) {
		case 0, 3, 4, 5, 6:
			fmt.Fprintf(&b, "\n\n## %s\n\n", word)
		case 1, 7, 8, 9, 10:
			fmt.Fprintf(&b, "[[n%d]] ", r.IntN(80))
		case 2:
			fmt.Fprintf(&b, "![[n%d]] #t%d ", r.IntN(80), r.IntN(9))
		default:
			b.WriteString(word + " ")
		}
	}
	return b.String()
}

// edit changes a vault at random: mostly a few words of a note, at times which
// notes there are.
func edit(r *rand.Rand, notes map[string]string) {
	paths := slices.Sorted(maps.Keys(notes))
	path := paths[r.IntN(len(paths))]
	words := strings.SplitAfter(notes[path], " ")
	at := r.IntN(len(words))
	switch r.IntN(12) {
	case 0:
		notes[fmt.Sprintf("d%d/n%d.md", r.IntN(4), r.IntN(80))] = wordsOf(r, 100)
	case 1:
		delete(notes, path)
	case 2:
		notes[fmt.Sprintf("d%d/N%d.md", r.IntN(4), r.IntN(80))] = notes[path]
		delete(notes, path)
	case 3:
		notes[path] = notes[paths[r.IntN(len(paths))]] // two notes of the same bytes
	case 4:
		notes[path] = "---\naliases: [other " + fmt.Sprint(at) + "]\nsuperseded_by: n3\n---\n" + wordsOf(r, 50)
	case 5:
		notes[path] = strings.Join(words[:at], "")
	case 6:
		notes[path] = strings.Join(slices.Insert(words, at, "everywhere "), "")
	default:
		notes[path] = strings.Join(slices.Insert(words, at, fmt.Sprintf("new%d w%d ", r.IntN(1000), at)), "")
	}
}

// After any changes, a site that was made before is, file for file, the one that
// is made anew.
func TestRebuildEqualsBuild(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			notes := map[string]string{}
			for i := range 60 {
				notes[fmt.Sprintf("d%d/n%d.md", i%4, i)] = wordsOf(r, 250)
			}
			dir := t.TempDir()
			set := func() *Set {
				var files []string
				for _, path := range slices.Sorted(maps.Keys(notes)) {
					files = append(files, path, notes[path])
				}
				return searchable(t, vaultOf(files...))
			}
			out := filepath.Join(dir, "out")
			made(t, set(), out)
			for step := range 10 {
				for range 1 + r.IntN(3) {
					edit(r, notes)
				}
				got := made(t, set(), out)
				fresh := filepath.Join(dir, fmt.Sprint("fresh", step))
				if diff := cmp.Diff(made(t, set(), fresh), got); diff != "" {
					t.Fatalf("step %d: %.3000s", step, diff)
				}
				if err := os.RemoveAll(fresh); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// One word more makes few files of search data anew, and damaged ones are noticed.
func TestSearchChangesLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var files []string
	for i := range 200 {
		files = append(files, fmt.Sprintf("n%03d.md", i), wordsOf(r, 300))
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	made(t, searchable(t, vaultOf(files...)), out)
	files[21] += "unheard"
	changed := searchable(t, vaultOf(files...))
	changed.Search.Each = func(context.Context, func(string, []SearchPosting) error) error {
		t.Error("all postings were read")
		return nil
	}
	want := made(t, searchable(t, vaultOf(files...)), filepath.Join(dir, "fresh"))
	if diff := cmp.Diff(want, made(t, changed, out)); diff != "" {
		t.Fatalf("%.3000s", diff)
	}
	files[21] += " of"
	want = made(t, searchable(t, vaultOf(files...)), filepath.Join(dir, "again"))
	for _, kind := range []string{"terms", "places", "texts", "words", "ends", "first"} {
		parts, err := filepath.Glob(filepath.Join(out, "kb", "q", kind+".*"))
		if err != nil || len(parts) == 0 {
			t.Fatal(kind, err)
		}
		for _, part := range parts {
			raw, err := os.ReadFile(part)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(part)
			if err != nil {
				t.Fatal(err)
			}
			damaged := bytes.Clone(raw)
			damaged[len(damaged)/2] ^= 1
			if err := os.WriteFile(part, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(part, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := made(t, searchable(t, vaultOf(files...)), out)
	for name := range want {
		if got[name] == "" && want[name] != "" {
			t.Errorf("%s is missing", name)
		}
	}
}

// A note may be of another date and say the same.
func TestDatesChangeAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var files []string
	for i := range 30 {
		files = append(files, fmt.Sprintf("n%02d.md", i), wordsOf(r, 300))
	}
	set := func(date string) *Set {
		s := searchable(t, vaultOf(files...))
		s.Docs[7].Updated = date
		return s
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	made(t, set("2024-02-03"), out)
	if diff := cmp.Diff(made(t, set("2025-04-05"), filepath.Join(dir, "fresh")), made(t, set("2025-04-05"), out)); diff != "" {
		t.Fatalf("%.3000s", diff)
	}
}
