package ingest

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"kb/convert"
	"kb/internal/fetch"
)

// Known is what a source's note says of its last reading.
type Known struct {
	ETag         string
	LastModified string
}

// Result is what reading a source gave: documents, or the word that it did not
// change.
type Result struct {
	Source       Source
	Docs         []convert.Doc
	Unchanged    bool
	Raw          []byte // the bytes as they were read
	Fetched      time.Time
	ETag         string
	LastModified string
	Final        string // the URL that answered, after redirects
	Moved        string // the URL that the source moved to for good
}

// Reader reads sources. Its zero value reads files.
type Reader struct {
	Web   *fetch.Client // nil: URLs are refused
	Stdin io.Reader
	Now   func() time.Time // default: time.Now
}

// Read reads one source and converts it. It asks the web only for a URL, once, and
// says what it knows already, so that a server may answer that nothing changed.
// Errors wrap those of fetch and convert.
func (r *Reader) Read(ctx context.Context, s Source, known Known) (*Result, error) {
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	res := &Result{Source: s, Fetched: now().UTC().Truncate(time.Second)}
	in := convert.Input{Name: s.Name}
	var err error
	switch {
	case s.URL != "":
		if err = r.fetch(ctx, res, known, &in); err != nil || res.Unchanged {
			return res, err
		}
	case s.File != "":
		in.Data, err = readFile(s.File)
	default:
		in.Data, err = readAll(r.Stdin, "standard input")
	}
	if err != nil {
		return nil, err
	}
	res.Raw = in.Data
	res.Docs, err = convert.Convert(ctx, in)
	return res, err
}

// fetch asks for a URL.
func (r *Reader) fetch(ctx context.Context, res *Result, known Known, in *convert.Input) error {
	if r.Web == nil {
		return fmt.Errorf("%w: no connection is opened", fetch.ErrOffline)
	}
	page, err := r.Web.Get(ctx, res.Source.URL, fetch.Conditions(known))
	if err != nil {
		return err
	}
	res.Unchanged, res.Final, res.Moved = page.NotModified, page.URL, page.Moved
	res.ETag, res.LastModified = page.ETag, page.LastModified
	in.Data, in.MediaType, in.Base = page.Body, page.MediaType, page.URL
	if page.Name != "" {
		in.Name = page.Name
	}
	return nil
}

func readFile(name string) (b []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return readAll(f, name)
}

// readAll reads no more than what is converted.
func readAll(r io.Reader, name string) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: %s", ErrNone, name)
	}
	b, err := io.ReadAll(io.LimitReader(r, convert.MaxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(b) > convert.MaxInput {
		return nil, fmt.Errorf("%w: more than %d MB", convert.ErrTooLarge, convert.MaxInput>>20)
	}
	return b, nil
}
