package note

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var hostile = map[string]func(n int) string{}

func rep(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)+1) }
}

func init() {
	for name, unit := range map[string]string{
		"word": "a", "space": " ", "newlines": "\n", "open": "[", "wiki": "[[", "embed": "![[", "image": "![", "close": "]", "brackets": "[]", "openwords": "[a ",
		"quotes": ">", "quotesp": "> ", "dashes": "- ", "dashlines": "- a\n", "numlist": "1. a\n", "stars": "*", "emph": "*a ", "emph2": "*a **a ", "emph3": "a_ ", "emph4": "*a_ ", "emph5": "a**b", "emph6": "_a__",
		"codes": "`", "codes2": "`a``", "html": "<a ", "comment": "<!-- ", "pi": "<? ", "cdata": "<![CDATA[", "decl": "<!A ", "lt": "<", "tags": "<b>", "divs": "<div>\n", "script": "<script>\n", "cmark": "%%", "cmark1": "%% ", "cmarkl": "%%\n", "cmarkl2": "%%\n\n",
		"hash": "#", "hashes": "# ", "headings": "# a\n", "tag": "#a ", "setext": "a\n=\n", "setextlong": "a\n", "eq": "==", "eqa": "==a ", "tilde": "~~a ", "caret": " ^a", "caretl": "^a\n", "caretp": "a ^b\n\n",
		"refs": "[a]: b\n", "refs2": "[a]\n", "reft": "[a]: b '", "links": "[a](b)", "linkt": "[a](b \"", "linkp": "[a](", "linkpp": "[a]((", "nestl": "[a [b](c) ", "imgn": "![a", "foot": "[^1]: a\n", "footr": "[^1] ", "footu": "[^",
		"pipes": "|", "table": "|a|b|\n", "url": "https://a.b ", "url2": "http://", "www": "www.", "at": "a@", "atd": "a@b.", "colon": ":", "parens": "https://a.b/(((", "fence": "```\n", "fencex": "```a\n\n", "tabs": "\t", "tabdash": "-\t", "amp": "&amp;", "ampn": "&", "bs": "\\", "ent": "&#", "han": "漢", "emoji": "👍",
		"autol": "<http:", "autoe": "<a@", "plus": "+ ", "plusl": "+ a\n\n", "quotel": "> a\n\n", "lazy": "> a\nb\n", "listq": "- > ", "tablerow": "|-|\n", "closediv": "</div>\n", "nbsp": "\u00a0", "crs": "\r", "task": "- [ ] a\n", "refnest": "[a][b]", "tick3": "``` ", "mixed": "*[_`", "ticks": "`a` ", "bq2": ">>> a\n", "strike": "~a~~", "p8": "(", "dollar": "$a$ ",
		"dollars": "$", "dollar open": "$a ", "dollar pairs": "$$", "dollar lines": "$$\n", "dollar para": "$$a\n\n", "inline footnote": "^[", "inline footnotes": "^[a] ", "callout": "> [!a] b\n\n", "callouts": "> [!a]\n", "callout open": "[!a", "tasks": "- [?] a\n",
		"raw p": "<p>", "raw lines": "<p>\n\n", "raw b": "<b>a ", "raw li": "<ul><li>", "raw td": "<table><tr><td>\n\n", "raw end": "</b></p></td>", "raw a": "<a href=b>", "raw ids": "<b id=a>", "tag links": "#a/b ", "images": "![[a.png]] ",
	} {
		hostile[name] = rep(unit)
	}
	both := func(a, mid, b string) func(int) string {
		return func(n int) string {
			return strings.Repeat(a, n/(len(a)+len(b))) + mid + strings.Repeat(b, n/(len(a)+len(b)))
		}
	}
	hostile["brackets nested"] = both("[", "a", "]")
	hostile["brackets nested, a reference"] = func(n int) string { return "[a]: b\n\n" + both("[", "a", "]")(n) }
	hostile["images nested"] = both("![", "a", "](b)")
	hostile["images nested, lines"] = both("![\n", "a", "](b)")
	hostile["links nested"] = both("[", "a", "](b)")
	hostile["parens nested"] = func(n int) string { return "[a](" + both("(", "a", ")")(n) + ")" }
	hostile["emphasis nested"] = both("*a ", "x", " a*")
	hostile["strong nested"] = both("**a ", "x", " a**")
	hostile["inline footnotes nested"] = both("^[", "a", "]")
	hostile["raw nested"] = both("<b>", "a", "</b>")
	hostile["highlights nested"] = both("==a ", "x", " a==")
	hostile["quote, blank lines"] = both("> ", "a", "\n")
	hostile["quote, lazy lines"] = both("> ", "a", "a\n")
	hostile["list, blank lines"] = both("- ", "a\n", "\n")
	hostile["list, lines"] = both("- ", "a\n", "b\n")
	hostile["list stairs"] = func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(" ", i) + "- a\n")
		}
		return b.String()
	}
	hostile["wide table"] = func(n int) string {
		return strings.Repeat("|a", n/6) + "\n" + strings.Repeat("|-", n/6) + "\n" + strings.Repeat("|\n", n/6)
	}
	hostile["table escapes"] = func(n int) string { return "|a|b|\n|-|-|\n" + strings.Repeat("|`a\\|b`|c|\n", n/11) }
	hostile["table escapes1"] = func(n int) string { return "|a|b|\n|-|-|\n|" + strings.Repeat("`a\\|b`", n/11) }
	hostile["tables"] = rep("|a|\n|-|\n|b|\n\n")
	hostile["footnotes"] = func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[^%d]\n\n[^%d]: x\n\n", i, i)
		}
		return b.String()
	}
	hostile["footnotes then refs"] = func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n/2; i++ {
			fmt.Fprintf(&b, "[^%d]: x\n\n", i)
		}
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[^%d] ", 900)
		}
		return b.String()
	}
	hostile["footnotes backwards"] = func(n int) string {
		var b strings.Builder
		for i := 2000; i > 0; i-- {
			fmt.Fprintf(&b, "[^%d]\n\n", i)
		}
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[^%d]: x\n\n", i)
		}
		return b.String()
	}
	hostile["backtick runs"] = func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < n; i++ {
			b.WriteString(strings.Repeat("`", i) + "a ")
		}
		return b.String()
	}
	hostile["same headings"] = rep("# a\n\n")
	hostile["heading line"] = func(n int) string { return "# " + strings.Repeat("*a ", n/3) }
	hostile["setext long"] = func(n int) string { return strings.Repeat("*a \n", n/4) + "===\n" }
	hostile["list items of emph"] = rep("- *a _b [c `d <e\n")
	hostile["references"] = func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[a%d]: b\n", i)
		}
		return b.String()
	}
	hostile["references, used"] = func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n/2; i++ {
			fmt.Fprintf(&b, "[a%d]: b\n", i)
		}
		b.WriteString("\n")
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[a%d]\n", i)
		}
		return b.String()
	}
	hostile["reference labels unclosed"] = func(n int) string { return "[a]: b\n" + strings.Repeat("[a\n", n/3) }
	hostile["reference titles unclosed"] = rep("[a]: b\n'c\n")
	front := func(unit string) func(int) string {
		return func(n int) string {
			return "---\na: 1\n" + strings.Repeat(unit, min(n, maxFrontmatter-100)/len(unit)) + "\n---\n"
		}
	}
	for name, unit := range map[string]string{"open": "[", "braces": "{", "dashes": "- ", "question": "? ", "colon": ": ", "keys": "a: 1\n", "quote": "\"", "squote": "'", "anchor": "&a ", "alias": "*a ", "list": "- a\n", "qlist": "- \"[[a]]\"\n",
		"complex": "? a\n: b\n", "wikilink": "a: '[[b]]'\n", "comments": "# a\n", "block": "a: |\n  b\n", "tags": "!a ", "blank": "\n", "amp": "a: &x 1\n", "esc": "a: \"[[\\x41]]\"\n", "flow": "a: [b, {c: d}]\n", "flow1": "[a, ", "spaces": " ", "docs": "a: b\n---x\n", "bar": "|", "pct": "%\n", "long": "a", "multi": "a: b\n  c\n", "nested": "a:\n b:\n  c:\n   - d\n"} {
		hostile["front "+name] = front(unit)
	}
	hostile["front stairs"] = func(n int) string {
		var b strings.Builder
		b.WriteString("---\n")
		for i := 0; b.Len() < min(n, maxFrontmatter-1000); i++ {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String() + "---\n"
	}
	hostile["front bomb"] = func(n int) string {
		s := "---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
		for i := 1; i < 40; i++ {
			s += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
		}
		return s + "---\n"
	}
	hostile["front selfref"] = func(n int) string { return "---\na: &a [*a]\n---\n" }
	hostile["toml open"] = func(n int) string { return "+++\na = " + strings.Repeat("[", min(n, maxFrontmatter-100)) + "\n+++\n" }
	hostile["toml dots"] = func(n int) string {
		return "+++\n" + strings.Repeat("a.", min(n, maxFrontmatter-100)/2) + "b = 1\n+++\n"
	}
	hostile["toml keys"] = func(n int) string {
		var b strings.Builder
		b.WriteString("+++\n")
		for i := 0; b.Len() < min(n, maxFrontmatter-100); i++ {
			fmt.Fprintf(&b, "a%d = 1\n", i)
		}
		return b.String() + "+++\n"
	}
	hostile["logseq"] = rep("a:: [[b]]\n")
	hostile["logseq keys"] = func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "a%s:: [[b]] #c\n", strings.Repeat("x", i%50))
		}
		return b.String()
	}
}

func TestHostile(t *testing.T) {
	for name, generate := range hostile {
		t.Run(name, func(t *testing.T) {
			checkNote(t, []byte(generate(6_000)))
			checkNote(t, []byte("text\n\n- "+generate(2_000)+"\n\ntext"))
		})
	}
}

// These grew with the square of their length, or worse, in the libraries. At
// these lengths that is minutes.
func TestHostileLong(t *testing.T) {
	for name, size := range map[string]int{
		"refs": 500_000, "references": 500_000, "wide table": 1 << 20, "list, blank lines": 500_000, "brackets nested": 500_000,
		"quotes": 500_000, "dashes": 500_000, "wiki": 200_000, "embed": 300_000, "word": 500_000, "linkpp": 200_000, "footnotes then refs": 500_000,
		"front amp": 500_000, "front bomb": 0, "front open": 500_000, "front stairs": 500_000, "toml keys": 500_000, "toml open": 500_000,
	} {
		t.Run(name, func(t *testing.T) {
			if n, _ := Parse([]byte(hostile[name](size))); n.Binary {
				t.Fatal("binary")
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		b.Run(name, func(b *testing.B) {
			src := []byte(hostile[name](1 << 20))
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Parse(src)
			}
		})
	}
}
