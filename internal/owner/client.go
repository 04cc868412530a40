package owner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
)

// errNobody: there is no owner to ask.
var errNobody = errors.New("nobody owns the directory")

// forward asks the owner to execute a call. It fails with errNobody when
// there is none, and with retry where another attempt may go better and does no harm.
func (n *Node) forward(ctx context.Context, c Call) (json.RawMessage, error) {
	b, err := readBeacon(n.cfg.Dir)
	if err != nil || b.Address == "" {
		return nil, errNobody
	}
	tr := n.transport(b)
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(n.request(ctx, b, c))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isTimeout(err):
		return nil, n.busy()
	case isDial(err):
		return nil, errNobody
	case err != nil: // it ended before it took the call
		return nil, retry{}
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return receive(ctx, resp, c)
	case http.StatusConflict:
		return nil, n.disagree(resp)
	case http.StatusServiceUnavailable:
		return nil, retry{alive: true}
	case http.StatusForbidden: // the beacon was another's
		return nil, retry{}
	case http.StatusRequestEntityTooLarge:
		return nil, fmt.Errorf("call %s: %w", c.Method, ErrTooLarge)
	}
	return nil, fmt.Errorf("call %s: the owner answers %s", c.Method, resp.Status)
}

// transport makes one connection for one call. On one that is used again it
// could not be told whether a call was taken, and net/http would repeat calls by itself.
func (n *Node) transport(b beacon) *http.Transport {
	dialer := net.Dialer{Timeout: n.cfg.Patience}
	return &http.Transport{
		DisableKeepAlives:     true,
		DisableCompression:    true,
		ResponseHeaderTimeout: n.cfg.Patience,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, b.Network, b.Address)
		},
	}
}

func (n *Node) request(ctx context.Context, b beacon, c Call) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://owner/call", bytes.NewReader(c.Params))
	if err != nil {
		panic(err) // unreachable: method and URL are constants
	}
	r.Header.Set(headMethod, c.Method)
	r.Header.Set(headSecret, b.Secret)
	r.Header.Set(headProtocol, strconv.Itoa(protocol))
	r.Header.Set(headSchema, strconv.Itoa(n.cfg.Schema))
	r.Header.Set(headVersion, n.cfg.Version)
	r.Header.Set(headPID, strconv.Itoa(os.Getpid()))
	return r
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

func isDial(err error) bool {
	var e *net.OpError
	return errors.As(err, &e) && e.Op == "dial"
}

// receive reads the answer to a call that the owner took.
func receive(ctx context.Context, resp *http.Response, c Call) (json.RawMessage, error) {
	dec := json.NewDecoder(resp.Body)
	for {
		var m message
		err := dec.Decode(&m)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case (err != nil || m.Interrupted) && c.Repeatable:
			return nil, retry{alive: true}
		case err != nil || m.Interrupted:
			return nil, fmt.Errorf("call %s: %w", c.Method, ErrLost)
		case m.Progress != nil:
			c.Progress(m.Progress.Done, m.Progress.Total, m.Progress.Message)
		case m.Error != nil:
			return nil, m.Error
		default:
			return m.Result, nil
		}
	}
}

// disagree decides what to do about an owner that does not fit.
func (n *Node) disagree(resp *http.Response) error {
	var o beacon
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil {
		return fmt.Errorf("answer of the owner: %w", err)
	}
	if newer(protocol, n.info(), o.Protocol, o.Info) {
		return retry{alive: true} // it leaves
	}
	return fmt.Errorf("%w: process %d, version %s", ErrOutdated, o.PID, o.Version)
}
