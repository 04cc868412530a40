package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kb/internal/diff"
)

// gitMerge is `git merge-tree --write-tree`: the tree, and whether it is clean.
func gitMerge(t testing.TB, dir string, a, b CommitID) (tree string, clean bool) {
	t.Helper()
	cmd := gitCommand(dir, "merge-tree", "--write-tree", a.String(), b.String())
	out, err := cmd.Output()
	tree, _, _ = strings.Cut(string(out), "\n")
	if _, ok := parseOID(tree); !ok {
		t.Fatalf("git merge-tree %s %s: %v\n%s", a, b, err, out)
	}
	return tree, err == nil
}

// mergeInMemory is Merge without storing the result.
func mergeInMemory(r *Repo, a, b CommitID) (*MergeResult, error) {
	return newMerger(context.Background(), r).commits(a, b)
}

func needMergeTree(t testing.TB) {
	if tryGit(".", "merge-tree", "-h") == "" && !strings.Contains(helpOf("merge-tree"), "--write-tree") {
		t.Skip("this git has no merge-tree --write-tree")
	}
}

func helpOf(command string) string {
	out, _ := gitCommand(".", command, "-h").CombinedOutput()
	return string(out)
}

// TestMergeAgreesWithGit does the merges that people did, and compares each with
// what git would have made of it.
func TestMergeAgreesWithGit(t *testing.T) {
	needMergeTree(t)
	d := vault(t, "rust-rfcs")
	r := mustOpen(t, d)
	pairs := strings.Split(git(t, d, "rev-list", "--merges", "--min-parents=2", "--max-parents=2", "--parents", "--all"), "\n")
	step := 1
	if long {
		commits := strings.Split(git(t, d, "rev-list", "--all"), "\n")
		rng := rand.New(rand.NewPCG(7, 8))
		for range 300 {
			pairs = append(pairs, fmt.Sprintf("random %s %s", commits[rng.IntN(len(commits))], commits[rng.IntN(len(commits))]))
		}
	} else {
		step = len(pairs)/50 + 1
	}
	clean, conflicted, sameMarkers := 0, 0, 0
	for i := 0; i < len(pairs); i += step {
		f := strings.Fields(pairs[i])
		a, b := mustCommitID(t, f[1]), mustCommitID(t, f[2])
		if f[0] == "random" && tryGit(d, "merge-base", f[1], f[2]) == "" {
			continue
		}
		want, wantClean := gitMerge(t, d, a, b)
		got, err := mergeInMemory(r, a, b)
		if err != nil {
			t.Errorf("%s: %v", f[0], err)
			continue
		}
		isClean := len(got.Conflicts) == 0
		if isClean != wantClean || isClean && got.Tree.String() != want {
			t.Errorf("merge %s of %s %s: tree %s, conflicts %+v; git: %s, clean %v", f[0], a, b, got.Tree, got.Conflicts, want, wantClean)
		}
		switch {
		case isClean:
			clean++
		case got.Tree.String() == want:
			sameMarkers++
			fallthrough
		default:
			conflicted++
		}
	}
	t.Logf("%d clean, %d with conflicts, of which %d with the same tree", clean, conflicted, sameMarkers)
}

// branches makes a repository whose branches ours and theirs change base. A file
// "-" is removed; "x => y" renames.
func branches(t testing.TB, base, ours, theirs map[string]string) (string, CommitID, CommitID) {
	t.Helper()
	d := newRepo(t, nil)
	r := mustOpen(t, d)
	var edits []Edit
	for name, content := range base {
		edits = append(edits, put(t, r, name, content))
	}
	root := mustEdit(t, r, TreeID{}, edits...)
	ids := []CommitID{mustWriteCommit(t, r, root, "base")}
	for _, files := range []map[string]string{ours, theirs} {
		edits := []Edit{}
		for name, content := range files {
			if from, to, ok := strings.Cut(name, " => "); ok {
				edits = append(edits, Edit{Path: from, Delete: true})
				name, content = to, cmp.Or(content, base[from])
			}
			if content == "-" {
				edits = append(edits, Edit{Path: name, Delete: true})
			} else {
				edits = append(edits, put(t, r, name, content))
			}
		}
		ids = append(ids, mustWriteCommit(t, r, mustEdit(t, r, root, edits...), "side", ids[0]))
	}
	for i, name := range []string{"main", "ours", "theirs"} {
		if err := r.UpdateRef("refs/heads/"+name, ids[i], CommitID{}, somebody, "made"); err != nil {
			t.Fatal(err)
		}
	}
	git(t, d, "checkout", "-q", "-f", "ours") // where git looks for .gitattributes
	return d, ids[1], ids[2]
}

