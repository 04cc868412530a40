package note

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRewrite(t *testing.T) {
	tests := []struct{ name, src, target, want string }{
		{"wikilink", "[[a]] [[ a ]] [[a#H]] [[a|x]] [[a#H|x]] ![[a]] ![[a|300]]", "b/c", "[[b/c]] [[ b/c ]] [[b/c#H]] [[b/c|x]] [[b/c#H|x]] ![[b/c]] ![[b/c|300]]"},
		{"in a table", "|x|\n|-|\n|[[a\\|y]]|", "b", "|x|\n|-|\n|[[b\\|y]]|"},
		{"inline", "[x](a) ![y](a \"t\") [z](<a#H> 'u') [w]( a#H )", "b", "[x](b) ![y](b \"t\") [z](<b#H> 'u') [w]( b#H )"},
		{"spaces", "[x](a) [y](<a>) [z](<a%20>)", "b c", "[x](b%20c) [y](<b c>) [z](<b%20c>)"},
		{"what could end it", "[x](a) [y](<a>)", "b)>(#?%20*", "[x](b%29%3E%28%23%3F%2520%2A) [y](<b%29%3E%28%23%3F%2520%2A>)"},
		{"letters", "[x](a) [y](a%C3%A9)", "é", "[x](é) [y](%C3%A9)"},
		{"parentheses", "[x](a_(b))", "c (d)", "[x](c%20(d))"},
		{"entity", "[x](a&amp;b#c)", "d&amp;e", "[x](d%26amp;e#c)"},
		{"query", "[x](a.md?plain=1#h)", "b.md?plain=1", "[x](b.md?plain=1#h)"},
		{"text with links", "[![i](a)](a)", "b", "[![i](b)](b)"},
		{"definitions", "[x] [x][] [y][x] [z]\n\n[x]: a 'T'\n[z]:\n  <a#h>\n  \"T\"\n", "b c", "[x] [x][] [y][x] [z]\n\n[x]: b%20c 'T'\n[z]:\n  <b c#h>\n  \"T\"\n"},
		{"definition in a quote", "> [x]:\n> a\n> [y]: a\n\n- [z]: a\n", "b", "> [x]:\n> b\n> [y]: b\n\n- [z]: b\n"},
		{"not in code", "`[[a]]` `[x](a)`\n\n```\n[[a]]\n```\n\n    [[a]]\n", "b", ""},
		{"not in comments", "%%[[a]]%% <!-- [[a]] -->\n\n%%\n[[a]]\n%%\n\n<!--\n[x](a)\n-->\n", "b", ""},
		{"not in math of the shell", "```sh\nif [[ -f a ]]; then\n```", "b", ""},
		{"not URLs", "<https://a.b> https://a.b", "b", ""},
		{"properties", "---\nup: \"[[a]]\" # [[a]]\n# [[a]]\nl: ['[[a|x]]', \"![[a#h]]\"]\n---\n[[a]]", "b", "---\nup: \"[[b]]\" # [[a]]\n# [[a]]\nl: ['[[b|x]]', \"![[b#h]]\"]\n---\n[[b]]"},
		{"property behind a comment", "---\nup: # [[a]]\n  - \"[[a]]\"\n---\n", "b", "---\nup: # [[a]]\n  - \"[[b]]\"\n---\n"},
		{"CRLF and bytes that are not UTF-8", "\xef\xbb\xbf\xe9\r\n[[a]]\r\n\xff[x](a)\r\n", "b", "\xef\xbb\xbf\xe9\r\n[[b]]\r\n\xff[x](b)\r\n"},
		{"a name that wikilinks cannot have", "[[a]] [x](a)", "b|c", "[[a]] [x](b%7Cc)"},
		{"nothing in them", "[x]() [[#h]]", "b", ""},
	}
	for _, tt := range tests {
		got, n := Rewrite([]byte(tt.src), func(l Link) (string, bool) { return tt.target, true })
		want := tt.want
		if want == "" {
			want = tt.src
		}
		if diff := cmp.Diff(want, string(got)); diff != "" || (n == 0) != (tt.want == "") {
			t.Errorf("%s: %d changed (-want +got):\n%s", tt.name, n, diff)
		}
	}
	if got, n := Rewrite([]byte("\xff\xfea\x00"), func(Link) (string, bool) { return "b", true }); n != 0 || len(got) != 4 {
		t.Errorf("UTF-16: %q", got)
	}
}

