package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

const fuseNotes = `
-- badger.md --
badger badger in the sett

# Deep

the tunnels go down
-- otter.md --
otter in the river with a badger
-- heron.md --
heron in the reeds
-- walrus.md --
---
status: obsolete
---
walrus on the ice
-- seal.md --
seal on the ice by the river
`

// meaningOf returns nearness by path, and notes what was asked.
func meaningOf(v *vault, near map[string]Near, asked *string) *Meaning {
	paths := map[note.ID]string{}
	for _, m := range v.members {
		paths[m.Blob] = m.Path
	}
	return &Meaning{Weight: 0.5, Near: func(_ context.Context, text string, best []note.ID, keep func(note.ID) bool) (map[note.ID]Near, error) {
		out := map[note.ID]Near{}
		for id, path := range paths {
			n, ok := near[path]
			if ok && (slices.Contains(best, id) || keep == nil || keep(id)) {
				out[id] = n
			}
		}
		*asked = text
		return out, nil
	}}
}

func scores(r *Result, v *vault) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, fmt.Sprintf("%s %.3f", strings.TrimSuffix(v.members[h.Member].Path, ".md"), h.Score))
	}
	return strings.Join(out, ", ")
}

func TestFuse(t *testing.T) {
	w := vaultOf(fuseNotes)
	v := w.view(t)
	near := map[string]Near{"badger.md": {-0.2, 0}, "otter.md": {0.4, 0}, "heron.md": {0.8, 0}, "walrus.md": {0.9, 0}, "seal.md": {-0.1, 0}}
	words := search(t, v, Query{Text: "badger"})
	otter := words.Hits[1].Score / words.Hits[0].Score
	for _, c := range []struct {
		name, text, want, asked string
		edit                    func(*Query)
		total                   int
	}{
		{"words and meaning", "badger", fmt.Sprintf("badger 0.900, otter %.3f, heron 0.400, walrus 0.225", otter+0.2), "badger", nil, 4},
		{"what keep leaves out changes no score", "badger", fmt.Sprintf("otter %.3f, walrus 0.225", otter+0.2), "badger",
			func(q *Query) { q.Keep = func(m int) bool { return m == 1 || m == 3 } }, 2},
		{"a phrase must be there", `"badger badger"`, "badger 0.900", "badger badger", nil, 1},
		{"so must a beginning", `her*`, "heron 1.400", "her", nil, 1},
		{"and what has a +", `+river badger`, "", "river badger", nil, 2},
		{"and not what has a -", `badger -heron -otter`, "badger 0.900, walrus 0.225", "badger", nil, 2},
		{"nor what lacks a word of AND", `badger AND sett`, "badger 0.900", "badger sett", nil, 1},
		{"no word matches", "zzzz", "heron 0.400, walrus 0.225, otter 0.200", "zzzz", nil, 3},
		{"no word at all", "", "heron 0.400, walrus 0.225, otter 0.200", "", nil, 3},
		{"meaning alone", "badger", "heron 0.800, walrus 0.450, otter 0.400, seal -0.100, badger -0.200", "badger", func(q *Query) { q.Meaning.Alone = true }, 5},
		{"alone, with operators", "badger -heron", "walrus 0.450, otter 0.400, seal -0.100, badger -0.200", "badger", func(q *Query) { q.Meaning.Alone = true }, 4},
		{"raised", "badger", fmt.Sprintf("badger 0.900, otter %.3f, heron 0.600, walrus 0.225", otter+0.2), "badger",
			func(q *Query) { q.Boost = func(m int) bool { return m == 2 } }, 4},
		{"alone, a negative one raised", "badger", "heron 0.800, walrus 0.450, otter 0.400, badger -0.100, seal -0.100", "badger", func(q *Query) {
			q.Meaning.Alone = true
			q.Boost = func(m int) bool { return m == 0 }
		}, 5},
		{"least score", "badger", "badger 0.900", "badger", func(q *Query) { q.MinScore = 0.85 }, 0},
		{"words that weigh little", "sett", "heron 8.000, walrus 4.500, otter 4.000, badger -1.000", "sett", func(q *Query) { q.Meaning.Weight = 10 }, 4},
		{"a page", "badger", "heron 0.400", "badger", func(q *Query) { q.Offset, q.Max = 2, 1 }, 4},
		{"reordered", "badger", "walrus 0.225, heron 0.400", "badger", func(q *Query) {
			q.Max = 2
			q.Meaning.Reorder = func(best []Ranked) ([]int, error) { return []int{3, 2, 1, 0}, nil }
		}, 4},
	} {
		asked := "?"
		q := Query{Text: c.text, Meaning: meaningOf(w, near, &asked)}
		if c.edit != nil {
			c.edit(&q)
		}
		r := search(t, v, q)
		got := scores(r, w)
		if c.want != "" && got != c.want || asked != c.asked || c.total > 0 && r.Total != c.total {
			t.Errorf("%s: %s, %d, asked for %q; want %s, %d, %q", c.name, got, r.Total, asked, c.want, c.total, c.asked)
		}
	}
}

