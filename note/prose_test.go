package note

import (
	"strings"
	"testing"
)

func TestProse(t *testing.T) {
	src := "---\ntitle: apple\n---\n# apple\n\nAn apple, *apple* and `apple`, [apple](x.md), [[apple]], https://apple.org #apple $apple$.\n\n" +
		"    apple\n\n- an apple\n  > apple <b>apple</b> %%apple%%\n\n| apple |\n|---|\n| apple |\n\n```\napple\n```\n<div>apple</div>\n"
	text, spans := Prose([]byte(src))
	var got []string
	for _, s := range spans {
		got = append(got, string(text[s.Start:s.End]))
	}
	if n := strings.Count(strings.Join(got, "|"), "apple"); n != 5 {
		t.Errorf("%d apples in %q, want those of the paragraph (2), the item, the quote and the bold HTML's", n, got)
	}
	if _, spans := Prose([]byte("a\x00b")); spans != nil {
		t.Errorf("binary: %v", spans)
	}
}

func TestAddLinks(t *testing.T) {
	src := "\ufeff---\r\nx: 1\r\n---\r\nAn apple and a pear.\r\n[old](x.md)\r\n"
	text, _ := Prose([]byte(src))
	at := func(s string) Span {
		i := strings.Index(string(text), s)
		return Span{i, i + len(s)}
	}
	got, err := AddLinks([]byte(src), []NewLink{{at("pear"), "[[Pears|pear]]"}, {at("apple"), "[[apple]]"}})
	want := "\ufeff---\r\nx: 1\r\n---\r\nAn [[apple]] and a [[Pears|pear]].\r\n[old](x.md)\r\n"
	if err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range [][]NewLink{
		{{at("apple"), "apple"}},                            // no link
		{{at("x: 1"), "[[x]]"}},                             // in the properties
		{{at("apple"), "[[a]]"}, {at("apple"), "[[b]]"}},    // twice
		{{at("old"), "[[old]]"}},                            // in a link
		{{Span{len(text), len(text) + 4}, "[[after]]"}},     // nowhere
		{{at("apple"), "[[apple]]\n\n# [[pear]]"}},          // more than a link
		{{at("pear"), "[[pear]] `"}, {at("old"), "[[x`]]"}}, // code
	} {
		if got, err := AddLinks([]byte(src), bad); err == nil {
			t.Errorf("%v: %q", bad, got)
		}
	}
}
