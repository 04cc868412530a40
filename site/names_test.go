package site

import (
	"strings"
	"testing"
)

func TestPageName(t *testing.T) {
	for _, tt := range [][3]string{
		{"", "guides/Retry Policy.md", "guides/retry-policy.html"},
		{"docs", "guides/README.md", "docs/guides/index.html"},
		{"", "README.md", "index.html"},
		{"", "日本語/ノート 1.md", "日本語/ノート-1.html"},
		{"", "a/CON.md", "a/con-"},
		{"", "v1.2 notes.md", "v1.2-notes.html"},
		{"", "???.md", ""},
		{"", ".hidden/x.md", "hidden/x.html"},
		{"", "50% off: a & b.md", "50-off-a-b.html"},
		{"", strings.Repeat("long ", 60) + ".md", "long-long-"},
	} {
		got := pageName(tt[0], tt[1])
		if want := tt[2]; got != want && !(strings.HasPrefix(got, want) && !strings.HasSuffix(want, ".html")) || len(got) > maxName+20 {
			t.Errorf("pageName(%q, %q) = %q, want %q", tt[0], tt[1], got, want)
		}
	}
}

// Names that differ for a person but not for a file system, or that are the
// site's own, do not meet; the first keeps its name.
func TestClaim(t *testing.T) {
	n := newNamer()
	seen := map[string]bool{}
	for _, p := range []string{"A b.md", "a-B.md", "a  b.md", "search.md", "kb/x.md", "404.md", "manifest.json.md"} {
		name := n.claim(pageName("", p), p)
		if seen[name] || name == searchPage || name == notFoundPage || strings.HasPrefix(name, "kb/") {
			t.Errorf("%q is called %q", p, name)
		}
		seen[name] = true
	}
	if !seen["a-b.html"] {
		t.Error("the first did not keep its name")
	}
}

func TestRelative(t *testing.T) {
	for _, tt := range [][3]string{
		{"index.html", "a/b.html", "a/b.html"},
		{"a/b.html", "a/c.html", "c.html"},
		{"a/b/c.html", "a/d.html", "../d.html"},
		{"a/b.html", "c/d.html", "../c/d.html"},
		{"a/b.html", "index.html", "../index.html"},
		{"a/b/x.html", "ab/y.html", "../../ab/y.html"},
		{"a.html", "日 本.html", "%E6%97%A5%20%E6%9C%AC.html"},
	} {
		if got := relative(tt[0], tt[1]); got != tt[2] {
			t.Errorf("relative(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}
