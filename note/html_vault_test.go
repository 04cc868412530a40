package note

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestHTMLVaults compares what the HTML of real notes links to with what Parse
// finds in them.
func TestHTMLVaults(t *testing.T) {
	for _, vault := range []string{"rust-rfcs.bundle", "kepano-obsidian.bundle"} {
		notes, links := 0, 0
		for p, src := range vaultFiles(t, vault) {
			if !isNote(p) {
				continue
			}
			n, text := Parse(src)
			rendered, out := renderedLinks(n, text)
			checkHTML(t, out)
			inBody := slices.DeleteFunc(slices.Clone(n.Links), func(l Link) bool { return l.Start < n.Body })
			if diff := cmp.Diff(inBody, rendered, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-parsed +rendered):\n%s", p, diff)
			}
			notes, links = notes+1, links+len(rendered)
		}
		if notes < 50 || links < 50 {
			t.Errorf("%s: %d notes, %d links", vault, notes, links)
		}
	}
}

// renderedLinks returns the links that HTML asks about, in source order.
func renderedLinks(n *Note, text []byte) ([]Link, []byte) {
	var links []Link
	o := testOptions()
	o.Embed = nil
	o.Link = func(l Link) Href {
		if l.End > 0 {
			links = append(links, l)
		}
		return Href{URL: "x.html"}
	}
	out, _ := HTML(n, text, o)
	slices.SortFunc(links, func(a, b Link) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	return links, out
}
