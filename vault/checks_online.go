package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kb/internal/fetch"
)

// Limits on what asking for sources may cost.
const (
	mostSources   = 50
	sourceTimeout = 10 * time.Second
	mostRedirects = 5
	sourcesAtOnce = 4
)

// reach asks the sources that the draft names whether they are there. Only public
// addresses are asked: a draft must not make kb knock within somebody's network.
func (p *proposal) reach(ctx context.Context) ([]CheckFinding, error) {
	if p.v.cfg.Offline {
		return nil, errorf(Forbidden, "sources are not asked for: $KB_OFFLINE is set").hint("leave --online out, and review.online in %s", ConfigName)
	}
	c := &checker{proposal: p, found: []CheckFinding{}}
	client := sourceClient(fetch.Public)
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(sourcesAtOnce)
	asked := 0
	for _, e := range p.edits {
		if e.note == nil {
			continue
		}
		for _, key := range []string{"source", "sources"} {
			line, _ := fieldLine(e.note, key)
			for _, s := range e.newSources(key) {
				if u, err := url.Parse(s); err != nil || u.Scheme != "http" && u.Scheme != "https" {
					continue
				}
				if asked++; asked > mostSources {
					continue
				}
				g.Go(func() error {
					if why := askSource(ctx, client, s); why != "" {
						mu.Lock()
						defer mu.Unlock()
						c.report(e, line, checkSource, "mend the URL, or name another source", "%s: %s", clip(s, 80), why)
					}
					return nil
				})
			}
		}
	}
	_ = g.Wait() // no function returns an error
	if asked > mostSources {
		c.found = append(c.found, CheckFinding{Line: 1, Check: checkSource, Message: fmt.Sprintf("%d sources: only %d were asked for", asked, mostSources), Mend: "split the draft"})
	}
	slices.SortFunc(c.found, func(a, b CheckFinding) int { return strings.Compare(a.Path+a.Message, b.Path+b.Message) })
	return c.found, ctxErr(ctx)
}

// sourceClient makes requests to addresses that may be asked. The address is
// looked at when the connection is made, so that no name can mean another one by
// then. No proxy is used.
func sourceClient(may func(netip.Addr) bool) *http.Client {
	transport := fetch.Transport(may, sourceTimeout)
	transport.DisableKeepAlives = true
	return &http.Client{
		Timeout:   sourceTimeout,
		Transport: transport,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > mostRedirects {
				return errors.New("redirected too often")
			}
			return nil
		},
	}
}

// askSource says why a source cannot be reached, "" when it can. Servers that do
// not answer HEAD are asked with GET.
func askSource(ctx context.Context, client *http.Client, source string) string {
	why := ""
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		if why = ask(ctx, client, method, source); why == "" {
			break
		}
	}
	return why
}

func ask(ctx context.Context, client *http.Client, method, source string) string {
	req, err := http.NewRequestWithContext(ctx, method, source, nil)
	if err != nil {
		return "not a URL"
	}
	req.Header.Set("User-Agent", "kb/"+Version+" (checks that a source is there)")
	res, err := client.Do(req)
	var urlErr *url.Error
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		return "not a public address: it is not asked for"
	case errors.As(err, &urlErr) && urlErr.Timeout():
		return "no answer in " + sourceTimeout.String()
	case err != nil:
		return "cannot be reached"
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // whatever it says
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden, res.StatusCode == http.StatusTooManyRequests:
		return "" // it is there, and not for everybody
	case res.StatusCode >= 400:
		return "answers " + res.Status
	}
	return ""
}
