package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// part is one measurement.
type part struct {
	name  string
	about string
	run   func(*lab) (*table, error)
}

var parts = []part{
	{"build", "Building the index", measureBuild},
	{"query", "Warm queries", measureQuery},
	{"pinned", "Pinned to an old commit, and with a long history indexed", measurePinned},
	{"worktree", "The work tree check", measureWorktree},
	{"growth", "Growth from 500 to 38,430 notes", measureGrowth},
	{"cold", "Cold starts", measureCold},
	{"quality", "Search quality", measureQuality},
	{"load", "Many clients over HTTP", measureLoad},
	{"history", "Dates from history", measureHistory},
	{"health", "What is wrong with the notes", measureHealth},
	{"export", "Export", measureExport},
	{"site", "A static site with search", measureSite},
	{"anchors", "Links as a signal for ranking", measureAnchors},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	kb := flags.String("kb", "bin/kb", "the program to measure")
	data := flags.String("data", dataDir(), "directory with vaults/ and ir/")
	only := flags.String("only", "", "parts, separated by commas: "+strings.Join(partNames(), ", "))
	quick := flags.Bool("quick", false, "few repetitions: to see that it works")
	loadFor := flags.Duration("load-for", 30*time.Second, "how long clients call in the part load")
	peer := flags.String("peer", "", "dist/server.js of @bitbonsai/mcpvault, for the part load")
	hugo := flags.String("hugo", "hugo", "Hugo, for the part site")
	pagefind := flags.String("pagefind", filepath.Join("bench", "node_modules", ".bin", "pagefind"), "Pagefind, for the part site")
	corpora := flags.String("corpora", "", "of the part site: rust-rfcs, tldr-6000, tldr; separated by commas")
	out := flags.String("json", "", "also write the figures to this `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, *kb, *data, *quick)
	if err != nil {
		return err
	}
	defer l.close()
	l.loadFor, l.peer = *loadFor, *peer
	l.hugo, l.pagefind = program(*hugo), program(*pagefind)
	if *corpora != "" {
		l.corpora = strings.Split(*corpora, ",")
	}
	r := &report{Facts: l.facts(), Quick: *quick}
	r.Facts.print(os.Stdout)
	for _, p := range chosen {
		t, err := l.measure(p)
		if err != nil {
			return err
		}
		t.print(os.Stdout)
		r.Parts = append(r.Parts, t)
	}
	if *out == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(*out, append(raw, '\n'), 0o644)
}

// program is a program by a path that stands in any directory; one in $PATH stays as
// it is.
func program(name string) string {
	if abs, err := filepath.Abs(name); err == nil && filepath.Base(name) != name {
		return abs
	}
	return name
}

// measure runs a part. What it lacks, and what fails in it, is part of its
// table: the other parts go on. Only an interruption ends the run.
func (l *lab) measure(p part) (*table, error) {
	l.say("%s …", p.about)
	t, err := p.run(l)
	if l.ctx.Err() != nil {
		return nil, l.ctx.Err()
	}
	if t == nil {
		t = &table{}
	}
	t.Name, t.About = p.name, p.about
	if err != nil {
		t.note("**Not measured to the end:** %v", err)
	}
	return t, nil
}

// dataDir is KB_SHARED/data, by default that of the directory beside the
// repository.
func dataDir() string {
	shared := os.Getenv("KB_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	return filepath.Join(shared, "data")
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var chosen []part
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("no part %q; there are %s", name, strings.Join(partNames(), ", "))
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}
