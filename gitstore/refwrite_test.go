package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestCheckRefName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"refs/heads/main": true, "refs/heads/drafts/x": true, "refs/kb/rejected/ä": true,
		"": false, "HEAD": false, "main": false, "refs/heads": false, "refs/heads/": false, "refs/heads/../main": false,
		"refs/heads/a b": false, "refs/heads/a..b": false, "refs/heads/x.lock": false, "refs/heads/.x": false, "refs/heads/a\nb": false,
		"refs/heads/a~1": false, "refs/heads/x@{1}": false, "refs//heads/x": false, "/refs/heads/x": false, "refs/worktree/x": false,
		"refs/heads/a\x00b": false, "refs/heads/a\\b": false, "refs/heads/" + strings.Repeat("x", 300): false, "../refs/heads/x": false,
	} {
		if err := CheckRefName(name); (err == nil) != ok || err != nil && !errors.Is(err, ErrBadRef) {
			t.Errorf("CheckRefName(%q) = %v", name, err)
		}
	}
}

// fileState is every file that writing refs must not touch.
func fileState(t testing.TB, d string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{".git/HEAD", ".git/index", ".git/logs/HEAD", "a"} {
		content, err := os.ReadFile(filepath.Join(d, name))
		fmt.Fprintf(&b, "%s %x %v\n", name, content, err)
	}
	return b.String()
}

