package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// peer is one process of another server, whose standard input and output many
// clients share.
type peer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	mu      sync.Mutex // in, next, waiting, err
	next    int
	waiting map[int]chan message
	err     error // after which no answer comes
}

// startPeer starts @bitbonsai/mcpvault on a directory.
func (l *lab) startPeer(script, dir string) (*peer, error) {
	p := &peer{cmd: exec.CommandContext(l.ctx, "node", script, dir), waiting: map[int]chan message{}}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.receive(out)
	if _, err := p.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"}}); err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = io.WriteString(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return p, err
}

// receive hands each answer to who waits for it.
func (p *peer) receive(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		p.mu.Lock()
		if err != nil {
			p.err = fmt.Errorf("the peer ended: %w", err)
			for _, w := range p.waiting {
				close(w)
			}
			p.waiting = nil
			p.mu.Unlock()
			return
		}
		var m message
		if err := json.Unmarshal(line, &m); err == nil && p.waiting[m.ID] != nil {
			p.waiting[m.ID] <- m
			delete(p.waiting, m.ID)
		}
		p.mu.Unlock()
	}
}

func (p *peer) request(method string, params any) (json.RawMessage, error) {
	answer, err := p.send(method, params)
	if err != nil {
		return nil, err
	}
	m, ok := <-answer
	if !ok {
		return nil, p.err
	}
	return m.result()
}

func (p *peer) send(method string, params any) (chan message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	p.next++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.next, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	answer := make(chan message, 1)
	p.waiting[p.next] = answer
	_, err = p.in.Write(append(raw, '\n'))
	return answer, err
}

func (p *peer) call(name string, args map[string]any) (json.RawMessage, error) {
	raw, err := p.request("tools/call", map[string]any{"name": name, "arguments": args})
	return toolResult(raw, err)
}

func (p *peer) close() error {
	p.in.Close()
	return p.cmd.Wait()
}

// memory is what the process holds resident, 0 where the system does not tell.
func (p *peer) memory() float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(fields[0], 64)
	return kilobytes * 1024
}
