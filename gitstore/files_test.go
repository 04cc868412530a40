package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// treeLine is an entry of a tree object.
func treeLine(mode, name string, id oid) string {
	return mode + " " + name + "\x00" + string(id[:])
}

// putCommit writes a commit of a tree.
func putCommit(t testing.TB, dir string, tree oid) CommitID {
	t.Helper()
	c := fmt.Sprintf("tree %s\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n", tree)
	return CommitID(putLoose(t, dir, kindCommit, []byte(c)))
}

func TestFilesAgreeWithGit(t *testing.T) {
	for _, name := range []string{"kepano-obsidian", "rust-rfcs", "tldr"} {
		t.Run(name, func(t *testing.T) {
			if !long && name == "tldr" {
				t.Skip("large; set KB_LONG=1")
			}
			d := vault(t, name)
			r := mustOpen(t, d)
			for _, rev := range []string{"HEAD", "HEAD~50"} {
				id, err := r.Resolve(rev)
				if err != nil {
					t.Fatal(err)
				}
				files, _, err := r.Files(context.Background(), id, "")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(lsTree(t, d, rev), fileMap(t, files)); diff != "" {
					t.Errorf("%s (-git +ours):\n%s", rev, diff)
				}
			}
		})
	}
}

func TestFilesBelow(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1", "sub/b.md": "2", "sub/x/c.md": "3", "sub-1.md": "4", "sub.md": "5"})
	r := mustOpen(t, d)
	_, id, _ := r.Head()
	for dir, want := range map[string]string{
		"": "a.md sub-1.md sub.md sub/b.md sub/x/c.md", ".": "a.md sub-1.md sub.md sub/b.md sub/x/c.md",
		"sub": "b.md x/c.md", "sub/x": "c.md", "none": "", "sub/none/x": "", "a.md": "",
	} {
		files, problems, err := r.Files(context.Background(), id, dir)
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		if got := strings.Join(paths, " "); got != want || err != nil || len(problems) > 0 {
			t.Errorf("Files(%q) = %q, %v, %v; want %q", dir, got, problems, err, want)
		}
	}
	for name, want := range map[string]error{"a.md": nil, "sub/x/c.md": nil, "sub": ErrNotFound, "no.md": ErrNotFound,
		"no/x.md": ErrNotFound, "a.md/x": ErrNotFound, "../a.md": ErrUnsafePath, "": ErrUnsafePath} {
		f, err := r.File(id, name)
		if !errors.Is(err, want) || err == nil && (f.Path != name || f.Blob.IsZero()) {
			t.Errorf("File(%q) = %v, %v; want %v", name, f, err, want)
		}
	}
	for _, dir := range []string{"..", "/sub", "sub/", "sub/../sub", ".git"} {
		if _, _, err := r.Files(context.Background(), id, dir); !errors.Is(err, ErrUnsafePath) {
			t.Errorf("Files(%q): %v", dir, err)
		}
	}
	if _, _, err := r.Files(context.Background(), CommitID{1}, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("Files of no commit: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := r.Files(ctx, id, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Files, cancelled: %v", err)
	}
}

