package embed

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kb/note"
	"kb/vector"
)

var lowBar = Bar{Match: 0.5, Apart: 0.9}

// Twins are what comparing every two notes gives.
func TestTwins(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(4, 4)), 120)
	ids := w.ids()
	x, _ := openIndex(t, (&counting{}).model())
	mustSync(t, x, ids, w)
	v := mustView(t, x, ids)
	some := ids[:100]
	got, err := v.Twins(t.Context(), some, lowBar)
	if err != nil {
		t.Fatal(err)
	}
	want := map[note.ID][]Twin{}
	for _, id := range some {
		if twins := plainTwins(t, v, id, some, lowBar); len(twins) > 0 {
			want[id] = twins
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(want) < 10 {
		t.Errorf("%d notes have twins (-want +got):\n%s", len(want), diff)
	}
}

func plainTwins(t *testing.T, v *View, id note.ID, ids []note.ID, bar Bar) (twins []Twin) {
	t.Helper()
	self, err := v.Note(id)
	if err != nil {
		t.Fatal(err)
	}
	var near []Twin
	for _, other := range ids {
		to, err := v.Note(other)
		if err != nil {
			t.Fatal(err)
		}
		if score := vector.Dot(self, to); other != id && vector.Dot(self, self) > 0 {
			near = append(near, Twin{other, score})
		}
	}
	slices.SortFunc(near, func(a, b Twin) int { return cmp.Or(cmp.Compare(b.Match, a.Match), compareIDs(a.ID, b.ID)) })
	near = near[:min(10, len(near))]
	others := 0.0
	for _, n := range near[min(1, len(near)):] {
		others += n.Match / 9
	}
	for _, n := range near {
		m, err := v.Match(id, n.ID)
		if err != nil {
			t.Fatal(err)
		}
		if n.Match >= bar.Match && m >= bar.Match && 1-m <= bar.Apart*(1-max(0, others)) {
			twins = append(twins, Twin{n.ID, m})
		}
	}
	slices.SortStableFunc(twins, func(a, b Twin) int { return cmp.Compare(b.Match, a.Match) })
	return twins
}

// A note that the view lacks resembles what it would resemble within: it is
// embedded for that, once.
func TestResembling(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(5, 5)), 60)
	c := &counting{}
	x, _ := openIndex(t, c.model())
	ids := w.ids()
	src := "# zaz\n\nxyz fjord quiz vex jock waltz\n"
	want := "# zza\n\nwaltz fjord vex quiz jock xyz\n"
	like := note.Hash([]byte(want))
	w[like] = want
	ids = append(ids, like)
	mustSync(t, x, ids, w)
	v := mustView(t, x, ids)
	for range 2 {
		own, err := x.Now(t.Context(), []byte(src), 1)
		if err != nil || own == nil {
			t.Fatalf("Now = %v, %v", own, err)
		}
		twins, err := v.Resembling(t.Context(), own, Bar{0.9, 0.9}, nil)
		if err != nil || len(twins) != 1 || twins[0].ID != like {
			t.Errorf("Resembling = %v, %v, want %v", twins, err, like)
		}
		none, err := v.Resembling(t.Context(), own, Bar{0.9, 0.9}, func(id note.ID) bool { return id != like })
		if err != nil || len(none) != 0 {
			t.Errorf("without it: %v, %v", none, err)
		}
	}
	for text, n := range c.texts {
		if n > 1 {
			t.Errorf("embedded %d times: %q", n, text)
		}
	}
}

// Now gives way to a Sync, and to the caller's patience.
func TestNowGivesWay(t *testing.T) {
	c := &counting{}
	x, _ := openIndex(t, c.model())
	src := []byte("# one\n\ntext\n\n# two\n\nmore\n")
	if v, err := x.Now(t.Context(), src, 0); v != nil || err != nil {
		t.Errorf("more texts than wanted: %v, %v", v, err)
	}
	x.turn <- struct{}{}
	if v, err := x.Now(t.Context(), src, 9); v != nil || err != nil {
		t.Errorf("while others embed: %v, %v", v, err)
	}
	<-x.turn
	if len(c.texts) != 0 {
		t.Errorf("embedded %v", c.texts)
	}
	if v, err := x.Now(t.Context(), src, 9); v == nil || err != nil {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}
