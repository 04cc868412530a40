package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

var somebody = Signature{"Some Body", "some@example.org", time.Unix(1700000000, 0).In(time.FixedZone("", 3600))}

func mustBlob(t testing.TB, r *Repo, text string) note.ID {
	t.Helper()
	id, err := r.WriteBlob([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func put(t testing.TB, r *Repo, path, text string) Edit {
	t.Helper()
	return Edit{Path: path, Blob: mustBlob(t, r, text)}
}

func mustEdit(t testing.TB, r *Repo, base TreeID, edits ...Edit) TreeID {
	t.Helper()
	id, err := r.EditTree(context.Background(), base, edits)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustWriteCommit(t testing.TB, r *Repo, tree TreeID, message string, parents ...CommitID) CommitID {
	t.Helper()
	id, err := r.WriteCommit(context.Background(), &Commit{Tree: tree, Parents: parents, Author: somebody, Committer: somebody, Message: message})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// fsck fails unless git finds nothing wrong.
func fsck(t testing.TB, dir string) {
	t.Helper()
	cmd := exec.Command("git", "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if err != nil || !strings.HasPrefix(line, "notice: ") { // of an unborn branch
			t.Errorf("git fsck: %v\n%s", err, out)
			break
		}
	}
}

func treeAt(t testing.TB, r *Repo, rev string) TreeID {
	t.Helper()
	id, err := r.Resolve(rev)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Commit(id)
	if err != nil {
		t.Fatal(err)
	}
	return c.Tree
}

func TestWriteBlob(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "packed"})
	git(t, d, "repack", "-adq")
	r := mustOpen(t, d)
	for _, text := range []string{"", "x", "packed", strings.Repeat("long ", 100000), "a\x00b"} {
		id := mustBlob(t, r, text)
		if got := tryGitRaw(d, "cat-file", "blob", id.String()); string(got) != text || id != note.Hash([]byte(text)) {
			t.Errorf("git reads %d bytes of %d", len(got), len(text))
		}
		info, err := os.Stat(looseFile(r.packs.objectDirs[0], oid(id)))
		if (err == nil) == (text == "packed") {
			t.Errorf("loose file of %.10q: %v", text, err)
		}
		if err != nil {
			continue
		}
		mustBlob(t, r, text)
		if again, err := os.Stat(looseFile(r.packs.objectDirs[0], oid(id))); err != nil || !os.SameFile(info, again) {
			t.Errorf("%.10q was written again (%v)", text, err)
		}
	}
	// What a pack had that is gone meanwhile is written.
	git(t, d, "update-ref", "-d", "HEAD")
	git(t, d, "rm", "-q", "--cached", "a")
	git(t, d, "reflog", "expire", "--expire=now", "--all")
	git(t, d, "repack", "-adq")
	git(t, d, "prune", "--expire=now")
	id := mustBlob(t, r, "packed")
	if got := tryGit(d, "cat-file", "blob", id.String()); got != "packed" {
		t.Errorf("after a prune git reads %q", got)
	}
	fsck(t, d)
	if _, err := r.WriteBlob(make([]byte, MaxBlob+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

func TestEditTree(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "a", "dir/b.md": "b", "dir/deep/c.md": "c", "dir-x": "1", "dir.md": "2", "What?.md": "old", "Ä.md": "ä"})
	if err := os.Symlink("a.md", filepath.Join(d, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, d, "run", "#!")
	if err := os.Chmod(filepath.Join(d, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	git(t, d, "add", "-A")
	git(t, d, "update-index", "--add", "--cacheinfo", "160000,"+git(t, d, "rev-parse", "HEAD")+",sub")
	git(t, d, "commit", "-qm", "more")
	r := mustOpen(t, d)
	base := treeAt(t, r, "HEAD")
	x := mustBlob(t, r, "x")
	for name, c := range map[string]struct {
		edits []Edit
		want  map[string]string // changed paths: "mode content", "" for gone
		err   error
	}{
		"nothing":                 {},
		"put":                     {edits: []Edit{{Path: "new.md", Blob: x}}, want: map[string]string{"new.md": "100644 x"}},
		"replace":                 {edits: []Edit{{Path: "dir/b.md", Blob: x}}, want: map[string]string{"dir/b.md": "100644 x"}},
		"keeps the mode":          {edits: []Edit{{Path: "run", Blob: x}}, want: map[string]string{"run": "100755 x"}},
		"sets the mode":           {edits: []Edit{{Path: "run", Blob: x, Mode: ModeRegular}, {Path: "a.md", Blob: x, Mode: ModeExecutable}}, want: map[string]string{"run": "100644 x", "a.md": "100755 x"}},
		"new directories":         {edits: []Edit{{Path: "n/o/p.md", Blob: x}, {Path: "n/q.md", Blob: x}}, want: map[string]string{"n/o/p.md": "100644 x", "n/q.md": "100644 x"}},
		"delete":                  {edits: []Edit{{Path: "a.md", Delete: true}}, want: map[string]string{"a.md": ""}},
		"empty directory is gone": {edits: []Edit{{Path: "dir/deep/c.md", Delete: true}}, want: map[string]string{"dir/deep/c.md": ""}},
		"file for directory":      {edits: []Edit{{Path: "dir/deep/c.md", Delete: true}, {Path: "dir/deep", Blob: x}}, want: map[string]string{"dir/deep/c.md": "", "dir/deep": "100644 x"}},
		"directory for file":      {edits: []Edit{{Path: "a.md/x", Blob: x}, {Path: "a.md", Delete: true}}, want: map[string]string{"a.md": "", "a.md/x": "100644 x"}},
		"change of case":          {edits: []Edit{{Path: "a.md", Delete: true}, {Path: "A.md", Blob: x}}, want: map[string]string{"a.md": "", "A.md": "100644 x"}},
		"old unportable name":     {edits: []Edit{{Path: "What?.md", Blob: x}}, want: map[string]string{"What?.md": "100644 x"}},
		"sorts as git does":       {edits: []Edit{{Path: "dir0", Blob: x}, {Path: "dir-", Blob: x}, {Path: "zz/a", Blob: x}, {Path: "zz-", Blob: x}, {Path: "zz.b", Blob: x}}, want: map[string]string{"dir0": "100644 x", "dir-": "100644 x", "zz/a": "100644 x", "zz-": "100644 x", "zz.b": "100644 x"}},
		"case collision":          {edits: []Edit{{Path: "A.md", Blob: x}}, err: ErrPathConflict},
		"directory collision":     {edits: []Edit{{Path: "DIR/z.md", Blob: x}}, err: ErrPathConflict},
		"form collision":          {edits: []Edit{{Path: "ä.md", Blob: x}}, err: ErrPathConflict},
		"collision in one change": {edits: []Edit{{Path: "q/a", Blob: x}, {Path: "Q/a", Blob: x}}, err: ErrPathConflict},
		"directory in the way":    {edits: []Edit{{Path: "dir", Blob: x}}, err: ErrPathConflict},
		"file in the way":         {edits: []Edit{{Path: "a.md/x", Blob: x}}, err: ErrPathConflict},
		"link in the way":         {edits: []Edit{{Path: "link", Blob: x}}, err: ErrPathConflict},
		"through a link":          {edits: []Edit{{Path: "link/x", Blob: x}}, err: ErrPathConflict},
		"submodule in the way":    {edits: []Edit{{Path: "sub/x", Blob: x}}, err: ErrPathConflict},
		"delete a directory":      {edits: []Edit{{Path: "dir", Delete: true}}, err: ErrPathConflict},
		"delete a link":           {edits: []Edit{{Path: "link", Delete: true}}, err: ErrPathConflict},
		"twice":                   {edits: []Edit{{Path: "y", Blob: x}, {Path: "y", Blob: x}}, err: ErrPathConflict},
		"file and directory":      {edits: []Edit{{Path: "y", Blob: x}, {Path: "y/z", Blob: x}}, err: ErrPathConflict},
		"delete nothing":          {edits: []Edit{{Path: "gone.md", Delete: true}}, err: ErrNotFound},
		"delete below nothing":    {edits: []Edit{{Path: "gone/x.md", Delete: true}}, err: ErrNotFound},
		"missing blob":            {edits: []Edit{{Path: "y", Blob: note.Hash([]byte("never written"))}}, err: ErrNotFound},
		"climbs":                  {edits: []Edit{{Path: "../y", Blob: x}}, err: ErrUnsafePath},
		"absolute":                {edits: []Edit{{Path: "/y", Blob: x}}, err: ErrUnsafePath},
		"git directory":           {edits: []Edit{{Path: "dir/.GIT/hooks/x", Blob: x}}, err: ErrUnsafePath},
		"not portable":            {edits: []Edit{{Path: "dir/con.md", Blob: x}}, err: ErrUnsafePath},
		"not portable directory":  {edits: []Edit{{Path: "a?/b.md", Blob: x}}, err: ErrUnsafePath},
		"empty":                   {edits: []Edit{{Path: "", Blob: x}}, err: ErrUnsafePath},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := r.EditTree(context.Background(), base, c.edits)
			if !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Fatalf("%v, want %v", err, c.err)
			}
			if c.err != nil {
				return
			}
			want := fullTree(t, d, base.String())
			maps.Copy(want, c.want)
			maps.DeleteFunc(want, func(_, v string) bool { return v == "" })
			if diff := cmp.Diff(want, fullTree(t, d, id.String())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// git makes the same tree of the same entries.
			if again := gitIn(t, d, []byte(git(t, d, "ls-tree", "-z", id.String())), "mktree", "-z", "--missing"); again != id.String() {
				t.Errorf("git sorts otherwise: %s, ours %s", again, id)
			}
			mustWriteCommit(t, r, id, name)
		})
	}
	fsck(t, d)
}

// fullTree is everything in a tree: path → "mode content".
func fullTree(t testing.TB, dir, tree string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for line := range strings.SplitSeq(git(t, dir, "ls-tree", "-r", "-z", tree), "\x00") {
		if meta, path, ok := strings.Cut(line, "\t"); ok {
			f := strings.Fields(meta)
			m[path] = f[0] + " " + tryGit(dir, "cat-file", "-p", f[2])
		}
	}
	return m
}

func TestEditTreeFromNothing(t *testing.T) {
	t.Parallel()
	d := newRepo(t, nil)
	r := mustOpen(t, d)
	id := mustEdit(t, r, TreeID{}, put(t, r, "a/b.md", "1"))
	if got := fullTree(t, d, id.String()); got["a/b.md"] != "100644 1" {
		t.Errorf("%v", got)
	}
	empty := mustEdit(t, r, id, Edit{Path: "a/b.md", Delete: true})
	mustWriteCommit(t, r, empty, "nothing left")
	if empty.String() != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Errorf("the empty tree is %s", empty)
	}
	fsck(t, d)
}

// Of several names that cannot be, the same is told each time.
func TestEditTreeTellsTheFirst(t *testing.T) {
	t.Parallel()
	r := mustOpen(t, newRepo(t, map[string]string{"A/x": "1", "B": "2", "c": "3"}))
	base, x := treeAt(t, r, "HEAD"), mustBlob(t, r, "x")
	for name, edits := range map[string][]Edit{
		`"a?"`:                 {{Path: "a?", Blob: x}, {Path: "b", Blob: x}, {Path: "b?", Blob: x}},
		"C differs from c":     {{Path: "b", Blob: x}, {Path: "C", Blob: x}, {Path: "n?", Blob: x}},
		"X differs from x in":  {{Path: "N/X", Blob: x}, {Path: "N/x", Blob: x}},
		"B is not a directory": {{Path: "B/x/y", Blob: x}, {Path: "c/x", Blob: x}},
	} {
		for range 20 {
			if _, err := r.EditTree(t.Context(), base, edits); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v, want %s", err, name)
				break
			}
		}
	}
}

func TestTreeAfter(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "a", "b.md": "b", "dir/c.md": "c", "gone/x": "x"})
	r := mustOpen(t, d)
	base := treeAt(t, r, "HEAD")
	after := func(edits ...Edit) bool {
		t.Helper()
		want := mustEdit(t, r, base, edits...)
		changes, err := r.DiffTrees(t.Context(), base, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.TreeAfter(t.Context(), base, changes)
		if err != nil {
			t.Fatal(err)
		}
		return got == want
	}
	x := mustBlob(t, r, "new")
	for name, edits := range map[string][]Edit{
		"all kinds":   {{Path: "a.md", Blob: x}, {Path: "b.md", Delete: true}, {Path: "new/d.md", Blob: x}, {Path: "gone/x", Delete: true}},
		"a rename":    {{Path: "b.md", Delete: true}, {Path: "dir/b.md", Src: []byte("b")}},
		"nothing":     nil,
		"all is gone": {{Path: "a.md", Delete: true}, {Path: "b.md", Delete: true}, {Path: "dir/c.md", Delete: true}, {Path: "gone/x", Delete: true}},
	} {
		if !after(edits...) {
			t.Errorf("%s: not the tree that the changes came from", name)
		}
	}
	if after(Edit{Path: "a.md", Blob: x, Mode: ModeExecutable}) {
		t.Error("what no listing shows was made")
	}

	// Names that EditTree refuses are made as they are.
	twins := []Change{{Kind: Added, Path: "cafe\u0301.md", New: x}, {Kind: Added, Path: "caf\u00e9.md", New: x}}
	tree, err := r.TreeAfter(t.Context(), base, twins)
	blob := x.String()
	listing := git(t, d, "ls-tree", base.String()) + "\n100644 blob " + blob + "\tcafe\u0301.md\n100644 blob " + blob + "\tcaf\u00e9.md\n"
	if want := gitIn(t, d, []byte(listing), "mktree"); err != nil || tree.String() != want {
		t.Errorf("twins: %s, %v; want %s", tree, err, want)
	}
}

// TestEditTreeIsFlat counts the objects that one edit writes in a large vault.
func TestEditTreeIsFlat(t *testing.T) {
	t.Parallel()
	d := newRepo(t, nil)
	r := mustOpen(t, d)
	var edits []Edit
	blob := mustBlob(t, r, "x")
	for i := range 600 {
		edits = append(edits, Edit{Path: fmt.Sprintf("d%d/e%d/n%d.md", i%5, i%4, i), Blob: blob})
	}
	base := mustEdit(t, r, TreeID{}, edits...)
	written := 0
	r.fault = func(step string) {
		if step == "object named" {
			written++
		}
	}
	mustEdit(t, r, base, put(t, r, "d1/e2/new.md", "new"))
	if written != 4 { // the blob and three trees
		t.Errorf("%d objects written, want 4", written)
	}
}

func TestWriteCommit(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	tree, head := treeAt(t, r, "HEAD"), mustCommitID(t, git(t, d, "rev-parse", "HEAD"))
	message := CommitMessage("Fix  the\nthing", "Why.\r\n\r\nNot-a: trailer", []Trailer{
		{"Kb-Draft", "x\ny"}, {"bad key", "v"}, {"Kb-Empty", " "}, {"Co-authored-by", "A B <a@b.c>"}})
	id, err := r.WriteCommit(context.Background(), &Commit{Tree: tree, Parents: []CommitID{head}, Author: Signature{"Agent Ä", "agent@x", somebody.When}, Committer: somebody, Message: message})
	if err != nil {
		t.Fatal(err)
	}
	cmd := gitCommand(d, "commit-tree", "-p", head.String(), "-F", "-", tree.String())
	cmd.Env = append(append(os.Environ(), Signature{"Agent Ä", "agent@x", somebody.When}.env("AUTHOR")...), somebody.env("COMMITTER")...)
	cmd.Stdin = strings.NewReader(message)
	if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != id.String() {
		t.Errorf("git writes %s, %v; ours %s", out, err, id)
	}
	fsck(t, d)
	c, err := r.Commit(id)
	if err != nil || c.Author.Name != "Agent Ä" || c.Subject != "Fix the thing" || c.Message != message {
		t.Errorf("%+v, %v", c, err)
	}
	if diff := cmp.Diff([]Trailer{{"Kb-Draft", "x y"}, {"Co-authored-by", "A B <a@b.c>"}}, c.Trailers); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
	if got := git(t, d, "log", "-1", "--format=%(trailers:only)", id.String()); !strings.Contains(got, "Kb-Draft: x y\nCo-authored-by: A B <a@b.c>") {
		t.Errorf("git's trailers: %q", got)
	}
}

func TestWriteCommitRefuses(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	good := Commit{Tree: treeAt(t, r, "HEAD"), Author: somebody, Committer: somebody, Message: "m"}
	for name, spoil := range map[string]func(*Commit){
		"no author":       func(c *Commit) { c.Author = Signature{When: somebody.When} },
		"line in name":    func(c *Commit) { c.Author.Name = "a\nparent x" },
		"bracket in mail": func(c *Commit) { c.Committer.Email = "a>b" },
		"date":            func(c *Commit) { c.Author.When = time.Unix(-1, 0) },
		"NUL":             func(c *Commit) { c.Message = "a\x00b" },
		"not UTF-8":       func(c *Commit) { c.Message = "\xff" },
		"no tree":         func(c *Commit) { c.Tree = TreeID{1} },
		"tree is a blob":  func(c *Commit) { c.Tree = TreeID(mustBlob(t, r, "x")) },
		"no such parent":  func(c *Commit) { c.Parents = []CommitID{{1}} },
	} {
		c := good
		spoil(&c)
		if id, err := r.WriteCommit(context.Background(), &c); err == nil {
			t.Errorf("%s: %s", name, id)
		}
	}
	if got := CleanSignature(Signature{Name: " <Eve>\n\x00. ", Email: "<e@x>"}); got.Name != "Eve" || got.Email != "e@x" {
		t.Errorf("cleaned: %+v", got)
	}
}

func TestCommitMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		subject, body string
		trailers      []Trailer
		want          string
	}{
		{"s", "", nil, "s\n"},
		{"s", "b", nil, "s\n\nb\n"},
		{"s", "", []Trailer{{"K", "v"}}, "s\n\nK: v\n"},
		{"a\nb", "b\x00\x1b[1m", []Trailer{{"K", "v"}, {"L", "w\nInjected: x"}}, "a b\n\nb[1m\n\nK: v\nL: w Injected: x\n"},
		{"s", "Looks-like: a trailer", nil, "s\n\nLooks-like: a trailer\n\n--\n"},
	} {
		got := CommitMessage(c.subject, c.body, c.trailers)
		if got != c.want {
			t.Errorf("CommitMessage(%q, %q, %v) = %q, want %q", c.subject, c.body, c.trailers, got, c.want)
		}
		if n := len(trailers(got)); n != len(c.trailers) {
			t.Errorf("%q: %d trailers, want %d", got, n, len(c.trailers))
		}
	}
}

