package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// What Get refuses or meets. Each of its errors wraps one of these, or is a
// [StatusError].
var (
	ErrOffline   = errors.New("offline")
	ErrRobots    = errors.New("its robots.txt does not allow it")
	ErrRedirects = errors.New("redirected too often")
	ErrScheme    = errors.New("only http and https are fetched")
	ErrTooLarge  = errors.New("too large")
	ErrTimeout   = errors.New("took too long")
	ErrHost      = errors.New("cannot be reached")
)

// The limits of a request, where a Client does not set its own.
const (
	defaultMaxBody   = 64 << 20
	defaultTimeout   = 60 * time.Second
	defaultRedirects = 8
	connectTimeout   = 15 * time.Second
	longWait         = 20 * time.Second // that a host may ask for
	retries          = 2
)

// Client gets URLs. It is safe for concurrent use; what it learns of hosts it keeps
// for its life. The zero Client asks public addresses only.
type Client struct {
	UserAgent    string
	AllowPrivate bool          // also addresses of this machine and its network
	Offline      bool          // nothing at all is asked
	MaxBody      int64         // bytes of an answer, expanded; default 64 MiB
	Timeout      time.Duration // of one URL with all its redirects; default a minute
	MaxRedirects int           // default 8

	Wait func(ctx context.Context, d time.Duration) error // default: sleeps

	once   sync.Once
	client *http.Client
	mu     sync.Mutex
	hosts  map[string]*host
}

// Conditions are what is known of a URL from the last time.
type Conditions struct {
	ETag         string
	LastModified string
}

// Page is an answer.
type Page struct {
	URL          string // that answered
	Moved        string // where the URL that was asked for moved for good; "" when it did not
	NotModified  bool   // nothing changed since the conditions were true; there is no body
	Body         []byte
	MediaType    string // as stated, with its charset
	Name         string // of the file that the answer says it is, without directories
	ETag         string
	LastModified string
}

// StatusError is an answer without the page.
type StatusError struct {
	Code       int
	RetryAfter time.Duration // that the host asks for
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", and asks to wait %v", e.RetryAfter.Round(time.Second))
	}
	return text
}

// Gone reports whether the page is no longer there.
func (e *StatusError) Gone() bool {
	return e.Code == http.StatusNotFound || e.Code == http.StatusGone
}

// Later reports whether another time may give the page.
func (e *StatusError) Later() bool {
	return e.Code == http.StatusTooManyRequests || e.Code == http.StatusRequestTimeout || e.Code >= 500
}

// Get gets a URL, following redirects. A host that asks to wait a little is waited
// for; one that asks for more is not asked again before that is over.
func (c *Client) Get(ctx context.Context, address string, known Conditions) (*Page, error) {
	if c.Offline {
		return nil, fmt.Errorf("%w: $KB_OFFLINE is set", ErrOffline)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScheme, err)
	}
	for attempt := 0; ; attempt++ {
		page, err := c.get(ctx, u, known)
		var status *StatusError
		if !errors.As(err, &status) || !status.Later() || status.RetryAfter == 0 || status.RetryAfter > longWait || attempt == retries {
			return page, err
		}
		if err := c.wait(ctx, status.RetryAfter); err != nil {
			return nil, err
		}
	}
}

