package note

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestLinks(t *testing.T) {
	const wiki, md, auto = WikiLink, MarkdownLink, AutoLink
	tests := []struct {
		src  string
		want []Link // Line, Start and End are compared by the source text
		text []string
	}{
		{"a [[Foo]] b", []Link{{Kind: wiki, Target: "Foo", Text: "Foo"}}, []string{"[[Foo]]"}},
		{"[[a/b.md#H 1#H 2|see]]", []Link{{Kind: wiki, Target: "a/b.md", Fragment: "H 1#H 2", Text: "see"}}, nil},
		{"[[Foo#Bar]]", []Link{{Kind: wiki, Target: "Foo", Fragment: "Bar", Text: "Foo > Bar"}}, nil},
		{"[[#Bar]]", []Link{{Kind: wiki, Fragment: "Bar", Text: "Bar"}}, nil},
		{"[[Foo#^id1]]", []Link{{Kind: wiki, Target: "Foo", Fragment: "^id1", Text: "Foo > ^id1"}}, nil},
		{"![[a.png|300x200]]", []Link{{Kind: wiki, Embed: true, Target: "a.png", Text: "a.png"}}, []string{"![[a.png|300x200]]"}},
		{"![[Note#^b]]", []Link{{Kind: wiki, Embed: true, Target: "Note", Fragment: "^b", Text: "Note > ^b"}}, nil},
		{"[[ spaced | alias ]]", []Link{{Kind: wiki, Target: "spaced", Text: "alias"}}, nil},
		{"[[a|see [1]]]", []Link{{Kind: wiki, Target: "a", Text: "see [1"}}, nil},
		{"[[]] [[ ]] [[|x]] [[#]] [[a\nb]] [[a]", nil, nil},
		{"`[[code]]` \\[[no]]\n\n    [[indented]]\n\n```\n[[fenced]]\n```\n", nil, nil},
		{"|a|\n|-|\n|[[x\\|y]]|\n", []Link{{Kind: wiki, Target: "x", Text: "y"}}, []string{`[[x\|y]]`}},
		{"[[1]](https://a.b/c)", []Link{{Kind: md, Target: "https://a.b/c", Text: "[1]"}}, []string{"[[1]](https://a.b/c)"}},
		{"# [[In heading]]\n", []Link{{Kind: wiki, Target: "In heading", Text: "In heading"}}, nil},
		{"[t *e* `c`](a%20b.md#x%20y \"title\")", []Link{{Kind: md, Target: "a b.md", Fragment: "x y", Text: "t e c"}}, []string{"[t *e* `c`](a%20b.md#x%20y \"title\")"}},
		{"![alt](i.png)", []Link{{Kind: md, Embed: true, Target: "i.png", Text: "alt"}}, []string{"![alt](i.png)"}},
		{"[a](<b c.md>)", []Link{{Kind: md, Target: "b c.md", Text: "a"}}, nil},
		{"[a](b(c)d)", []Link{{Kind: md, Target: "b(c)d", Text: "a"}}, []string{"[a](b(c)d)"}},
		{"[a]()", []Link{{Kind: md, Text: "a"}}, nil},
		{"[a](#frag)", []Link{{Kind: md, Fragment: "frag", Text: "a"}}, nil},
		{"[a](x y) [b](c", nil, nil},
		{"[a](https://x.y/%2F?q=1#f%20g)", []Link{{Kind: md, Target: "https://x.y/%2F?q=1", Fragment: "f%20g", Text: "a"}}, nil},
		{"[a](b%zz.md)", []Link{{Kind: md, Target: "b%zz.md", Text: "a"}}, nil},
		{"[a](b&amp;c.md) [a](b\\_c.md)", []Link{{Kind: md, Target: "b&c.md", Text: "a"}, {Kind: md, Target: "b_c.md", Text: "a"}}, nil},
		{"[![i](j.png)](k.md)", []Link{{Kind: md, Target: "k.md", Text: "i"}, {Kind: md, Embed: true, Target: "j.png", Text: "i"}}, []string{"[![i](j.png)](k.md)", "![i](j.png)"}},
		{"[a [b](c) d](e)", []Link{{Kind: md, Target: "c", Text: "b"}}, nil},
		{"[ref] [Ref][] [x][ref] [no]\n\n[ref]: r.md 'T'\n", []Link{{Kind: md, Target: "r.md", Text: "ref"}, {Kind: md, Target: "r.md", Text: "Ref"}, {Kind: md, Target: "r.md", Text: "x"}}, []string{"[ref]", "[Ref][]", "[x][ref]"}},
		{"[x][two\nwords]\n\n[two words]: r.md\n", []Link{{Kind: md, Target: "r.md", Text: "x"}}, []string{"[x][two\nwords]"}},
		{"[two\nwords]\n\n[two words]: r.md\n", []Link{{Kind: md, Target: "r.md", Text: "two words"}}, nil},
		{"[unclosed " + strings.Repeat("w ", 800) + "[a](b.md)", []Link{{Kind: md, Target: "b.md", Text: "a"}}, []string{"[a](b.md)"}},
		{"[a](b\n'c d')", []Link{{Kind: md, Target: "b", Text: "a"}}, nil},
		{"> [a\n> b](c.md)", []Link{{Kind: md, Target: "c.md", Text: "a b"}}, nil},
		{"<https://a.b/c#d> <me@x.org>", []Link{{Kind: auto, Target: "https://a.b/c", Fragment: "d", Text: "https://a.b/c#d"}, {Kind: auto, Target: "mailto:me@x.org", Text: "me@x.org"}}, []string{"<https://a.b/c#d>", "<me@x.org>"}},
		{"see https://a.b/c_d_e, (http://x.y/(z)) **https://q.r** ftp://f.g!", []Link{
			{Kind: auto, Target: "https://a.b/c_d_e", Text: "https://a.b/c_d_e"}, {Kind: auto, Target: "http://x.y/(z)", Text: "http://x.y/(z)"},
			{Kind: auto, Target: "https://q.r", Text: "https://q.r"}, {Kind: auto, Target: "ftp://f.g", Text: "ftp://f.g"}}, nil},
		{"见https://x.com/路。www.example.org: me@x.org. a_b", []Link{{Kind: auto, Target: "https://x.com/路", Text: "https://x.com/路"},
			{Kind: auto, Target: "http://www.example.org", Text: "www.example.org"}, {Kind: auto, Target: "mailto:me@x.org", Text: "me@x.org"}}, []string{"https://x.com/路", "www.example.org", "me@x.org"}},
		{"[see https://a.b](c.md) [see https://d.e]", []Link{{Kind: md, Target: "c.md", Text: "see https://a.b"}, {Kind: auto, Target: "https://d.e", Text: "https://d.e"}}, nil},
		{"://x http:// https:/x a@b @c.d xhttp://a.b `http://c.d` foo::bar", nil, nil},
		{"text[^1]\n\n[^1]: see [a](b.md)\n\n[^2]: unused [[c]]\n", []Link{{Kind: md, Target: "b.md", Text: "a"}, {Kind: wiki, Target: "c", Text: "c"}}, nil},
		{"<a href=\"x.md\">x</a> <!-- [[no]] --> %% [[no]] %%", nil, nil},
	}
	for _, tt := range tests {
		checkNote(t, []byte(tt.src))
		n, text := Parse([]byte(tt.src))
		if diff := cmp.Diff(tt.want, n.Links, cmpopts.IgnoreFields(Link{}, "Line", "Start", "End")); diff != "" {
			t.Errorf("Parse(%q).Links (-want +got):\n%s", tt.src, diff)
		}
		for i, want := range tt.text {
			if got := string(text[n.Links[i].Start:n.Links[i].End]); got != want {
				t.Errorf("Parse(%q).Links[%d] spans %q, want %q", tt.src, i, got, want)
			}
		}
	}
}

