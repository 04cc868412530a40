package main

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// siteFile is a file of a built site.
type siteFile struct {
	sum  [sha256.Size]byte
	size int64
}

// siteFiles are the files below dir.
func siteFiles(dir string) (map[string]siteFile, error) {
	files := map[string]siteFile{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = siteFile{sha256.Sum256(raw), int64(len(raw))}
		return err
	})
	return files, err
}

// changed lists the files that now has and before had not, or not so.
func changed(before, now map[string]siteFile) (names []string) {
	for name, f := range now {
		if before[name].sum != f.sum {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func sizeOf(files map[string]siteFile, names []string) (total float64) {
	for _, name := range names {
		total += float64(files[name].size)
	}
	return total
}

// differ counts the files that two sites do not have alike.
func differ(a, b map[string]siteFile) int {
	n := len(changed(a, b))
	for name := range a {
		if _, ok := b[name]; !ok {
			n++
		}
	}
	return n
}

// boilerplate is how much of a page another page of the site has, too: the part of
// its bytes that stands in runs of at least sharedRun bytes of the other. It is the
// median over pairs of pages far from each other.
func boilerplate(dir string, files map[string]siteFile) (float64, error) {
	var pages []string
	for name, f := range files {
		if strings.HasSuffix(name, ".html") && strings.Contains(name, "/") && f.size > 2000 {
			pages = append(pages, name)
		}
	}
	slices.Sort(pages)
	pages = spread(pages, 40)
	var parts sample
	for i, name := range pages {
		a, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return 0, err
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(pages[(i+len(pages)/2)%len(pages)])))
		if err != nil {
			return 0, err
		}
		parts = append(parts, shared(a, b))
	}
	return parts.median(), nil
}

// sharedRun is how long what two pages share must be to count: words and tags alone are no
// boilerplate.
const sharedRun = 40

func shared(a, b []byte) float64 {
	known := map[string]bool{}
	for i := range len(b) - sharedRun + 1 {
		known[string(b[i:i+sharedRun])] = true
	}
	common, end := 0, 0 // end: of what is counted
	for i := range len(a) - sharedRun + 1 {
		if known[string(a[i:i+sharedRun])] {
			common += i + sharedRun - max(i, end)
			end = i + sharedRun
		}
	}
	return float64(common) / float64(max(len(a), 1))
}

// changeWord puts another word in the place of the second of a line of text at the
// beginning of a note: no word after it moves. It reports whether there is one.
func changeWord(path, word string) (bool, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	lines := bytes.SplitAfter(src, []byte("\n"))
	for i, line := range lines[:min(len(lines), 40)] {
		words := bytes.SplitAfter(line, []byte(" "))
		if len(words) < 4 || bytes.ContainsAny(line, "#:[<`") {
			continue
		}
		words[1] = []byte(word + " ")
		lines[i] = bytes.Join(words, nil)
		return true, os.WriteFile(path, bytes.Join(lines, nil), 0o644)
	}
	return false, nil
}
