package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// cost is what a finished process took.
type cost struct {
	wall time.Duration
	cpu  time.Duration // user and system
	rss  int64         // most memory in bytes, 0 where the system does not tell
}

// command runs a program to its end in dir and returns what it printed and
// took.
func (l *lab) command(dir string, name string, args ...string) (string, cost, error) {
	cmd := exec.CommandContext(l.ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = environment()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	wall := time.Since(start)
	if err != nil {
		return string(out), cost{}, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, tail(cmp.Or(stderr.String(), string(out))))
	}
	return string(out), costOf(cmd.ProcessState, wall), nil
}

func costOf(p *os.ProcessState, wall time.Duration) cost {
	return cost{wall: wall, cpu: p.UserTime() + p.SystemTime(), rss: peakMemory(p)}
}

// environment keeps the user's git configuration out of the figures.
func environment() []string {
	return append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
}

// noMatch reports whether err is the exit status of a grep that found nothing.
func noMatch(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 1
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-300):]
}

// diskUse is the size of the files below dir whose names end in one of the
// suffixes, of all files when there is none.
func diskUse(dir string, suffixes ...string) float64 {
	var total int64
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !hasSuffix(path, suffixes) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return float64(total)
}

func hasSuffix(path string, suffixes []string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(path, s) {
			return true
		}
	}
	return len(suffixes) == 0
}
