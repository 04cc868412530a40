package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// siteCorpus is the notes of one site, with the goals that depend on how many they
// are, in kilobytes.
type siteCorpus struct {
	name        string
	notes       func(*lab) (string, error)
	rounds      int
	first, next float64
	edits       string // a directory of notes; one of them is edited
	ranked      bool   // the known items are of it
}

var siteCorpora = []siteCorpus{
	{"rust-rfcs", (*lab).rfcs, 2, 60, 25, "text/", true},
	{"tldr-6000", func(l *lab) (string, error) { return l.part(6000) }, 2, 80, 40, "pages/", false},
	{"tldr", (*lab).bareTldr, 1, 100, 50, "pages/", false},
}

// part is a repository of some of tldr's notes.
func (l *lab) part(size int) (string, error) {
	full, err := l.tldr()
	if err != nil {
		return "", err
	}
	return l.subset(full, size)
}

// bareTldr is tldr's repository: its history is cut, which git does not tell a clone of
// a work tree.
func (l *lab) bareTldr() (string, error) {
	_, err := l.tldr()
	return filepath.Join(l.dir, "tldr.git"), err
}

// measureSite makes the same sites with kb, and with Hugo and Pagefind.
func measureSite(l *lab) (*table, error) {
	t := &table{}
	perNote := map[string]float64{}
	for _, c := range siteCorpora {
		if len(l.corpora) > 0 && !slices.Contains(l.corpora, c.name) {
			continue
		}
		l.say("  %s", c.name)
		s, err := l.newSite(c)
		if err == nil {
			err = s.measure(t)
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", c.name, err)
		}
		perNote[c.name] = s.cold.median() / float64(s.notes)
	}
	if all, some := perNote["tldr"], perNote["tldr-6000"]; all > 0 && some > 0 {
		t.compare("tldr: build, CPU for each note", inSeconds, all, "kb, 6,000 of them", some, atMost(1.1))
	}
	t.note("A build is `kb site build` into an empty folder with an empty cache; Hugo with a minimal layout, then Pagefind. CPU is user and system time of finished processes.")
	t.note("One word: another in the place of one at the beginning of a note, committed. `manifest.json` and `kb/build.json`, which no reader loads, are not counted among what is written.")
	t.note("Wire: medians of pairs of queries, titles of notes, each in a browser that has loaded nothing; what the host compresses, compressed. To the first list: home page, opening the search, ten results.")
	return t, nil
}

// site is one corpus, and what is made of it.
type site struct {
	l      *lab
	c      siteCorpus
	dir    string // a clone of its own, since notes are edited
	notes  int
	edited string // the note that is

	hugo      *hugo // nil without the programs
	kbSite    string
	hugoSite  string
	v         vault
	cold      sample
	coldFiles map[string]siteFile
}

func (l *lab) newSite(c siteCorpus) (*site, error) {
	notes, err := c.notes(l)
	if err != nil {
		return nil, err
	}
	s := &site{l: l, c: c, dir: l.scratch("site-notes")}
	if err := l.git("", "clone", "--quiet", notes, s.dir); err != nil {
		return nil, err
	}
	listing, _, err := l.command(s.dir, "git", "ls-files", "*.md")
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimSpace(listing), "\n")
	s.notes = len(names)
	mine := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, c.edits) })
	for _, name := range mine[len(mine)/2:] {
		ok, err := changeWord(filepath.Join(s.dir, filepath.FromSlash(name)), "word")
		if err != nil {
			return nil, err
		}
		if ok {
			s.edited = name
			break
		}
	}
	return s, l.git(s.dir, "checkout", "--quiet", ".")
}

func (s *site) measure(t *table) error {
	var err error
	if s.hugo, err = s.l.hugoOf(s.dir); err != nil {
		t.note("%s: **Hugo and Pagefind left out:** %v", s.c.name, err)
	} else if s.hugo.strange > 0 {
		t.note("%s: %d notes have what Hugo takes for a shortcode; a space was put into it.", s.c.name, s.hugo.strange)
	}
	for _, step := range []func(*table) error{s.builds, s.again, s.edits, s.pages} {
		if err := step(t); err != nil {
			return err
		}
	}
	if err := s.reading(t); err != nil {
		t.note("%s: **the browser left out:** %v", s.c.name, err)
	}
	return nil
}

