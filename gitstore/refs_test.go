package gitstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kb/note"

	"github.com/google/go-cmp/cmp"
)

func blobID(t testing.TB, s string) note.ID {
	t.Helper()
	id, err := note.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// tangled is a repository with branches, tags of all kinds and a merge.
func tangled(t *testing.T) string {
	t.Helper()
	d := newRepo(t, map[string]string{"a.md": "1"})
	git(t, d, "tag", "light")
	commit(t, d, "second", map[string]string{"a.md": "2"})
	git(t, d, "tag", "-a", "-m", "x", "v1")
	git(t, d, "tag", "-a", "-m", "x", "tag-of-tag", "v1")
	git(t, d, "branch", "drafts/x")
	git(t, d, "checkout", "-q", "-b", "side", "HEAD~1")
	commit(t, d, "side", map[string]string{"s.md": "s"})
	git(t, d, "checkout", "-q", "main")
	git(t, d, "merge", "-q", "--no-ff", "-m", "merge", "side")
	git(t, d, "tag", "both", "HEAD~1")
	git(t, d, "branch", "both", "HEAD")
	git(t, d, "update-ref", "refs/remotes/origin/topic", "HEAD~1")
	git(t, d, "update-ref", "refs/remotes/origin/main", "HEAD")
	git(t, d, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	git(t, d, "update-ref", "refs/kb/kept/1", "HEAD~1")
	git(t, d, "tag", "blob", "HEAD:a.md")
	git(t, d, "tag", "-a", "-m", "x", "tree-tag", "HEAD^{tree}")
	git(t, d, "update-ref", "refs/heads/abcd", "HEAD~1")
	return d
}

func TestResolveAgreesWithGit(t *testing.T) {
	t.Parallel()
	d := tangled(t)
	head := git(t, d, "rev-parse", "HEAD")
	revs := []string{
		"HEAD", "@", "main", "heads/main", "refs/heads/main", "drafts/x", "heads/drafts/x", "side", "light", "v1", "tags/v1",
		"tag-of-tag", "both", "heads/both", "tags/both", "origin", "origin/topic", "origin/HEAD", "remotes/origin/main",
		"refs/kb/kept/1", "kb/kept/1", "abcd", head, head[:4], head[:7], head[:39], strings.ToUpper(head[:8]), "v1-0-g" + head[:8],
		"HEAD~", "HEAD~1", "HEAD~2", "HEAD~0", "HEAD^", "HEAD^0", "HEAD^1", "HEAD^2", "HEAD^2~1", "HEAD^^", "HEAD~~", "@~1^0",
		"v1^{}", "v1^{commit}", "v1^{commit}~1", "HEAD^{}^{commit}^", "ORIG_HEAD", "tag-of-tag~1",
		"HEAD@{0}", "HEAD@{1}", "HEAD@{2}~1", "@{0}", "@{1}", "main@{1}", "refs/heads/main@{1}", "HEAD@{1}^0", "side@{0}",
		"HEAD@{99}", "main@{99}", "nope@{1}", "v1@{1}", "HEAD@{", "HEAD@{x}", "HEAD@{-1}", "HEAD@{9999999}", "../HEAD@{1}",
		// and what names no commit
		"nope", "", "HEAD~9", "HEAD^3", "HEAD^{tree}", "HEAD^{", "HEAD^{}x", "HEAD~x", "HEAD~-1", "^HEAD", "~1", "blob", "tree-tag",
		"HEAD:a.md", ":/second", "a..b", "main..side", "../config", "config", "refs", "refs/heads", "HEAD.lock", "HEAD/", "/HEAD", "refs//heads/main",
		"0000000000000000000000000000000000000000", "ffffffffffffffffffffffffffffffffffffffff", "abc", "abcg", "HEAD~99999999999999999999", " HEAD", "-n", "--all",
		git(t, d, "rev-parse", "HEAD^{tree}"), git(t, d, "rev-parse", "HEAD:a.md")[:12],
	}
	for _, packed := range []bool{false, true} {
		if packed {
			git(t, d, "pack-refs", "--all")
			git(t, d, "gc", "-q", "--prune=now")
		}
		r := mustOpen(t, d)
		for _, rev := range revs {
			want := tryGit(d, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
			if rev == "" {
				want = ""
			}
			if strings.ContainsAny(rev, ":") || strings.HasPrefix(rev, "^") {
				want = "" // not understood, by decision
			}
			got, err := r.Resolve(rev)
			if want == "" {
				if !errors.Is(err, ErrNoRevision) {
					t.Errorf("packed %v: Resolve(%q) = %s, %v; want ErrNoRevision", packed, rev, got, err)
				} else if !strings.Contains(err.Error(), rev) && len(rev) < 20 {
					t.Errorf("Resolve(%q): %v does not name it", rev, err)
				}
			} else if err != nil || got.String() != want {
				t.Errorf("packed %v: Resolve(%q) = %s, %v; want %s", packed, rev, got, err, want)
			}
		}
	}
}

func TestResolveAmbiguous(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "a"})
	tree := git(t, d, "rev-parse", "HEAD^{tree}")
	// Make commits until two share four digits; write those two.
	first := map[string]string{}
	var short string
	for i := 0; short == ""; i++ {
		c := fmt.Sprintf("tree %s\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n%d\n", tree, i)
		id := hashOf(kindCommit, []byte(c)).String()
		if other := first[id[:4]]; other != "" {
			short = id[:4]
			putLoose(t, d, kindCommit, []byte(other))
			putLoose(t, d, kindCommit, []byte(c))
		}
		first[id[:4]] = c
	}
	full := hashOf(kindCommit, []byte(first[short])).String()
	r := mustOpen(t, d)
	_, err := r.Resolve(short)
	if !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), full) {
		t.Errorf("Resolve(%s): %v", short, err)
	}
	if id, err := r.Resolve(full); err != nil || id.String() != full {
		t.Errorf("Resolve(full) = %s, %v", id, err)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	d := newRepo(t, nil)
	r := mustOpen(t, d)
	branch, _, err := r.Head()
	if !errors.Is(err, ErrUnborn) || branch != "refs/heads/main" || !strings.Contains(err.Error(), "main") {
		t.Errorf("unborn: Head() = %q, %v", branch, err)
	}
	if _, err := r.Resolve("HEAD"); !errors.Is(err, ErrUnborn) || !strings.Contains(err.Error(), "main") {
		t.Errorf("unborn: Resolve(HEAD): %v", err)
	}
	if _, err := r.Resolve("main"); !errors.Is(err, ErrNoRevision) {
		t.Errorf("unborn: Resolve(main): %v", err)
	}
	// The same Repo sees every move.
	first := commit(t, d, "first", map[string]string{"a": "a"})
	if branch, id, err := r.Head(); branch != "refs/heads/main" || id != first || err != nil {
		t.Errorf("Head() = %q %s %v", branch, id, err)
	}
	git(t, d, "checkout", "-q", "--detach")
	if branch, id, err := r.Head(); branch != "" || id != first || err != nil {
		t.Errorf("detached: Head() = %q %s %v", branch, id, err)
	}
	w := filepath.Join(tempDir(t), "w")
	git(t, d, "worktree", "add", "-q", "-b", "other", w)
	second := commit(t, w, "second", map[string]string{"a": "b"})
	if branch, id, err := mustOpen(t, w).Head(); branch != "refs/heads/other" || id != second || err != nil {
		t.Errorf("linked: Head() = %q %s %v", branch, id, err)
	}
	if _, id, _ := r.Head(); id != first {
		t.Errorf("HEAD of the main work tree is %s, want %s", id, first)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	d := tangled(t)
	git(t, d, "pack-refs", "--all")
	git(t, d, "update-ref", "refs/heads/drafts/new", "HEAD~1") // loose beside packed
	git(t, d, "update-ref", "refs/heads/drafts/x", "HEAD")     // loose over packed
	write(t, d, ".git/refs/heads/broken", "")
	r := mustOpen(t, d)
	refs, err := r.Refs("refs/heads/")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, ref := range refs {
		if (ref.Err != nil) != (ref.Name == "refs/heads/broken") {
			t.Errorf("%s: %v", ref.Name, ref.Err)
		}
		if ref.Err == nil {
			got[ref.Name] = ref.Commit.String()
		}
	}
	os.Remove(filepath.Join(d, ".git/refs/heads/broken"))
	want := map[string]string{}
	for line := range strings.SplitSeq(git(t, d, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/"), "\n") {
		name, id, _ := strings.Cut(line, " ")
		want[name] = id
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refs (-git +ours):\n%s", diff)
	}
	tags, err := r.Refs("refs/tags/")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range tags {
		if isCommit := ref.Name != "refs/tags/blob" && ref.Name != "refs/tags/tree-tag"; isCommit != (ref.Err == nil) {
			t.Errorf("%s: %v", ref.Name, ref.Err)
		}
	}
}

func TestHostileRefs(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "a"})
	secret := filepath.Join(tempDir(t), "secret")
	write(t, filepath.Dir(secret), "secret", "0123456789 secret")
	for name, content := range map[string]string{
		"loop1": "ref: refs/heads/loop2\n", "loop2": "ref: refs/heads/loop1\n",
		"out": "ref: ../../secret\n", "config": "ref: config\n", "empty": "", "garbage": "hello\n", "short": "0123\n",
	} {
		write(t, d, ".git/refs/heads/"+name, content)
	}
	if err := os.Symlink(secret, filepath.Join(d, ".git/refs/heads/link")); err != nil {
		t.Skip(err)
	}
	r := mustOpen(t, d)
	for _, name := range []string{"loop1", "out", "config", "empty", "garbage", "short", "link"} {
		id, err := r.Resolve("refs/heads/" + name)
		if !errors.Is(err, ErrNoRevision) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Resolve(%s) = %s, %v", name, id, err)
		}
	}
	if _, err := r.Refs(""); err != nil {
		t.Errorf("Refs: %v", err)
	}
}

