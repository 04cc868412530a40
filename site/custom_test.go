package site

import (
	"path/filepath"
	"strings"
	"testing"
)

// What a vault adds is on every page, cleaned; a site without has no trace of it.
func TestCustom(t *testing.T) {
	set := vaultOf(garden()...)
	out := filepath.Join(t.TempDir(), "out")
	plain := made(t, set, out)
	set.Custom = Custom{
		Style:      []byte(":root{--accent:#800}"),
		Head:       []byte(`<meta name="keywords" content="a&quot;b"><link rel="license" href="https://example.org/l"><link rel="stylesheet" href="https://evil.example/x.css"><script src="https://evil.example/x.js"></script><meta http-equiv="refresh" content="0; url=https://evil.example"><base href="https://evil.example">`),
		AfterTitle: []byte(`<p onclick="x()">Ours<script>alert(1)</script></p>`),
		Footer:     []byte(`<a href="https://example.org/imprint">Imprint</a><iframe src="https://evil.example"></iframe><style>*{}</style>`),
	}
	files := made(t, set, out)
	for _, name := range []string{"index.html", "guides/limits.html", "all.html", "404.html"} {
		page := files[name]
		for _, want := range []string{`kb/custom.`, `<meta name="keywords" content="a&#34;b">`, `<link rel="license" href="https://example.org/l">`, `>Imprint</a>`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s:\n%s", name, want, page)
			}
		}
		for _, bad := range []string{"evil.example", "onclick", "alert(1)", "*{}"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %s:\n%s", name, bad, page)
			}
		}
		if strings.Contains(plain[name], "custom") {
			t.Errorf("%s is customised by nothing:\n%s", name, plain[name])
		}
	}
	if _, after, ok := strings.Cut(files["guides/limits.html"], "</h1>"); !ok || !strings.HasPrefix(strings.TrimSpace(after), `<div class="custom-after-title"><p>Ours</p>`) {
		t.Errorf("after the title stands:\n%s", after)
	}
	for name, style := range files {
		if strings.HasPrefix(name, "kb/custom.") && style != ":root{--accent:#800}" {
			t.Errorf("the style is %s", style)
		}
	}
}

// A page lists the notes about the same that it does not link to.
func TestRelated(t *testing.T) {
	set := vaultOf(garden()...)
	home, limits, retry := set.Docs[0], set.Docs[2], set.Docs[1]
	limits.Related = []*Doc{retry, home, {Title: "not of the site"}}
	page := made(t, set, filepath.Join(t.TempDir(), "out"))["guides/limits.html"]
	_, related, ok := strings.Cut(page, `<h2 id="related">Related</h2>`)
	related, _, _ = strings.Cut(related, "</section>")
	if !ok || related != `<ul><li><a href="../index.html">Garden</a></li></ul>` {
		t.Errorf("related: %s in\n%s", related, page)
	}
}
