package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"kb/internal/fetch"
	"kb/vector"
)

const (
	attempts  = 5
	firstWait = time.Second
	longWait  = 2 * time.Minute // that a hub may ask for
	maxFile   = 4 << 30         // as much as vector.Open reads
)

// A download is one file on its way into a directory.
type download struct {
	hub     *Hub
	root    *os.Root
	address string
	want    vector.ModelFile
	report  func(done, total int64)
	wrap    func(io.Writer) io.Writer // what tests put before the file; nil

	tag    string // the hash that the hub gives
	offset int64  // bytes that are there
}

// retry says that another attempt may succeed, if not before after has passed.
type retry struct {
	err   error
	after time.Duration
}

func (r *retry) Error() string { return r.err.Error() }
func (r *retry) Unwrap() error { return r.err }

// run downloads the file, from where an earlier download ended, and compares
// it. What is wrong is removed.
func (d *download) run(ctx context.Context) (f File, err error) {
	if dir := path.Dir(d.want.Path); dir != "." {
		if err := d.root.MkdirAll(dir, 0o755); err != nil {
			return f, err
		}
	}
	if err := d.measure(); err != nil {
		return f, err
	}
	for stale := d.offset > 0; ; stale = false {
		sum, err := digest{}, d.complete(ctx)
		if err == nil {
			sum, err = digestOf(d.root, d.want.Path)
		}
		if err == nil {
			f.Proof, err = prove(sum, d.want, d.tag)
		}
		switch {
		case err == nil:
			f.Path, f.Size, f.SHA256 = d.want.Path, sum.size, sum.sha256
			return f, nil
		case !errors.Is(err, ErrHash):
			return f, err
		}
		if rerr := d.root.Remove(d.want.Path); rerr != nil {
			return f, errors.Join(err, rerr)
		}
		if !stale { // else what was there may have been of something else
			return f, fmt.Errorf("%w; it is removed", err)
		}
	}
}

// complete downloads until the file is all there.
func (d *download) complete(ctx context.Context) error {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		err := d.attempt(ctx)
		var again *retry
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.As(err, &again):
			return err
		case attempt == attempts:
			return fmt.Errorf("%w: %w, %d times", ErrHub, err, attempts)
		case again.after > longWait:
			return fmt.Errorf("%w: %w: it asks to wait %v", ErrHub, err, again.after)
		}
		if err := d.hub.wait(ctx, max(wait, again.after)); err != nil {
			return err
		}
		wait *= 2
	}
}

// attempt asks for what is missing, once.
func (d *download) attempt(ctx context.Context) error {
	if err := d.measure(); err != nil {
		return err
	}
	if d.offset > 0 && d.offset == d.want.Size && d.want.SHA256 != "" {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, tag, err := d.hub.get(ctx, d.address, d.offset)
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("%w: %w", ErrHub, err)
	case err != nil:
		return &retry{err: err}
	}
	defer resp.Body.Close()
	if tag != "" {
		d.tag = tag
	}
	switch resp.StatusCode {
	case http.StatusOK:
		d.offset = 0
	case http.StatusPartialContent:
		if at, _ := contentRange(resp.Header); at != d.offset {
			return d.restart(fmt.Errorf("it sends bytes from %d, not from %d", at, d.offset))
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total := contentRange(resp.Header); total == d.offset {
			return nil // all is there
		}
		return d.restart(errors.New("it has less than is there"))
	default:
		return d.refused(resp)
	}
	return d.receive(resp, cancel)
}

// measure looks at what is there of the file.
func (d *download) measure() error {
	info, err := d.root.Lstat(d.want.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.offset = 0
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", d.want.Path)
	}
	if d.offset = info.Size(); d.want.Size > 0 && d.offset > d.want.Size {
		d.offset = 0
	}
	return nil
}

// restart forgets what is there, for the next attempt.
func (d *download) restart(why error) error {
	if err := d.root.Remove(d.want.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &retry{err: why}
}

// refused returns the error of an answer without the file.
func (d *download) refused(resp *http.Response) error {
	err := fmt.Errorf("HTTP status %d", resp.StatusCode)
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("%w: %w", ErrLogin, err)
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("%w: %w", ErrMissing, err)
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return &retry{err: err, after: fetch.RetryAfter(resp.Header, d.hub.now())}
	}
	return fmt.Errorf("%w: %w", ErrHub, err)
}

// contentRange returns the first byte of a part and the size of the whole, -1
// for what is not said.
func contentRange(h http.Header) (first, total int64) {
	first, total = -1, -1
	part, whole, ok := strings.Cut(strings.TrimPrefix(h.Get("Content-Range"), "bytes "), "/")
	if !ok {
		return first, total
	}
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		total = n
	}
	from, _, _ := strings.Cut(part, "-")
	if n, err := strconv.ParseInt(from, 10, 64); err == nil {
		first = n
	}
	return first, total
}

// receive writes what comes behind what is there.
func (d *download) receive(resp *http.Response, cancel func()) (err error) {
	flags := os.O_WRONLY | os.O_CREATE
	if d.offset == 0 {
		flags |= os.O_TRUNC
	}
	f, err := d.root.OpenFile(d.want.Path, flags, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Seek(d.offset, io.SeekStart); err != nil {
		return err
	}
	total := d.want.Size
	if total == 0 && resp.ContentLength >= 0 {
		total = d.offset + resp.ContentLength
	}
	limit := int64(maxFile)
	if d.want.Size > 0 {
		limit = d.want.Size
	}
	var out io.Writer = f
	if d.wrap != nil {
		out = d.wrap(f)
	}
	watch := time.AfterFunc(d.hub.stall, cancel)
	defer watch.Stop()
	w := &counter{w: out, n: d.offset, limit: limit, moved: func(n int64) {
		watch.Reset(d.hub.stall)
		d.report(n, total)
	}}
	_, err = io.Copy(w, resp.Body)
	switch {
	case w.err != nil:
		return w.err // the disk's, not the hub's
	case err != nil:
		return &retry{err: fmt.Errorf("after %d bytes: %w", w.n, err)}
	case total > 0 && w.n < total:
		return &retry{err: fmt.Errorf("the file ends after %d of %d bytes", w.n, total)}
	}
	return f.Sync()
}

// A counter counts what is written, up to a limit, and remembers its error.
type counter struct {
	w        io.Writer
	n, limit int64
	moved    func(n int64)
	err      error
}

func (c *counter) Write(p []byte) (int, error) {
	if c.n+int64(len(p)) > c.limit {
		c.err = fmt.Errorf("it is longer than %d bytes: %w", c.limit, ErrHash)
		return 0, c.err
	}
	n, err := c.w.Write(p)
	c.n, c.err = c.n+int64(n), err
	c.moved(c.n)
	return n, err
}
