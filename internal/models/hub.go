package models

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"kb/vector"
)

// DefaultEndpoint is the hub that most models are published on.
const DefaultEndpoint = "https://huggingface.co"

var (
	// ErrLogin is wrapped by errors about models that the hub does not give to
	// everybody.
	ErrLogin = errors.New("the hub wants a login")
	// ErrMissing is wrapped by errors about files that the hub does not have.
	ErrMissing = errors.New("the hub has no such file")
	// ErrHub is wrapped by errors about a hub that cannot be reached, or that
	// does not answer as it should, for longer than kb tries.
	ErrHub = errors.New("the hub does not deliver")
)

// A Hub is where models are downloaded from.
type Hub struct {
	endpoint *url.URL
	client   *http.Client
	wait     func(ctx context.Context, d time.Duration) error
	now      func() time.Time
	stall    time.Duration // without a byte, until a connection is given up
}

// NewHub returns the hub at an address, or at DefaultEndpoint.
func NewHub(endpoint string) (*Hub, error) {
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	u, err := url.Parse(strings.TrimRight(endpoint, "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("hub %q is no address like %s", endpoint, DefaultEndpoint)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	return &Hub{endpoint: u, client: &http.Client{Transport: transport}, wait: sleep, now: time.Now, stall: time.Minute}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// address returns where a file of a model is published.
func (h *Hub) address(m vector.Model, f vector.ModelFile) (string, error) {
	from := f.From
	if from == "" {
		from = f.Path
	}
	if strings.Contains(m.Repository, "://") {
		return url.JoinPath(m.Repository, m.Revision, from)
	}
	return url.JoinPath(h.endpoint.String(), m.Repository, "resolve", m.Revision, from)
}

// get asks for a file from an offset on. The answer's body must be closed. tag
// is the hash of the whole file as the hub itself gives it, wherever it sends us
// for the bytes.
func (h *Hub) get(ctx context.Context, address string, offset int64) (resp *http.Response, tag string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("User-Agent", "kb")
	req.Header.Set("Accept-Encoding", "identity")
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	home := req.URL.Host
	learn := func(r *http.Response) {
		if r == nil || r.Request.URL.Host != home {
			return // what others say of a file proves nothing
		}
		if t := r.Header.Get("X-Linked-Etag"); t != "" {
			tag = cleanTag(t)
		} else if t := r.Header.Get("ETag"); t != "" && !isSHA256.MatchString(tag) {
			tag = cleanTag(t)
		}
	}
	client := *h.client
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		learn(next.Response)
		switch {
		case len(via) >= 10:
			return errors.New("it sends us on and on")
		case next.URL.Scheme != "https" && via[0].URL.Scheme == "https":
			return fmt.Errorf("it sends us to %s, without encryption", next.URL.Host)
		}
		return nil
	}
	resp, err = client.Do(req)
	if err == nil {
		learn(resp)
	}
	return resp, tag, err
}

// cleanTag returns an entity tag without its quotes.
func cleanTag(tag string) string {
	return strings.ToLower(strings.Trim(strings.TrimPrefix(tag, "W/"), `"`))
}