func TestIdentity(t *testing.T) {
	t.Setenv("GIT_COMMITTER_NAME", "")
	t.Setenv("GIT_COMMITTER_EMAIL", "")
	d := newRepo(t, nil)
	r := mustOpen(t, d)
	ctx := context.Background()
	if id, err := r.Identity(ctx); !errors.Is(err, ErrNoIdentity) || !strings.Contains(err.Error(), "git config") {
		t.Errorf("nobody: %+v, %v", id, err)
	}
	git(t, d, "config", "user.name", "Ann <x>")
	git(t, d, "config", "user.email", "ann@example.org")
	if id, err := r.Identity(ctx); err != nil || id.Name != "Ann x" || id.Email != "ann@example.org" || id.check() != nil {
		t.Errorf("%+v, %v", id, err)
	}
	write(t, d, "more", "[user]\n\tname = Included\n")
	git(t, d, "config", "include.path", filepath.Join(d, "more"))
	if id, err := r.Identity(ctx); err != nil || id.Name != "Included" || id.Email != "ann@example.org" {
		t.Errorf("included: %+v, %v", id, err)
	}
	t.Setenv("GIT_COMMITTER_NAME", "Env")
	if id, err := r.Identity(ctx); err != nil || id.Name != "Env" || id.Email != "ann@example.org" {
		t.Errorf("by the environment: %+v, %v", id, err)
	}
}

