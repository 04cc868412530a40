package convert

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
)

// Limits on what a PDF may cost beside those of all inputs.
const (
	maxPages       = 20_000
	maxPageContent = 16 << 20 // bytes of a page's drawing operators, expanded
	maxObjects     = 2_000_000
	partBytes      = 900 << 10 // of a part of a book that is too long for one note
)

// convertPDF takes a PDF's text page by page. Headings are guessed from the size of
// their letters; the first paragraph of page 12 has the block id ^page-12. What is
// too long for one note becomes several.
func convertPDF(ctx context.Context, s *sniffed) ([]Doc, error) {
	r, err := openPDF(s.Data)
	if err != nil {
		return nil, err
	}
	found := findPages(r.Trailer().Key("Root").Key("Pages"))
	if len(found) == 0 || len(found) > maxPages {
		return nil, fmt.Errorf("%w: a PDF of %d pages", ErrDamaged, len(found))
	}
	pages := make([]pdfPage, len(found))
	var unreadable error
	for i := range pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lines, err := pageLines(found[i])
		if err != nil && unreadable == nil {
			unreadable = fmt.Errorf("page %d: %w", i+1, err)
		}
		pages[i] = pdfPage{number: i + 1, lines: lines}
	}
	d := pdfFacts(r.Trailer().Key("Info"))
	if err := describePages(&d, pages, unreadable); err != nil {
		return nil, err
	}
	dropRunning(pages)
	return writePages(d, pages, titleOfName(s.Name)), nil
}

// findPages lists the pages of a tree, in one walk.
func findPages(root pdf.Value) (pages []pdf.Page) {
	const deepest = 50
	visits := 0
	var walk func(v pdf.Value, depth int)
	walk = func(v pdf.Value, depth int) {
		kids := v.Key("Kids")
		if visits++; visits > 2*maxPages { // a tree that bites its tail
			return
		}
		if kids.Kind() != pdf.Array {
			pages = append(pages, pdf.Page{V: v})
			return
		}
		for i := 0; i < kids.Len() && depth < deepest && len(pages) <= maxPages; i++ {
			walk(kids.Index(i), depth+1)
		}
	}
	walk(root, 0)
	return pages
}

var objectCount = regexp.MustCompile(`/Size\s+(\d+)`)

// openPDF opens a PDF. The parser wants the version and the end in their places,
// and believes what a file says of the number of its objects.
func openPDF(data []byte) (*pdf.Reader, error) {
	end := bytes.LastIndex(data, []byte("%%EOF"))
	if end < 0 {
		return nil, fmt.Errorf("%w: the PDF has no end: it is cut off", ErrDamaged)
	}
	data = bytes.Clone(data[:end+len("%%EOF")])
	if len(data) < 120 {
		return nil, fmt.Errorf("%w: a PDF of %d bytes", ErrDamaged, len(data))
	}
	copy(data, "%PDF-1.7\n")
	for _, m := range objectCount.FindAllSubmatch(data, -1) {
		if n, err := strconv.Atoi(string(m[1])); err != nil || n > maxObjects {
			return nil, fmt.Errorf("%w: it says that it has %s objects", ErrDamaged, m[1])
		}
	}
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword), err != nil && bytes.Contains(data, []byte("/Encrypt")):
		return nil, fmt.Errorf("%w: the PDF needs a password", ErrEncrypted)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r, nil
}

// pageLines reads the lines of a page. A page that the parser chokes on has none.
func pageLines(p pdf.Page) (lines []pdfLine, err error) {
	defer func() {
		if x := recover(); x != nil {
			lines, err = nil, fmt.Errorf("%w: %.100s", ErrDamaged, fmt.Sprint(x))
		}
	}()
	if p.V.IsNull() {
		return nil, nil
	}
	if err := boundContent(p.V.Key("Contents")); err != nil {
		return nil, err
	}
	return readLines(p), nil
}

// boundContent expands a page's content once, to be sure that it is no bomb.
func boundContent(v pdf.Value) error {
	streams := []pdf.Value{v}
	if v.Kind() == pdf.Array {
		streams = streams[:0]
		for i := range v.Len() {
			streams = append(streams, v.Index(i))
		}
	}
	left := int64(maxPageContent)
	for _, s := range streams {
		if s.Kind() != pdf.Stream {
			continue
		}
		n, _ := io.Copy(io.Discard, io.LimitReader(s.Reader(), left+1)) // damage shows when it is read
		if left -= n; left < 0 {
			return fmt.Errorf("%w: a page expands to more than %d MB", ErrTooLarge, maxPageContent>>20)
		}
	}
	return nil
}

var producerTitle = regexp.MustCompile(`(?i)^(microsoft (word|powerpoint) - )|\.(docx?|tex|dvi|indd|pptx?|odt|rtf|qxd)$|^untitled|^unknown`)

// pdfFacts is what the file says of itself. Titles that programs make up are not
// believed.
func pdfFacts(info pdf.Value) (d Doc) {
	defer func() { _ = recover() }() // a damaged dictionary says nothing
	if title := info.Key("Title").Text(); !producerTitle.MatchString(title) {
		d.Title = title
	}
	for author := range strings.FieldsFuncSeq(info.Key("Author").Text(), func(r rune) bool { return r == ';' || r == ',' }) {
		d.Authors = append(d.Authors, author)
	}
	d.Tags = keywords(info.Key("Keywords").Text())
	if at, ok := pdfTime(info.Key("CreationDate").Text()); ok {
		d.Created = at
	}
	return d
}

// pdfTime reads D:20240131…
func pdfTime(s string) (time.Time, bool) {
	const day = len("20060102")
	s = strings.TrimPrefix(s, "D:")
	if len(s) < day {
		return time.Time{}, false
	}
	at, err := time.Parse("20060102", s[:day])
	return at, err == nil
}

// describePages says which pages have no text. A PDF of which none has is a scan.
func describePages(d *Doc, pages []pdfPage, unreadable error) error {
	var empty []string
	for _, p := range pages {
		if len(p.lines) == 0 {
			empty = append(empty, strconv.Itoa(p.number))
		}
	}
	switch {
	case len(empty) == len(pages) && unreadable != nil:
		return fmt.Errorf("%w: no page can be read: %w", ErrDamaged, unreadable)
	case len(empty) == len(pages):
		return fmt.Errorf("%w: the PDF is a scan, %d pages without text: a text layer can be added with ocrmypdf", ErrNoText, len(pages))
	case len(empty) > 0:
		const most = 20
		more := ""
		if n := len(empty) - most; n > 0 {
			empty, more = empty[:most], fmt.Sprintf(" and %d more", n)
		}
		d.Notices = append(d.Notices, "pages without text: "+strings.Join(empty, ", ")+more)
	}
	return nil
}

// writePages makes documents of the pages: one, or as many as the text needs.
func writePages(d Doc, pages []pdfPage, name string) []Doc {
	w := newPageWriter(pages)
	d.Title = cmp.Or(d.Title, w.title, name)
	var docs []Doc
	first := 1
	var body strings.Builder
	flush := func(last int) {
		part := d
		part.Body = body.String()
		if len(docs) > 0 || last < len(pages) {
			part.Key = fmt.Sprintf("pages-%d-%d", first, last)
			part.Title = fmt.Sprintf("%s, pages %d-%d", d.Title, first, last)
		}
		docs = append(docs, part)
		first = last + 1
		body.Reset()
	}
	for i, p := range pages {
		text := w.page(p)
		if body.Len() > 0 && body.Len()+len(text) > partBytes {
			flush(i)
		}
		body.WriteString(text)
	}
	flush(len(pages))
	return docs
}
