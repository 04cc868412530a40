package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// hasty has no patience with its peers.
func hasty(t *testing.T, h http.Handler) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(h, Options{Log: t.Logf})
	s.times = times{head: 50 * time.Millisecond, body: 50 * time.Millisecond, write: 50 * time.Millisecond, idle: 50 * time.Millisecond}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

// send opens a connection and writes something that is not the whole of it.
func send(t *testing.T, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil { // the test fails rather than hangs
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// Peers that send a byte now and then hold nothing: their connections end, what
// they sent is not handled, and others are served meanwhile.
func TestSlowSenders(t *testing.T) {
	h := &counted{}
	address := hasty(t, h)
	var held []net.Conn
	for _, text := range []string{
		"",
		"POST /mcp HTT",
		"POST /mcp HTTP/1.1\r\nHost: " + address + "\r\nX-A: b\r\n",
		"POST /mcp HTTP/1.1\r\nHost: " + address + "\r\nContent-Length: 100\r\n\r\n{",
		"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n{",
		"POST /healthz HTTP/1.1\r\nHost: " + address + "\r\nContent-Length: 100\r\n\r\n{",
		"POST /mcp?token=x HTTP/1.1\r\nHost: " + address + "\r\nContent-Length: 100\r\n\r\n{",
		"POST /mcp HTTP/1.1\r\nHost: " + address + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\"",
	} {
		for range 10 {
			held = append(held, send(t, address, text))
		}
	}
	if resp, _ := ask(t, "GET", "http://"+address+"/healthz", ""); resp.StatusCode != 200 {
		t.Errorf("another is answered %s", resp.Status)
	}
	for i, c := range held {
		said, err := io.ReadAll(c)
		if netErr, ok := err.(net.Error); ok && netErr.Timeout() {
			t.Fatalf("connection %d is still held", i)
		}
		if strings.Contains(string(said), " 200 ") {
			t.Errorf("connection %d: %s", i, said)
		}
	}
	if n := h.n.Load(); n != 0 {
		t.Errorf("%d requests were handled that were never sent whole", n)
	}
}

// A peer that does not read what it asked for ends its call.
func TestSlowReader(t *testing.T) {
	ended := make(chan error, 1)
	address := hasty(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 1<<16)); err != nil {
				ended <- err
				return
			}
		}
	}))
	c := send(t, address, "GET /mcp HTTP/1.1\r\nHost: "+address+"\r\n\r\n")
	if err := <-ended; err == nil {
		t.Error("it went on")
	}
	c.Close()
}

// Headers without an end are refused.
func TestLongHeaders(t *testing.T) {
	h := &counted{}
	address := hasty(t, h)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() {
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\n", address)
		for i := range 100000 {
			if _, err := fmt.Fprintf(c, "X-%d: %s\r\n", i, strings.Repeat("y", 100)); err != nil {
				return
			}
		}
	}()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && !strings.Contains(line, "431") && !strings.Contains(line, "408") {
		t.Errorf("answer %q", line)
	}
	if netErr, ok := err.(net.Error); ok && netErr.Timeout() {
		t.Error("the connection is held")
	}
	if h.n.Load() != 0 {
		t.Error("it was handled")
	}
}
