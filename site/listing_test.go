package site

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A listing with changes is what is written of all members.
func TestListing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := func(n int) (out []string) {
		for range n {
			out = append(out, fmt.Sprintf([]string{"a/%d.html", `q"%d\`, "ü<%d>", "%d"}[r.IntN(4)], r.IntN(60)))
		}
		return out
	}
	text := func(m map[string]string) string {
		out := appendStrings([]byte("{ begin\n"), " ", slices.Sorted(maps.Keys(m)), func(name string) string { return m[name] })
		return string(append(out, "}\n"...))
	}
	for range 300 {
		had := map[string]string{}
		for _, name := range names(r.IntN(30)) {
			had[name] = fmt.Sprint("v ", r.IntN(9))
		}
		l, head, ok := listingOf(text(had), "begin\n", "}\n", " ")
		if !ok || head != "{ " || l.count() != len(had) {
			t.Fatalf("%q is read as %v, %q, of %d members", text(had), ok, head, l.count())
		}
		read := map[string]string{}
		l.each(func(name, value string) bool { read[name] = value; return true })
		if !maps.Equal(read, had) {
			t.Fatalf("got %q, want %q", read, had)
		}
		for _, name := range append(names(9), slices.Collect(maps.Keys(had))...) {
			got, ok := l.find(name)
			if want, is := had[name]; got != want || ok != is {
				t.Fatalf("%q is %q, %v in %q", name, got, ok, text(had))
			}
		}
		changes := map[string]string{} // "" for what goes
		for _, name := range names(r.IntN(9)) {
			changes[name] = []string{"", "new"}[r.IntN(2)]
		}
		got := string(append(l.appendChanged([]byte("{ begin\n"), slices.Sorted(maps.Keys(changes)), func(name string) (string, bool) {
			return changes[name], changes[name] != ""
		}), "}\n"...))
		maps.Copy(had, changes)
		maps.DeleteFunc(had, func(_, v string) bool { return v == "" })
		if want := text(had); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}
