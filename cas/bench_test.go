package cas

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kb/note"
)

// realNote returns a note of the shape that a page of documentation has.
func realNote(i int) (note.ID, *note.Note) {
	id := note.Hash(fmt.Append(nil, i))
	n := &note.Note{Title: fmt.Sprint("Page ", i), Tags: []string{"guide", "setup"}, Summary: strings.Repeat("A sentence of summary. ", 8), Words: 400 + i%300, Body: 80}
	for j := range 8 {
		n.Headings = append(n.Headings, note.Heading{Level: 2, Text: fmt.Sprint("Heading ", j), Slug: fmt.Sprint("heading-", j), Line: 10 * j, Start: 400 * j, End: 400 * (j + 1)})
		n.Chunks = append(n.Chunks, note.Chunk{Start: 400 * j, End: 400 * (j + 1), Line: 10 * j, EndLine: 10*j + 9, Heading: j})
		n.Links = append(n.Links, note.Link{Kind: note.WikiLink, Target: fmt.Sprint("other page ", j), Text: "see there", Line: 10 * j, Start: 400*j + 7, End: 400*j + 40})
		n.Fields = append(n.Fields, note.Field{Key: fmt.Sprint("key", j), Value: fmt.Sprint("value ", j), Line: j})
	}
	return id, n
}

func filled(b *testing.B, count int) (string, []note.ID) {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "facts")
	s, err := Open(dir, b.Logf)
	if err != nil {
		b.Fatal(err)
	}
	r := testRecipe(b, s, "note/1")
	var ids []note.ID
	for start := 0; start < count; start += 500 {
		batch := map[note.ID]*note.Note{}
		for i := range 500 {
			id, n := realNote(start + i)
			batch[id] = n
			ids = append(ids, id)
		}
		if err := s.PutNotes(r, batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir, ids
}

func BenchmarkOpen(b *testing.B) {
	for _, count := range []int{0, 40_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			dir, _ := filled(b, count)
			size, _ := diskSize(dir)
			for b.Loop() {
				s, err := Open(dir, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(size)/(1<<20), "MiB")
		})
	}
}

func BenchmarkPutNotes(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "facts"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := testRecipe(b, s, "note/1")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		batch := map[note.ID]*note.Note{}
		for range 500 {
			id, n := realNote(i)
			batch[id] = n
			i++
		}
		if err := s.PutNotes(r, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(i), "µs/note")
}

func BenchmarkRead(b *testing.B) {
	dir, ids := filled(b, 40_000)
	s, err := Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := testRecipe(b, s, "note/1")
	b.Run("Note", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, ok, err := s.Note(r, ids[i%len(ids)]); !ok {
				b.Fatal(err)
			}
		}
	})
	b.Run("MissingNotes/40000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if m, err := s.MissingNotes(r, ids); len(m) > 0 || err != nil {
				b.Fatal(len(m), err)
			}
		}
	})
	b.Run("EachNote/40000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.EachNote(b.Context(), r, func(note.ID, *note.Note) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