func TestTags(t *testing.T) {
	tests := []struct {
		src  string
		want []string
	}{
		{"#a text #b/c-d_e, #f.", []string{"a", "b/c-d_e", "f"}},
		{"#a #A #a/b", []string{"a", "a/b"}},
		{"#1984 #y1984 #19-84 #--- #/ # #", []string{"y1984", "19-84"}},
		{"#日本語 #тег #สวัสดี #é #🎉party", []string{"日本語", "тег", "สวัสดี", "é", "🎉party"}},
		{"a#b (#c) \"#d\" &#35; #e/", []string{"e"}},
		{"`#code` \\#esc\n\n    #indented\n\n~~~\n#fenced\n~~~\n", nil},
		{"# #heading #\n\n## Two #\n\n> #quoted\n\n- #item\n", []string{"heading", "quoted", "item"}},
		{"[x](a.md#frag) [[a#b]] [#in](x) https://x.y/#z", nil},
		{"*#emph* ==#mark== %% #hidden %% <!-- #hidden -->", nil},
		{"* #emph*\n|a|\n|-|\n|#cell|\n", []string{"emph", "cell"}},
		{"|a|\n|-|\n| #cell|\n", []string{"cell"}},
		{"---\ntags: [x, \"#y\", z w]\ntag: X\n---\n#Y #q", []string{"x", "y", "z w", "q"}},
		{"---\ntags: a, b c, '#d'\n---\n", []string{"a", "b c", "'#d'"}},
		{"---\ntags: a b #c\n---\n", []string{"a", "b"}},
		{"---\ntags: '#a #b'\n---\n", []string{"a", "b"}},
		{"---\ntags:\n  - 2024\n  - [n, m]\n---\n", []string{"2024", "n", "m"}},
		{"tags:: [[a b]], #c, d\n\ntext", []string{"a b", "c", "d"}},
	}
	for _, tt := range tests {
		checkTextNote(t, tt.src)
		n, _ := Parse([]byte(tt.src))
		if diff := cmp.Diff(tt.want, n.Tags); diff != "" {
			t.Errorf("Parse(%q).Tags (-want +got):\n%s", tt.src, diff)
		}
	}
}