func TestUpdateRef(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	second := commit(t, d, "second", map[string]string{"a": "2"})
	r := mustOpen(t, d)
	first, _ := r.Resolve("HEAD~1")
	none := CommitID{}
	before := fileState(t, d)
	git(t, d, "branch", "packed", "HEAD~1")
	git(t, d, "branch", "dir/below", "HEAD~1")
	git(t, d, "pack-refs", "--all")
	git(t, d, "symbolic-ref", "refs/heads/link", "refs/heads/packed")
	const x = "refs/heads/drafts/x"
	for i, c := range []struct {
		name    string
		to, old CommitID
		want    error
	}{
		{x, first, second, ErrMoved}, // does not exist
		{x, first, none, nil},
		{x, second, none, ErrMoved},
		{x, second, second, ErrMoved},
		{x, second, first, nil},
		{x, second, second, nil},
		{"refs/heads/packed", second, none, ErrMoved},
		{"refs/heads/packed", second, first, nil},
		{"refs/heads/packed/below", first, none, ErrRefConflict},
		{"refs/heads/drafts/x/below", first, none, ErrRefConflict},
		{"refs/heads/drafts", first, none, ErrRefConflict},
		{"refs/heads/dir", first, none, ErrRefConflict},
		{"refs/heads/link", second, first, ErrBadRef},
		{"refs/heads/link", second, none, ErrBadRef},
		{"refs/heads/../x", first, none, ErrBadRef},
		{"HEAD", first, second, ErrBadRef},
		{x, CommitID{1}, second, ErrNotFound},
		{x, CommitID(treeAt(t, r, "HEAD")), second, ErrCorrupt},
	} {
		got := r.UpdateRef(c.name, c.to, c.old, somebody, "test\nmessage")
		if !errors.Is(got, c.want) || c.want == nil && got != nil {
			t.Errorf("%d: UpdateRef(%s, %s, %s) = %v, want %v", i, c.name, c.to, c.old, got, c.want)
		}
	}
	for name, want := range map[string]CommitID{x: second, "refs/heads/packed": second, "refs/heads/main": second} {
		if got := git(t, d, "rev-parse", name); got != want.String() {
			t.Errorf("%s is at %s, want %s", name, got, want)
		}
	}
	if got := git(t, d, "log", "-g", "--format=%gs|%gn|%ge", x); got != strings.Repeat("test message|Some Body|some@example.org\n", 2)+"test message|Some Body|some@example.org" {
		t.Errorf("reflog:\n%s", got)
	}
	if after := fileState(t, d); after != before {
		t.Errorf("HEAD, index or work tree:\n%s\nwere\n%s", after, before)
	}
	// Empty directories are in nobody's way; git leaves them.
	if err := os.MkdirAll(filepath.Join(d, ".git/refs/heads/empty/deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := r.UpdateRef("refs/heads/empty", first, none, somebody, "m"); err != nil {
		t.Errorf("over an empty directory: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(d, ".git/kb/pending-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	fsck(t, d)
}

func TestReflogIsWrittenWhereGitWritesOne(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	_, head, _ := r.Head()
	logged := func(setting, name string) bool {
		git(t, d, "config", "core.logAllRefUpdates", setting)
		if err := r.UpdateRef(name, head, CommitID{}, somebody, "m"); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(r.logFile(name))
		return err == nil
	}
	for i, c := range []struct {
		setting, name string
		want          bool
	}{
		{"true", "refs/heads/a", true}, {"true", "refs/kb/a", false}, {"always", "refs/kb/b", true}, {"false", "refs/heads/c", false},
	} {
		if got := logged(c.setting, c.name); got != c.want {
			t.Errorf("%d: %+v: logged %v", i, c, got)
		}
	}
}

func TestDeleteRef(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	second := commit(t, d, "second", map[string]string{"a": "2"})
	r := mustOpen(t, d)
	first, _ := r.Resolve("HEAD~1")
	git(t, d, "tag", "-m", "annotated", "v1")
	git(t, d, "branch", "both", "HEAD~1")
	git(t, d, "branch", "packed", "HEAD~1")
	git(t, d, "pack-refs", "--all")
	git(t, d, "branch", "-f", "both", "HEAD")
	git(t, d, "branch", "loose", "HEAD")
	for i, c := range []struct {
		name string
		old  CommitID
		want error
	}{
		{"refs/heads/both", first, ErrMoved},
		{"refs/heads/both", second, nil},
		{"refs/heads/both", second, ErrMoved},
		{"refs/heads/packed", first, nil},
		{"refs/heads/loose", second, nil},
		{"refs/heads/../x", second, ErrBadRef},
	} {
		if got := r.DeleteRef(c.name, c.old); !errors.Is(got, c.want) || c.want == nil && got != nil {
			t.Errorf("%d: DeleteRef(%s, %s) = %v, want %v", i, c.name, c.old, got, c.want)
		}
	}
	if got := git(t, d, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main\nrefs/tags/v1" {
		t.Errorf("left:\n%s", got)
	}
	if got := git(t, d, "rev-parse", "v1^{commit}"); got != second.String() {
		t.Errorf("v1 is at %s", got)
	}
	if _, err := os.Stat(r.logFile("refs/heads/loose")); err == nil {
		t.Error("the reflog is still there")
	}
	if err := r.UpdateRef("refs/heads/loose/now/a/directory", first, CommitID{}, somebody, "m"); err != nil {
		t.Error(err)
	}
	fsck(t, d)
}

func TestLocked(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	r.patience = 30 * time.Millisecond
	_, head, _ := r.Head()
	write(t, d, ".git/refs/heads/x.lock", "git's")
	if err := r.UpdateRef("refs/heads/x", head, CommitID{}, somebody, "m"); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "x.lock") {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(filepath.Join(d, ".git/refs/heads/x.lock")); string(b) != "git's" {
		t.Errorf("git's lock is now %q", b)
	}
	os.Remove(filepath.Join(d, ".git/refs/heads/x.lock"))
	if err := r.UpdateRef("refs/heads/x", head, CommitID{}, somebody, "m"); err != nil {
		t.Error(err)
	}
	held, err := os.OpenFile(filepath.Join(d, ".git/kb/refs.guard"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A program that another test starts holds what is open here until it runs.
	for ok := false; !ok; {
		if ok, err = flock(held); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.DeleteRef("refs/heads/x", head); !errors.Is(err, ErrLocked) {
		t.Errorf("guard held: %v", err)
	}
	held.Close()
	if err := r.DeleteRef("refs/heads/x", head); err != nil {
		t.Error(err)
	}
}

// Writers of one Repo stand in line, however long those before them take.
func TestWritersStandInLine(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	r.patience = 200 * time.Millisecond
	_, head, _ := r.Head()
	entered, written := make(chan struct{}), make(chan error)
	go func() {
		<-entered
		written <- r.UpdateRef("refs/heads/x", head, CommitID{}, somebody, "m")
	}()
	err := r.guarded(func(*guard) error {
		close(entered)
		select {
		case err := <-written:
			t.Fatalf("written while another writes: %v", err)
		case <-time.After(3 * r.patience): // longer than it waits for a lock
		}
		return nil
	})
	if err := errors.Join(err, <-written); err != nil {
		t.Error(err)
	}
}

// addCommit adds a commit with one more note to a ref, as often as others come
// first.
func addCommit(r *Repo, name, note string) (CommitID, error) {
	ctx := context.Background()
	for {
		tip, err := r.Resolve(name)
		if err != nil && !errors.Is(err, ErrNoRevision) {
			return tip, err
		}
		var base TreeID
		var parents []CommitID
		if !tip.IsZero() {
			c, err := r.Commit(tip)
			if err != nil {
				return tip, err
			}
			base, parents = c.Tree, []CommitID{tip}
		}
		blob, err := r.WriteBlob([]byte(note))
		if err != nil {
			return tip, err
		}
		tree, err := r.EditTree(ctx, base, []Edit{{Path: "notes/" + note + ".md", Blob: blob}})
		if err != nil {
			return tip, err
		}
		id, err := r.WriteCommit(ctx, &Commit{Tree: tree, Parents: parents, Author: somebody, Committer: somebody, Message: note})
		if err != nil {
			return tip, err
		}
		if err := r.UpdateRef(name, id, tip, somebody, "add "+note); !errors.Is(err, ErrMoved) {
			return id, err
		}
	}
}

// child runs this test program again, to be another process.
func child(t testing.TB, dir, job string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KB_CHILD="+job)
	return cmd
}

// TestChild is what the other processes do. It says "done NOTE" when something
// is sure to have happened.
func TestChild(t *testing.T) {
	job := strings.Fields(os.Getenv("KB_CHILD"))
	if len(job) == 0 {
		t.Skip("only as a child of another test")
	}
	r := mustOpen(t, ".")
	var err error
	switch job[0] {
	case "add": // add REF NAME COUNT
		var n int
		fmt.Sscan(job[3], &n)
		for i := range n {
			note := fmt.Sprintf("%s-%d", job[2], i)
			if _, err := addCommit(r, job[1], note); err != nil {
				t.Fatal(err)
			}
			fmt.Println("done", note)
		}
	case "die": // die STEP NTH DO
		var n int
		fmt.Sscan(job[2], &n)
		r.fault = func(step string) {
			if step == strings.ReplaceAll(job[1], "_", " ") {
				if n--; n == 0 {
					dieNow()
				}
			}
		}
		if job[3] == "delete" {
			old, _ := r.Resolve("refs/heads/drafts/old")
			err = r.DeleteRef("refs/heads/drafts/old", old)
		} else {
			_, err = addCommit(r, "refs/heads/drafts/new", "note")
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("done", job[3])
	}
}

// acknowledged lists what a child said was done.
func acknowledged(out []byte) []string {
	var done []string
	for line := range strings.Lines(string(out)) {
		if note, ok := strings.CutPrefix(strings.TrimSpace(line), "done "); ok {
			done = append(done, note)
		}
	}
	return done
}

// TestConcurrentWriters has processes of ours, several goroutines, and git add
// commits to one branch while git packs refs and objects.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	git(t, d, "branch", "drafts/x")
	before := fileState(t, d)
	each := 5
	if long {
		each = 100
	}
	const name = "refs/heads/drafts/x"
	var mu sync.Mutex
	var done []string
	acknowledge := func(notes ...string) {
		mu.Lock()
		defer mu.Unlock()
		done = append(done, notes...)
	}
	var writers sync.WaitGroup
	var stop atomic.Bool
	for i := range 2 {
		writers.Go(func() {
			out, err := child(t, d, fmt.Sprintf("add %s child%d %d", name, i, each)).CombinedOutput()
			if err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
			acknowledge(acknowledged(out)...)
		})
	}
	r := mustOpen(t, d)
	for i := range 3 {
		writers.Go(func() {
			for n := range each {
				note := fmt.Sprintf("goroutine%d-%d", i, n)
				if _, err := addCommit(r, name, note); err != nil {
					t.Error(err)
					return
				}
				acknowledge(note)
			}
		})
	}
	writers.Go(func() {
		for n := range each {
			note := fmt.Sprintf("git-%d", n)
			for try := 0; ; try++ {
				tip := tryGit(d, "rev-parse", name)
				id := tryGit(d, "commit-tree", "-p", tip, "-m", note, tip+"^{tree}")
				if id != "" && gitCommand(d, "update-ref", "-m", note, name, id, tip).Run() == nil {
					acknowledge(note)
					break
				}
			}
		}
	})
	var housekeeper sync.WaitGroup
	housekeeper.Go(func() {
		for i := 0; !stop.Load(); i++ {
			gitCommand(d, "pack-refs", "--all").Run()
			if i%4 == 3 {
				gitCommand(d, "repack", "-adq").Run()
				gitCommand(d, "prune-packed", "-q").Run()
			}
		}
	})
	writers.Wait()
	stop.Store(true)
	housekeeper.Wait()
	reached := strings.Split(git(t, d, "log", "--format=%s", name), "\n")
	if len(done) != 6*each {
		t.Errorf("%d acknowledged, want %d", len(done), 6*each)
	}
	for _, note := range done {
		if !slices.Contains(reached, note) {
			t.Errorf("%s is lost", note)
		}
	}
	if after := fileState(t, d); after != before {
		t.Errorf("HEAD, index or work tree:\n%s\nwere\n%s", after, before)
	}
	fsck(t, d)
}

// TestKilledWriters kills a writer at every step, then does the same work again.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	prepared := newRepo(t, map[string]string{"a": "1"})
	git(t, prepared, "branch", "drafts/old", "HEAD")
	git(t, prepared, "pack-refs", "--all")
	git(t, prepared, "branch", "-f", "drafts/old", git(t, prepared, "commit-tree", "-m", "later", "-p", "HEAD", "HEAD^{tree}"))
	for _, c := range []struct {
		do   string
		step string
		nth  int
	}{
		{"add", "object written", 1}, {"add", "object named", 1}, {"add", "object named", 4},
		{"add", "lock written", 1}, {"add", "locked", 1}, {"add", "ref moved", 1},
		{"delete", "lock written", 1}, {"delete", "locked", 1}, {"delete", "lock written", 2}, {"delete", "locked", 2},
		{"delete", "ref moved", 1}, {"delete", "ref unpacked", 1}, {"delete", "ref removed", 1},
	} {
		t.Run(fmt.Sprintf("%s/%s/%d", c.do, c.step, c.nth), func(t *testing.T) {
			t.Parallel()
			d := filepath.Join(tempDir(t), "repo")
			if err := os.CopyFS(d, os.DirFS(prepared)); err != nil {
				t.Fatal(err)
			}
			later := mustCommitID(t, git(t, d, "rev-parse", "drafts/old"))
			out, err := child(t, d, fmt.Sprintf("die %s %d %s", strings.ReplaceAll(c.step, " ", "_"), c.nth, c.do)).CombinedOutput()
			if err == nil || len(acknowledged(out)) > 0 {
				t.Fatalf("the child lives: %v\n%s", err, out)
			}
			fsck(t, d)
			r := mustOpen(t, d)
			r.patience = time.Second
			switch now, err := r.Resolve("refs/heads/drafts/old"); {
			case err == nil && now != later:
				t.Errorf("the packed value came to light: %s, was %s", now, later)
			case c.do == "add":
				if _, err := addCommit(r, "refs/heads/drafts/new", "again"); err != nil {
					t.Errorf("again: %v", err)
				}
			case err == nil:
				if err := r.DeleteRef("refs/heads/drafts/old", later); err != nil {
					t.Errorf("again: %v", err)
				}
			default:
				if err := r.UpdateRef("refs/heads/drafts/old", later, CommitID{}, somebody, "m"); err != nil {
					t.Errorf("again: %v", err)
				}
			}
			left, _ := filepath.Glob(filepath.Join(d, ".git/kb/pending-*"))
			locks, _ := filepath.Glob(filepath.Join(d, ".git/refs/heads/drafts/*.lock"))
			more, _ := filepath.Glob(filepath.Join(d, ".git/*.lock"))
			if left = slices.Concat(left, locks, more); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
			git(t, d, "branch", "drafts/gits-own")
			fsck(t, d)
		})
	}
}

// TestLockWithoutHardLinks is what happens on file systems that have none.
func TestLockWithoutHardLinks(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	file := filepath.Join(d, ".git", "refs", "heads", "x")
	lock := func(g *guard) *refLock {
		l := &refLock{guard: g, file: file, pending: g.pending(0)}
		var err error
		if l.out, err = os.OpenFile(l.pending, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := l.write([]byte("content\n")); err != nil {
			t.Fatal(err)
		}
		return l
	}
	err := r.guarded(func(g *guard) error {
		l := lock(g)
		defer l.undo()
		if ok, err := l.takeUnlinked(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := l.takeUnlinked(); ok || err != nil {
			t.Errorf("taken twice: %v, %v", ok, err)
		}
		return l.commit()
	})
	if b, _ := os.ReadFile(file); err != nil || string(b) != "content\n" {
		t.Errorf("%q, %v", b, err)
	}
	err = r.guarded(func(g *guard) error {
		l := lock(g)
		if _, err := l.takeUnlinked(); err != nil {
			return err
		}
		l.undo()
		return nil
	})
	left, _ := filepath.Glob(file + ".lock")
	more, _ := filepath.Glob(filepath.Join(d, ".git/kb/pending-*"))
	if err != nil || len(left)+len(more) > 0 {
		t.Errorf("left %v %v, %v", left, more, err)
	}
}
