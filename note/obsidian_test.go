package note

import (
	"strings"
	"testing"
)

// What is a link, and what a reader sees, where Obsidian's additions meet.
func TestObsidianSyntax(t *testing.T) {
	tests := []struct{ src, links, summary string }{
		{"x^[see [[a]] and [b](c)] y", "a c", "x y"},
		{"[x ^[y [z](in)]](out)", "in", "[x ](out)"},
		{"a^[] ^[b", "", "a^[] ^[b"},
		{"$a [[b]]$ [[c]]", "c", "$a [[b]]$ c"},
		{"costs $5 and [[b]] $6", "b", "costs $5 and b $6"},
		{"$PATH/$HOME, a$b$c, \\$a$ $ [[b]]$", "b", "$PATH/$HOME, a$b$c, $a$ $ b$"},
		{"$$\n[[a]]\n\n- [[b]]\n$$\n[[c]]", "c", "c"},
		{"$$\n[[a]]", "a", "$$ a"},
		{"> [!tip]- [[a]]\n> [[b]]", "a b", "b"},
		{"> [!tip] only a title", "", ""},
		{"> [!] x", "", "[!] x"},
		{"> text\n> [!tip] x", "", "text [!tip] x"},
		{"- [/] half\n", "", "half"},
		{"- [?](b)\n", "b", ""},
		{"- [1] source\n", "", "[1] source"},
		{"- [a] x\n\n[a]: b\n", "b", "a x"},
	}
	for _, tt := range tests {
		checkNote(t, []byte(tt.src))
		checkRendered(t, []byte(tt.src))
		n, _ := Parse([]byte(tt.src))
		var links []string
		for _, l := range n.Links {
			links = append(links, l.Target)
		}
		if got := strings.Join(links, " "); got != tt.links || n.Summary != tt.summary {
			t.Errorf("%q: links %q, summary %q, want %q, %q", tt.src, got, n.Summary, tt.links, tt.summary)
		}
	}
}

func TestSafeURL(t *testing.T) {
	for url, want := range map[string]bool{
		"a.html": true, "../a b.html#c": true, "#a": true, "?a:b": true, "a/b:c": true, "https://a.b": true, "HTTP://a": true, "mailto:a@b.c": true, "kb://a/b.md": true, "//a.b": true,
		"": false, "javascript:a": false, "JaVaScRiPt:a": false, " javascript:a": false, "java\tscript:a": false, "java\nscript:a": false, "\x01javascript:a": false, "javascript&colon;a": false,
		"javascript&#58;a": false, "jav&#x61;script:a": false, "\u00a0javascript:a": false, "data:text/html,a": false, "vbscript:a": false, "file:///a": false, "x:javascript:a": false,
		"ja\u200bvascript:a": false, strings.Repeat("a", 100) + ":b": false,
	} {
		if got := safeURL(url); got != want {
			t.Errorf("safeURL(%q) = %v", url, got)
		}
	}
}
