package export

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"kb/note"
)

// set makes a Set of path, text pairs.
func set(t *testing.T, pairs ...string) *Set {
	t.Helper()
	s := &Set{Paths: map[string][]string{}}
	texts := pairs
	for i := 0; i < len(pairs); i += 2 {
		n, _ := note.Parse([]byte(pairs[i+1]))
		d := Doc{Collection: "docs", Path: pairs[i], Title: n.TitleAt(pairs[i]), Tags: n.Tags, Summary: n.Summary,
			URI: "kb://docs@0123/" + pairs[i]}
		for _, h := range n.Headings {
			d.Slugs = append(d.Slugs, h.Slug)
		}
		s.Docs = append(s.Docs, d)
		s.Paths["docs"] = append(s.Paths["docs"], pairs[i])
	}
	s.Read = func(i int) (*note.Note, []byte, error) {
		n, text := note.Parse([]byte(texts[2*i+1]))
		return n, text, nil
	}
	return s
}

func markdown(t *testing.T, s *Set) string {
	t.Helper()
	var b strings.Builder
	if n, err := Markdown(&b, s, 0, 0); err != nil || n != len(s.Docs) {
		t.Fatalf("Markdown = %d, %v, want all %d docs", n, err, len(s.Docs))
	}
	checkAnchors(t, b.String())
	return b.String()
}

// checkAnchors fails when a link within the document leads nowhere or an id
// occurs twice.
func checkAnchors(t *testing.T, doc string) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`<a id="([^"]*)"></a>`).FindAllStringSubmatch(doc, -1) {
		if ids[m[1]] {
			t.Errorf("id %q occurs twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(doc, -1) {
		if !ids[m[1]] {
			t.Errorf("a link leads to #%s, which does not exist", m[1])
		}
	}
}

func TestMarkdownLinks(t *testing.T) {
	got := markdown(t, set(t,
		"a.md", "# A\n\nsee [[b]], [[b#Deep down|deep]], [[b#nothing]], [md](dir/c.md#sub), [[gone]], [out](https://x.org) and `[[b]]`\n",
		"b.md", "# B\n\n## Deep down\n\nback to [[A]] and [[#Deep down]]\n",
		"dir/c.md", "# C\n\n### Sub\n\n[up](../a.md)\n",
	))
	for _, want := range []string{
		"see [b](#b), [deep](#b--deep-down), [b > nothing](#b), [md](#dir-c--sub), gone, [out](https://x.org) and `[[b]]`",
		"<a id=\"b--deep-down\"></a>\n\n### Deep down",
		"#### Sub",
		"[up](#a)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("export lacks %q:\n%s", want, got)
		}
	}
}

func TestMarkdownEmbeds(t *testing.T) {
	got := markdown(t, set(t,
		"a.md", "# A\n\n![[b]]\n\n![[b#Part]]\n\n![[b#^id]]\n\n![[picture.png]]\n",
		"b.md", "---\nx: 1\n---\n# B\n\nwhole\n\n## Part\n\npart of it\n\nblock here ^id\n",
	))
	body := got[strings.Index(got, "# A"):strings.Index(got, `<a id="b">`)]
	if n := strings.Count(body, "part of it"); n != 2 {
		t.Errorf("the section is embedded %d times, want 2:\n%s", n, body)
	}
	if strings.Contains(body, "x: 1") {
		t.Errorf("frontmatter was embedded:\n%s", body)
	}
	if strings.Count(body, "block here") != 3 || !strings.Contains(body, "![[picture.png]]") {
		t.Errorf("block or picture:\n%s", body)
	}
}

// Notes that embed each other, themselves, or many others end.
func TestMarkdownEmbedCycles(t *testing.T) {
	markdown(t, set(t,
		"a.md", "![[b]]\n\n![[a]]\n",
		"b.md", "![[a]] ![[c]]\n",
		"c.md", strings.Repeat("![[b]]\n\n", 200),
	))
}

