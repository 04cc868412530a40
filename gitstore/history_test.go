package gitstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

// gitDiff is `git diff-tree -r` of regular files without renames, in short.
func gitDiff(t testing.TB, dir, a, b string) []string {
	t.Helper()
	var out []string
	fields := strings.Split(git(t, dir, "diff-tree", "-r", "-z", "--no-renames", a, b), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(fields[i])
		oldFile, newFile := strings.HasPrefix(f[0], ":100"), strings.HasPrefix(f[1], "100")
		switch {
		case oldFile && newFile && f[2] == f[3]: // mode only
		case oldFile && newFile:
			out = append(out, "changed "+fields[i+1])
		case oldFile:
			out = append(out, "removed "+fields[i+1])
		case newFile:
			out = append(out, "added "+fields[i+1])
		}
	}
	slices.Sort(out)
	return out
}

// flat is our diff in the same form, a rename as removal and addition.
func flat(changes []Change) []string {
	var out []string
	for _, c := range changes {
		if c.Kind == Renamed {
			out = append(out, "removed "+c.From, "added "+c.Path)
		} else {
			out = append(out, string(c.Kind)+" "+c.Path)
		}
	}
	slices.Sort(out)
	return out
}

func TestDiffAgreesWithGit(t *testing.T) {
	for _, name := range []string{"kepano-obsidian", "rust-rfcs"} {
		d := vault(t, name)
		r := mustOpen(t, d)
		commits := strings.Fields(git(t, d, "rev-list", "HEAD"))
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 15 {
			a, b := commits[rnd.IntN(len(commits))], commits[rnd.IntN(len(commits))]
			changes, err := r.Diff(context.Background(), mustCommitID(t, a), mustCommitID(t, b), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(gitDiff(t, d, a, b), flat(changes)); diff != "" {
				t.Errorf("%s: %s %s (-git +ours):\n%s", name, a, b, diff)
			}
			if !slices.IsSortedFunc(changes, func(x, y Change) int { return strings.Compare(x.Path, y.Path) }) {
				t.Errorf("%s %s: not sorted", a, b)
			}
		}
	}
}

func TestDiffRenames(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"in/a.md": "A", "in/b.md": "B", "in/twin1": "T", "in/twin2": "T", "in/same": "S", "out/x": "X", "in/type": "dir soon"})
	a := mustCommitID(t, git(t, d, "rev-parse", "HEAD"))
	git(t, d, "rm", "-q", "in/type")
	b := commit(t, d, "move", map[string]string{
		"in/a.md": "-", "in/new/a.md": "A", "in/b.md": "B2", "in/twin1": "-", "in/twin2": "-", "in/t": "T", "in/z/twin2": "T", "in/type/x": "n",
	})
	r := mustOpen(t, d)
	show := func(a, b CommitID, dir string) string {
		changes, err := r.Diff(context.Background(), a, b, dir)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range changes {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s<%s", c.Kind, c.Path, c.From), "<"))
			if (c.Kind == Added) != c.Old.IsZero() || (c.Kind == Removed) != c.New.IsZero() || c.Kind == Renamed && c.Old != c.New {
				t.Errorf("%+v: blobs do not fit", c)
			}
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct {
		a, b      CommitID
		dir, want string
	}{
		{a, b, "", "changed in/b.md, renamed in/new/a.md<in/a.md, renamed in/t<in/twin1, removed in/type, added in/type/x, renamed in/z/twin2<in/twin2"},
		{a, b, "in/new", "added a.md"},
		{a, b, "out", ""},
		{a, a, "", ""},
		{CommitID{}, a, "out", "added x"},
		{a, CommitID{}, "out", "removed x"},
	} {
		if got := show(c.a, c.b, c.dir); got != c.want {
			t.Errorf("Diff(%.4s, %.4s, %q) = %s\nwant %s", c.a, c.b, c.dir, got, c.want)
		}
	}
}

// gitDates asks git for one file: the last commit, and the one that added it.
func gitDates(t testing.TB, dir, rev, path string) (last, added string) {
	t.Helper()
	last = git(t, dir, "log", "-1", "--format=%H %ct %an", rev, "--", path)
	added = git(t, dir, "log", "-1", "--diff-filter=A", "--no-renames", "--format=%ct", rev, "--", path)
	return last, added
}

func TestDatesAgreeWithGit(t *testing.T) {
	for name, sample := range map[string]int{"kepano-obsidian": 60, "rust-rfcs": 3} {
		d := vault(t, name)
		r := mustOpen(t, d)
		_, id, _ := r.Head()
		dates, err := r.Dates(context.Background(), id, nil)
		if err != nil {
			t.Fatal(err)
		}
		files := lsTree(t, d, "HEAD")
		if long {
			sample = len(files)
		}
		if len(dates.all()) != len(files) {
			t.Errorf("%s: dates of %d files, want %d", name, len(dates.all()), len(files))
		}
		for path := range files { // in random order
			if sample--; sample < 0 {
				break
			}
			got, _ := dates.At(path)
			last, added := gitDates(t, d, "HEAD", path)
			if s := fmt.Sprintf("%s %d %s", got.Commit, got.Updated.Unix(), got.Author); s != last {
				t.Errorf("%s: %s: last changed %s, git says %s", name, path, s, last)
			}
			if s := fmt.Sprint(got.Created.Unix()); s != added && added != "" || got.Shallow {
				t.Errorf("%s: %s: created %s (shallow %v), git says %s", name, path, s, got.Shallow, added)
			}
		}
	}
}

func TestDatesIncremental(t *testing.T) {
	for _, name := range []string{"kepano-obsidian", "rust-rfcs"} {
		if !long && name == "rust-rfcs" {
			continue
		}
		d := vault(t, name)
		r := mustOpen(t, d)
		_, head, _ := r.Head()
		want, err := r.Dates(context.Background(), head, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, rev := range []string{"HEAD~1", "HEAD~20", "HEAD^2"} {
			base, err := r.Resolve(rev)
			if err != nil {
				continue // not a merge
			}
			old, err := r.Dates(context.Background(), base, nil)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			got, err := r.Dates(context.Background(), head, func(id CommitID) (*Dates, bool) { asked++; return old, id == base })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.all(), got.all()); diff != "" || asked == 0 {
				t.Errorf("%s: from %s (%d asked; -full +incremental):\n%s", name, rev, asked, diff)
			}
		}
	}
}

// dateAt is the date of a file that must have one.
func dateAt(d *Dates, path string) Date {
	date, ok := d.At(path)
	if !ok {
		panic("no date of " + path)
	}
	return date
}

func TestDatesShallow(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"old": "1", "touched": "1"})
	commit(t, d, "second", map[string]string{"x": "1"})
	third := commit(t, d, "third", map[string]string{"touched": "2", "new": "1"})
	s := filepath.Join(tempDir(t), "s")
	git(t, d, "clone", "-q", "--depth", "2", "file://"+d, s)
	r := mustOpen(t, s)
	got, err := r.Dates(context.Background(), third, nil)
	if err != nil {
		t.Fatal(err)
	}
	boundary, _ := r.Resolve("HEAD~1")
	for path, want := range map[string]struct {
		commit  CommitID
		shallow bool
	}{"old": {boundary, true}, "touched": {third, true}, "new": {third, false}, "x": {boundary, true}} {
		if d, _ := got.At(path); d.Commit != want.commit || d.Shallow != want.shallow || d.Created.IsZero() {
			t.Errorf("%s: %+v, want %+v", path, d, want)
		}
	}
	if c, err := r.Commit(boundary); err != nil || !c.Shallow || len(c.Parents) > 0 {
		t.Errorf("boundary: %+v, %v", c, err)
	}
	if _, err := r.Resolve("HEAD~2"); !errors.Is(err, ErrNoRevision) || !strings.Contains(err.Error(), "unshallow") {
		t.Errorf("Resolve past the boundary: %v", err)
	}
	// Deepening is seen by the same Repo.
	git(t, s, "fetch", "-q", "--unshallow")
	if _, err := r.Resolve("HEAD~2"); err != nil {
		t.Errorf("after unshallow: %v", err)
	}
	// What is not known stays so when the dates are built upon.
	known := func(id CommitID) (*Dates, bool) { return got, id == third }
	again, err := r.Dates(context.Background(), commit(t, s, "fourth", map[string]string{"x": "2"}), known)
	if err != nil || !dateAt(again, "old").Shallow || !dateAt(again, "x").Shallow || dateAt(again, "new").Shallow {
		t.Errorf("built upon: %+v, %v", again, err)
	}
	if got, err := r.Dates(context.Background(), third, nil); err != nil || dateAt(got, "old").Shallow {
		t.Errorf("after unshallow: %+v, %v", dateAt(got, "old"), err)
	}
}

