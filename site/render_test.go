package site

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"kb/note"
)

// testLinks is a vault from literals: the texts of notes by path.
type testLinks struct {
	docs     map[string]*Doc
	texts    map[*Doc][]byte
	resolver *note.Resolver
}

func newTestLinks(notes map[string]string) *testLinks {
	v := &testLinks{docs: map[string]*Doc{}, texts: map[*Doc][]byte{}, resolver: note.NewResolver(slices.Collect(maps.Keys(notes)))}
	for p, src := range notes {
		n, text := note.Parse([]byte(src))
		d := &Doc{Collection: "c", Path: p, Title: n.TitleAt(p), Note: n}
		v.docs[p], v.texts[d] = d, text
	}
	return v
}

func (v *testLinks) Target(from *Doc, l note.Link) Target {
	t := v.resolver.Resolve(from.Path, l)
	switch {
	case t.External:
		return Target{URL: l.Target, External: true}
	case t.Path == "":
		return Target{}
	}
	u := (&url.URL{Path: t.Path}).String()
	if d := v.docs[t.Path]; strings.HasSuffix(t.Path, ".md") {
		return Target{Doc: d, URL: strings.TrimSuffix(u, ".md") + ".html"}
	}
	return Target{URL: u, Width: 640, Height: 480}
}

func (v *testLinks) Text(d *Doc) ([]byte, error) { return v.texts[d], nil }

func (v *testLinks) Tag(tag string) string { return "tags/" + url.PathEscape(tag) + ".html" }

// body renders a note of a vault of literals.
func body(t *testing.T, path string, notes map[string]string) *Body {
	t.Helper()
	v := newTestLinks(notes)
	b, err := NewRenderer(nil).Body(v.docs[path], v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBody(t *testing.T) {
	b := body(t, "a.md", map[string]string{
		"a.md": "# A\n\n![[b#Part]]\n\n$x^2$ and $\\bad{$\n\n```go\nfunc f() {}\n```\n<kbd onclick=alert(1)>K</kbd><script>alert(1)</script> [[b#^id]] [[b#None|n]] [[#None]]\n",
		"b.md": "# B\n\nbefore\n\n## Part\n\nPart text. [[a]]\n\n- item ^id\n\n## Next\n\nafter\n",
	})
	t.Logf("%s", b.HTML)
}
