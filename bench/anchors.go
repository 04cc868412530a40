package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// anchor is a link's text and the note that a person meant by it.
type anchor struct{ text, from, to string }

var (
	codeBlock  = regexp.MustCompile("(?ms)^ {0,3}(```|~~~).*?^ {0,3}(```|~~~)|`[^`\n]*`")
	inlineLink = regexp.MustCompile(`\[([^\[\]]+)\]\(([^()\s]+)\)`)
	refLink    = regexp.MustCompile(`\[([^\[\]]+)\]\[([^\[\]]*)\]`)
	definition = regexp.MustCompile(`(?m)^ {0,3}\[([^\[\]]+)\]:\s*(\S+)`)
	wikiLink   = regexp.MustCompile(`\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?\|([^\[\]]+)\]\]`)
	rfcAddress = regexp.MustCompile(`^https?://github\.com/rust-lang/rfcs/(?:pull/0*(\d+)/?$|blob/[^/]+/text/0*(\d+)-)|^(?:\./|text/)?0*(\d+)-[^/]*\.md`)
	numbers    = regexp.MustCompile(`\d+`)
)

// anchors collects the texts of links from one note of dir to another, each text
// and target once. RFCs name each other by file, or by the number that is their
// pull request's. Left out are texts in which the target's number or name stands,
// as the search would find the name, and those of one short word ("here").
func anchors(dir string) (list []anchor, err error) {
	files := map[string]string{}
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(p)
			rel, _ := filepath.Rel(dir, p)
			files[filepath.ToSlash(rel)] = codeBlock.ReplaceAllString(string(text), "")
		}
		return err
	})
	targets := map[string]string{} // by number, or name
	for p := range files {
		name := strings.ToLower(strings.TrimSuffix(filepath.Base(p), ".md"))
		targets[name] = p
		if n := strings.TrimLeft(numbers.FindString(name), "0"); n != "" && strings.HasPrefix(p, "text/") && strings.Count(p, "/") == 1 {
			targets[n] = p
		}
	}
	seen := map[anchor]bool{}
	for from, text := range files {
		for _, l := range linksOf(text) {
			a := anchor{text: strings.Join(strings.Fields(l[0]), " "), from: from, to: targets[l[1]]}
			if a.to != "" && a.to != from && !seen[a] && !a.names(l[1]) {
				seen[a] = true
				list = append(list, a)
			}
		}
	}
	slices.SortFunc(list, func(a, b anchor) int {
		return strings.Compare(a.from+"\n"+a.to+"\n"+a.text, b.from+"\n"+b.to+"\n"+b.text)
	})
	return list, err
}

// names reports whether the text names its target instead of saying what it is
// about.
func (a anchor) names(key string) bool {
	text := strings.ToLower(a.text)
	return slices.Contains(numbers.FindAllString(text, -1), key) || strings.Contains(text, key) || len(text) < 8 && !strings.Contains(text, " ") ||
		strings.Contains(text, "://") || strings.EqualFold(text, "this rfc") || strings.EqualFold(text, "the rfc")
}

// linksOf lists the links of a text: what a reader sees, and the target's number
// or name.
func linksOf(text string) (links [][2]string) {
	defined := map[string]string{}
	for _, m := range definition.FindAllStringSubmatch(text, -1) {
		defined[strings.ToLower(m[1])] = m[2]
	}
	add := func(shown, address string) {
		if m := rfcAddress.FindStringSubmatch(address); m != nil {
			links = append(links, [2]string{shown, m[1] + m[2] + m[3]})
		}
	}
	for _, m := range inlineLink.FindAllStringSubmatch(text, -1) {
		add(m[1], m[2])
	}
	for _, m := range refLink.FindAllStringSubmatch(text, -1) {
		label := m[2]
		if label == "" {
			label = m[1]
		}
		add(m[1], defined[strings.ToLower(label)])
	}
	for _, m := range wikiLink.FindAllStringSubmatch(text, -1) {
		links = append(links, [2]string{m[2], strings.ToLower(strings.TrimSpace(m[1]))})
	}
	return links
}

// pageRank ranks the notes that links lead to or from, leaving one link out.
func pageRank(edges []anchor, without anchor) map[string]float64 {
	out := map[string]map[string]bool{}
	notes := map[string]bool{}
	for _, e := range edges {
		notes[e.from], notes[e.to] = true, true
		if e.from == without.from && e.to == without.to {
			continue
		}
		if out[e.from] == nil {
			out[e.from] = map[string]bool{}
		}
		out[e.from][e.to] = true
	}
	const damping, rounds = 0.85, 30
	all := slices.Sorted(maps.Keys(notes))
	rank := map[string]float64{}
	for _, n := range all {
		rank[n] = 1 / float64(len(all))
	}
	for range rounds {
		next, loose := map[string]float64{}, 0.0
		for _, n := range all {
			for to := range out[n] {
				next[to] += damping * rank[n] / float64(len(out[n]))
			}
			if len(out[n]) == 0 {
				loose += rank[n]
			}
		}
		for _, n := range all {
			next[n] += (1 - damping + damping*loose) / float64(len(all))
		}
		rank = next
	}
	return rank
}

// gain is the nDCG@10 of one right answer at a place of the list, from 0.
func gain(place int) float64 {
	if place < 0 || place >= 10 {
		return 0
	}
	return 1 / math.Log2(float64(place)+2)
}

func (a anchor) String() string { return fmt.Sprintf("%q in %s for %s", a.text, a.from, a.to) }
