package draft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kb/gitstore"
)

func TestAppendMovesTheDraftOnly(t *testing.T) {
	t.Parallel()
	d, s := dirtyRepo(t)
	git(t, d, "tag", "v1")
	git(t, d, "config", "core.logAllRefUpdates", "always")
	git(t, d, "status")
	before, others := state(t, d), refs(t, d, "")
	others = strings.ReplaceAll(others, refs(t, d, "refs/heads/drafts/")+"\n", "")
	mustAppend(t, s, put("x", map[string]string{"n/c.md": "c\n"}))
	mustAppend(t, s, put("", map[string]string{"n/d.md": "d\n"}))
	if after := state(t, d); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
	drafts := refs(t, d, "refs/heads/drafts/")
	if after := strings.ReplaceAll(refs(t, d, ""), drafts+"\n", ""); after != others {
		t.Errorf("other refs:\n%s\nwere:\n%s", after, others)
	}
	if strings.Count(drafts, "\n") != 1 {
		t.Errorf("drafts:\n%s", drafts)
	}
	if got := git(t, d, "log", "-1", "--format=%an <%ae>|%cn <%ce>|%s|%(trailers:key=Kb-Draft,key=Kb-Agent)", "drafts/x"); got != "Agent <agent@example.org>|Ada <ada@example.org>|add notes|Kb-Draft: x\nKb-Agent: Agent\n" {
		t.Errorf("commit: %q", got)
	}
	if got := git(t, d, "reflog", "drafts/x"); strings.Count(got, "kb: add notes") != 2 {
		t.Errorf("reflog: %s", got)
	}
	fsck(t, d)
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"x": true, "2026-01-note": true, "a.b_c-d": true, strings.Repeat("x", 64): true, "head": true,
		"": false, "X": false, "HEAD": false, "-x": false, ".x": false, "_x": false, "a..b": false, "x.lock": false, "x.": false,
		"../main": false, "a/b": false, "refs/heads/main": false, "a b": false, "a\x00": false, "a\n": false, "a~1": false, "a^": false,
		"a:b": false, "a@{1}": false, "a\\b": false, "ä": false, strings.Repeat("x", 65): false, "a@2": false, "con": true, "x.lock.lock": false,
	} {
		if err := CheckName(name); (err == nil) != ok || err != nil && !errors.Is(err, ErrName) {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	for title, want := range map[string]string{"Retry: notes!": "retry-notes", "Привет, мир": "privet-mir", "": "note-e3b0c442"} {
		if got := Name(title); got != want || CheckName(got) != nil {
			t.Errorf("Name(%q) = %q, want %q", title, got, want)
		}
	}
	if got := numbered(strings.Repeat("x", 64), 12); CheckName(got) != nil || !strings.HasSuffix(got, "x-12") {
		t.Errorf("numbered: %q", got)
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"", "a", "../../x", "refs/heads/main", "日本語", "x.lock", strings.Repeat("long title ", 30), "\xff\x00"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, title string, n int) {
		if err := CheckName(Name(title)); err != nil {
			t.Errorf("%q: %v", title, err)
		}
		if n > 0 {
			if err := CheckName(numbered(Name(title), n)); err != nil {
				t.Errorf("%q, %d: %v", title, n, err)
			}
		}
	})
}