func TestHostileTrees(t *testing.T) {
	t.Parallel()
	d := newRepo(t, nil)
	blob := putLoose(t, d, kindBlob, []byte("x"))
	other := putLoose(t, d, kindBlob, []byte("y"))
	sub := putLoose(t, d, kindTree, []byte(treeLine("100644", "in.md", blob)))
	file := func(name string) string { return treeLine("100644", name, blob) }
	deep := sub
	for range 200 {
		deep = oid(putLoose(t, d, kindTree, []byte(treeLine("40000", "d", deep))))
	}
	bomb := sub
	for range 10 {
		var b strings.Builder
		for i := range 10 {
			b.WriteString(treeLine("40000", fmt.Sprint("d", i), bomb))
		}
		bomb = putLoose(t, d, kindTree, []byte(b.String()))
	}
	cases := []struct {
		name     string
		tree     string
		files    string
		problems []string
		err      error
	}{
		{name: "good", tree: file("a.md") + treeLine("40000", "sub", sub), files: "a.md sub/in.md"},
		{name: "empty", tree: ""},
		{name: "old modes", tree: treeLine("100664", "a", blob) + treeLine("100755", "b", blob) + treeLine("040000", "c", sub), files: "a b c/in.md"},
		{name: "dot dot", tree: file("..") + file("a"), files: "a", problems: []string{`".." unsafe_path`}},
		{name: "dot dot directory", tree: treeLine("40000", "..", sub) + file("a"), files: "a", problems: []string{`".." unsafe_path`}},
		{name: "slash", tree: file("../../etc/passwd") + file("a/b"), problems: []string{`"../../etc/passwd" unsafe_path`, `"a/b" unsafe_path`}},
		{name: "git", tree: file(".git") + treeLine("40000", ".GIT", sub) + treeLine("40000", ".Git. .", sub) + file("git~1") + file(".g\u200cit") + file(".git::$INDEX_ALLOCATION") + file("good"),
			files: "good", problems: []string{`".GIT" unsafe_path`, `".Git. ." unsafe_path`, "\".g\\u200cit\" unsafe_path", `".git" unsafe_path`, `".git::$INDEX_ALLOCATION" unsafe_path`, `"git~1" unsafe_path`}},
		{name: "characters", tree: file("a\nb") + file("a\x1b[31m") + file("bad\xff") + file("bidi\u202e") + file("ok é"),
			files: "ok é", problems: []string{`"a\nb" unsafe_path`, `"a\x1b[31m" unsafe_path`, `"bad\xff" unsafe_path`, `"bidi\u202e" unsafe_path`}},
		{name: "long name", tree: file(strings.Repeat("n", 5000)), problems: []string{`"` + strings.Repeat("n", 5000) + `" unsafe_path`}},
		{name: "links", tree: treeLine("120000", "link", blob) + treeLine("160000", "mod", oid{1}), problems: []string{`"link" symlink`, `"mod" submodule`}},
		{name: "duplicates", tree: file("a") + treeLine("100644", "a", other) + file("b"), files: "a b", problems: []string{`"a" duplicate`}},
		{name: "duplicates apart", tree: file("b") + file("a") + treeLine("100644", "b", other), files: "a b", problems: []string{`"b" duplicate`}},
		{name: "file and directory", tree: file("a") + file("a-b") + treeLine("40000", "a", sub), files: "a a-b", problems: []string{`"a" duplicate`}},
		{name: "unsorted", tree: file("c") + treeLine("40000", "b", sub) + file("b.a") + file("a"), files: "a b.a b/in.md c"},
		{name: "deep", tree: treeLine("40000", "d", deep) + file("e"), files: "e",
			problems: []string{`"` + strings.Repeat("d/", 64) + `" too_deep`}},
		{name: "bomb", tree: treeLine("40000", "d", bomb), err: ErrTooLarge},
		{name: "missing subtree", tree: treeLine("40000", "d", oid{7}), err: ErrNotFound},
		{name: "blob as directory", tree: treeLine("40000", "d", blob), err: ErrCorrupt},
		{name: "cut off", tree: file("a") + file("b")[:15], err: ErrCorrupt},
		{name: "bad mode", tree: treeLine("10064x", "a", blob), err: ErrCorrupt},
		{name: "no name", tree: treeLine("100644", "", blob), err: ErrCorrupt},
		{name: "no mode", tree: treeLine("", "a", blob), err: ErrCorrupt},
		{name: "not a tree", tree: "hello", err: ErrCorrupt},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			id := putCommit(t, d, putLoose(t, d, kindTree, []byte(c.tree)))
			r := mustOpen(t, d)
			files, problems, err := r.Files(context.Background(), id, "")
			if c.err != nil {
				if !errors.Is(err, c.err) || files != nil {
					t.Errorf("%d files, %v; want %v", len(files), err, c.err)
				}
				return
			}
			var paths []string
			for _, f := range files {
				paths = append(paths, f.Path)
				if f.Blob.String() != blob.String() {
					t.Errorf("%s is %s: the first of two must win", f.Path, f.Blob)
				}
			}
			if got := strings.Join(paths, " "); got != c.files || err != nil {
				t.Errorf("files %q, %v; want %q", got, err, c.files)
			}
			if diff := cmp.Diff(append([]string{}, c.problems...), codes(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if !slices.IsSorted(paths) {
				t.Errorf("not sorted: %q", paths)
			}
		})
	}
}

func TestHostileDiffAndDates(t *testing.T) {
	t.Parallel()
	d := newRepo(t, nil)
	blob := putLoose(t, d, kindBlob, []byte("x"))
	a := putCommit(t, d, putLoose(t, d, kindTree, []byte(treeLine("100644", "..", blob)+treeLine("100644", "b", blob)+treeLine("100644", "a", blob))))
	b := putCommit(t, d, putLoose(t, d, kindTree, []byte(treeLine("100644", "a", blob)+treeLine("120000", "b", blob)+treeLine("40000", ".git", oid{9}))))
	r := mustOpen(t, d)
	changes, err := r.Diff(context.Background(), a, b, "")
	if err != nil || len(changes) != 1 || changes[0].Kind != Removed || changes[0].Path != "b" {
		t.Errorf("Diff = %v, %v; want b removed", changes, err)
	}
	dates, err := r.Dates(context.Background(), a, nil)
	if err != nil || len(dates.all()) != 2 {
		t.Errorf("Dates = %v, %v", dates, err)
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte(treeLine("100644", "a", oid{1}) + treeLine("40000", "b", oid{2})))
	f.Add([]byte(treeLine("40000", "b", oid{1}) + treeLine("100644", "b", oid{2}) + treeLine("100644", "b-", oid{2}) + treeLine("120000", ".git", oid{2})))
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := parseTree(data)
		if err != nil {
			return
		}
		n := len(raw)
		tr := cleanTree(raw)
		if len(tr.entries)+len(tr.problems) != n {
			t.Errorf("%d entries and %d problems of %d", len(tr.entries), len(tr.problems), n)
		}
		seen := map[string]bool{}
		for i, e := range tr.entries {
			if seen[e.name] || unsafeName(e.name) != "" {
				t.Errorf("%q is repeated or unsafe", e.name)
			}
			seen[e.name] = true
			if i > 0 && tr.entries[i-1].compare(&e) >= 0 {
				t.Errorf("%q is not before %q", tr.entries[i-1].name, e.name)
			}
			if got := tr.find(e.name); got == nil || *got != e {
				t.Errorf("find(%q) = %v", e.name, got)
			}
		}
	})
}

func BenchmarkParseTree(b *testing.B) {
	var data bytes.Buffer
	for i := range 5000 {
		data.WriteString(treeLine("100644", fmt.Sprintf("2024-01-01-some-note-%04d.md", i), oid{1}))
	}
	b.SetBytes(int64(data.Len()))
	b.ReportAllocs()
	for b.Loop() {
		raw, err := parseTree(data.Bytes())
		if err != nil || len(cleanTree(raw).entries) != 5000 {
			b.Fatal(err)
		}
	}
}