func TestLogAgreesWithGit(t *testing.T) {
	for _, name := range []string{"kepano-obsidian", "rust-rfcs"} {
		d := vault(t, name)
		r := mustOpen(t, d)
		_, head, _ := r.Head()
		n := 0
		for path := range lsTree(t, d, "HEAD") {
			if n++; n > 2 && !long {
				break
			}
			versions, err := r.Log(context.Background(), head, path, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range versions {
				if v.Path == path {
					got = append(got, v.Commit.ID.String())
				}
			}
			want := strings.Fields(git(t, d, "log", "--format=%H", "HEAD", "--", path))
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: log of %s (-git +ours):\n%s", name, path, diff)
			}
		}
	}
}

func TestLogFollowsRenames(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"old.md": "1"})
	commit(t, d, "edit", map[string]string{"old.md": "2"})
	commit(t, d, "rename", map[string]string{"old.md": "-", "dir/new.md": "2"})
	commit(t, d, "other", map[string]string{"x": "1"})
	commit(t, d, "edit again", map[string]string{"dir/new.md": "3"})
	head := commit(t, d, "remove", map[string]string{"dir/new.md": "-"})
	r := mustOpen(t, d)
	log := func(limit int) string {
		versions, err := r.Log(context.Background(), head, "dir/new.md", limit)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, v := range versions {
			out = append(out, fmt.Sprintf("%s %s %v", v.Commit.Subject, v.Path, v.Blob.IsZero()))
		}
		return strings.Join(out, ", ")
	}
	want := "remove dir/new.md true, edit again dir/new.md false, rename dir/new.md false, edit old.md false, first old.md false"
	if got := log(0); got != want {
		t.Errorf("log = %s\nwant  %s", got, want)
	}
	if got := log(1); got != "remove dir/new.md true" {
		t.Errorf("log, limit 1 = %s", got)
	}
	if _, err := r.Log(context.Background(), head, "never", 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("log of nothing: %v", err)
	}
}