func checkTextNote(t *testing.T, src string) {
	t.Helper()
	checkNote(t, []byte(src))
}

func TestHeadings(t *testing.T) {
	src := "# One *two* `3` [[A|b]] [c](d) ^id\n\ntext\n\nTwo\nlines\n---\n\n### Deep ###\n\n## Two\n\n> # quoted\n\n```\n# code\n```\n#\n\n# One two 3 b c\n\n%%\n# hidden\n%%\n#no heading\n"
	n, text := Parse([]byte(src))
	type row struct {
		Level      int
		Text, Slug string
		Line       int
		Section    string
	}
	var got []row
	for _, h := range n.Headings {
		got = append(got, row{h.Level, h.Text, h.Slug, h.Line, firstLines(string(text[h.Start:h.End]))})
	}
	want := []row{
		{1, "One two 3 b c", "one-two-3-b-c", 1, "# One *two* `3` [[A|b]] [c](d) ^id…```"},
		{2, "Two lines", "two-lines", 5, "Two…### Deep ###"},
		{3, "Deep", "deep", 9, "### Deep ###…### Deep ###"},
		{2, "Two", "two", 11, "## Two…```"},
		{1, "", "", 18, "#…#"},
		{1, "One two 3 b c", "one-two-3-b-c-1", 20, "# One two 3 b c…#no heading"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	if n.Title != "" {
		t.Errorf("title %q of a note with several level-1 headings", n.Title)
	}
	if diff := cmp.Diff([]string{"One two 3 b c", "Two lines", "Deep"}, n.HeadingPath(2)); diff != "" {
		t.Errorf("HeadingPath(2) (-want +got):\n%s", diff)
	}
	checkTextNote(t, src)
}

func TestTitle(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"# Retry\n\n## Backoff\n", "Retry"},
		{"## Before\n\n# Retry\n", "Retry"},
		{"---\ntitle: Given\n---\n# Retry\n", "Given"},
		{"# Summary\n\ntext\n\n# Motivation\n", ""},
		{"#\n\n# Retry\n", "Retry"},
		{"no heading\n", ""},
	} {
		if n, _ := Parse([]byte(tt.src)); n.Title != tt.want {
			t.Errorf("Parse(%q).Title = %q, want %q", tt.src, n.Title, tt.want)
		}
	}
}

func firstLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[0] + "…" + lines[len(lines)-1]
}

