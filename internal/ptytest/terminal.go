//go:build linux || darwin

package ptytest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// patience is how long Wait and Close wait.
const patience = time.Minute

// Terminal is a program on a pseudo-terminal.
type Terminal struct {
	cmd    *exec.Cmd
	pty    *os.File
	ended  chan struct{} // closed when the program has printed all
	mu     sync.Mutex
	screen *Screen
	change chan struct{} // closed when the screen changes
}

// Start runs a command on a terminal of a size. The command's environment names
// the terminal: TERM=vt100.
func Start(cmd *exec.Cmd, width, height int) (*Terminal, error) {
	f, err := pty.StartWithSize(cmd, size(width, height))
	if err != nil {
		return nil, err
	}
	t := &Terminal{cmd: cmd, pty: f, ended: make(chan struct{}), screen: NewScreen(width, height), change: make(chan struct{})}
	go t.read()
	return t, nil
}

func size(width, height int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}
}

// read puts what the program prints on the screen. On Linux the end of it is an
// error.
func (t *Terminal) read() {
	defer close(t.ended)
	b := make([]byte, 32<<10)
	for {
		n, err := t.pty.Read(b)
		t.mu.Lock()
		_, _ = t.screen.Write(b[:n]) // cannot fail
		close(t.change)
		t.change = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Screen is what stands on the screen.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String()
}

// Coloured reports whether anything was printed in colour.
func (t *Terminal) Coloured() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.Coloured
}

// Wait waits until a text stands on the screen.
func (t *Terminal) Wait(text string) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		t.mu.Lock()
		now, change := t.screen.String(), t.change
		t.mu.Unlock()
		if strings.Contains(now, text) {
			return nil
		}
		select {
		case <-change:
		case <-t.ended:
			if strings.Contains(t.Screen(), text) {
				return nil
			}
			return fmt.Errorf("the program ended, and %q is not on its screen:\n%s", text, t.Screen())
		case <-late.C:
			return fmt.Errorf("%q does not come:\n%s", text, t.Screen())
		}
	}
}

// Type presses keys: text as a terminal sends it.
func (t *Terminal) Type(keys string) error {
	_, err := t.pty.WriteString(keys)
	return err
}

// Resize changes the size of the terminal, which tells the program.
func (t *Terminal) Resize(width, height int) error {
	t.mu.Lock()
	t.screen.Resize(width, height)
	t.mu.Unlock()
	return pty.Setsize(t.pty, size(width, height))
}

// Close waits for the program to end, and returns its error. One that does not
// end is killed.
func (t *Terminal) Close() error {
	defer t.pty.Close()
	select {
	case <-t.ended:
		return t.cmd.Wait()
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("the program does not end:\n%s", t.Screen()), t.cmd.Process.Kill(), t.cmd.Wait())
	}
}