func TestSigning(t *testing.T) {
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	c := &Commit{Tree: treeAt(t, r, "HEAD"), Author: somebody, Committer: somebody, Message: "signed\n"}
	git(t, d, "config", "commit.gpgSign", "true")
	git(t, d, "config", "gpg.format", "ssh")
	git(t, d, "config", "user.signingKey", filepath.Join(d, "key.pub"))
	write(t, d, ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	if id, err := r.WriteCommit(context.Background(), c); !errors.Is(err, ErrSigning) {
		t.Errorf("without a key: %s, %v", id, err)
	}
	programs := os.Getenv("PATH")
	gitProgram, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	if id, err := r.WriteCommit(context.Background(), c); !errors.Is(err, ErrSigning) {
		t.Errorf("without git: %s, %v", id, err)
	}
	git := func(args ...string) { // with a path
		cmd := exec.Command(gitProgram, args...)
		cmd.Dir = d
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("config", "commit.gpgSign", "false")
	git("config", "include.path", "elsewhere")
	if id, err := r.WriteCommit(context.Background(), c); !errors.Is(err, ErrSigning) {
		t.Errorf("without git, with an included file: %s, %v", id, err)
	}
	t.Setenv("PATH", programs)
	write(t, d, ".git/elsewhere", "[commit]\n\tgpgSign = true\n")
	if id, err := r.WriteCommit(context.Background(), c); !errors.Is(err, ErrSigning) {
		t.Errorf("asked for in an included file: %s, %v", id, err)
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("no ssh-keygen to sign with")
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(d, "key")).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	id, err := r.WriteCommit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(d, "signers")
	pub, _ := os.ReadFile(filepath.Join(d, "key.pub"))
	write(t, d, "signers", "some@example.org "+string(pub))
	git("-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", id.String())
	if got, err := r.Commit(id); err != nil || got.Author.Name != somebody.Name || !got.Author.When.Equal(somebody.When) || got.Message != c.Message {
		t.Errorf("%+v, %v", got, err)
	}
	fsck(t, d)
}