func TestBlocks(t *testing.T) {
	tests := []struct{ src, id, want string }{
		{"a\n\npara one\nline two ^abc-1\n\nb", "abc-1", "para one\nline two ^abc-1\n"},
		{"- one ^i1\n  - sub\n- two\n", "i1", "- one ^i1\n  - sub\n"},
		{"- one\n  - sub ^i2\n- two\n", "i2", "  - sub ^i2\n"},
		{"# Head ^h\n\ntext", "h", "# Head ^h\n"},
		{"> quoted\n> more\n\n^q\n", "q", "> quoted\n> more\n"},
		{"|a|\n|-|\n|b|\n\n^t\n", "t", "|a|\n|-|\n|b|\n"},
		{"x\n\n```go\ncode\n```\n\n^c\n", "c", "```go\ncode\n```\n"},
	}
	for _, tt := range tests {
		checkTextNote(t, tt.src)
		n, text := Parse([]byte(tt.src))
		if len(n.Blocks) != 1 || n.Blocks[0].ID != tt.id {
			t.Errorf("Parse(%q).Blocks = %+v, want one %q", tt.src, n.Blocks, tt.id)
			continue
		}
		if got := string(text[n.Blocks[0].Start:n.Blocks[0].End]); got != tt.want {
			t.Errorf("Parse(%q): block %q, want %q", tt.src, got, tt.want)
		}
	}
	for _, src := range []string{"a ^b c", "a^b", "x ^b\ny", "`a ^b`", "a ^b_c", "a ^"} {
		if n, _ := Parse([]byte(src)); n.Blocks != nil {
			t.Errorf("Parse(%q).Blocks = %+v, want none", src, n.Blocks)
		}
	}
}

func TestSkipSummaryWords(t *testing.T) {
	tests := []struct {
		src, summary string
		skip         []string
		words        int
	}{
		{"# T\n\nA *b* [[c|d]] `e` ==f== ~~g~~ <b>h</b> %%i%% &amp; \\* #j\n", "A b d e f g h & * #j", []string{"<b>", "</b>", "%%i%%"}, 11},
		{"![badge](x.png)\n\n<div class=\"x\">\nhtml\n</div>\n\nReal.\n", "Real.", []string{"<div class=\"x\">", "</div>"}, 5},
		{"- only\n- lists\n", "only", nil, 2},
		{"> quoted text\n", "quoted text", nil, 2},
		{"```\ncode\n```\n", "", nil, 1},
		{"%%\nhidden\n\nstill\n%%\n\nshown\n", "shown", []string{"%%\nhidden\n\nstill\n%%"}, 1},
		{"%% unclosed\n\nshown\n", "%% unclosed", nil, 2},
		{"<!-- a\n\nb -->\n\n<script>\nx\n</script>\nshown\n", "shown", []string{"<!-- a\n\nb -->", "<script>\nx\n</script>"}, 1},
		{strings.Repeat("wort ", 100), strings.TrimSpace(strings.Repeat("wort ", 59)) + "…", nil, 100},
		{"你好,世界 hello", "你好,世界 hello", nil, 5},
		{"---\na: b\n---\nbody only", "body only", nil, 2},
	}
	for _, tt := range tests {
		checkTextNote(t, tt.src)
		n, text := Parse([]byte(tt.src))
		var skip []string
		for _, s := range n.Skip {
			skip = append(skip, string(text[s.Start:s.End]))
		}
		if n.Summary != tt.summary || n.Words != tt.words {
			t.Errorf("Parse(%q): summary %q, %d words; want %q, %d", tt.src, n.Summary, n.Words, tt.summary, tt.words)
		}
		if diff := cmp.Diff(tt.skip, skip); diff != "" {
			t.Errorf("Parse(%q).Skip (-want +got):\n%s", tt.src, diff)
		}
	}
}