// numbered is a text of lines, some of them replaced.
func numbered(n int, replace map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		line, ok := replace[i]
		if !ok {
			line = fmt.Sprintf("line %d\n", i)
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestMerge(t *testing.T) {
	t.Parallel()
	needMergeTree(t)
	type files = map[string]string
	text := numbered(20, nil)
	ours, theirs := numbered(20, map[int]string{3: "ours\n"}), numbered(20, map[int]string{15: "theirs\n"})
	clash := numbered(20, map[int]string{3: "theirs\n"})
	for name, c := range map[string]struct {
		base, ours, theirs files
		want               []string // "kind path"
	}{
		"apart":                 {files{"a": text}, files{"a": ours}, files{"a": theirs}, nil},
		"same":                  {files{"a": text}, files{"a": ours}, files{"a": ours}, nil},
		"clash":                 {files{"a": text}, files{"a": ours}, files{"a": clash}, []string{"content a"}},
		"other files":           {files{"a": "1", "b": "2"}, files{"a": "x", "n/o": "new"}, files{"b": "-", "n/p": "new"}, nil},
		"add/add":               {files{"a": "1"}, files{"b": "x\n"}, files{"b": "y\n"}, []string{"add/add b"}},
		"add/add same":          {files{"a": "1"}, files{"b": "x\n"}, files{"b": "x\n"}, nil},
		"modify/delete":         {files{"a": text, "b": "1"}, files{"a": ours}, files{"a": "-"}, []string{"modify/delete a"}},
		"delete/modify":         {files{"a": text, "b": "1"}, files{"a": "-"}, files{"a": ours}, []string{"modify/delete a"}},
		"both delete":           {files{"a": text, "b": "1"}, files{"a": "-"}, files{"a": "-"}, nil},
		"renamed by us":         {files{"a": text}, files{"a => d/b": ""}, files{"a": theirs}, nil},
		"renamed by them":       {files{"a": text}, files{"a": ours}, files{"a => d/b": ""}, nil},
		"renamed with changes":  {files{"a": text}, files{"a => b": ours}, files{"a": theirs}, nil},
		"renamed and rewritten": {files{"a": text}, files{"a => b": numbered(20, map[int]string{1: "A\n", 2: "B\n", 3: "C\n", 4: "D\n", 5: "E\n", 6: "F\n"})}, files{"a": theirs}, nil},
		"renamed by both":       {files{"a": text}, files{"a => b": ours}, files{"a => b": theirs}, nil},
		"rename/rename":         {files{"a": text}, files{"a => b": ""}, files{"a => c": ""}, []string{"rename/rename b"}},
		"rename/delete":         {files{"a": text, "z": "1"}, files{"a => b": ""}, files{"a": "-"}, []string{"rename/delete b"}},
		"delete/rename":         {files{"a": text, "z": "1"}, files{"a": "-"}, files{"a => b": ""}, []string{"rename/delete b"}},
		"rename/add":            {files{"a": text}, files{"a => b": ours}, files{"a": theirs, "b": "other\n"}, []string{"rename/add b"}},
		"file in renamed dir":   {files{"d/a": text, "d/b": theirs}, files{"d/a => e/a": "", "d/b => e/b": ""}, files{"d/new": "1"}, []string{"file location d/new"}},
		"directory/file":        {files{"a": "1"}, files{"x": "file\n"}, files{"x/y": "below\n"}, []string{"directory/file x"}},
		"binary":                {files{"a": "\x00\x01" + text}, files{"a": "\x00\x02" + text}, files{"a": "\x00\x03" + text}, []string{"binary a"}},
		"union":                 {files{"log": text, ".gitattributes": "log merge=union\n"}, files{"log": text + "ours\n"}, files{"log": text + "theirs\n"}, nil},
		"union below":           {files{"d/log": text, "d/.gitattributes": "/log merge=union\n"}, files{"d/log": text + "ours\n"}, files{"d/log": text + "theirs\n"}, nil},
		"not merged":            {files{"a": text, ".gitattributes": "* -merge\n"}, files{"a": ours}, files{"a": theirs}, []string{"binary a"}},
		"no line end":           {files{"a": "1\n2\n3"}, files{"a": "0\n1\n2\n3"}, files{"a": "1\n2\n3\n4"}, nil},
		"empty directory after": {files{"d/a": "1", "z": "1"}, files{"d/a": "-"}, files{"z": "2"}, nil},
		"nothing left":          {files{"a": "1"}, files{"a": "-"}, files{"a": "-"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, a, b := branches(t, c.base, c.ours, c.theirs)
			r := mustOpen(t, d)
			want, wantClean := gitMerge(t, d, a, b)
			got, err := r.Merge(context.Background(), a, b)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, k := range got.Conflicts {
				kinds = append(kinds, string(k.Kind)+" "+k.Path)
			}
			if diff := gocmp.Diff(c.want, kinds); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
			if wantClean != (len(c.want) == 0) {
				t.Errorf("git merges it: %v", wantClean)
			}
			if wantClean && got.Tree.String() != want {
				t.Errorf("tree (-git +ours):\n%s", gocmp.Diff(fullTree(t, d, want), fullTree(t, d, got.Tree.String())))
			}
			mustWriteCommit(t, r, got.Tree, "merged", a, b)
			fsck(t, d)
		})
	}
}

func TestMergeClashes(t *testing.T) {
	t.Parallel()
	base := numbered(30, nil)
	d, a, b := branches(t, map[string]string{"n.md": base},
		map[string]string{"n.md": numbered(30, map[int]string{1: "first\nsecond\n", 10: "ours\n", 25: "same\n"})},
		map[string]string{"n.md": numbered(30, map[int]string{10: "theirs\n11\n", 25: "same\n"})})
	r := mustOpen(t, d)
	got, err := r.Merge(context.Background(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Conflicts) != 1 {
		t.Fatalf("%+v", got.Conflicts)
	}
	want := []Clash{{LineRange{10, 1}, LineRange{11, 1}, LineRange{10, 2}}}
	if diff := gocmp.Diff(want, got.Conflicts[0].Clashes); diff != "" {
		t.Errorf("clashes (-want +got):\n%s", diff)
	}
	if tree, _ := gitMerge(t, d, a, b); tree != got.Tree.String() {
		t.Errorf("markers (-git +ours):\n%s", gocmp.Diff(fullTree(t, d, tree), fullTree(t, d, got.Tree.String())))
	}
}

func TestMergeLinksAndModes(t *testing.T) {
	t.Parallel()
	needMergeTree(t)
	d := newRepo(t, map[string]string{"a": "1", "run": "#!"})
	side := func(name string, change func()) CommitID {
		git(t, d, "checkout", "-q", "-f", "-b", name, "main")
		change()
		return commit(t, d, name, nil)
	}
	link := func(name, target string) func() {
		return func() {
			os.Remove(filepath.Join(d, name))
			if err := os.Symlink(target, filepath.Join(d, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	sides := []CommitID{
		side("exec", func() {
			if err := os.Chmod(filepath.Join(d, "run"), 0o777); err != nil {
				t.Fatal(err)
			}
		}),
		side("text", func() { write(t, d, "run", "#!/bin/sh") }),
		side("link", link("l", "a")),
		side("link2", link("l", "run")),
		side("becomes", link("run", "a")),
	}
	r := mustOpen(t, d)
	for i, a := range sides {
		for k, b := range sides {
			want, clean := gitMerge(t, d, a, b)
			got, err := mergeInMemory(r, a, b)
			if err != nil {
				t.Fatal(err)
			}
			if clean != (len(got.Conflicts) == 0) || clean && want != got.Tree.String() {
				t.Errorf("%d with %d: %+v; git: clean %v, %s", i, k, got, clean, want)
			}
		}
	}
}

func TestMergeCrissCross(t *testing.T) {
	t.Parallel()
	needMergeTree(t)
	text := numbered(30, nil)
	d, a, b := branches(t, map[string]string{"n": text},
		map[string]string{"n": numbered(30, map[int]string{5: "ours\n"})}, map[string]string{"n": numbered(30, map[int]string{20: "theirs\n"})})
	for _, side := range []struct {
		name  string
		other CommitID
		line  int
	}{{"ours", b, 1}, {"theirs", a, 29}} {
		git(t, d, "checkout", "-q", "-f", side.name)
		git(t, d, "merge", "-q", "-m", "cross", side.other.String())
		commit(t, d, "on", map[string]string{"n": numbered(30, map[int]string{5: "ours\n", 20: "theirs\n", side.line: "later\n"})})
	}
	r := mustOpen(t, d)
	x, _ := r.Resolve("ours")
	y, _ := r.Resolve("theirs")
	got, err := r.Merge(context.Background(), x, y)
	if err != nil || len(got.Bases) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if want, clean := gitMerge(t, d, x, y); !clean || want != got.Tree.String() || len(got.Conflicts) > 0 {
		t.Errorf("%+v; git: clean %v, %s", got, clean, want)
	}
	if _, err := r.Merge(context.Background(), x, CommitID{1}); err == nil {
		t.Error("merged with nothing")
	}
}

func TestMergeRefusesUnsafePaths(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	base := mustCommitID(t, git(t, d, "rev-parse", "HEAD"))
	ours := commit(t, d, "ours", map[string]string{"b": "1"})
	blob := mustBlob(t, r, "1")
	for _, name := range []string{".git", "..", "a\\b", "x\ny"} {
		tree := putLoose(t, d, kindTree, []byte("100644 "+name+"\x00"+string(blob[:])))
		theirs := mustWriteCommit(t, r, TreeID(tree), "theirs", base)
		if got, err := r.Merge(context.Background(), ours, theirs); !errors.Is(err, ErrUnsafePath) {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	tree := putLoose(t, d, kindTree, []byte("100644 a/b\x00"+string(blob[:])))
	if got, err := r.Merge(context.Background(), ours, mustWriteCommit(t, r, TreeID(tree), "theirs", base)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a slash in a name: %+v, %v", got, err)
	}
	git(t, d, "checkout", "-q", "--orphan", "other")
	if _, err := r.Merge(context.Background(), ours, commit(t, d, "root", nil)); !errors.Is(err, ErrUnrelated) {
		t.Errorf("unrelated: %v", err)
	}
}

func TestMergeBasesAgreeWithGit(t *testing.T) {
	d := vault(t, "rust-rfcs")
	r := mustOpen(t, d)
	commits := strings.Split(git(t, d, "rev-list", "--all"), "\n")
	rng := rand.New(rand.NewPCG(1, 2))
	n := 10
	if long {
		n = 500
	}
	for range n {
		a, b := commits[rng.IntN(len(commits))], commits[rng.IntN(len(commits))]
		want := strings.Fields(tryGit(d, "merge-base", "--all", a, b))
		bases, err := r.MergeBases(context.Background(), mustCommitID(t, a), mustCommitID(t, b))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, id := range bases {
			got = append(got, id.String())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s: %v, git %v", a, b, got, want)
		}
		is, err := r.IsAncestor(context.Background(), mustCommitID(t, a), mustCommitID(t, b))
		if err != nil || is != slices.Equal(want, []string{a}) {
			t.Errorf("%s is an ancestor of %s: %v, %v", a, b, is, err)
		}
		tips := []CommitID{mustCommitID(t, b), mustCommitID(t, commits[len(commits)/2])}
		first := tryGit(d, "merge-base", a, commits[len(commits)/2]) == a
		if by, err := r.ReachedBy(context.Background(), tips, mustCommitID(t, a)); err != nil || by != (is || first) {
			t.Errorf("%s is reached by %v: %v, %v", a, tips, by, err)
		}
	}
}

// randomEdit changes a few places of a text. What it adds is new, unless repeat:
// then it may be the same as elsewhere.
func randomEdit(rng *rand.Rand, text string, repeat bool) string {
	lines := strings.SplitAfter(text, "\n")
	fresh := func() string {
		if repeat {
			return fmt.Sprintf("new %d\n", rng.IntN(6))
		}
		return fmt.Sprintf("new %d\n", rng.Int())
	}
	for range 1 + rng.IntN(4) {
		i := rng.IntN(len(lines))
		switch k := min(len(lines), i+1+rng.IntN(3)); rng.IntN(4) {
		case 0:
			lines = slices.Delete(lines, i, k)
		case 1:
			lines = slices.Insert(lines, i, fresh())
		case 2:
			if repeat {
				lines = slices.Insert(lines, i, slices.Clone(lines[i:k])...)
			}
		default:
			lines[i] = fresh()
		}
		if len(lines) == 0 {
			lines = []string{fresh()}
		}
	}
	return strings.Join(lines, "")
}

// TestMergeTextAgreesWithMergeFile compares with `git merge-file`. It compares
// texts by another method than git merge, so each line is there once.
func TestMergeTextAgreesWithMergeFile(t *testing.T) {
	t.Parallel()
	n := 40
	if long {
		n = 3000
	}
	rng := rand.New(rand.NewPCG(3, 4))
	dir := tempDir(t)
	for range n {
		base := numbered(10+rng.IntN(30), nil)
		a, b := randomEdit(rng, base, false), randomEdit(rng, base, false)
		for name, text := range map[string]string{"base": base, "a": a, "b": b} {
			write(t, dir, name, text)
		}
		want, err := gitCommand(dir, "merge-file", "-p", "a", "base", "b").Output()
		got, clashes := mergeText([]byte(base), []byte(a), []byte(b), labels{"a", "b"}, 7, false)
		if (err == nil) != (len(clashes) == 0) || !bytes.Equal(got, want) {
			t.Errorf("base %q\nours %q\ntheirs %q\n%d clashes, git: %v (-git +ours)\n%s", base, a, b, len(clashes), err, gocmp.Diff(string(want), string(got)))
		}
	}
}

// TestMergeTextAgreesWithGit merges many files in one merge of git's.
func TestMergeTextAgreesWithGit(t *testing.T) {
	t.Parallel()
	needMergeTree(t)
	n := 60
	if long {
		n = 5000
	}
	rng := rand.New(rand.NewPCG(5, 6))
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	var files [3]map[string]string
	var tree [3]TreeID
	var commits [3]CommitID
	for i := range files {
		files[i] = map[string]string{}
		edits := []Edit{}
		for k := range n {
			name := fmt.Sprint(k)
			switch {
			case i > 0:
				files[i][name] = randomEdit(rng, files[0][name], true)
			default:
				files[i][name] = numbered(10+rng.IntN(30), map[int]string{2: "\n", 5: "\n", 8: "\n", 11: "x\n", 12: "\n", 13: "x\n", 14: "\n"})
			}
			edits = append(edits, put(t, r, name, files[i][name]))
		}
		tree[i] = mustEdit(t, r, TreeID{}, edits...)
		commits[i] = mustWriteCommit(t, r, tree[i], "m", commits[:min(i, 1)]...)
	}
	out, _ := gitCommand(d, "merge-tree", "--write-tree", "-z", commits[1].String(), commits[2].String()).Output()
	theirs, _, _ := strings.Cut(string(out), "\x00")
	got, err := r.Merge(context.Background(), commits[1], commits[2])
	if err != nil {
		t.Fatal(err)
	}
	clashes := map[string]bool{}
	for _, c := range got.Conflicts {
		clashes[c.Path] = true
	}
	want, have := lsTree(t, d, theirs), lsTree(t, d, got.Tree.String())
	for name := range files[0] {
		if want[name] != have[name] { // conflict markers and all
			t.Errorf("%s: base %q\nours %q\ntheirs %q\n(-git +ours)\n%s", name, files[0][name], files[1][name], files[2][name],
				gocmp.Diff(git(t, d, "cat-file", "blob", want[name]), git(t, d, "cat-file", "blob", have[name])))
		}
	}
	if n := len(clashes); n == 0 || n == len(files[0]) {
		t.Errorf("%d of %d texts clash: that says little", n, len(files[0]))
	}
}

func FuzzMergeText(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nx\nc\n"), []byte("a\nb\nc\nd"))
	f.Add([]byte(numbered(9, nil)), []byte(numbered(9, map[int]string{2: ""})), []byte(numbered(9, map[int]string{8: "\r\n"})))
	f.Fuzz(func(t *testing.T, base, a, b []byte) {
		same, clashes := mergeText(base, a, a, labels{}, 7, false)
		if !bytes.Equal(same, a) || len(clashes) > 0 {
			t.Errorf("both made %q of %q: %q, %v", a, base, same, clashes)
		}
		if got, clashes := mergeText(base, a, base, labels{}, 7, false); !bytes.Equal(got, a) || len(clashes) > 0 {
			t.Errorf("only ours made %q of %q: %q, %v", a, base, got, clashes)
		}
		got, clashes := mergeText(base, a, b, labels{}, 7, false)
		back, clashesBack := mergeText(base, b, a, labels{}, 7, false)
		if len(clashes) == 0 && len(clashesBack) == 0 && !bytes.Equal(got, back) {
			t.Errorf("%q, %q of %q: %q, the other way %q", a, b, base, got, back)
		}
		for _, c := range clashes {
			for i, r := range []LineRange{c.Base, c.Ours, c.Theirs} {
				if n := len(diff.Lines([][]byte{base, a, b}[i])); r.First < 1 || r.Count < 0 || r.First-1+r.Count > n {
					t.Errorf("clash %+v in texts of %d lines", c, n)
				}
			}
		}
	})
}
