package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// client speaks to a `kb mcp` process as an agent's host does: JSON-RPC, a
// message a line.
type client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr strings.Builder
	id     int
	hello  time.Duration // from starting the process to the answer of initialize
	cpu    time.Duration // of the whole process, once it has ended
}

// serve starts a server on the vault and shakes hands.
func (v vault) serve() (*client, error) {
	c := &client{cmd: exec.CommandContext(v.l.ctx, v.l.kb, v.args("mcp")...)}
	c.cmd.Env = environment()
	c.cmd.Stderr = &c.stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 1<<20)
	start := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = c.call("initialize", map[string]any{
		"protocolVersion": "2025-06-18",
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "bench", "version": "1"},
	})
	c.hello = time.Since(start)
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// close ends the session as a host does, by closing the server's input.
func (c *client) close() error {
	c.in.Close()
	io.Copy(io.Discard, c.out)
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("kb mcp: %w: %s", err, tail(c.stderr.String()))
	}
	c.cpu = costOf(c.cmd.ProcessState, 0).cpu
	return nil
}

func (c *client) send(m map[string]any) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(raw, '\n'))
	return err
}

// call sends a request and returns the result in its answer.
func (c *client) call(method string, params any) (json.RawMessage, error) {
	c.id++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", method, err, tail(c.stderr.String()))
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return nil, fmt.Errorf("%s: %w: %.200s", method, err, line)
		}
		switch {
		case answer.ID != c.id: // a notification
		case answer.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
		default:
			return answer.Result, nil
		}
	}
}

// tool calls a tool, parses its structured result into r, and returns the time
// until the answer had arrived whole.
func (c *client) tool(name string, args map[string]any, r any) (time.Duration, error) {
	start := time.Now()
	raw, err := c.call("tools/call", map[string]any{"name": name, "arguments": args})
	took := time.Since(start)
	if err != nil {
		return took, err
	}
	var answer struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return took, err
	}
	if answer.IsError {
		return took, fmt.Errorf("%s: %v", name, answer.Content)
	}
	return took, json.Unmarshal(answer.Structured, r)
}