func TestCountWords(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, " \n": 0, "one": 1, "don't well-known snake_case": 3, "a.b": 2, "--- '": 0, "ein Überfluß, é": 3, "l’été": 1,
		"漢字かな": 4, "カタカナ": 4, "한국어 문장": 2, "ไทย": 3, "mixed漢字mixed": 4, "3.14 x2": 3, "नमस्ते दुनिया": 2, "。、": 0,
	} {
		if got := countWords([]byte(s)); got != want {
			t.Errorf("countWords(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	utf16le := func(s string) string {
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	tests := []struct{ src, want string }{
		{"", ""},
		{"a\nb", "a\nb"},
		{"\xef\xbb\xbfa", "a"},
		{"a\r\nb\r\r\nc\rd", "a\nb\nc\rd"},
		{utf16le("Grüße 👍\r\n"), "Grüße 👍\n"},
		{"\xfe\xff\x00a\x00\n", "a\n"},
		{"\xff\xfea\x00b", "a\uFFFD"},
		{"a\xffb\xc3", "a\uFFFDb\uFFFD"},
	}
	for _, tt := range tests {
		got, err := Decode([]byte(tt.src))
		if err != nil || string(got) != tt.want {
			t.Errorf("Decode(%q) = %q, %v; want %q", tt.src, got, err, tt.want)
		}
		if again, _ := Decode(got); len(got) > 0 && &again[0] != &got[0] {
			t.Errorf("Decode(Decode(%q)) is another slice", tt.src)
		}
	}
	for _, src := range []string{"a\x00b", utf16le("a\x00"), "\x89PNG\r\n\x1a\n\x00\x00"} {
		if got, err := Decode([]byte(src)); err != ErrBinary {
			t.Errorf("Decode(%q) = %q, %v; want ErrBinary", src, got, err)
		}
		checkTextNote(t, src)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		src, code string
		line      int
	}{
		{"a\n\xff\n", invalidUTF8, 2},
		{"a\x00", binaryData, 0},
		{"---\na: 1\nb: 2\na: 3\n---\n", duplicateKey, 2},
		{"---\na: 1\nb: [1\n---\n", malformedFrontmatter, 3},
		{"---\na: 1\nbody\n", malformedFrontmatter, 1},
		{"---\na: 1\n- b\n---\n", malformedFrontmatter, 3},
		{"+++\na = 1\nb = \n+++\n", malformedFrontmatter, 3},
		{"a:: 1\na:: 2\n", duplicateKey, 1},
	}
	for _, tt := range tests {
		n, _ := Parse([]byte(tt.src))
		if len(n.Problems) != 1 || n.Problems[0].Code != tt.code || n.Problems[0].Line != tt.line {
			t.Errorf("Parse(%.40q).Problems = %+v, want one %s in line %d", tt.src, n.Problems, tt.code, tt.line)
		}
	}
}

func TestCut(t *testing.T) {
	line := strings.Repeat("a long line of text ", 50) + "\n"
	src := strings.Repeat(line, 50<<20/len(line))
	n, text := Parse([]byte(src))
	if len(text) > MaxText || len(text) < MaxText-len(line) || len(text)%len(line) != 0 || !strings.HasPrefix(src, string(text)) {
		t.Errorf("50 MB: %d bytes of text", len(text))
	}
	want := []Problem{{Code: tooLarge, Line: MaxText/len(line) + 1}}
	if diff := cmp.Diff(want, n.Problems, cmpopts.IgnoreFields(Problem{}, "Message")); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	checkChunks(t, n, text)
	if got := (&Note{}).cut([]byte(strings.Repeat("漢字", MaxText/5))); len(got) > MaxText || len(got)%3 != 0 {
		t.Errorf("one line of Han: cut at %d bytes", len(got))
	}
}

func TestChunks(t *testing.T) {
	para := func(n int) string { return strings.Repeat("word ", n/5) + "\n\n" }
	tests := []struct {
		name, src string
		want      []string // how chunks start
		heading   []int
	}{
		{"empty", "", nil, nil},
		{"one", "text", []string{"text"}, []int{-1}},
		{"sections", "intro " + para(300) + "# A\n\n" + para(300) + "# B\n\n" + para(300), []string{"intro", "# A", "# B"}, []int{-1, 0, 1}},
		{"tiny joins deeper", "# A\n\n## B\n\n" + para(1700) + "# C\n\n" + para(250), []string{"# A", "# C"}, []int{0, 2}},
		{"tiny joins small", "# A\n\ntiny\n\n# B\n\n" + para(300) + "# C\n\n" + para(300), []string{"# A", "# C"}, []int{0, 2}},
		{"tiny before large", "## A\n\ntiny\n\n# B\n\n" + para(1800), []string{"## A", "# B"}, []int{0, 1}},
		{"paragraphs", "# A\n\n" + para(1000) + "x" + para(700) + "y" + para(1000), []string{"# A", "y"}, []int{0, 0}},
		{"giant paragraph", "# A\n\n" + strings.Repeat("one line of text\n", 400), []string{"# A", "one line", "one line", "one line", "one line"}, []int{0, 0, 0, 0, 0}},
		{"giant line", strings.Repeat("word ", 2000), []string{"word", "word", "word"}, []int{-1, -1, -1}},
		{"code with blank lines", "```\n" + strings.Repeat("code\n\n", 400) + "```\n", []string{"```"}, []int{-1}},
	}
	for _, tt := range tests {
		checkTextNote(t, tt.src)
		n, text := Parse([]byte(tt.src))
		var heading []int
		for i, c := range n.Chunks {
			heading = append(heading, c.Heading)
			if i < len(tt.want) && !strings.HasPrefix(string(text[c.Start:c.End]), tt.want[i]) {
				t.Errorf("%s: chunk %d starts with %.20q, want %q", tt.name, i, text[c.Start:c.End], tt.want[i])
			}
			if n.ChunkAt(c.Start) != i || n.ChunkAt(c.End-1) != i {
				t.Errorf("%s: ChunkAt of chunk %d = %d, %d", tt.name, i, n.ChunkAt(c.Start), n.ChunkAt(c.End-1))
			}
		}
		if diff := cmp.Diff(tt.heading, heading); diff != "" {
			t.Errorf("%s: headings of chunks (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestFindHeading(t *testing.T) {
	n, _ := Parse([]byte("# Guide\n\n## Set Up\n\n### Linux\n\n## Use\n\n### Linux\n\n# set up\n\n## C > D: E#F\n\n## Set Up\n"))
	for s, want := range map[string]int{
		"Guide": 0, "guide": 0, "Set Up": 1, "set up": 5, "SET UP": 1, "# SET UP": 5, "## Set Up": 1, "set-up": 1, "set-up-2": 7, "#set-up-1": 5, "linux-1": 4,
		"Use > Linux": 4, "Guide>Use>linux": 4, "Use#Linux": 4, "Guide#Linux": 2, "C > D: E#F": 6, "C D E F": -1, "": -1, "##": -1, "Use > Nope": -1, "Linux > Use": -1, "Set Up!": 1,
	} {
		got, ok := n.FindHeading(s)
		if got != want || ok != (want >= 0) {
			t.Errorf("FindHeading(%q) = %d, %v; want %d", s, got, ok, want)
		}
	}
	if n.HeadingPath(-1) != nil || n.HeadingPath(99) != nil || n.HeadingAt(0) != 0 {
		t.Error("headings out of range")
	}
}

func TestSlug(t *testing.T) {
	for heading, want := range map[string]string{
		"Set Up": "set-up", "  C++ & Go!  ": "c--go", "a_b-c": "a_b-c", "Über Straße": "über-straße", "日本語 の見出し": "日本語-の見出し",
		"v1.2.3": "v123", "What's new?": "whats-new", "हिन्दी": "हिन्दी", "🎉 Party": "-party", "": "",
	} {
		if got := Slug(heading); got != want {
			t.Errorf("Slug(%q) = %q, want %q", heading, got, want)
		}
	}
	s := slugger{}
	for _, step := range [][2]string{{"a", "a"}, {"a", "a-1"}, {"a-1", "a-1-1"}, {"a", "a-2"}, {"", ""}, {"", "-1"}} {
		if got := s.unique(step[0]); got != step[1] {
			t.Errorf("unique(%q) = %q, want %q", step[0], got, step[1])
		}
	}
}

func TestLines(t *testing.T) {
	text := []byte("one\ntwo\n\nfour")
	tests := []struct {
		first, last int
		want        string
	}{{1, 1, "one\n"}, {2, 3, "two\n\n"}, {4, 9, "four"}, {5, 9, ""}, {3, 2, ""}, {-1, 1, "one\n"}, {1, 99, string(text)}}
	for _, tt := range tests {
		if start, end := Lines(text, tt.first, tt.last); string(text[start:end]) != tt.want {
			t.Errorf("Lines(%d, %d) = %q, want %q", tt.first, tt.last, text[start:end], tt.want)
		}
	}
	for offset, want := range map[int]int{-5: 1, 0: 1, 3: 1, 4: 2, 8: 3, 9: 4, 99: 4} {
		if got := LineAt(text, offset); got != want {
			t.Errorf("LineAt(%d) = %d, want %d", offset, got, want)
		}
	}
}