func (c *Client) wait(ctx context.Context, d time.Duration) error {
	if c.Wait != nil {
		return c.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get makes one attempt.
func (c *Client) get(ctx context.Context, u *url.URL, known Conditions) (*Page, error) {
	c.once.Do(c.open)
	inner, cancel := context.WithTimeout(ctx, or(c.Timeout, defaultTimeout))
	defer cancel()
	page, err := c.follow(inner, u, known)
	if err != nil && ctx.Err() == nil && errors.Is(inner.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w: no whole answer in %v", ErrTimeout, or(c.Timeout, defaultTimeout))
	}
	return page, err
}

func or[T comparable](x, otherwise T) T {
	var zero T
	if x == zero {
		return otherwise
	}
	return x
}

func (c *Client) open() {
	may := Public
	if c.AllowPrivate {
		may = Anywhere
	}
	c.client = &http.Client{
		Transport:     Transport(may, connectTimeout),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.hosts = map[string]*host{}
}

// follow asks for a URL and for those that it redirects to.
func (c *Client) follow(ctx context.Context, u *url.URL, known Conditions) (*Page, error) {
	moved, forGood := "", true
	for range or(c.MaxRedirects, defaultRedirects) + 1 {
		if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return nil, fmt.Errorf("%w: not %s", ErrScheme, u.Redacted())
		}
		if err := c.allowed(ctx, u); err != nil {
			return nil, err
		}
		resp, err := c.ask(ctx, u, known)
		if err != nil {
			return nil, err
		}
		to, permanent := redirect(resp)
		if to == "" {
			page, err := c.take(u, resp)
			if page != nil {
				page.Moved = moved
			}
			if page != nil && page.NotModified && known == (Conditions{}) {
				page, err = nil, &StatusError{Code: resp.StatusCode} // to nobody who asked for changes
			}
			return page, errors.Join(err, resp.Body.Close())
		}
		_ = resp.Body.Close() // whatever it says beside
		next, err := u.Parse(to)
		if err != nil {
			return nil, fmt.Errorf("%w: redirected to %.100q", ErrScheme, to)
		}
		next.User, next.Fragment = nil, ""
		if forGood = forGood && permanent; forGood {
			moved = next.String()
		}
		u = next
	}
	return nil, ErrRedirects
}

// redirect is where an answer sends, and whether for good; "" when it does not.
func redirect(resp *http.Response) (to string, permanent bool) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		return resp.Header.Get("Location"), true
	case http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
		return resp.Header.Get("Location"), false
	}
	return "", false
}

// ask makes one request.
func (c *Client) ask(ctx context.Context, u *url.URL, known Conditions) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScheme, err)
	}
	req.Header.Set("User-Agent", or(c.UserAgent, "kb"))
	req.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,application/pdf,application/epub+zip,*/*;q=0.5")
	if known.ETag != "" {
		req.Header.Set("If-None-Match", known.ETag)
	}
	if known.LastModified != "" {
		req.Header.Set("If-Modified-Since", known.LastModified)
	}
	resp, err := c.client.Do(req)
	switch {
	case errors.Is(err, ErrPrivate):
		return nil, fmt.Errorf("%s is %w", u.Hostname(), ErrPrivate)
	case err != nil:
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the URL, which the caller has
		}
		return nil, fmt.Errorf("%s %w: %w", u.Host, ErrHost, err)
	}
	return resp, nil
}

// take reads an answer that is no redirect.
func (c *Client) take(u *url.URL, resp *http.Response) (*Page, error) {
	page := &Page{URL: u.String(), MediaType: resp.Header.Get("Content-Type"), ETag: headerText(resp, "ETag"), LastModified: headerText(resp, "Last-Modified")}
	switch {
	case resp.StatusCode == http.StatusNotModified:
		page.NotModified = true
		return page, nil
	case resp.StatusCode != http.StatusOK:
		err := &StatusError{Code: resp.StatusCode, RetryAfter: RetryAfter(resp.Header, time.Now())}
		c.pause(u, err)
		return nil, err
	}
	most := or(c.MaxBody, defaultMaxBody)
	if resp.ContentLength > most {
		return nil, fmt.Errorf("%w: %d MB, at most %d are fetched", ErrTooLarge, resp.ContentLength>>20, most>>20)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s %w: it stops after %d bytes: %w", u.Host, ErrHost, len(body), err)
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("%w: more than %d bytes, expanded", ErrTooLarge, most)
	}
	page.Body, page.Name = body, fileName(resp.Header)
	return page, nil
}

// headerText is a header's value, "" for one that no sane server sends: it will
// stand in a note.
func headerText(resp *http.Response, key string) string {
	const longest = 200
	value := resp.Header.Get(key)
	if len(value) > longest || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return value
}

// fileName is the name that an answer gives its file, without directories.
func fileName(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil || params["filename"] == "" {
		return ""
	}
	name := path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return name
}

// RetryAfter is how long a host asks to wait: it gives seconds, or a date. It is 0
// where none is asked for.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
