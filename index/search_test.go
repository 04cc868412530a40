package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

// vaultOf parses a text of notes: each begins with a line "-- path --".
type vault struct {
	members []Member
	raw     map[note.ID]string
}

func vaultOf(txt string) *vault {
	v := &vault{raw: map[note.ID]string{}}
	path, body := "", ""
	flush := func() {
		if path != "" {
			v.add(path, body)
		}
	}
	for _, line := range strings.SplitAfter(txt, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(name, " --") {
			flush()
			path, body = strings.TrimSuffix(name, " --"), ""
			continue
		}
		body += line
	}
	flush()
	return v
}

func (v *vault) add(path, body string) {
	id := note.Hash([]byte(body))
	v.raw[id] = body
	v.members = append(v.members, Member{"docs", path, id})
}

func (v *vault) load(id note.ID) (*note.Note, []byte, error) {
	src, ok := v.raw[id]
	if !ok {
		return nil, nil, fmt.Errorf("no blob %s", id)
	}
	n, text := note.Parse([]byte(src))
	return n, text, nil
}

func (v *vault) sources() []Source {
	var out []Source
	for _, m := range v.members {
		n, text := note.Parse([]byte(v.raw[m.Blob]))
		out = append(out, Source{m.Blob, n, text})
	}
	return out
}

func openTest(t testing.TB, dir string) *Segments {
	t.Helper()
	s, err := OpenSegments(dir, "en")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// view is a view of notes that are nowhere but in its overlay.
func (v *vault) view(t testing.TB) *View {
	t.Helper()
	s := openTest(t, filepath.Join(t.TempDir(), "none"))
	view, err := s.View(v.members, v.sources(), v.load)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func search(t testing.TB, v *View, q Query) *Result {
	t.Helper()
	res, err := v.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("search %q: %v", q.Text, err)
	}
	return res
}

func paths(v *View, r *Result) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, v.members[h.Member].Path)
	}
	return strings.Join(out, " ")
}

const cooking = `
-- soup/tomato.md --
---
title: Tomato soup
tags: [food/soup, summer]
author: Ada Lovelace
---
# Tomato soup

Simmer ripe tomatoes slowly. Add basil, then add salt.

## Storage

Freeze the soup in small portions.
-- soup/old-tomato.md --
---
title: Tomato soup of last year
status: obsolete
tags: [food]
---
Simmer ripe tomatoes slowly. Add basil.
-- bread.md --
# Bread

Knead the dough; let it rise. Salt matters. See [[tomato|the red soup]].
The café sells Brot für alle.

C'est l'abc def, non?
-- code.md --
# Tools

Call fooBar or foo_baz from node.js; C++ and C# differ from std::vec. It's Wi-Fi.
The HTTPServer listens on １２３ ports. Version 2024-01-31 costs 1,000.
-- asia.md --
# 亚洲

北京大学在中国的首都。東京タワーは高い。한국어 검색. ภาษาไทยสวยงาม
<!-- secret remark -->
-- empty.md --
---
status: draft
reviewer: Grace Hopper
---
`

