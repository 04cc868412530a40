//go:build linux || darwin

package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"kb/internal/ptytest"
)

func init() { scriptCommands["terminal"] = terminalCommand }

// terminal STEPS WIDTHxHEIGHT COMMAND… runs a command on a terminal of that size
// and follows the lines of a file: "type KEYS", with Go's escapes, "see TEXT",
// which waits for it, and "resize WIDTHxHEIGHT". The command must then end well.
func terminalCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: terminal STEPS WIDTHxHEIGHT COMMAND…")
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(scriptEnv(ts), "TERM="+cmp.Or(ts.Getenv("TERM"), "vt100"), "NO_COLOR="+ts.Getenv("NO_COLOR"))
	width, height := terminalSize(ts, args[1])
	t, err := ptytest.Start(cmd, width, height)
	ts.Check(err)
	for _, step := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		verb, text, _ := strings.Cut(step, " ")
		switch verb {
		case "type":
			keys, err := strconv.Unquote(`"` + text + `"`)
			ts.Check(err)
			ts.Check(t.Type(keys))
		case "see":
			ts.Check(t.Wait(text))
		case "resize":
			ts.Check(t.Resize(terminalSize(ts, text)))
		default:
			ts.Fatalf("%s: no step: %q", args[0], step)
		}
	}
	ts.Check(t.Close())
	_, err = fmt.Fprint(ts.Stdout(), t.Screen())
	ts.Check(err)
}

func terminalSize(ts *testscript.TestScript, text string) (width, height int) {
	w, h, _ := strings.Cut(text, "x")
	width, err := strconv.Atoi(w)
	ts.Check(err)
	height, err = strconv.Atoi(h)
	ts.Check(err)
	return width, height
}
