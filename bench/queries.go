package main

import (
	"cmp"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var headingLine = regexp.MustCompile(`(?m)^#{1,6}[ \t]+(.+)$`)

// headingQueries draws n queries from the headings of the notes below dir: each
// distinct heading of two to twelve words once, as plain words in lower case,
// in an order that only their text decides.
func headingQueries(dir string, n int) ([]string, error) {
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".md") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, h := range headingLine.FindAllStringSubmatch(string(src), -1) {
			if q := words(h[1]); len(q) >= 2 && len(q) <= 12 {
				seen[strings.Join(q, " ")] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	queries := make([]string, 0, len(seen))
	for q := range seen {
		queries = append(queries, q)
	}
	slices.SortFunc(queries, func(a, b string) int {
		ha, hb := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return cmp.Compare(string(ha[:]), string(hb[:]))
	})
	return queries[:min(n, len(queries))], nil
}

// words are the runs of letters and digits of a text, in lower case, without
// single characters.
func words(s string) []string {
	all := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(all, func(w string) bool { return len(w) < 2 })
}