// Hostile names change nothing.
func TestAppendRefusesNames(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	git(t, d, "branch", "drafts/UPPER")
	git(t, d, "branch", "drafts/deep/er")
	s := open(t, d)
	before := refs(t, d, "") + state(t, d)
	for name, want := range map[string]error{
		"../main": ErrName, "refs/heads/main": ErrName, "HEAD": ErrName, "x.lock": ErrName, "../../hooks/x": ErrName, "a/b": ErrName, "x\x00": ErrName,
		"upper": ErrNameTaken, "deep": ErrNameTaken,
	} {
		if _, err := s.Append(context.Background(), put(name, map[string]string{"b.md": "b\n"})); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
		if _, err := s.Merge(context.Background(), MergeRequest{Name: name}); !errors.Is(err, ErrNotFound) {
			t.Errorf("merge %q: %v", name, err)
		}
	}
	if after := refs(t, d, "") + state(t, d); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
	git(t, d, "branch", "-D", "-q", "drafts/UPPER", "drafts/deep/er")
	git(t, d, "branch", "drafts")
	_, err := s.Append(context.Background(), put("x", map[string]string{"b.md": "b\n"}))
	if !errors.Is(err, ErrNameTaken) || !strings.Contains(err.Error(), "refs/heads/drafts exists") || !strings.Contains(err.Error(), "git branch -m") {
		t.Errorf("beside a branch drafts: %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	before := refs(t, d, "")
	failed := errors.New("failed")
	broken := put("x", nil)
	broken.Edits = func(context.Context, gitstore.CommitID, bool) ([]gitstore.Edit, error) { return nil, failed }
	for name, c := range map[string]struct {
		change Change
		want   error
	}{
		"nothing":         {put("x", nil), ErrNoChange},
		"the same":        {put("x", map[string]string{"a.md": "1\n"}), ErrNoChange},
		"Edits fails":     {broken, failed},
		"climbs":          {put("x", map[string]string{"../b.md": "b"}), gitstore.ErrUnsafePath},
		"git directory":   {put("x", map[string]string{".GIT/hooks/x": "b"}), gitstore.ErrUnsafePath},
		"differs in case": {put("x", map[string]string{"A.md": "b"}), gitstore.ErrPathConflict},
		"no such file":    {put("x", map[string]string{"b.md": "-"}), gitstore.ErrNotFound},
	} {
		if w, err := s.Append(ctx, c.change); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
	}
	if after := refs(t, d, ""); after != before {
		t.Errorf("refs:\n%s", after)
	}
	empty := open(t, newRepo(t, nil))
	if _, err := empty.Append(ctx, put("x", map[string]string{"a.md": "1"})); !errors.Is(err, gitstore.ErrUnborn) || !strings.Contains(err.Error(), "first commit") {
		t.Errorf("unborn: %v", err)
	}
	if list, err := empty.List(ctx, ListOptions{}); err != nil || len(list) > 0 {
		t.Errorf("unborn: %v, %v", list, err)
	}
}

func TestUnnamedDraftsAreNumbered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	var names []string
	for i := range 3 {
		c := put("", map[string]string{fmt.Sprintf("%d.md", i): "x\n"})
		c.Title = "Some Title"
		names = append(names, mustAppend(t, s, c).Draft)
		if i == 0 {
			if _, err := s.Reject(ctx, names[0], "no", gitstore.Signature{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := strings.Join(names, " "); got != "some-title some-title-2 some-title-3" {
		t.Errorf("%s", got)
	}
}

func keyed(name, title, key, file string) Change {
	c := put(name, map[string]string{file: file + "\n"})
	c.Title, c.Key = title, key
	return c
}

func TestKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	for _, key := range []string{"k1", "with space\nKb-Key: other", strings.Repeat("long", 100)} {
		first := mustAppend(t, s, keyed("x", "", key, "b.md"))
		mustAppend(t, s, put("x", map[string]string{"c.md": key}))
		again := mustAppend(t, s, keyed("x", "", key, "other.md"))
		if !again.Repeated || again.Commit != first.Commit || again.Parent != first.Parent || again.Draft != "x" || again.Ref != first.Ref {
			t.Errorf("%q: %+v, first %+v", key, again, first)
		}
		other := mustAppend(t, s, keyed("y", "", key, "b.md"))
		if other.Repeated {
			t.Errorf("%q: another draft's key counts: %+v", key, other)
		}
		if _, err := s.Reject(ctx, "x", "no", gitstore.Signature{}); err != nil {
			t.Fatal(err)
		}
		if again = mustAppend(t, s, keyed("x", "", key, "b.md")); !again.Repeated || again.Commit != first.Commit {
			t.Errorf("%q, rejected: %+v", key, again)
		}
		if _, err := s.Merge(ctx, MergeRequest{Name: "y"}); err != nil {
			t.Fatal(err)
		}
		if again = mustAppend(t, s, keyed("y", "", key, "b.md")); !again.Repeated || again.Commit != other.Commit || !strings.HasPrefix(again.Ref, "refs/kb/kept/y") {
			t.Errorf("%q, merged: %+v", key, again)
		}
		git(t, d, "rm", "-q", "b.md")
		git(t, d, "commit", "-qm", "without b.md")
	}
	unnamed := mustAppend(t, s, keyed("", "A Title", "k", "t.md"))
	mustAppend(t, s, keyed("", "A Title", "l", "t.md"))
	if again := mustAppend(t, s, keyed("", "A Title", "l", "t.md")); !again.Repeated || again.Draft != "a-title-2" {
		t.Errorf("%+v", again)
	}
	if again := mustAppend(t, s, keyed("", "A Title", "k", "t.md")); !again.Repeated || again.Commit != unnamed.Commit {
		t.Errorf("%+v", again)
	}
	git(t, d, "merge", "-q", "drafts/a-title")
	if again := mustAppend(t, s, keyed("", "A Title", "k", "t.md")); !again.Repeated || again.Commit != unnamed.Commit {
		t.Errorf("merged with git: %+v", again)
	}
	fsck(t, d)
}

// While a draft is being made, another process makes it with the same key, and it
// is merged.
func TestKeyMergedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	for _, name := range []string{"x", ""} {
		var first *Written
		c := keyed(name, "A Title", "k"+name, "b.md")
		edits := c.Edits
		c.Edits = func(ctx context.Context, on gitstore.CommitID, fresh bool) ([]gitstore.Edit, error) {
			if first == nil {
				other := c
				other.Edits = edits
				first = mustAppend(t, s, other)
				mustMerge(t, s, MergeRequest{Name: first.Draft})
				commit(t, d, "without it", map[string]string{"b.md": "-"})
			}
			return edits(ctx, on, fresh)
		}
		if again := mustAppend(t, s, c); !again.Repeated || again.Commit != first.Commit {
			t.Errorf("%q: %+v, first %+v", name, again, first)
		}
	}
}

// The same key from several processes at once, and goroutines in each, with merges
// in between, makes one commit.
func TestKeyFromSeveralProcesses(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	git(t, d, "switch", "-q", "--detach")
	s := open(t, d)
	keys := 4
	if long {
		keys = 40
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if out, err := child(t, d, fmt.Sprintf("keys %d", keys)).CombinedOutput(); err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
		})
	}
	for range 3 {
		all.Go(func() {
			if err := appendKeys(s, keys); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := "\n" + git(t, d, "log", "--all", "--format=%(trailers:key=Kb-Key,valueonly)") + "\n"
	for i := range keys {
		for _, kind := range []string{"named", "unnamed"} {
			if n := strings.Count(got, fmt.Sprintf("\n%s-%d\n", kind, i)); n != 1 {
				t.Errorf("%s-%d: %d commits", kind, i, n)
			}
		}
	}
	fsck(t, d)
}

// appendKeys appends with keys that others use too, and merges now and then.
func appendKeys(s *Store, keys int) error {
	ctx := context.Background()
	for i := range keys {
		if _, err := s.Append(ctx, keyed("named", "", fmt.Sprintf("named-%d", i), fmt.Sprintf("n%d.md", i))); err != nil {
			return err
		}
		w, err := s.Append(ctx, keyed("", "A Title", fmt.Sprintf("unnamed-%d", i), fmt.Sprintf("u%d.md", i)))
		if err != nil {
			return err
		}
		for _, name := range []string{w.Draft, "named"} {
			_, err := s.Merge(ctx, MergeRequest{Name: name})
			if err != nil && !errors.Is(err, ErrClosed) {
				return err
			}
		}
	}
	return nil
}

// long asks for full samples where a few will do every day: KB_LONG=1.
var long = os.Getenv("KB_LONG") == "1"

// child runs this test program again, to be another process.
func child(t testing.TB, dir, job string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KB_CHILD="+job)
	return cmd
}

// TestChild is what the other processes do. It says "done FILE" when a commit that
// adds the file is acknowledged.
func TestChild(t *testing.T) {
	job := strings.Fields(os.Getenv("KB_CHILD"))
	if len(job) == 0 {
		t.Skip("only as a child of another test")
	}
	s := open(t, ".")
	number := func(i int) (n int) { fmt.Sscan(job[i], &n); return n }
	switch job[0] {
	case "keys":
		if err := appendKeys(s, number(1)); err != nil {
			t.Fatal(err)
		}
	case "die": // die STEP OPERATION
		if err := die(s, number(1), strings.Join(job[2:], " ")); err != nil {
			t.Fatal(err)
		}
		fmt.Println("done")
	case "write": // write NAME WRITERS EACH
		err := writeMany(s, job[1], number(2), number(3), func(file string) { fmt.Println("done", file) })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// writeMany has writers append to one draft and to one of their own each.
func writeMany(s *Store, name string, writers, each int, done func(file string)) error {
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				for _, draft := range []string{"shared", fmt.Sprintf("%s-%d", name, w)} {
					file := fmt.Sprintf("%s/%s-%d-%d.md", draft, name, w, i)
					if _, err := s.Append(context.Background(), put(draft, map[string]string{file: file + "\n"})); err != nil {
						errs[w] = err
						return
					}
					done(file)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// TestManyWriters has 16 writers in 4 processes add to one draft and to 16 drafts
// while git commits, packs refs and collects garbage, new or not.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n", "dir/b.md": "2\n"})
	write(t, d, "uncommitted.md", "x\n")
	each, writers := 3, 2
	if long {
		each, writers = 100, 4
	}
	var mu sync.Mutex
	var done []string
	var all, beside sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		all.Go(func() {
			out, err := child(t, d, fmt.Sprintf("write p%d %d %d", i, writers, each)).CombinedOutput()
			if err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			for line := range strings.Lines(string(out)) {
				if file, ok := strings.CutPrefix(strings.TrimSpace(line), "done "); ok {
					done = append(done, file)
				}
			}
		})
	}
	commits := 0
	beside.Go(func() { // git is not safe from its own gc --prune=now: one after the other
		for i := 0; !stopped(stop); i++ {
			write(t, d, "a.md", fmt.Sprintf("%d\n", i))
			for _, args := range [][]string{{"commit", "-qam", fmt.Sprintf("commit %d", i)}, {"pack-refs", "--all"}, {"gc", "-q", "--prune=now"}} {
				if out, err := gitTry(d, args...); err != nil {
					t.Errorf("git %v: %v\n%s", args, err, out)
				}
			}
			commits++
		}
	})
	beside.Go(func() {
		for !stopped(stop) {
			gitTry(d, "pack-refs", "--all")
		}
	})
	all.Wait()
	close(stop)
	beside.Wait()
	if want := 4 * writers * each * 2; len(done) != want {
		t.Errorf("%d acknowledged, want %d", len(done), want)
	}
	files := map[string]string{}
	for _, file := range done {
		branch := "drafts/" + filepath.Dir(file)
		if files[branch] == "" {
			files[branch] = git(t, d, "ls-tree", "-r", "--name-only", branch) + "\n"
		}
		if !strings.Contains(files[branch], file+"\n") {
			t.Errorf("%s is lost", file)
		}
	}
	if got := git(t, d, "rev-list", "--count", "drafts/shared", "^main"); got != fmt.Sprint(4*writers*each) {
		t.Errorf("%s commits in drafts/shared", got)
	}
	if got := git(t, d, "status", "--porcelain=v2"); got != "? uncommitted.md" {
		t.Errorf("status:\n%s", got)
	}
	t.Logf("%d writes beside %d commits", len(done), commits)
	fsck(t, d)
	if left, _ := filepath.Glob(filepath.Join(d, ".git/objects/pack/*.keep")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func stopped(stop chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func gitTry(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Before makes a commit of its own below that of Edits; the draft moves past both
// at once, and a change that is none makes neither.
func TestAppendBefore(t *testing.T) {
	t.Parallel()
	dir := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, dir)
	c := put("x", map[string]string{"a.md": "merged\n"})
	c.Before = func() (string, []gitstore.Edit) {
		return "import", []gitstore.Edit{{Path: "a.md", Src: []byte("theirs\n")}}
	}
	w := mustAppend(t, s, c)
	if got := git(t, dir, "log", "--format=%s", "main..drafts/x"); strings.Fields(got)[0] != "add" || !strings.Contains(got, "import") {
		t.Errorf("commits:\n%s", got)
	}
	if below, above := git(t, dir, "show", "drafts/x~1:a.md"), git(t, dir, "show", "drafts/x:a.md"); below != "theirs" || above != "merged" {
		t.Errorf("below %q, above %q", below, above)
	}
	if parent := strings.TrimSpace(git(t, dir, "rev-parse", "drafts/x~2")); w.Parent.String() != parent {
		t.Errorf("parent %s, want %s", w.Parent, parent)
	}
	if _, err := s.Append(context.Background(), c); !errors.Is(err, ErrNoChange) {
		t.Errorf("again: got %v, want %v", err, ErrNoChange)
	}
	fsck(t, dir)
}
