package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/term"
)

// show prints text on the terminal: through the user's pager when it is longer
// than the screen.
func (c *cli) show(text []byte) error {
	_, height, err := term.GetSize(int(c.out.Fd()))
	pager, set := os.LookupEnv("PAGER")
	if !set {
		pager = "less -R"
	}
	if err != nil || bytes.Count(text, []byte("\n")) < height || pager == "" || pager == "cat" {
		_, err := c.out.Write(text)
		return err
	}
	cmd := exec.Command("sh", "-c", pager)
	if runtime.GOOS == "windows" {
		cmd = exec.Command("cmd", "/C", pager)
	}
	cmd.Stdout, cmd.Stderr = c.out, c.err
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(os.Environ(), "LESS=FRX") // colours, and no alternate screen for what turns out short
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_, err := c.out.Write(text) // no pager is no reason to show nothing
		return err
	}
	_, err = io.Copy(in, bytes.NewReader(text))
	err = errors.Join(ignoreClosed(err), in.Close())
	var exit *exec.ExitError
	if werr := cmd.Wait(); errors.As(werr, &exit) && exit.ExitCode() == 127 {
		_, err = c.out.Write(text) // the shell did not find it
	}
	return err
}

// ignoreClosed leaves out the error of a pager that was quit before the end.
func ignoreClosed(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
