package note

import (
	"bytes"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// BenchmarkHTML renders the notes of rust-rfcs, beside what the library does
// with GitHub's Markdown and nothing else.
func BenchmarkHTML(b *testing.B) {
	var notes []*Note
	var texts [][]byte
	size := 0
	for p, src := range vaultFiles(b, "rust-rfcs.bundle") {
		if isNote(p) {
			n, text := Parse(src)
			notes, texts, size = append(notes, n), append(texts, text), size+len(text)
		}
	}
	run := func(name string, render func(i int)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for i := range texts {
					render(i)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "notes/s")
		})
	}
	gfm := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))
	run("goldmark", func(i int) { _ = gfm.Convert(texts[i], &bytes.Buffer{}) })
	o := testOptions()
	run("HTML", func(i int) { HTML(notes[i], texts[i], o) })
}
