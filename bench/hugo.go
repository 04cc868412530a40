package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// hugo is a site of the same notes by Hugo with a small layout and Pagefind's
// search: what people make when they want little.
type hugo struct {
	l       *lab
	dir     string
	strange int // notes that were changed for Hugo to read them
}

// hugoLayouts are the whole of its design.
var hugoLayouts = map[string]string{
	"hugo.toml": `baseURL = "https://example.org/"
title = "Notes"
disableKinds = ["taxonomy", "term", "RSS"]
[markup.highlight]
noClasses = false
`,
	"layouts/_default/baseof.html": `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{ .Title }}</title>
<link rel="stylesheet" href="/pagefind/pagefind-ui.css"><script src="/pagefind/pagefind-ui.js"></script><script src="/search.js" defer></script></head>
<body><header><a href="/">{{ site.Title }}</a><div id="search"></div></header><main>{{ block "main" . }}{{ end }}</main></body></html>
`,
	"layouts/_default/single.html": `{{ define "main" }}<article data-pagefind-body><h1>{{ .Title }}</h1>{{ .Content }}</article>{{ end }}
`,
	"layouts/_default/list.html": `{{ define "main" }}<h1>{{ .Title }}</h1>{{ .Content }}<ul>{{ range .Pages }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}</ul>{{ end }}
`,
	"static/search.js": `addEventListener("DOMContentLoaded", () => new PagefindUI({ element: "#search" }));
`,
}

// hugoOf makes a project of the notes below dir.
func (l *lab) hugoOf(dir string) (*hugo, error) {
	if err := need(l.hugo, l.pagefind); err != nil {
		return nil, err
	}
	h := &hugo{l: l, dir: l.scratch("hugo")}
	for name, text := range hugoLayouts {
		if err := write(filepath.Join(h.dir, filepath.FromSlash(name)), text); err != nil {
			return nil, err
		}
	}
	return h, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != dir {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(path, ".md") {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return h.copy(path, rel)
	})
}

func write(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

var topHeading = regexp.MustCompile(`(?m)^# +(.+)$`)

// copy puts a note into the project: with the title that kb shows, which Hugo takes
// from properties alone, and without what Hugo would run.
func (h *hugo) copy(path, rel string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := strings.NewReplacer("{{<", "{{ <", "{{%", "{{ %").Replace(string(src))
	if text != string(src) {
		h.strange++
	}
	stem := strings.TrimSuffix(filepath.Base(rel), ".md")
	if !strings.HasPrefix(text, "---") && !strings.HasPrefix(text, "+++") {
		title := strings.NewReplacer("-", " ", "_", " ").Replace(stem)
		if tops := topHeading.FindAllStringSubmatchIndex(text, 2); len(tops) == 1 {
			title = text[tops[0][2]:tops[0][3]]
			text = text[:tops[0][0]] + text[tops[0][1]:]
		}
		text = fmt.Sprintf("---\ntitle: %q\n---\n%s", title, text)
	}
	if stem == "index" {
		rel = filepath.Join(filepath.Dir(rel), "_index.md") // else the notes beside it have no pages
	}
	return write(filepath.Join(h.dir, "content", rel), text)
}

// build makes the whole site, and what that took: neither program has anything of
// a build before.
func (h *hugo) build() (site string, c cost, err error) {
	site = h.l.scratch("hugo-site")
	_, made, err := h.l.command(h.dir, h.l.hugo, "--destination", site, "--cacheDir", h.l.scratch("hugo-cache"), "--noBuildLock", "--quiet")
	if err != nil {
		return "", c, err
	}
	_, indexed, err := h.l.command(h.dir, h.l.pagefind, "--site", site, "--silent")
	return site, cost{made.wall + indexed.wall, made.cpu + indexed.cpu, max(made.rss, indexed.rss)}, err
}
