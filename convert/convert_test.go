package convert

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected Markdown")

// Every file of the corpus becomes the Markdown beside it, or the refusal.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := show(Convert(t.Context(), Input{Name: name, Data: src}))
			golden := filepath.Join("testdata", "want", name+".md")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

// show writes what a conversion gave as text.
func show(docs []Doc, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, d := range docs {
		created := ""
		if !d.Created.IsZero() {
			created = d.Created.UTC().Format("2006-01-02")
		}
		fmt.Fprintf(&b, "%%%% %s key=%q title=%q created=%q authors=%q tags=%q\n", d.Type, d.Key, d.Title, created, d.Authors, d.Tags)
		for _, a := range d.Attachments {
			fmt.Fprintf(&b, "%%%% file %s, %d bytes\n", a.Name, len(a.Data))
		}
		for _, n := range d.Notices {
			fmt.Fprintf(&b, "%%%% notice %s\n", n)
		}
		b.WriteString("\n" + d.Body + "\n")
	}
	return b.String()
}

// A hostile input is refused, or bounded, and never takes the process down.
func TestLimits(t *testing.T) {
	tests := []struct {
		name string
		in   Input
		want error // nil: it is converted
	}{
		{"an archive that expands", Input{Name: "x.docx", Data: archiveOf(t, "word/document.xml", bytes.Repeat([]byte("<w:p/>"), 12<<20))}, ErrTooLarge},
		{"a page that expands", Input{Data: pdfOf(1, string(bytes.Repeat([]byte("q Q "), 5<<20)))}, ErrDamaged},
		{"objects that are not there", Input{Data: bytes.Replace(pdfOf(1, text("x")), []byte("/Size 6"), []byte("/Size 9999999"), 1)}, ErrDamaged},
		{"a circle of cross references", Input{Data: bytes.Replace(pdfOf(1, text("x")), []byte("/Size 6"), []byte("/Size 6 /Prev 9"), 1)}, ErrDamaged},
		{"elements within elements", Input{Name: "x.html", Data: []byte(strings.Repeat("<div>", 100_000) + "deep")}, ErrDamaged},
		{"unclosed emphasis", Input{Name: "x.html", Data: []byte(strings.Repeat("<p><b><i>x", 5000))}, nil},
		{"XML in XML", Input{Name: "x.docx", Data: archiveOf(t, "word/document.xml", bytes.Repeat([]byte("<a>"), 10_000))}, ErrDamaged},
		{"lists in lists of JSON", Input{Name: "x.json", Data: []byte(strings.Repeat("[", 100_000))}, ErrDamaged},
		{"parts within parts", Input{Name: "x.eml", Data: nestedMail(50)}, ErrTooLarge},
		{"a text that is too long", Input{Name: "x.txt", Data: bytes.Repeat([]byte("word "), 300_000)}, ErrTooLarge},
		{"a table that is too long", Input{Name: "x.csv", Data: bytes.Repeat([]byte("a,b\n"), 100_000)}, nil},
		{"too much", Input{Data: make([]byte, MaxInput+1)}, ErrTooLarge},
		{"nothing", Input{}, ErrNoText},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			docs, err := Convert(t.Context(), tt.in)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %d documents, %v; want %v", len(docs), err, tt.want)
			}
			for _, d := range docs {
				checkDoc(t, d)
			}
		})
	}
}

func TestConvertEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Convert(ctx, Input{Data: pdfOf(50, text("page"))}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A page of the web resolves its links; what leads elsewhere in it is text.
func TestLinksOfAPage(t *testing.T) {
	src := `<title>T</title><p>Some text <a href="../b?q=1#f">b</a> <a href="#here">here</a> <a href="javascript:x()">js</a> <a href="page#frag">self</a> <img src="i.png" alt="i"></p>`
	docs, err := Convert(t.Context(), Input{Data: []byte(src), MediaType: "text/html", Base: "https://example.org/a/page"})
	if err != nil {
		t.Fatal(err)
	}
	want := "Some text [b](https://example.org/b?q=1#f) here js self ![i](https://example.org/a/i.png)\n"
	if got := docs[0].Body; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A book that is too long for a note becomes several, each of whole pages.
func TestLongPDF(t *testing.T) {
	docs, err := Convert(t.Context(), Input{Name: "long.pdf", Data: pdfOf(500, text(strings.Repeat("word ", 450)))})
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 || docs[0].Title != "long, pages 1-424" || docs[1].Key != "pages-425-500" {
		for _, d := range docs {
			t.Errorf("%s %s %d bytes", d.Key, d.Title, len(d.Body))
		}
	}
	for _, d := range docs {
		checkDoc(t, d)
	}
}

// checkDoc asserts what holds of every document.
func checkDoc(t *testing.T, d Doc) {
	t.Helper()
	switch {
	case d.Title == "" || strings.ContainsAny(d.Title, "\n\r\x00"):
		t.Errorf("title %q", d.Title)
	case !utf8.ValidString(d.Body) || !strings.HasSuffix(d.Body, "\n") || len(d.Body) > MaxBody:
		t.Errorf("body of %d bytes is no text", len(d.Body))
	case strings.TrimSpace(d.Body) == "":
		t.Error("the body is empty")
	}
	for _, a := range d.Attachments {
		if !filepath.IsLocal(a.Name) || len(a.Data) > maxPicture {
			t.Errorf("attachment %q of %d bytes", a.Name, len(a.Data))
		}
	}
}

func FuzzConvert(f *testing.F) {
	files, err := filepath.Glob("testdata/corpus/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(file), src)
	}
	known := []error{ErrUnknown, ErrEncrypted, ErrDamaged, ErrTooLarge, ErrNoText}
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		docs, err := Convert(t.Context(), Input{Name: name, Data: src})
		if err != nil && !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
			t.Fatalf("an error of no kind: %v", err)
		}
		for _, d := range docs {
			checkDoc(t, d)
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	for _, name := range []string{"article.html", "handbook.pdf", "guide.docx", "guide.epub"} {
		src, err := os.ReadFile(filepath.Join("testdata", "corpus", name))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Convert(b.Context(), Input{Name: name, Data: src}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