func TestMarkdownFootnotesAndReferences(t *testing.T) {
	got := markdown(t, set(t,
		"a.md", "one[^1] and [x][r]\n\n```\n[^1]\n```\n\n[^1]: note of a\n\n[r]: https://a.org/\n",
		"b.md", "two[^1] and [y][r]\n\n[^1]: note of b\n\n[r]: https://b.org/\n",
	))
	for _, want := range []string{"one[^a-1]", "[^a-1]: note of a", "two[^b-1]", "```\n[^1]\n```", "[x](<https://a.org/>)", "[y](<https://b.org/>)"} {
		if !strings.Contains(got, want) {
			t.Errorf("export lacks %q:\n%s", want, got)
		}
	}
}

func TestMarkdownUnderlinedHeading(t *testing.T) {
	got := markdown(t, set(t, "a.md", "Title *here*\nand on\n===\n\ntext\n"))
	if !strings.Contains(got, "## Title here and on\n\ntext") {
		t.Errorf("underlined heading:\n%s", got)
	}
}

func TestMarkdownBudget(t *testing.T) {
	s := set(t, "a.md", strings.Repeat("word ", 100), "b.md", strings.Repeat("word ", 100), "c.md", "short")
	var b strings.Builder
	n, err := Markdown(&b, s, 0, 700)
	if err != nil || n != 1 || b.Len() > 700 {
		t.Errorf("wrote %d docs, %d bytes, %v; want 1 within 700 bytes", n, b.Len(), err)
	}
	if n, err = Markdown(&b, s, 1, 0); err != nil || n != 2 {
		t.Errorf("the rest: %d docs, %v; want 2", n, err)
	}
	// A doc that alone exceeds the budget is written all the same.
	if n, err = Markdown(io.Discard, s, 0, 1); err != nil || n != 1 {
		t.Errorf("tiny budget: %d docs, %v; want 1", n, err)
	}
}

func TestAnchorsAreUnique(t *testing.T) {
	markdown(t, set(t, "a b.md", "# x\n", "a-b.md", "# x\n\n# x\n", "a/b.md", "# x\n", "a-b-1.md", "# x\n", "a--x.md", "# y\n"))
}

func TestJSONL(t *testing.T) {
	var b bytes.Buffer
	if _, err := JSONL(&b, set(t, "a.md", "# A\n\ntext <b> & \"c\"\n"), 0, 0); err != nil {
		t.Fatal(err)
	}
	var l line
	if err := json.Unmarshal(b.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	if l.URI != "kb://docs@0123/a.md#a" || l.Lines != [2]int{1, 3} || !strings.Contains(l.Text, "<b> &") {
		t.Errorf("line %+v", l)
	}
}

func TestBundle(t *testing.T) {
	s := set(t, "a.md", "[[c|see]] ![[pic.png]]\n", "dir/c.md", "[[a#x]]\n")
	var one, two bytes.Buffer
	if err := Bundle(&one, s); err != nil {
		t.Fatal(err)
	}
	if err := Bundle(&two, s); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("two bundles of the same docs differ (%v)", err)
	}
	z, err := zip.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"docs/a.md": "[see](dir/c.md) ![[pic.png]]\n", "docs/dir/c.md": "[a > x](../a.md)\n"}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(r)
		if string(got) != want[f.Name] {
			t.Errorf("%s = %q, want %q", f.Name, got, want[f.Name])
		}
	}
}

func TestLLMs(t *testing.T) {
	var b strings.Builder
	if err := LLMs(&b, set(t, "guides/a.md", "# A\n\nWhat it is.\n"), "Manual", "All of it", false); err != nil {
		t.Fatal(err)
	}
	want := "# Manual\n\n> All of it\n\n## docs/guides\n\n- [A](kb://docs@0123/guides/a.md): What it is.\n\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# A\n\n[[b#B|x]] ![[b]] [r][1]\n\n[1]: b.md\n", "B\n===\n\n[^1]\n\n[^1]: ![[a]]\n")
	f.Add("```\n# no\n```\n![[a#^x]]", "> # q\n\n- ![[b]]\n\n`[[a]]`")
	f.Fuzz(func(t *testing.T, a, b string) {
		s := set(t, "a.md", a, "b.md", b)
		var out strings.Builder
		if _, err := Markdown(&out, s, 0, 0); err != nil {
			t.Fatal(err)
		}
		if err := Bundle(io.Discard, s); err != nil {
			t.Fatal(err)
		}
	})
}
