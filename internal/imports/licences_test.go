package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the list of dependencies")

const licencesPage = "../../docs/reference/licences.md"

const licencesHead = `---
title: Dependencies and their licences
aliases: [Licences]
tags: [reference]
---

# Dependencies and their licences

The modules that are part of the program, as ` + "`go list -deps ./cmd/kb`" + ` finds them on Linux; a test compares this page with them and with the licences in their
directories. Why each was chosen is in [[decisions/dependencies]]. Beside them, KaTeX (MIT, in ` + "`site/katex`" + `) sets formulas of sites. kb itself is under Apache-2.0.

| module | version | licence |
|---|---|---|
`

// module is a dependency whose code is in the program.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// linked lists the modules of the packages that the program is made of.
func linked(t *testing.T) (list []module) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "kb/cmd/kb")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		m := p.Module
		if m == nil || m.Main || seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// The manual lists every dependency with the licence that stands in its directory.
func TestLicences(t *testing.T) {
	var b strings.Builder
	b.WriteString(licencesHead)
	for _, m := range linked(t) {
		if m.Replace != nil {
			t.Errorf("%s is replaced by %s", m.Path, m.Replace.Path)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Path, m.Version, m.licence(t))
	}
	if *update {
		if err := os.WriteFile(licencesPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(licencesPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(page), b.String()); diff != "" {
		t.Errorf("go test ./internal/imports -update rewrites %s (-told +found):\n%s", licencesPage, diff)
	}
}

// licences are those that are known, and may be, in a program under
// Apache-2.0, by what their texts say.
var licences = []struct {
	name string
	says []string
}{
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "endorse or promote"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"MIT", []string{"permission is hereby granted, free of charge"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software"}},
	{"CC0-1.0", []string{"cc0 1.0 universal"}},
}

// licence is what the module's own file says.
func (m module) licence(t *testing.T) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(m.Dir, "*"))
	for _, file := range files {
		name := strings.ToLower(filepath.Base(file))
		if !strings.HasPrefix(name, "license") && !strings.HasPrefix(name, "licence") && !strings.HasPrefix(name, "copying") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			continue // a directory of several
		}
		text := strings.Join(strings.Fields(strings.ToLower(string(src))), " ")
		for _, l := range licences {
			if !slices.ContainsFunc(l.says, func(s string) bool { return !strings.Contains(text, s) }) {
				return l.name
			}
		}
	}
	t.Errorf("%s %s has no licence that is known: look at %s", m.Path, m.Version, m.Dir)
	return "?"
}

// floors are the first versions without the flaws that are published of a module;
// the published workflow asks the database of all of them.
var floors = map[string]string{
	"github.com/go-git/go-git/v5":   "v5.19.2", // following links and paths of a crafted repository
	"github.com/go-git/go-billy/v5": "v5.9.0",
}

func TestFloors(t *testing.T) {
	for _, m := range linked(t) {
		if floor := floors[m.Path]; floor != "" && !atLeast(t, m.Version, floor) {
			t.Errorf("%s %s has published flaws; want %s", m.Path, m.Version, floor)
		}
		delete(floors, m.Path)
	}
	for path := range floors {
		t.Errorf("%s is no dependency any more", path)
	}
}

// atLeast compares versions that are no prereleases.
func atLeast(t *testing.T, version, floor string) bool {
	t.Helper()
	var v, f [3]int
	for text, to := range map[string]*[3]int{version: &v, floor: &f} {
		if _, err := fmt.Sscanf(text, "v%d.%d.%d", &to[0], &to[1], &to[2]); err != nil {
			t.Fatalf("version %s: %v", text, err)
		}
	}
	return slices.Compare(v[:], f[:]) >= 0
}
