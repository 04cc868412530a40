package gitstore

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIgnoreAgreesWithGit compares random patterns with git check-ignore.
func TestIgnoreAgreesWithGit(t *testing.T) {
	t.Parallel()
	d := newRepo(t, nil)
	rnd := rand.New(rand.NewPCG(3, 4))
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	parts := []string{"a", "b", "ab", "*", "?", "**", "/", "[ab]", "[!a]", "[^b-]", "[a-c]", "[]a]", "[[:alpha:]]", "[[:nope:]]", "\\*", "\\a", "*.md", "a*", ".md", " ", "\\ ", "#", "!", "[", "\\", "-", "é", "[a/]", "]", "ab**", "/**/"}
	names := []string{"a", "b", "ab", "ba", "a.md", "b.md", "c", "-", "]", "a b", "a ", "*", "!a", "#a", "é", "[", "abab"}
	for round := range 100 {
		var text strings.Builder
		for range 1 + rnd.IntN(4) {
			if rnd.IntN(4) == 0 {
				text.WriteString("!")
			}
			if rnd.IntN(4) == 0 {
				text.WriteString("/")
			}
			for range 1 + rnd.IntN(5) {
				text.WriteString(pick(parts))
			}
			text.WriteString(pick([]string{"\n", "\n", "/\n", " \n", "/**\n", "\r\n", "  \n"}))
		}
		base := pick([]string{"", "", "a/"})
		write(t, d, base+".gitignore", text.String())
		rules := parseIgnore(base, text.String())
		var paths []string
		for range 25 {
			p := pick(names)
			for range rnd.IntN(3) {
				p += "/" + pick(names)
			}
			if p != "a" { // which may exist, as a directory
				paths = append(paths, p)
			}
		}
		got := map[string]bool{}
		for _, line := range strings.Split(strings.TrimSuffix(string(checkIgnore(t, d, paths)), "\x00"), "\x00") {
			got[line] = true
		}
		for _, p := range paths {
			if want := ignoredPath(rules, p); want != got[p] {
				t.Errorf("round %d: %q in %q: ours %v, git %v", round, text.String(), p, want, got[p])
			}
		}
		os.RemoveAll(filepath.Join(d, base+".gitignore"))
	}
}

// ignoredPath applies rules as a walk does: to the directories first. A path
// that does not exist is a file to git check-ignore.
func ignoredPath(rules []ignoreRule, p string) bool {
	for i := range len(p) {
		if p[i] == '/' && ignored(rules, p[:i], true) {
			return true
		}
	}
	return ignored(rules, p, false)
}

func checkIgnore(t *testing.T, dir string, paths []string) []byte {
	t.Helper()
	cmd := gitCommand(dir, "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00"))
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("check-ignore: %v", err)
	}
	return out
}

func TestWildmatchIsBounded(t *testing.T) {
	t.Parallel()
	pat := strings.Repeat("*a", 100) + "b"
	if wildmatch(pat, strings.Repeat("a", 2000), true) {
		t.Error("matched")
	}
	if wildmatch(strings.Repeat("**/", 200)+"b", strings.Repeat("a/", 500), true) {
		t.Error("matched")
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.md\n!a/**/b\n", "x/a/b.md")
	f.Add("[[:alpha:]-\\]]*\\", "a")
	f.Fuzz(func(t *testing.T, text, path string) {
		ignored(parseIgnore("", text), path, false)
		a := attributes{rules: parseAttributes("", text)}
		a.mode(path)
	})
}