func TestResolveDate(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	ids := []CommitID{mustCommitID(t, git(t, d, "rev-parse", "HEAD"))}
	for _, s := range []string{"2", "3", "4"} {
		ids = append(ids, commit(t, d, s, map[string]string{"a": s}))
	}
	r := mustOpen(t, d)
	at := func(id CommitID) time.Time {
		c, err := r.Commit(id)
		if err != nil {
			t.Fatal(err)
		}
		return c.Committer.When
	}
	for i, id := range ids {
		for _, after := range []time.Duration{0, 59 * time.Second} {
			if got, err := r.ResolveDate(ids[3], at(id).Add(after)); got != id || err != nil {
				t.Errorf("commit %d + %v: %s, %v; want %s", i, after, got, err, id)
			}
		}
	}
	if _, err := r.ResolveDate(ids[3], at(ids[0]).Add(-time.Second)); !errors.Is(err, ErrNoRevision) {
		t.Errorf("before the first commit: %v", err)
	}
}

func FuzzPackedRefs(f *testing.F) {
	id := strings.Repeat("0123456789", 4)
	f.Add([]byte("# pack-refs with: peeled\n"+id+" refs/heads/main\n^"+id+"\n"), "refs/heads/main")
	f.Add([]byte(id+" refs/heads/main2\n"+id+" refs/heads/main"), "refs/heads/main")
	f.Add([]byte("refs/heads/a"), "refs/heads/a")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		if !validRef(name) {
			return
		}
		// Both ways of reading agree.
		var want oid
		for n, id := range packedRefs(b).all() {
			if n == name {
				want = id
				break
			}
		}
		got, ok := packedRefs(b).find(name)
		if want != (oid{}) && (!ok || got != want) {
			t.Errorf("find(%q) = %s, %v; all has %s", name, got, ok, want)
		}
	})
}
