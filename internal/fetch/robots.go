package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// host is what is known of a host.
type host struct {
	once   sync.Once
	robots robots
	err    error // its robots.txt cannot be had, so that nothing is allowed

	mu    sync.Mutex
	until time.Time // it asked not to be asked before
}

func (c *Client) host(u *url.URL) *host {
	key := u.Scheme + "://" + u.Host
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosts[key] == nil {
		c.hosts[key] = &host{}
	}
	return c.hosts[key]
}

// pause remembers that a host asked to be left alone.
func (c *Client) pause(u *url.URL, e *StatusError) {
	if !e.Later() || e.RetryAfter <= longWait {
		return
	}
	h := c.host(u)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = time.Now().Add(e.RetryAfter)
}

// allowed fails when a host does not want a URL to be asked for, or not now.
func (c *Client) allowed(ctx context.Context, u *url.URL) error {
	h := c.host(u)
	h.mu.Lock()
	left := time.Until(h.until)
	h.mu.Unlock()
	if left > 0 {
		return &StatusError{Code: http.StatusTooManyRequests, RetryAfter: left}
	}
	h.once.Do(func() { h.robots, h.err = c.readRobots(ctx, u) })
	if h.err != nil {
		return h.err
	}
	if !h.robots.allow(u) {
		return fmt.Errorf("%s: %w", u.Host, ErrRobots)
	}
	return nil
}

// mostRobots is how much of a robots.txt is read (RFC 9309 asks for 500 KiB).
const mostRobots = 500 << 10

// readRobots asks a host for its robots.txt. One that is not there allows all; one
// that the host fails to give allows nothing (RFC 9309, 2.3.1).
func (c *Client) readRobots(ctx context.Context, of *url.URL) (robots, error) {
	u := &url.URL{Scheme: of.Scheme, Host: of.Host, Path: "/robots.txt"}
	const most = 5
	for range most {
		resp, err := c.ask(ctx, u, Conditions{})
		if err != nil {
			return nil, err
		}
		to, _ := redirect(resp)
		if to == "" {
			defer resp.Body.Close()
			return c.parseAnswer(u, resp)
		}
		_ = resp.Body.Close()
		next, err := u.Parse(to)
		if err != nil || next.Scheme != "http" && next.Scheme != "https" {
			return nil, nil
		}
		u = next
	}
	return nil, nil
}

func (c *Client) parseAnswer(u *url.URL, resp *http.Response) (robots, error) {
	switch {
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return nil, fmt.Errorf("%s: %w: it answers %d for robots.txt", u.Host, ErrRobots, resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, mostRobots))
	if err != nil {
		return nil, fmt.Errorf("%s %w: %w", u.Host, ErrHost, err)
	}
	return parseRobots(string(b), strings.ToLower(product(or(c.UserAgent, "kb")))), nil
}

// product is the name in a user agent: "kb" of "kb/1.0 (…)".
func product(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	return strings.TrimSpace(name)
}

// robots are the rules of a robots.txt for us.
type robots []robotsRule

type robotsRule struct {
	pattern string
	allow   bool
}

// parseRobots reads the groups for a product, or those for all where none is for
// it.
func parseRobots(text, name string) robots {
	var own, all robots
	var agents []string
	named, open := false, false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch key = strings.ToLower(strings.TrimSpace(key)); key {
		case "user-agent":
			if !open {
				agents = nil
			}
			open = true
			agent := strings.ToLower(product(value))
			agents = append(agents, agent)
			named = named || agent == name
		case "allow", "disallow":
			open = false
			if value == "" {
				continue
			}
			rule := robotsRule{value, key == "allow"}
			for _, a := range agents {
				switch a {
				case name:
					own = append(own, rule)
				case "*":
					all = append(all, rule)
				}
			}
		}
	}
	if named {
		return own
	}
	return all
}

// allow applies the longest rule that fits; of two of a length the one that allows.
func (r robots) allow(u *url.URL) bool {
	target := u.EscapedPath()
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	if target == "/robots.txt" {
		return true
	}
	allowed, longest := true, -1
	for _, rule := range r {
		if n := len(rule.pattern); n >= longest && matchRobots(rule.pattern, target) {
			allowed = rule.allow || n == longest && allowed
			longest = n
		}
	}
	return allowed
}

// matchRobots matches the beginning of a path, with * for anything and $ for its
// end.
func matchRobots(pattern, target string) bool {
	pattern, end := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(target, parts[0]) {
		return false
	}
	target = target[len(parts[0]):]
	for i, part := range parts[1:] {
		if end && i == len(parts)-2 {
			return strings.HasSuffix(target, part)
		}
		at := strings.Index(target, part)
		if at < 0 {
			return false
		}
		target = target[at+len(part):]
	}
	return !end || target == ""
}