func TestRewriteTellsTheLink(t *testing.T) {
	var got []Link
	Rewrite([]byte("x\n[T *t*](a%20b#c)\n\n[d]: e\n"), func(l Link) (string, bool) { got = append(got, l); return "", false })
	want := []Link{
		{Kind: MarkdownLink, Target: "a b", Fragment: "c", Text: "T t", Line: 2, Start: 2, End: 18},
		{Kind: MarkdownLink, Target: "e", Line: 4, Start: 20, End: 26},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRenameLinks(t *testing.T) {
	paths := []string{"Home.md", "a/Note.md", "a/Other.md", "b/Other.md", "b/Deep/Leaf.md", "c/index.md", "img/pic.png", "d/From.md", "d/Data.base", "q?.md"}
	tests := []struct {
		name, path, src, from, to, want string
	}{
		{"name", "d/From.md", "[[Note]] [[note#H|x]] ![[Note.md]]", "a/Note.md", "a/New.md", "[[New]] [[New#H|x]] ![[New.md]]"},
		{"moved: the name still finds it", "d/From.md", "[[Note]] [[a/Note]] [x](../a/Note.md)", "a/Note.md", "z/Note.md", "[[Note]] [[z/Note]] [x](../z/Note.md)"},
		{"end of a path", "d/From.md", "[[Deep/Leaf]] [[b/Deep/Leaf]]", "b/Deep/Leaf.md", "b/Deep/New.md", "[[Deep/New]] [[b/Deep/New]]"},
		{"a name that another has", "d/From.md", "[[Note]] [[Home]]", "a/Note.md", "a/Home.md", "[[a/Home]] [[Home]]"},
		{"a name that becomes ambiguous", "d/From.md", "[[Leaf]] [[Note]]", "a/Note.md", "Leaf.md", "[[b/Deep/Leaf]] [[Leaf]]"},
		{"markdown links", "d/From.md", "[x](../a/Note.md) [y](../a/Note#H) [z](/a/Note.md) [w](a/Note.md) [v](Note.md) [u](<../a/Note.md?x=1#h> 't')", "a/Note.md", "e/N w.md", "[x](../e/N%20w.md) [y](../e/N%20w#H) [z](/e/N%20w.md) [w](e/N%20w.md) [v](N%20w.md) [u](<../e/N w.md?x=1#h> 't')"},
		{"from the same folder", "a/Other.md", "[x](Note.md) [y](./Note.md)", "a/Note.md", "a/sub/New.md", "[x](sub/New.md) [y](./sub/New.md)"},
		{"to a parent", "a/Other.md", "[y](./Note.md)", "a/Note.md", "New.md", "[y](../New.md)"},
		{"wikilinks from the note", "a/Other.md", "[[./Note]] [[../a/Note]] [[/a/Note]]", "a/Note.md", "b/New.md", "[[../b/New]] [[../b/New]] [[/b/New]]"},
		{"definition", "d/From.md", "[x]\n\n[x]: ../a/Note.md \"T\"\n", "a/Note.md", "New.md", "[x]\n\n[x]: ../New.md \"T\"\n"},
		{"property", "d/From.md", "---\nup: \"[[Note]]\" # [[Note]]\n---\n", "a/Note.md", "a/New.md", "---\nup: \"[[New]]\" # [[Note]]\n---\n"},
		{"folder", "Home.md", "[x](c/) [y](c) [z](c/index.md)", "c/index.md", "e/index.md", "[x](e/) [y](e) [z](e/index.md)"},
		{"folder above", "c/x.md", "[x](.) [y](..) [z](./)", "c/index.md", "c/y/README.md", "[x](y) [y](..) [z](./y/)"},
		{"folder that is the note's own", "c/x/n.md", "[x](../) [y](..)", "c/index.md", "c/x/index.md", "[x](./) [y](.)"},
		{"folder no more", "Home.md", "[x](c/) [y](c)", "c/index.md", "c/new.md", "[x](c/new.md) [y](c/new.md)"},
		{"attachment", "a/Note.md", "![[pic.png]] ![x](../img/pic.png)", "img/pic.png", "img/new.png", "![[new.png]] ![x](../img/new.png)"},
		{"moved note: its own links", "a/Note.md", "[x](Other.md) [[Other]] [y](../Home.md) [[Home]] [z](#h) [w](https://x.y) [v](/Home.md)", "a/Note.md", "e/f/Note.md", "[x](../../a/Other.md) [[Other]] [y](../../Home.md) [[Home]] [z](#h) [w](https://x.y) [v](/Home.md)"},
		{"moved note: links to itself", "a/Note.md", "[x](Note.md#h) [[Note]] [[#h]]", "a/Note.md", "e/New.md", "[x](New.md#h) [[New]] [[#h]]"},
		{"moved note: out of the collection", "a/Note.md", "[x](../../src/m.go) [y](../../../z)", "a/Note.md", "e/f/Note.md", "[x](../../../src/m.go) [y](../../../../z)"},
		{"moved note: links to folders", "a/Note.md", "[x](../b/Deep) [y](../b/) [z](../none) [w](/b) [v](..)", "a/Note.md", "e/f/Note.md", "[x](../../b/Deep) [y](../../b/) [z](../none) [w](/b) [v](../..)"},
		{"moved note: to the root", "a/Note.md", "[x](../../src/m.go) [y](../Home.md)", "a/Note.md", "Note.md", "[x](../src/m.go) [y](Home.md)"},
		{"only case", "d/From.md", "[[Note]] [[note]]", "a/Note.md", "a/note.md", "[[note]] [[note]]"},
		{"extension", "d/From.md", "[[Note]] [x](../a/Note)", "a/Note.md", "a/Note.txt", "[[Note.txt]] [x](../a/Note.txt)"},
		{"broken links stay", "d/From.md", "[[Nowhere]] [x](nowhere.md) [[Note]]", "a/Note.md", "a/New.md", "[[Nowhere]] [x](nowhere.md) [[New]]"},
		{"code stays", "d/From.md", "`[[Note]]`\n\n```\n[[Note]]\n```\n", "a/Note.md", "a/New.md", ""},
		{"nothing to do", "Home.md", "[[Other]]", "a/Note.md", "a/New.md", ""},
		{"a colon in the name", "a/Other.md", "[x](Note.md)", "a/Note.md", "a/ab:c.md", "[x](./ab:c.md)"},
	}
	for _, tt := range tests {
		r, err := NewRenamer(paths, map[string]string{tt.from: tt.to})
		if err != nil {
			t.Fatal(err)
		}
		got, n, err := r.RenameLinks(tt.path, []byte(tt.src))
		want := tt.want
		if want == "" {
			want = tt.src
		}
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil || (n > 0) != (tt.want != "") {
			t.Errorf("%s: %d changed (-want +got):\n%s%v", tt.name, n, diff, err)
		}
	}
}

func TestRenameSeveral(t *testing.T) {
	paths := []string{"a/One.md", "a/Two.md", "b/Three.md"}
	r, err := NewRenamer(paths, map[string]string{"a/One.md": "a/Two.md", "a/Two.md": "a/One.md", "b/Three.md": "a/Three.md"})
	if err != nil {
		t.Fatal(err)
	}
	got, n, err := r.RenameLinks("b/Three.md", []byte("[[One]] [x](../a/Two.md) [[Three]]"))
	if want := "[[Two]] [x](One.md) [[Three]]"; string(got) != want || n != 2 || err != nil {
		t.Errorf("%q, %d, %v; want %q", got, n, err, want)
	}
}

func TestRenameRefuses(t *testing.T) {
	paths := []string{"a.md", "b.md", "c/d.md"}
	for _, moved := range []map[string]string{{"a.md": "b.md"}, {"x.md": "y.md"}, {"a.md": ""}, {"a.md": "../a.md"}, {"a.md": "/a.md"}, {"a.md": "x//a.md"}, {"a.md": "q.md", "b.md": "q.md"}} {
		if _, err := NewRenamer(paths, moved); err == nil {
			t.Errorf("%v: no error", moved)
		}
	}
	r, err := NewRenamer(paths, map[string]string{"a.md": "a|[b].md"})
	if err != nil {
		t.Fatal(err)
	}
	var unwritable *UnwritableLinkError
	out, _, err := r.RenameLinks("b.md", []byte("x\n[[a]]"))
	if !errors.As(err, &unwritable) || out != nil || err.Error() != `b.md, line 2: no link can be written in the place of "a" that leads to a|[b].md` {
		t.Errorf("%q, %v", out, err)
	}
	if out, n, err := r.RenameLinks("b.md", []byte("[x](a.md)")); string(out) != "[x](a%7C%5Bb%5D.md)" || n != 1 || err != nil {
		t.Errorf("%q, %d, %v", out, n, err)
	}
	if _, _, err := r.RenameLinks("b.md", []byte("\xff\xfe[\x00[\x00a\x00]\x00]\x00")); !errors.Is(err, ErrUneditable) {
		t.Errorf("UTF-16: %v", err)
	}
}

// FuzzRename renames a file of a small collection: every link of any note that
// led somewhere leads to the same file, or the rename is refused.
func FuzzRename(f *testing.F) {
	f.Add("[[Note]] [x](../a/Note.md) ![y](<Note.md> 't')\n\n[z]: /a/Note 'q'\n[z]", "a/N w.md", 0)
	f.Add("---\nup: \"[[Note]]\"\nl: ['[[b/Other|x]]']\n---\n> [x](./Other.md#h)\n\n|[[Note\\|a]]|\n|-|\n", "Note's 50%.md", 1)
	f.Add("[a]: <Note.md>\n[[Home]] [b](../Home.md?x) `[[Note]]` [](c/) [c](..)", "c/x/index.md", 2)
	f.Fuzz(func(t *testing.T, src, to string, which int) {
		paths := []string{"Home.md", "a/Note.md", "a/Other.md", "b/Other.md", "b/Deep/Leaf.md", "c/index.md", "img/pic.png"}
		from := paths[uint(which)%uint(len(paths))]
		r, err := NewRenamer(paths, map[string]string{from: to})
		if err != nil {
			return
		}
		for _, p := range []string{"Home.md", "b/Deep/Leaf.md", from} {
			out, n, err := r.RenameLinks(p, []byte(src))
			if err != nil {
				continue
			}
			before, _ := Parse([]byte(src))
			after, _ := Parse(out)
			if len(before.Links) != len(after.Links) || n == 0 && string(out) != src {
				t.Fatalf("%s: %d links, then %d: %q", p, len(before.Links), len(after.Links), out)
			}
			for i, l := range before.Links {
				was, is := r.before.Resolve(p, l), r.after.Resolve(r.newPath(p), after.Links[i])
				if was.Path != "" && (is.Path != r.newPath(was.Path) || is.Fragment != was.Fragment) {
					t.Errorf("%s to %q, in %s: %q led to %q, %q leads to %q", from, to, p, l.Target, was.Path, after.Links[i].Target, is.Path)
				}
			}
			if strings.Count(string(out), "\n") != strings.Count(src, "\n") {
				t.Errorf("lines changed: %q", out)
			}
		}
	})
}