func TestCommitAgreesWithGit(t *testing.T) {
	d := vault(t, "rust-rfcs")
	r := mustOpen(t, d)
	format := "%H%x01%T%x01%P%x01%an%x01%ae%x01%at%x01%cn%x01%ce%x01%ct%x01%s%x01%(trailers:only,unfold)%x02"
	for i, line := range strings.Split(git(t, d, "log", "--format="+format, "HEAD"), "\x02") {
		f := strings.Split(strings.TrimPrefix(line, "\n"), "\x01")
		if len(f) < 11 || i%7 != 0 {
			continue
		}
		c, err := r.Commit(mustCommitID(t, f[0]))
		if err != nil {
			t.Fatal(err)
		}
		var parents, trailers []string
		for _, p := range c.Parents {
			parents = append(parents, p.String())
		}
		for _, tr := range c.Trailers {
			trailers = append(trailers, tr.Key+": "+tr.Value)
		}
		got := []string{c.ID.String(), c.Tree.String(), strings.Join(parents, " "), c.Author.Name, c.Author.Email, fmt.Sprint(c.Author.When.Unix()),
			c.Committer.Name, c.Committer.Email, fmt.Sprint(c.Committer.When.Unix()), c.Subject}
		if diff := cmp.Diff(f[:10], got); diff != "" {
			t.Errorf("%s (-git +ours):\n%s", f[0], diff)
		}
		// git also takes a paragraph of which a quarter are trailers; we want all.
		if s := strings.Join(trailers, "\n"); s != "" && s != strings.TrimSpace(f[10]) {
			t.Errorf("%s: trailers %q, git says %q", f[0], s, f[10])
		}
	}
}