func TestFuseShowsTheNearestChunk(t *testing.T) {
	long := strings.Repeat("Nothing of note is said in this sentence. ", 50)
	w := vaultOf("-- a.md --\nfirst " + long + "\n\n# Cold\n\nsecond part " + long + "\n-- b.md --\nwords\n")
	v := w.view(t)
	near := map[string]Near{"a.md": {0.5, 1}}
	asked := ""
	for text, want := range map[string]string{"frost": "second part", "first": "first Nothing"} {
		r := search(t, v, Query{Text: text, Meaning: meaningOf(w, near, &asked), Explain: true})
		if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Excerpt, want) {
			t.Fatalf("%s: %+v, want %q in it", text, r.Hits, want)
		}
	}
	m := meaningOf(w, near, &asked)
	m.Alone = true
	h := search(t, v, Query{Text: "first", Meaning: m}).Hits[0]
	if h.Chunk != 1 || h.HeadingSlug != "cold" || !strings.HasPrefix(h.Excerpt, "Cold second part") {
		t.Errorf("by meaning alone: %+v", h)
	}
	m.Near = func(context.Context, string, []note.ID, func(note.ID) bool) (map[note.ID]Near, error) {
		return map[note.ID]Near{w.members[0].Blob: {0.5, 99}}, nil
	}
	if h := search(t, v, Query{Text: "first", Meaning: m}).Hits[0]; h.Chunk != 0 {
		t.Errorf("a chunk that is none: %+v", h)
	}
}

func TestFuseExplains(t *testing.T) {
	w := vaultOf(fuseNotes)
	asked := ""
	m := meaningOf(w, map[string]Near{"otter.md": {0.4, 0}}, &asked)
	r := search(t, w.view(t), Query{Text: "badger", Meaning: m, Explain: true})
	h := r.Hits[1]
	if got := h.Explain.Words/h.Explain.Best + h.Explain.Weight*h.Near.Cosine; math.Abs(got-h.Score) > 1e-6 {
		t.Errorf("%+v explains %v, not %v", h.Explain, got, h.Score)
	}
	if x := r.Hits[0].Explain; x.Words != x.Best || r.Hits[0].Near != nil {
		t.Errorf("the best by words: %+v, near %v", x, r.Hits[0].Near)
	}
}