// builds measures building from nothing.
func (s *site) builds(t *table) error {
	var kb, other [3]sample // CPU, clock, memory
	add := func(to *[3]sample, c cost) {
		to[0].add(c.cpu)
		to[1].add(c.wall)
		to[2] = append(to[2], float64(c.rss))
	}
	err := inTurn(s.l.rounds(s.c.rounds), func() error {
		s.v, s.kbSite = s.l.vault(s.dir), s.l.scratch("site")
		_, c, err := s.build(s.v, s.kbSite)
		add(&kb, c)
		return err
	}, func() (err error) {
		if s.hugo == nil {
			return nil
		}
		var c cost
		s.hugoSite, c, err = s.hugo.build()
		add(&other, c)
		return err
	})
	if err != nil {
		return err
	}
	s.cold = kb[0]
	const against = "Hugo + Pagefind"
	t.compare(s.c.name+": build, CPU", inSeconds, kb[0].median(), against, other[0].median(), s.ifCompared(atMost(0.5)))
	t.compare(s.c.name+": build, clock", inSeconds, kb[1].median(), against, other[1].median(), nil)
	t.compare(s.c.name+": build, peak memory", inBytes, kb[2].median(), against, other[2].median(), nil)
	s.coldFiles, err = siteFiles(s.kbSite)
	return err
}

// ifCompared is g if there is something to compare with.
func (s *site) ifCompared(g *goal) *goal {
	if s.hugo == nil {
		return nil
	}
	return g
}

func (s *site) build(v vault, out string) (string, cost, error) {
	return v.run("site", "build", "--out", out, "--at", "HEAD")
}

// again builds once more from nothing.
func (s *site) again(t *table) error {
	out := s.l.scratch("site")
	if _, _, err := s.build(s.l.vault(s.dir), out); err != nil {
		return err
	}
	files, err := siteFiles(out)
	if err != nil {
		return err
	}
	t.value(s.c.name+": files that differ between two builds", plain, float64(differ(s.coldFiles, files)), atMost(0))
	return os.RemoveAll(out)
}

// edits measures rebuilding after a word, and what is then to be uploaded.
func (s *site) edits(t *table) error {
	var took sample
	var now map[string]siteFile // after the first, which takes a word of the note's own
	for i := range s.l.rounds(5) {
		if err := s.edit(fmt.Sprintf("changed%d", i)); err != nil {
			return err
		}
		_, c, err := s.build(s.v, s.kbSite)
		if err != nil {
			return err
		}
		took.add(c.cpu)
		if now != nil {
			continue
		}
		if now, err = siteFiles(s.kbSite); err != nil {
			return err
		}
	}
	t.compare(s.c.name+": rebuild after one word, CPU", inSeconds, took.median(), "first build", s.cold.median(), atMost(0.05))
	names := slices.DeleteFunc(changed(s.coldFiles, now), func(name string) bool { return name == "manifest.json" || name == "kb/build.json" })
	ours := func(name string) bool {
		return strings.HasPrefix(name, "kb/q/") || strings.HasPrefix(name, "kb/search.")
	}
	t.value(s.c.name+": files of search data written", plain, float64(len(only(names, ours))), atMost(6))
	data, all := sizeOf(now, only(names, ours))/1e3, sizeOf(now, names)/1e3
	if s.hugo == nil || s.c.rounds == 1 { // where building takes long, it is done once
		t.value(s.c.name+": search data written", inKB, data, atMost(25))
		t.value(s.c.name+": all files written", inKB, all, nil)
		return nil
	}
	files, names, err := s.hugoChange()
	if err != nil {
		return err
	}
	theirs := func(name string) bool { return strings.HasPrefix(name, "pagefind/") }
	t.beside(s.c.name+": search data written", inKB, data, "Pagefind", sizeOf(files, only(names, theirs))/1e3, atMost(25))
	t.compare(s.c.name+": all files written", inKB, all, "Hugo + Pagefind", sizeOf(files, names)/1e3, nil)
	return nil
}

// only is those of names for which keep is true.
func only(names []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !keep(name) })
}

// edit changes a word in a note and commits it.
func (s *site) edit(word string) error {
	if _, err := changeWord(filepath.Join(s.dir, filepath.FromSlash(s.edited)), word); err != nil {
		return err
	}
	return s.l.git(s.dir, "commit", "--quiet", "--all", "--message", word)
}

// hugoChange is what Hugo and Pagefind write of such an edit.
func (s *site) hugoChange() (files map[string]siteFile, names []string, err error) {
	if err := s.hugo.copy(filepath.Join(s.dir, filepath.FromSlash(s.edited)), filepath.FromSlash(s.edited)); err != nil {
		return nil, nil, err
	}
	after, _, err := s.hugo.build()
	if err != nil {
		return nil, nil, err
	}
	before, err := siteFiles(s.hugoSite)
	if err != nil {
		return nil, nil, err
	}
	files, err = siteFiles(after)
	return files, changed(before, files), errors.Join(err, os.RemoveAll(after))
}

// pages measures what pages have in common.
func (s *site) pages(t *table) error {
	ours, err := boilerplate(s.kbSite, s.coldFiles)
	if err != nil {
		return err
	}
	what := s.c.name + ": shared by two pages"
	if s.hugo == nil {
		t.value(what, inPercent, ours, atMost(0.3))
		return nil
	}
	files, err := siteFiles(s.hugoSite)
	if err != nil {
		return err
	}
	theirs, err := boilerplate(s.hugoSite, files)
	t.beside(what, inPercent, ours, "Hugo", theirs, atMost(0.3))
	return err
}