func TestParseCommit(t *testing.T) {
	t.Parallel()
	tree := "tree " + strings.Repeat("ab", 20) + "\n"
	cases := []struct {
		name, text string
		check      func(c *Commit) bool
	}{
		{"absurd dates", tree + "author A <a@b> 99999999999999999999 +9999\ncommitter A <a@b> -5 -0130\n\nx",
			func(c *Commit) bool {
				return c.Author.When.Unix() == maxTime && c.Committer.When.Unix() == 0
			}},
		{"no dates", tree + "author A <a@b>\ncommitter\n\nx", func(c *Commit) bool {
			return c.Author.Name == "A" && c.Author.When.Unix() == 0 && c.Committer.Name == ""
		}},
		{"no identities", tree + "\nx", func(c *Commit) bool { return c.Subject == "x" && !c.Author.When.IsZero() }},
		{"brackets", tree + "author A > B <a<b>> 12 +0100\n\n", func(c *Commit) bool {
			return c.Author.When.Unix() == 12 || c.Author.Name != ""
		}},
		{"zone", tree + "author A <a> 12 -0130\n\n", func(c *Commit) bool {
			_, off := c.Author.When.Zone()
			return off == -90*60
		}},
		{"signed", tree + "author A <a> 1 +0000\ngpgsig -----BEGIN\n tree x\n parent y\n -----END\n\nsubject\nmore\n\nbody\n", func(c *Commit) bool {
			return c.Subject == "subject more" && len(c.Parents) == 0
		}},
		{"latin-1", tree + "author J\xfcrgen <a> 1 +0000\nencoding ISO-8859-1\n\n\xe9t\xe9", func(c *Commit) bool {
			return c.Subject == "été" && c.Author.Name == "Jürgen"
		}},
		{"not UTF-8", tree + "\n\xe9t\xe9", func(c *Commit) bool { return c.Subject == "\ufffdt\ufffd" }},
		{"trailers", tree + "\ns\n\nb\n\nReviewed-by: A <a>\nKey: long\n  value\n", func(c *Commit) bool {
			return cmp.Equal(c.Trailers, []Trailer{{"Reviewed-by", "A <a>"}, {"Key", "long value"}})
		}},
		{"no trailers", tree + "\nFix: this\n", func(c *Commit) bool { return c.Trailers == nil }},
	}
	for _, c := range cases {
		got, err := parseCommit([]byte(c.text))
		if err != nil || !c.check(got) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	for _, bad := range []string{"", "hello", "tree x\n\n", "parent " + strings.Repeat("ab", 20) + "\n\n", tree + "parent x\n\n", tree + tree + "\n"} {
		if c, err := parseCommit([]byte(bad)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %+v, %v", bad, c, err)
		}
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree " + strings.Repeat("ab", 20) + "\nparent " + strings.Repeat("cd", 20) + "\nauthor A <a> 1 +0000\nencoding latin1\n\ns\n\nb\n\nK: v\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCommit(data)
		if err != nil {
			return
		}
		if w := c.Author.When.Unix(); w < 0 || w > maxTime || strings.Contains(c.Subject, "\n") {
			t.Errorf("date %v, subject %q", c.Author.When, c.Subject)
		}
		if _, err := c.Author.When.MarshalText(); err != nil {
			t.Errorf("date %v: %v", time.Time(c.Author.When), err)
		}
	})
}

func TestEachBlob(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1", "keep/b": "2", "keep/same": "1"})
	commit(t, d, "second", map[string]string{"a": "3"})
	git(t, d, "tag", "-m", "x", "v1")
	git(t, d, "checkout", "-q", "-b", "side", "HEAD~1")
	commit(t, d, "third", map[string]string{"c": "4"})
	each := func(r *Repo, revs ...string) string {
		var tips []CommitID
		for _, rev := range revs {
			id, err := r.Resolve(rev)
			if err != nil {
				t.Fatal(err)
			}
			tips = append(tips, id)
		}
		var found []string
		err := r.EachBlob(context.Background(), tips, func(id note.ID) {
			b, err := r.Blob(id)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, string(b))
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		return strings.Join(found, " ")
	}
	r := mustOpen(t, d)
	for rev, want := range map[string]string{"v1": "1 2 3", "side": "1 2 4", "v1 side": "1 2 3 4", "main~1": "1 2", "": ""} {
		if got := each(r, strings.Fields(rev)...); got != want {
			t.Errorf("blobs reachable from %q: %s, want %s", rev, got, want)
		}
	}
	s := filepath.Join(tempDir(t), "s")
	git(t, d, "clone", "-q", "--depth", "1", "-b", "main", "file://"+d, s)
	if got := each(mustOpen(t, s), "HEAD"); got != "1 2 3" {
		t.Errorf("shallow: %s", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, head, _ := r.Head()
	if err := r.EachBlob(ctx, []CommitID{head}, func(note.ID) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestEachBlobReadsTreesOnce counts trees that stand at very many paths.
func TestEachBlobReadsTreesOnce(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	entry := func(mode, name string, id oid) string { return mode + " " + name + "\x00" + string(id[:]) }
	id := putLoose(t, d, kindTree, []byte(entry("100644", "a", oid(note.Hash([]byte("1"))))))
	for range 20 { // 2^20 paths
		id = putLoose(t, d, kindTree, []byte(entry("40000", "a", id)+entry("40000", "b", id)))
	}
	tip := CommitID(mustCommitID(t, git(t, d, "commit-tree", "-m", "x", id.String())))
	n := 0
	if err := mustOpen(t, d).EachBlob(context.Background(), []CommitID{tip}, func(note.ID) { n++ }); err != nil || n != 1 {
		t.Errorf("%d blobs, %v", n, err)
	}
}