func TestSearchFinds(t *testing.T) {
	v := vaultOf(cooking).view(t)
	for _, c := range []struct{ query, want string }{
		{"tomatoes", "soup/tomato.md soup/old-tomato.md bread.md"}, // the link's target is text of bread.md
		{"simmering", "soup/tomato.md soup/old-tomato.md"},
		{`"simmer ripe"`, "soup/tomato.md soup/old-tomato.md"},
		{`"ripe simmer"`, ""},
		{`"add salt"`, "soup/tomato.md"},
		{`"basil then"`, "soup/tomato.md"},
		{"+salt -basil", "bread.md"},
		{"salt AND basil", "soup/tomato.md"},
		{"(dough OR basil) AND salt", "bread.md soup/tomato.md"},
		{"salt NOT dough", "soup/tomato.md"},
		{"title:bread", "bread.md"},
		{"title:simmer", ""},
		{"heading:storage", "soup/tomato.md"},
		{"body:storage", "soup/tomato.md"},
		{"tag:food", "soup/tomato.md soup/old-tomato.md"},
		{"tag:food/soup", "soup/tomato.md"},
		{"tag:Food/Soup simmer", "soup/tomato.md"},
		{"tag:soup", ""},
		{"meta:lovelace", "soup/tomato.md"},
		{"hopper", "empty.md"},
		{"name:soup", "soup/tomato.md soup/old-tomato.md"},
		{"path:old-tomato", "soup/old-tomato.md"},
		{`path:"soup old tomato"`, "soup/old-tomato.md"},
		{"port*", "soup/tomato.md code.md"},
		{"portio", "soup/tomato.md"}, // an unfinished last word
		{"cafe", "bread.md"},
		{"CAFÉ", "bread.md"},
		{"fuer OR für", "bread.md"},
		{"foobar", "code.md"},
		{"fooBar", "code.md"},
		{"foo_bar", "code.md"},
		{"foo-bar", "code.md"},
		{"bar", "code.md"},
		{"foobaz", "code.md"},
		{"baz", "code.md"},
		{"nodejs", "code.md"},
		{"node.js", "code.md"},
		{"C++", "code.md"},
		{"c#", "code.md"},
		{"std::vec", "code.md"},
		{"wifi", "code.md"},
		{"httpserver", "code.md"},
		{"server", "code.md"},
		{"123", "code.md"},
		{"１２３", "code.md"},
		{"2024-01-31", "code.md"},
		{"1000", "code.md"},
		{"北京", "asia.md"},
		{"大学", "asia.md"},
		{"京", "asia.md"},
		{"都", "asia.md"}, // the last of a run
		{"ﾀﾜｰ", "asia.md"},
		{"검색", "asia.md"},
		{"ไทย", "asia.md"},
		{`"北京大学在"`, "asia.md"},
		{`"大学北京"`, ""},
		{"secret", ""},
		{"zzzz", ""},
		{"", ""},
		{"!!! ???", ""},
		{"-soup", "soup/tomato.md bread.md soup/old-tomato.md"}, // nothing but exclusions: plain words
	} {
		if got := paths(v, search(t, v, Query{Text: c.query})); got != c.want {
			t.Errorf("search %q = %q, want %q", c.query, got, c.want)
		}
	}
}

func TestSearchSpelling(t *testing.T) {
	v := vaultOf(cooking).view(t)
	r := search(t, v, Query{Text: "tomatos bsail xyzzyx"})
	if want := []Correction{{"bsail", "basil"}}; !cmp.Equal(r.Corrected, want) {
		t.Errorf("corrected %v, want %v", r.Corrected, want)
	}
	if want := []string{"xyzzyx"}; !cmp.Equal(r.Missing, want) {
		t.Errorf("missing %v, want %v", r.Missing, want)
	}
	if r.LowConfidence {
		t.Errorf("two of three words found, and low confidence")
	}
	if r = search(t, v, Query{Text: "salt quuxly frobnicate"}); !r.LowConfidence {
		t.Errorf("one common word of three found, and no low confidence")
	}
}

