package note

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pieces of notes, which TestHTMLRandom puts together anyhow.
var pieces = slices.Concat(
	strings.Split("# |## |> |- |1. |- [ ] |- [x] |    |\n|\n|\n\n|\n\n|\n> |\n- |\n\n  |*|**|_|==|~~|`|``|```\n|```js\n|$|$$|$$\n|%%|[|]|[[|]]|![[|![|](|)|](x.md)|](javascript:a)|[^1]|\n\n[^1]: |^[|[^|> [!tip]+ |> [!x]\n|\n---\n|***\n| #tag|https://a.b/c|<http://d.e>| ^id|\n\n^id\n|a|b |漢|\\|&amp;|&lt;|\"|'|<!-- |-->", "|"),
	[]string{"|", "|a|b|\n|-|:-:|\n", "\n|c|d|\n", "![[Note]]", "![[gone]]", "[[Note|n]]", "![[image.png|20]]", "[r]", "\n\n[r]: x 't'\n\n"},
	rawPieces(),
)

func rawPieces() []string {
	var all []string
	for _, name := range strings.Fields("a b i div p p p ul ol li li dl dt dd table table tbody thead tr tr td td th caption colgroup col h1 h2 span ruby rt rp " +
		"details summary pre code br hr img audio source section blockquote center script style svg math iframe select input form button template title textarea nobr font") {
		all = append(all, "<"+name+">", "</"+name+">", "\n<"+name+">", "\n\n</"+name+">\n\n")
	}
	return append(all, `<a href="x">`, `<a href="javascript:a">`, `<a id="u">`, `<a name="n" id="m">`, `<a href="x" id="h">`, `<td id="c">`, `<li id="l">`,
		`<script id="s">`, `<form id="f">`, `<table id="t">`, `<img src="" id="i">`, `<img src="x" onerror="a">`, `<p style="x">`)
}

func TestHTMLRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4_000 {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		src := b.String()
		if !t.Run("", func(t *testing.T) { checkRendered(t, []byte(src)) }) {
			t.Fatalf("source: %q", src)
		}
	}
}
