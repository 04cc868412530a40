package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"kb/note"
)

// suite asks for every kind of thing; words are those of randomNote.
var suite = []Query{
	{Text: "alpha"}, {Text: "alpha beta gamma"}, {Text: "running delta", Explain: true}, {Text: "the epsilon of zeta"},
	{Text: `"alpha beta"`}, {Text: `"beta beta" OR "gamma the delta"`}, {Text: `body:"alpha beta" title:gamma`},
	{Text: "+alpha -beta"}, {Text: "(alpha OR beta) AND NOT gamma"}, {Text: "alpha AND (delta OR 北京)"},
	{Text: "al*"}, {Text: "alph"}, {Text: "e* -zeta"}, {Text: "alphx betta epsillon"}, {Text: "xylophone alpha"},
	{Text: "title:alpha"}, {Text: "tag:t1"}, {Text: "tag:t1/x beta"}, {Text: "name:folder1"}, {Text: "heading:gamma alpha"},
	{Text: "meta:beta"}, {Text: "fooBar"}, {Text: "foo-bar"}, {Text: "北京大学"}, {Text: "京"}, {Text: "ภาษา"},
	{Text: "running", Max: 3, Offset: 2}, {Text: "alpha beta", MinScore: 0.5},
	{Text: "alpha beta", Mode: ModeLiteral}, {Text: "(?i)ALPHA.*gamma", Mode: ModeRegex}, {Text: " delta the ", Mode: ModeLiteral},
}

var suiteWords = strings.Fields(`alpha beta gamma delta epsilon zeta the of running runs fooBar foo_bar
	alphabet alpine betamax 北京大学 京都 ภาษาไทย naïve C++ 3.14`)

func randomNote(r *rand.Rand) string {
	words := func(n int) string {
		var out []string
		for range n {
			out = append(out, suiteWords[min(r.IntN(len(suiteWords)), r.IntN(len(suiteWords)))])
		}
		return strings.Join(out, " ")
	}
	s := ""
	if r.IntN(3) > 0 {
		s = fmt.Sprintf("---\ntitle: %s\ntags: [t%d/x, t%d]\nextra: %s\n", words(2), r.IntN(3), r.IntN(3), words(1))
		if r.IntN(5) == 0 {
			s += "status: obsolete\n"
		}
		s += "---\n"
	}
	for range r.IntN(4) {
		s += "\n## " + words(1+r.IntN(3)) + "\n\n" + words(r.IntN(60)) + "\n"
		if r.IntN(6) == 0 {
			s += "<!-- " + words(3) + " -->\n"
		}
	}
	return s
}

// answers renders the answers of a view to the suite, hits by path.
func answers(t testing.TB, v *View) string {
	t.Helper()
	var b strings.Builder
	for _, q := range suite {
		r := search(t, v, q)
		fmt.Fprintf(&b, "%d %s: %s\n", q.Mode, q.Text, asJSON(t, r))
	}
	return b.String()
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return x[i] + "\n" + y[min(i, len(y)-1)]
		}
	}
	return ""
}

// history is a world of notes and a series of sets of members over them.
func history(r *rand.Rand) (w *vault, commits [][]Member) {
	w = &vault{raw: map[note.ID]string{}}
	for i := range 60 {
		w.add(fmt.Sprintf("folder%d/%s-%02d.md", r.IntN(4), suiteWords[r.IntN(12)], i), randomNote(r))
	}
	members := slices.Clone(w.members[:20])
	for i := 20; i < 60; i++ {
		switch r.IntN(4) {
		case 0: // an edit
			members[r.IntN(len(members))].Blob = w.members[i].Blob
		case 1: // a copy
			m := w.members[r.IntN(i)]
			m.Path = fmt.Sprintf("copies/%02d.md", i)
			members = append(members, m)
		default:
			members = append(members, w.members[i])
		}
		if r.IntN(5) == 0 {
			members = slices.Delete(members, 0, 1)
		}
		if i%10 == 0 {
			commits = append(commits, slices.Clone(members))
		}
	}
	return w, commits
}

// addAll adds sources in random order and batches, merging now and then.
func addAll(t testing.TB, r *rand.Rand, s *Segments, srcs []Source, merge bool) {
	t.Helper()
	srcs = slices.Clone(srcs)
	r.Shuffle(len(srcs), func(a, b int) { srcs[a], srcs[b] = srcs[b], srcs[a] })
	for len(srcs) > 0 {
		n := 1 + r.IntN(min(12, len(srcs)))
		if err := s.Add(context.Background(), srcs[:n]); err != nil {
			t.Fatal(err)
		}
		if merge && r.IntN(3) == 0 {
			var hot []note.ID
			for _, src := range srcs[:n] {
				hot = append(hot, src.Blob)
			}
			if err := s.Merge(context.Background(), among(hot)); err != nil {
				t.Fatal(err)
			}
		}
		srcs = srcs[n:]
	}
}

func wanted(members []Member) map[note.ID]bool {
	set := map[note.ID]bool{}
	for _, m := range members {
		set[m.Blob] = true
	}
	return set
}

// TestExact is the promise of the package: answers depend on members alone.
func TestExact(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		w, commits := history(r)
		all := w.sources()
		union := openTest(t, t.TempDir())
		addAll(t, r, union, all, true)
		for k, members := range commits {
			want := wanted(members)
			live := slices.DeleteFunc(slices.Clone(all), func(s Source) bool { return !want[s.Blob] })

			fresh := openTest(t, t.TempDir())
			addAll(t, r, fresh, live, false)
			ref, err := fresh.View(members, nil, w.load)
			if err != nil {
				t.Fatal(err)
			}
			expect := answers(t, ref)

			shuffled := slices.Clone(live)
			r.Shuffle(len(shuffled), func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
			partly := openTest(t, t.TempDir())
			addAll(t, r, partly, shuffled[:len(shuffled)/2], false)
			for name, s := range map[string]*Segments{"union": union, "overlay": partly} {
				v, err := s.View(members, shuffled, w.load)
				if err != nil {
					t.Fatal(err)
				}
				if got := answers(t, v); got != expect {
					t.Fatalf("seed %d, commit %d: %s differs from fresh:\n%s", seed, k, name, firstDifference(got, expect))
				}
			}
		}
	}
}

// TestExactWhileWriting searches from two readers while a writer adds, merges
// and drops: both must always answer as a fresh index does.
func TestExactWhileWriting(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	w, commits := history(r)
	all, members := w.sources(), commits[1]
	want := wanted(members)
	live := slices.DeleteFunc(slices.Clone(all), func(s Source) bool { return !want[s.Blob] })
	fresh := openTest(t, t.TempDir())
	addAll(t, r, fresh, live, false)
	ref, err := fresh.View(members, nil, w.load)
	if err != nil {
		t.Fatal(err)
	}
	expect := answers(t, ref)

	dir := t.TempDir()
	writer := openTest(t, dir)
	if err := writer.Add(context.Background(), live); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		s := openTest(t, dir)
		readers.Go(func() {
			for round := 0; ; round++ {
				if err := s.Refresh(); err != nil {
					t.Error(err)
					return
				}
				v, err := s.View(members, live, w.load)
				if err != nil {
					t.Error(err)
					return
				}
				if got := answers(t, v); got != expect {
					t.Errorf("reader differs in round %d:\n%s", round, firstDifference(got, expect))
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for round := range 4 {
		addAll(t, rand.New(rand.NewPCG(uint64(round), 3)), writer, all, true)
		if _, err := writer.Drop(context.Background(), func(id note.ID) bool { return want[id] }); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}