// A last word that some note has may be the beginning of another in a name.
func TestCompletions(t *testing.T) {
	v := vaultOf("-- a.md --\nan int here, int there\n-- interfaces.md --\nfunctions of types\n-- b.md --\ninterfaces\n-- c.md --\nfunctions\n").view(t)
	for _, c := range []struct{ query, want string }{
		{"int", "a.md interfaces.md"},                // not b.md, which is not called so
		{"functions int", "interfaces.md a.md c.md"}, // its name decides
		{"int functions", "a.md c.md interfaces.md"}, // the last word alone
		{"an", "a.md"},
		{"+int functions", "a.md"},
		{"function int", "interfaces.md a.md c.md"},
		{"int zero one two three four", "a.md"},
		{"zero one two three four int", "a.md"},
	} {
		if got := paths(v, search(t, v, Query{Text: c.query})); got != c.want {
			t.Errorf("%q = %q, want %q", c.query, got, c.want)
		}
	}
	if r := search(t, v, Query{Text: "int"}); len(r.Missing)+len(r.Corrected) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestSpellingStaysInItsLetters(t *testing.T) {
	v := vaultOf("-- a.md --\ncafeteria лошадка\n-- b.md --\nжfeteria kafeteria\n-- c.md --\nkafeteria\n-- zebraish.md --\nx\n").view(t)
	for _, c := range []struct{ query, want string }{
		{"tafeteria now", "c.md b.md"}, // the more frequent of two
		{"ceafteria now", "a.md"},      // a swap
		{"feteria now", ""},            // жfeteria is not near; the others are two edits away
		{"лошадко now", "a.md"},
		{"zebbraish now", "zebraish.md"}, // a word of a path
		{"zebraish9 now", ""},
	} {
		if got := paths(v, search(t, v, Query{Text: c.query})); got != c.want {
			t.Errorf("%q = %q, want %q", c.query, got, c.want)
		}
	}
}

func TestStopWordsAreTheLanguages(t *testing.T) {
	w := vaultOf("-- en.md --\nwhat is the house\n-- de.md --\nwas ist das Haus\n")
	for _, c := range []struct{ lang, query, want string }{
		{"en", "what das", "de.md"},
		{"en", "what", "en.md"},
		{"de", "what das", "en.md"},
		{"de", "+what das", "en.md"},
		{"none", "what das", "de.md en.md"},
	} {
		s, err := OpenSegments(filepath.Join(t.TempDir(), "none"), c.lang)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.View(w.members, w.sources(), w.load)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths(v, search(t, v, Query{Text: c.query})); got != c.want {
			t.Errorf("%s: %q = %q, want %q", c.lang, c.query, got, c.want)
		}
	}
}

func TestSearchObsoleteRanksLower(t *testing.T) {
	v := vaultOf(cooking).view(t)
	r := search(t, v, Query{Text: "simmer", Explain: true})
	if len(r.Hits) != 2 || r.Hits[1].Explain.Obsolete != obsoleteFactor || r.Hits[0].Explain.Obsolete != 1 {
		t.Fatalf("hits %+v", r.Hits)
	}
	for _, h := range r.Hits {
		var sum float64
		for _, x := range h.Explain.Terms {
			sum += x.Contribution
		}
		if got := roundScore(sum * h.Explain.Coverage * h.Explain.Obsolete); got != h.Score {
			t.Errorf("explained score %v, score %v", got, h.Score)
		}
	}
}

// A boost raises scores by half and changes nothing else, in every mode of words.
func TestSearchBoost(t *testing.T) {
	w := vaultOf(fuseNotes)
	v := w.view(t)
	for _, mode := range []Mode{ModeText, ModeLiteral, ModeRegex} {
		plain := search(t, v, Query{Text: "the", Mode: mode})
		last := plain.Hits[len(plain.Hits)-1].Member
		q := Query{Text: "the", Mode: mode, Explain: true, Boost: func(m int) bool { return m == last }}
		raised := search(t, v, q)
		if raised.Total != plain.Total || len(raised.Hits) != len(plain.Hits) {
			t.Fatalf("mode %d: %d hits of %d, without a boost %d of %d", mode, len(raised.Hits), raised.Total, len(plain.Hits), plain.Total)
		}
		was := map[int]Hit{}
		for _, h := range plain.Hits {
			was[h.Member] = h
		}
		for i, h := range raised.Hits {
			want := was[h.Member].Score
			if h.Member == last {
				want = roundScore(1.5 * want)
			}
			if h.Score != want || h.MatchCount != was[h.Member].MatchCount || i > 0 && h.Score > raised.Hits[i-1].Score {
				t.Errorf("mode %d, hit %d: score %v, %d matches; want %v, %d", mode, i, h.Score, h.MatchCount, want, was[h.Member].MatchCount)
			}
			if mode == ModeText && (h.Explain.Boost != 0) != (h.Member == last) {
				t.Errorf("hit %d explains a boost of %v", i, h.Explain.Boost)
			}
		}
		q.MinScore = roundScore(1.5 * was[last].Score)
		if hits := search(t, v, q).Hits; len(hits) == 0 || hits[0].Score < q.MinScore {
			t.Errorf("mode %d: the least score is compared before the boost: %+v", mode, hits)
		}
	}
}

func TestSearchExcerpt(t *testing.T) {
	v := vaultOf(cooking).view(t)
	for _, c := range []struct{ query, excerpt, heading, slug string }{
		{"freeze", "«Freeze» the soup in small portions.", "Tomato soup > Storage", "storage"},
		{"dough", "Bread Knead the «dough»; let it rise. Salt matters. See the red soup. The café sells Brot für alle. C'est l'abc def, non?", "Bread", "bread"},
		{"\"let it rise\"", "Bread Knead the dough; «let it rise». Salt matters. See the red soup. The café sells Brot für alle. C'est l'abc def, non?", "Bread", "bread"},
	} {
		r := search(t, v, Query{Text: c.query})
		if len(r.Hits) == 0 {
			t.Fatalf("%q: no hit", c.query)
		}
		h := r.Hits[0]
		if got := mark(h); !strings.HasSuffix(got, c.excerpt) {
			t.Errorf("%q: excerpt %q, want %q", c.query, got, c.excerpt)
		}
		if got := strings.Join(h.Heading, " > "); got != c.heading || h.HeadingSlug != c.slug {
			t.Errorf("%q: heading %q (%s), want %q (%s)", c.query, got, h.HeadingSlug, c.heading, c.slug)
		}
	}
}

func mark(h Hit) string {
	s, at := "", 0
	for _, m := range h.Marks {
		s += h.Excerpt[at:m.Start] + "«" + h.Excerpt[m.Start:m.End] + "»"
		at = m.End
	}
	return s + h.Excerpt[at:]
}

func TestSearchExcerptIsOnePlainLine(t *testing.T) {
	long := strings.Repeat("Filler words stand here. ", 200)
	v := vaultOf("-- a.md --\n# A\n\n" + long + "\n\nThe **needle** is\x1b[31m `here`\u202e, <!-- not\nthis --> said [her](http://x.y) friend.\n\n" + long).view(t)
	h := search(t, v, Query{Text: "needle"}).Hits[0]
	if strings.ContainsAny(h.Excerpt, "\n\x1b\u202e") || strings.Contains(h.Excerpt, "this") {
		t.Errorf("excerpt %q", h.Excerpt)
	}
	if !strings.Contains(mark(h), "The «needle» is[31m here, said her friend.") {
		t.Errorf("excerpt %q", mark(h))
	}
	if n := len(strings.Fields(h.Excerpt)); n < 40 || n > 80 {
		t.Errorf("excerpt of %d words", n)
	}
}

func TestSearchPages(t *testing.T) {
	w := &vault{raw: map[note.ID]string{}}
	for i := range 25 {
		w.add(fmt.Sprintf("n%02d.md", i), fmt.Sprintf("pelican %d\n", i))
	}
	w.add("copy.md", "pelican 7\n")
	v := w.view(t)
	var all []string
	for off := 0; off < 30; off += 10 {
		r := search(t, v, Query{Text: "pelican", Offset: off})
		if r.Total != 25 {
			t.Fatalf("total %d, want 25", r.Total)
		}
		all = append(all, strings.Fields(paths(v, r))...)
	}
	if len(all) != 25 || all[0] != "copy.md" || all[1] != "n00.md" || all[24] != "n24.md" {
		t.Errorf("paged %v", all)
	}
	r := search(t, v, Query{Text: "pelican", Keep: func(m int) bool { return v.members[m].Path != "copy.md" }})
	if r.Total != 25 || !strings.HasPrefix(paths(v, r), "n00.md n01.md") {
		t.Errorf("without copy: %d, %s", r.Total, paths(v, r))
	}
	r = search(t, v, Query{Text: "+pelican 7", Max: 1})
	if h := r.Hits[0]; paths(v, r) != "copy.md" || len(h.Also) != 1 || v.members[h.Also[0]].Path != "n07.md" {
		t.Errorf("hit %+v", h)
	}
}

func TestSearchLines(t *testing.T) {
	v := vaultOf(cooking).view(t)
	r := search(t, v, Query{Text: "tomatoes slowly. Add", Mode: ModeLiteral})
	if got := paths(v, r); got != "soup/old-tomato.md soup/tomato.md" {
		t.Errorf("literal: %s", got)
	}
	want := []Line{{8, "Simmer ripe tomatoes slowly. Add basil, then add salt.", []note.Span{{Start: 12, End: 32}}}}
	if d := cmp.Diff(want, r.Hits[1].Matches); d != "" {
		t.Error(d)
	}
	for _, c := range []struct {
		mode        Mode
		query, want string
	}{
		{ModeLiteral, "C++ and", "code.md"},
		{ModeLiteral, "secret", "asia.md"},
		{ModeLiteral, "京大", "asia.md"},
		{ModeLiteral, "simmer", ""},
		{ModeLiteral, "'abc def,", "bread.md"},
		{ModeLiteral, "the dough; let", "bread.md"},
		{ModeLiteral, "reviewer: Grace", "empty.md"},
		{ModeRegex, `(?i)^simmer\b.*basil`, "soup/old-tomato.md soup/tomato.md"},
		{ModeRegex, `fo+[A-Z_]`, "code.md"},
		{ModeRegex, `^$x`, ""},
	} {
		if got := paths(v, search(t, v, Query{Text: c.query, Mode: c.mode})); got != c.want {
			t.Errorf("%d %q = %q, want %q", c.mode, c.query, got, c.want)
		}
	}
	_, err := v.Search(context.Background(), Query{Text: "a(", Mode: ModeRegex})
	if !errors.Is(err, ErrPattern) {
		t.Errorf("bad pattern: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := v.Search(ctx, Query{Text: "a", Mode: ModeRegex}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestSearchLinesReadsWhatItMust counts the notes that a literal is looked for in.
func TestSearchLinesReadsWhatItMust(t *testing.T) {
	w := vaultOf("-- a.md --\none walrus swims\n-- b.md --\none seal swims\n-- c.md --\n---\nx: one walrus swims\n---\n")
	s := openTest(t, filepath.Join(t.TempDir(), "none"))
	var read []string
	v, err := s.View(w.members, w.sources(), func(id note.ID) (*note.Note, []byte, error) {
		for _, m := range w.members {
			if m.Blob == id {
				read = append(read, m.Path)
			}
		}
		return w.load(id)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(v, search(t, v, Query{Text: "one walrus swims", Mode: ModeLiteral})); got != "a.md c.md" {
		t.Errorf("found %s", got)
	}
	if want := []string{"a.md", "c.md"}; !cmp.Equal(read, want) {
		t.Errorf("read %v, want %v", read, want)
	}
}

func TestNamesCountOnce(t *testing.T) {
	w := vaultOf("-- soup/soup_soup.md --\nx\n-- soup/other.md --\ny\n")
	v := w.view(t)
	var weights []float64
	for _, n := range v.names.lookup("soup") {
		weights = append(weights, n.weight())
	}
	if want := []float64{folderWeight, fieldWeight[fieldName]}; !cmp.Equal(weights, want) {
		t.Errorf("weights %v, want %v", weights, want)
	}
}

func TestLongQueriesAreCut(t *testing.T) {
	v := vaultOf(cooking).view(t)
	var words []string
	for i := range 2 * maxUnits {
		words = append(words, fmt.Sprint("w", i))
	}
	r := search(t, v, Query{Text: strings.Join(words, " ") + " salt"})
	if r.Total != 0 || !strings.Contains(r.Note, "512") {
		t.Errorf("total %d, note %q", r.Total, r.Note)
	}
}

func TestViewMissing(t *testing.T) {
	w := vaultOf(cooking)
	s := openTest(t, t.TempDir())
	srcs := w.sources()
	if err := s.Add(context.Background(), srcs[:2]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.View(w.members, srcs[3:], w.load); !errors.Is(err, ErrMissing) {
		t.Errorf("view: %v", err)
	}
	if _, err := s.View(w.members, srcs[2:], w.load); err != nil {
		t.Errorf("view: %v", err)
	}
}

func TestLanguages(t *testing.T) {
	if _, err := OpenSegments(t.TempDir(), "klingon"); err == nil || !strings.Contains(err.Error(), "de, el, en") {
		t.Errorf("unknown language: %v", err)
	}
	a, b := openTest(t, t.TempDir()), openTest(t, t.TempDir())
	if a.Recipe() != b.Recipe() || !strings.Contains(a.Recipe(), " en ") {
		t.Errorf("recipes %q, %q", a.Recipe(), b.Recipe())
	}
	de, err := OpenSegments(t.TempDir(), "de-CH")
	if err != nil || de.Recipe() == a.Recipe() {
		t.Errorf("German: %v, %v", de.Recipe(), err)
	}
}

func asJSON(t testing.TB, r *Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
