package gitstore

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckPath(t *testing.T) {
	deep := strings.Repeat("d/", MaxDepth)
	for _, p := range []string{
		"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", ".git/config", ".GIT/x", "a/.git", "git~1/x", "GIT~1", ".git /x", ".git./x",
		".git. . /x", ".git::$INDEX_ALLOCATION/x", ".g\u200cit/x", "\ufeff.git", "a\nb.md", "a\x1b.md", "a\x7f", "a\u0085b", "a\u202eb.md", "a\u2028",
		"bad\xff.md", "a\ufffd", `a\b.md`, strings.Repeat("n", 256), deep + "x", strings.Repeat("x/", 3000),
	} {
		if err := CheckPath(p, false); !errors.Is(err, ErrUnsafePath) {
			t.Errorf("CheckPath(%.60q): %v", p, err)
		}
	}
	for _, p := range []string{
		"a.md", "Größe/naïve café.md", "日本語/ノート.md", ".obsidian/app.json", "a b.md", "C++.md", "git.md", "x.git/y.md", ".gitignore",
		"What is 5:30?.md", "con.md", "emoji 👩‍👩‍👧.md", "$.md", "%.md", "((.md", "a..b", "...", "git~12", "git~", deep[:len(deep)-2] + "x",
	} {
		if err := CheckPath(p, false); err != nil {
			t.Errorf("CheckPath(%.60q): %v", p, err)
		}
	}
	for _, p := range []string{"What is 5:30?.md", "con.md", "CON", "com1.txt", "lpt¹", "a .md ", "a./b", " a", "cafe\u0301.md", "dir/aux", "nul .md", `a"b`, "a|b", "a*"} {
		if err := CheckPath(p, true); !errors.Is(err, ErrUnsafePath) {
			t.Errorf("CheckPath(%q, portable): %v", p, err)
		}
	}
	for _, p := range []string{"a.md", "Größe/naïve café.md", "日本語/ノート.md", "console.md", "com10.md", "a b.md"} {
		if err := CheckPath(p, true); err != nil {
			t.Errorf("CheckPath(%q, portable): %v", p, err)
		}
	}
}

func TestFoldPath(t *testing.T) {
	for _, same := range [][2]string{{"Café.md", "CAFE\u0301.md"}, {"Straße", "STRASSE"}, {"a/B", "A/b"}} {
		if FoldPath(same[0]) != FoldPath(same[1]) {
			t.Errorf("%q and %q fold differently", same[0], same[1])
		}
	}
	if FoldPath("a") == FoldPath("b") {
		t.Error("a and b fold alike")
	}
}

func FuzzCheckPath(f *testing.F) {
	f.Add("a/b.md")
	f.Add(".g\u200cit")
	f.Fuzz(func(t *testing.T, p string) {
		if CheckPath(p, true) == nil && CheckPath(p, false) != nil {
			t.Errorf("%q is portable but unsafe", p)
		}
		if CheckPath(p, false) != nil {
			return
		}
		for part := range strings.SplitSeq(strings.ToLower(p), "/") {
			if part == "" || part == "." || part == ".." || strings.TrimRight(part, " .") == ".git" {
				t.Errorf("%q is accepted", p)
			}
		}
	})
}
