package site

import (
	"fmt"
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

// tests of Body: parts of HTML that must, or with a '!' must not, be there.
func TestBody(t *testing.T) {
	vault := map[string]string{
		"b.md":     "# B\n\nbefore[^1]\n\n## Part\n\nPart text. [[a]]\n\n- other\n- item ^id\n\n## Next\n\nafter\n\n[^1]: note of b\n",
		"loop.md":  "loop ![[a]]\n",
		"self.md":  "![[self]] ![[#S]]\n\n# S\n\nin S ![[#S]]\n",
		"pic.png":  "",
		"dir/c.md": "---\ntitle: <C>\n---\nc",
	}
	tests := []struct {
		name, src string
		want      []string
	}{
		{"section", "![[b#Part]]", []string{`<a href="b.html#part">B &gt; Part</a>`, `<h2 id="e1:part">`, "Part text.", "!after", "!before"}},
		{"block", "![[b#^ID]]", []string{`<ul><li id="e1:^id">item`, "!other", "!Part text"}},
		{"note", "![[b]] x[^1]\n\n[^1]: mine", []string{"before", "after", `id="e1:fn:1"`, `id="fn:1"`, "note of b", "mine"}},
		{"title is escaped", "![[c]]", []string{"&lt;C&gt;"}},
		{"cycle", "![[loop]]", []string{"loop", `<a href="a.html">a</a>`}},
		{"no such part", "![[b#None]] [[b#None|n]] [[#None]]", []string{`<a href="b.html">b &gt; None</a>`, `<a href="b.html">n</a>`, `<span class="broken">None</span>`, "!embed"}},
		{"missing", "![[none]] [[none|n]] ![x](none.png)", []string{`<span class="broken">none</span>`, `<span class="broken">n</span>`, `<span class="broken">x</span>`, "!<img"}},
		{"image", "![[pic.png|320]]", []string{`<img src="pic.png" alt="" loading="lazy" decoding="async" width="320" height="240">`}},
		{"remote image", "![x](https://example.org/y.png)", []string{"!<img", `<a class="external" href="https://example.org/y.png">x</a>`}},
		{"remote raw image", "<img src='https://example.org/y.png' alt=badge> and *more*", []string{"!<img", `<a class="external" href="https://example.org/y.png">badge</a> and <em>more</em>`}},
		{"missing raw image", "<img src='nowhere.png' alt=lost> and *more*", []string{"!<img", `<span class="broken">lost</span> and <em>more</em>`}},
		{"raw image", "<img src='pic.png' width=20 onerror=x style=y>", []string{`<img src="pic.png" width="20" loading="lazy">`}},
		{"raw link", "<a href='b.md#part'>x</a> <a href='javascript:y'>z</a>", []string{`<a href="b.html#part">x</a>`, "!javascript", "z"}},
		{"math", "$x^2$ $\\nosuch$", []string{"<msup>", `<code class="tex">$\nosuch$</code>`}},
		{"code", "```go\nfunc f() {}\n```\n", []string{`<pre tabindex="0"><code class="language-go"><span class="kd">func</span>`}},
		{"mermaid", "```mermaid\nA-->B\n```\n", []string{`<pre class="mermaid" tabindex="0">A--&gt;B`}},
		{"script", "a <script>alert(1)</script> b\n\n<script>\nalert(2)\n</script>\n", []string{"!<script", "!alert(2)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			notes := maps.Clone(vault)
			notes["a.md"] = tt.src
			b := body(t, "a.md", notes)
			for _, want := range tt.want {
				part, absent := strings.CutPrefix(want, "!")
				if strings.Contains(string(b.HTML), part) == absent {
					t.Errorf("want %s in\n%s", want, b.HTML)
				}
			}
			if problem := unsafe(b.HTML); problem != "" {
				t.Errorf("%s in\n%s", problem, b.HTML)
			}
		})
	}
}

func TestBodyTells(t *testing.T) {
	b := body(t, "a.md", map[string]string{"a.md": "# A\n\n![[b]] [[b]] [[none]]\n\n```mermaid\nx\n```\n", "b.md": "[[a]] ![[c]]", "c.md": "c"})
	var embedded, links []string
	for _, d := range b.Embedded {
		embedded = append(embedded, d.Path)
	}
	for _, l := range b.Links {
		links = append(links, l.Link.Target+" "+l.Target.URL)
	}
	if got := strings.Join(embedded, ","); got != "b.md,c.md" {
		t.Errorf("embedded %s", got)
	}
	if got := strings.Join(links, ","); got != "b b.html,b b.html,none " {
		t.Errorf("links %s", got)
	}
	if !b.Mermaid || len(b.Headings) != 1 || b.Headings[0].ID != "a" {
		t.Errorf("mermaid %v, headings %v", b.Mermaid, b.Headings)
	}
}

// Notes that embed each other many times give a page of bounded size.
func TestEmbedBomb(t *testing.T) {
	notes := map[string]string{"a.md": strings.Repeat("![[n0]]\n\n", 50)}
	for i := range 10 {
		notes[fmt.Sprintf("n%d.md", i)] = strings.Repeat(fmt.Sprintf("![[n%d]]\n\n", i+1), 50)
	}
	if b := body(t, "a.md", notes); len(b.HTML) > 2<<20 || len(b.Embedded) > maxEmbeds {
		t.Errorf("%d bytes, %d notes embedded", len(b.HTML), len(b.Embedded))
	}
	self := map[string]string{"self.md": "![[self]] ![[#S]]\n\n# S\n\nin S ![[#S]]\n"}
	if b := body(t, "self.md", self); strings.Count(string(b.HTML), "in S") != 3 {
		t.Errorf("a section of the note itself is shown %d times:\n%s", strings.Count(string(b.HTML), "in S"), b.HTML)
	}
}
