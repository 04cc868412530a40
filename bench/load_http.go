package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// caller calls tools of a server; several may share one connection.
type caller interface {
	call(name string, args map[string]any) (json.RawMessage, error)
}

// httpServer is `kb serve`, a process of its own.
type httpServer struct {
	cmd    *exec.Cmd
	stderr strings.Builder
	url    string // of /mcp
	client *http.Client
}

// serveHTTP starts kb serve on the vault, without limits for a token.
func (v vault) serveHTTP(clients int) (*httpServer, error) {
	s := &httpServer{cmd: exec.CommandContext(v.l.ctx, v.l.kb, v.args("serve", "--http", "127.0.0.1:0", "--rate", "0", "--concurrency", "0")...)}
	s.cmd.Env = environment()
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("kb serve: %w: %s", errors.Join(err, s.cmd.Wait()), tail(s.stderr.String()))
	}
	s.url = strings.TrimSpace(line)
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	return s, nil
}

// close tells the server to end, and waits until it has.
func (s *httpServer) close() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("kb serve: %w: %s", err, tail(s.stderr.String()))
	}
	return nil
}

// memory is what the server holds resident, by its own metrics.
func (s *httpServer) memory() (float64, error) {
	resp, err := s.client.Get(strings.TrimSuffix(s.url, "/mcp") + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(raw), "\nprocess_resident_memory_bytes ")
	if !ok {
		return 0, errors.New("the metrics do not tell the memory")
	}
	n, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(n, 64)
}

// httpSession is one client's session, for one call at a time.
type httpSession struct {
	s  *httpServer
	id string
	n  int
}

// session shakes hands.
func (s *httpServer) session() (*httpSession, error) {
	h := &httpSession{s: s}
	if _, err := h.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"}}); err != nil {
		return nil, err
	}
	resp, err := h.post(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	if err != nil {
		return nil, err
	}
	return h, resp.Body.Close()
}

func (h *httpSession) post(m map[string]any) (*http.Response, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, h.s.url, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if h.id != "" {
		r.Header.Set("Mcp-Session-Id", h.id)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	resp, err := h.s.client.Do(r)
	if err == nil && resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return nil, fmt.Errorf("%s: %s", resp.Status, tail(string(text)))
	}
	return resp, err
}

func (h *httpSession) request(method string, params any) (json.RawMessage, error) {
	h.n++
	resp, err := h.post(map[string]any{"jsonrpc": "2.0", "id": h.n, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		h.id = id
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(body) {
		line = bytes.TrimPrefix(line, []byte("data: ")) // an event's, if they come as events
		var m message
		if json.Unmarshal(line, &m) == nil && m.ID == h.n {
			return m.result()
		}
	}
	return nil, fmt.Errorf("%s: no answer: %s", method, tail(string(body)))
}

func (h *httpSession) call(name string, args map[string]any) (json.RawMessage, error) {
	raw, err := h.request("tools/call", map[string]any{"name": name, "arguments": args})
	return toolResult(raw, err)
}

// message is an answer of JSON-RPC.
type message struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (m message) result() (json.RawMessage, error) {
	if m.Error != nil {
		return nil, errors.New(m.Error.Message)
	}
	return m.Result, nil
}

// toolResult is the structured part of a tool's answer, which must be no error.
func toolResult(raw json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	var answer struct {
		IsError    bool            `json:"isError"`
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, err
	}
	if answer.IsError {
		return nil, fmt.Errorf("tool error: %.300s", answer.Content)
	}
	return answer.Structured, nil
}
