package vector

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// loadModel names the environment variable with which the test's program loads a
// model and says what memory that takes.
const loadModel = "KB_TEST_LOAD_MODEL"

// TestMemory prints what a process takes that loads a model of the sizes of
// bge-small-en-v1.5 and embeds with it. 400 MB is the most it may take afterwards.
func TestMemory(t *testing.T) {
	if dir := os.Getenv(loadModel); dir != "" {
		printMemory(t, dir)
		return
	}
	if os.Getenv("KB_LONG") == "" {
		t.Skip("long: KB_LONG=1 runs it")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not tell: /proc/self/status")
	}
	dir := modelDir(t, bgeSized().files("cls")...)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestMemory$", "-test.v")
	cmd.Env = append(os.Environ(), loadModel+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if m := regexp.MustCompile(`: (.*): now (\d+) MB, at most (\d+) MB`).FindStringSubmatch(line); m != nil {
			t.Logf("%s: now %s MB, at most %s MB", m[1], m[2], m[3])
			if now, _ := strconv.Atoi(m[2]); now > 400 {
				t.Errorf("%s: %d MB", m[1], now)
			}
		}
	}
}

func printMemory(t *testing.T, dir string) {
	say := func(when string) {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		kilobytes := func(name string) int {
			_, rest, _ := bytes.Cut(status, []byte(name+":"))
			n, err := strconv.Atoi(strings.Fields(string(rest))[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		t.Logf("%s: now %d MB, at most %d MB", when, kilobytes("VmRSS")>>10, kilobytes("VmHWM")>>10)
	}
	say("at start")
	e, err := Open(dir, Options{Engine: "native"})
	if err != nil {
		t.Fatal(err)
	}
	say("loaded")
	long := strings.Repeat("t77 t78 ", 250)
	if _, err := e.Embed(context.Background(), []string{long, long, long, long}, Passage); err != nil {
		t.Fatal(err)
	}
	say("after four long texts")
	e.Close()
	for range 2 { // a pool of buffers lives until the second
		debug.FreeOSMemory()
	}
	say("unloaded")
}
