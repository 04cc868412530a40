package site

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
)

var tags = regexp.MustCompile(`<[^>]*>`)

func TestHighlight(t *testing.T) {
	h := &highlighter{newMemory()}
	for _, tt := range []struct{ lang, code, want string }{
		{"go", "func f() {}\n", `<span class="kd">func</span>`},
		{"rust", "let a = \"<b>\";\n", `&lt;b&gt;`},
		{"js", "// x\n", `<span class="c1">`},
		{"nosuch", "x\n", ""},
		{"", "x\n", ""},
		{"go", strings.Repeat("x", maxCodeLine+1), ""},
		{"go", strings.Repeat("x\n", maxCode), ""},
	} {
		for range 2 { // the second time from the cache
			got, ok := h.highlight(tt.lang, []byte(tt.code))
			if ok != (tt.want != "") || !strings.Contains(string(got), tt.want) {
				t.Errorf("%s %.20q: %v %.100s, want %q", tt.lang, tt.code, ok, got, tt.want)
			}
			if text := html.UnescapeString(tags.ReplaceAllString(string(got), "")); ok && text != tt.code {
				t.Errorf("%s: the text of %s is %q, want %q", tt.lang, got, text, tt.code)
			}
		}
	}
}

// What is highlighted, and copied, is the code itself in every language, though
// some lexers panic, repeat text or go round in circles at these.
func TestHighlightKeepsText(t *testing.T) {
	codes := []string{
		"if a < b && c > 'd' { \"e\" } // f\n\t#g $h <i j=\"k\">l</i>\n\n(* m *) -- n\n",
		"<\\`\n\\=],$end\n漢a&;{.  <a {</a>?+,(//)end\n)end\n*; 漢 &end\n\t*//////*[^$;漢)-*{{?0x#\n{def |?def &",
		"@>]\"<a @~?#{^class  end\nend\n_,`#?::--//if .\\\"=|end\n(:漢a(+'!\";,=\n_",
		"a {\n  /* b\n  c */ }\n",
	}
	marked, lexers := 0, map[chroma.Lexer]bool{}
	for lang, lexer := range languages() {
		if lexers[lexer] {
			continue
		}
		lexers[lexer] = true
		for _, code := range codes {
			got := highlight(lang, []byte(code))
			if text := html.UnescapeString(tags.ReplaceAllString(string(got), "")); got != nil && text != code {
				t.Errorf("%s: the text of %q is %q", lang, code, text)
			} else if got != nil {
				marked++
			}
		}
	}
	if all := len(codes) * len(lexers); marked < all*9/10 {
		t.Errorf("%d of %d are marked", marked, all)
	}
}
