package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// facts are what the figures depend on besides kb.
type facts struct {
	Date    string `json:"date"`
	KB      string `json:"kb"`
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	System  string `json:"system"`
	Go      string `json:"go"`
	Git     string `json:"git"`
	SQLite  string `json:"sqlite"`
	Ripgrep string `json:"ripgrep"`
}

func (l *lab) facts() facts {
	return facts{
		Date:    time.Now().UTC().Format(time.DateOnly),
		KB:      firstLine(l.kb, "version", "--text"),
		CPU:     cpuName(),
		Cores:   runtime.NumCPU(),
		System:  runtime.GOOS + "/" + runtime.GOARCH,
		Go:      runtime.Version(),
		Git:     firstLine("git", "version"),
		SQLite:  firstLine("python3", "-c", "import sqlite3; print(sqlite3.sqlite_version)"),
		Ripgrep: firstLine("rg", "--version"),
	}
}

func (f facts) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, on %d × %s (%s); %s, %s, SQLite %s, %s.\n",
		f.Date, f.KB, f.Cores, f.CPU, f.System, f.Go, f.Git, f.SQLite, f.Ripgrep)
}

// firstLine is the first line that a program prints, "none" when there is none.
func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return "none"
	}
	return line
}

// cpuName is the processor's name where the system tells it in a file.
func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