// The weight of a query is asked for once, with the view's scores by words: what
// is left out of the answer does not change it.
func TestFuseWeighsEachQuery(t *testing.T) {
	w := vaultOf(fuseNotes)
	v := w.view(t)
	words := search(t, v, Query{Text: "badger"})
	share := words.Hits[1].Score / words.Hits[0].Score
	for _, keep := range []func(int) bool{nil, func(m int) bool { return w.members[m].Path != "badger.md" }} {
		asked, calls := "", 0
		m := meaningOf(w, map[string]Near{"otter.md": {0.4, 0}, "heron.md": {0.8, 0}}, &asked)
		m.Weigh = func(_ context.Context, text string, words func(note.ID) float64) (float64, error) {
			calls++
			got := []float64{words(w.members[0].Blob), words(w.members[1].Blob), words(w.members[2].Blob), words(note.ID{})}
			if d := cmp.Diff([]float64{1, share, 0, 0}, got); d != "" || text != "badger" {
				t.Errorf("asked for %q: %s", text, d)
			}
			return 2, nil
		}
		r := search(t, v, Query{Text: "badger", Meaning: m, Keep: keep, Explain: true})
		want := fmt.Sprintf("heron 1.600, otter %.3f", share+0.8) // otter has less than 0.8 of the words
		if keep == nil {
			want += ", badger 1.000"
		}
		if got := scores(r, w); got != want || calls != 1 || r.Hits[0].Explain.Weight != 2 {
			t.Errorf("%s, %d calls, weight %v; want %s", got, calls, r.Hits[0].Explain.Weight, want)
		}
	}
	asked := ""
	m := meaningOf(w, nil, &asked)
	m.Alone = true
	m.Weigh = func(context.Context, string, func(note.ID) float64) (float64, error) {
		t.Error("by meaning alone nothing is weighed")
		return 0, nil
	}
	search(t, v, Query{Text: "badger", Meaning: m})
	m.Alone, m.Weigh = false, func(context.Context, string, func(note.ID) float64) (float64, error) { return 0, errors.New("broken") }
	if _, err := v.Search(t.Context(), Query{Text: "badger", Meaning: m}); err == nil {
		t.Error("Weigh fails, and nobody hears of it")
	}
}

// A note that is found by meaning makes an answer certain when vectors that
// deserve it put it as high as words could.
func TestFuseConfidence(t *testing.T) {
	w := vaultOf(fuseNotes)
	v := w.view(t)
	weigh := func(to float64) func(context.Context, string, func(note.ID) float64) (float64, error) {
		return func(context.Context, string, func(note.ID) float64) (float64, error) { return to, nil }
	}
	for _, c := range []struct {
		text   string
		weight float64
		auto   bool
		low    bool
	}{
		{"feathered fisher", 0.15, true, true},
		{"feathered fisher", 1.2, true, true},
		{"feathered fisher", 1.3, true, false},
		{"feathered fisher", 10, false, true}, // somebody's choice is no evidence
		{"heron", 0.15, true, false},
	} {
		asked := ""
		m := meaningOf(w, map[string]Near{"heron.md": {0.8, 0}}, &asked)
		m.Weight = c.weight
		if c.auto {
			m.Weigh = weigh(c.weight)
		}
		if r := search(t, v, Query{Text: c.text, Meaning: m}); len(r.Hits) != 1 || r.LowConfidence != c.low {
			t.Errorf("%s, weight %v, auto %v: low confidence %v of %d hits", c.text, c.weight, c.auto, r.LowConfidence, len(r.Hits))
		}
	}
}

// Without vectors that say anything, the order is that of the words.
func TestFuseKeepsTheOrderOfWords(t *testing.T) {
	w := vaultOf(fuseNotes)
	v := w.view(t)
	for _, text := range []string{"badger river", "ice river", "the", "otter -seal", `"the river"`} {
		asked := ""
		words, both := search(t, v, Query{Text: text}), search(t, v, Query{Text: text, Meaning: meaningOf(w, nil, &asked)})
		var a, b []int
		for i := range words.Hits {
			a, b = append(a, words.Hits[i].Member), append(b, both.Hits[i].Member)
		}
		if d := cmp.Diff(a, b); d != "" || words.Total != both.Total {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestFuseErrors(t *testing.T) {
	broken := errors.New("broken")
	v := vaultOf(fuseNotes).view(t)
	m := &Meaning{Near: func(context.Context, string, []note.ID, func(note.ID) bool) (map[note.ID]Near, error) {
		return nil, broken
	}}
	if _, err := v.Search(t.Context(), Query{Text: "badger", Meaning: m}); !errors.Is(err, broken) {
		t.Errorf("Near fails: %v", err)
	}
	asked := ""
	m = meaningOf(vaultOf(fuseNotes), nil, &asked)
	m.Reorder = func([]Ranked) ([]int, error) { return nil, broken }
	if _, err := v.Search(t.Context(), Query{Text: "badger", Meaning: m}); !errors.Is(err, broken) {
		t.Errorf("Reorder fails: %v", err)
	}
}
