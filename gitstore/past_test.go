package gitstore

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pastOf(t *testing.T, r *Repo, id CommitID, limit int, known func(CommitID) (*Past, bool)) *Past {
	t.Helper()
	p, err := r.Pasts(context.Background(), id, limit, known)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A file has its versions under all the names that it had, through renames with
// and without changes and through merges; another file that took a name does not.
func TestPasts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of the note\n", 20)
	d := newRepo(t, map[string]string{"a.md": "1", "long.md": long, "x.md": "x"})
	commit(t, d, "edit", map[string]string{"a.md": "2"})
	commit(t, d, "rename", map[string]string{"a.md": "-", "dir/b.md": "2"})
	git(t, d, "checkout", "-q", "-b", "side")
	commit(t, d, "rename and edit", map[string]string{"long.md": "-", "other.md": long + "more\n"})
	git(t, d, "checkout", "-q", "main")
	commit(t, d, "a new a", map[string]string{"a.md": "new"})
	git(t, d, "-c", "user.name=t", "-c", "user.email=t@t", "merge", "-q", "--no-edit", "side")
	commit(t, d, "another", map[string]string{"x.md": "-", "y.md": "x"})
	commit(t, d, "a new x", map[string]string{"x.md": "other"})
	commit(t, d, "rename it", map[string]string{"x.md": "-", "z.md": "other"})
	head := commit(t, d, "last", map[string]string{"dir/b.md": "-", "c.md": "2"})
	r := mustOpen(t, d)
	var got []string
	for path, p := range pastOf(t, r, head, 3, nil).Files {
		var versions []string
		for _, v := range p.Versions {
			c, err := r.Commit(v.Commit)
			if err != nil {
				t.Fatal(err)
			}
			versions = append(versions, strings.TrimSpace(c.Subject+" "+v.Path))
		}
		var names []string
		for _, n := range p.Names {
			names = append(names, fmt.Sprint(n.Path, " ", (n.When-1700000000)/60))
		}
		got = append(got, fmt.Sprintf("%s: %s; more %v; was %v", path, strings.Join(versions, ", "), p.More, names))
	}
	slices.Sort(got)
	want := []string{
		"a.md: a new a; more false; was []",
		"c.md: last, rename dir/b.md, edit a.md; more true; was [dir/b.md 2 a.md 1]",
		"other.md: rename and edit, first long.md; more false; was [long.md 0]",
		"y.md: another, first x.md; more false; was [x.md 0]",
		"z.md: rename it, a new x x.md; more false; was [x.md 7]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pasts (-want +got):\n%s", diff)
	}
}

// Two lines of a merge may rename one file differently: both have its past.
func TestPastsOfOneFile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of the note\n", 20)
	d := newRepo(t, map[string]string{"plan.md": long})
	base := commit(t, d, "edit", map[string]string{"plan.md": long + "more\n"})
	git(t, d, "checkout", "-q", "-b", "side")
	commit(t, d, "theirs", map[string]string{"plan.md": "-", "theirs.md": long + "more\n"})
	git(t, d, "checkout", "-q", "main")
	commit(t, d, "ours", map[string]string{"plan.md": "-", "ours.md": long + "more\n"})
	git(t, d, "merge", "-q", "--no-commit", "-s", "ours", "side")
	head := commit(t, d, "both", map[string]string{"theirs.md": long + "more\n"})
	r := mustOpen(t, d)
	whole := pastOf(t, r, head, 20, nil)
	for _, path := range []string{"ours.md", "theirs.md"} {
		p := whole.Files[path]
		if len(p.Versions) != 3 || p.Versions[2].Path != "plan.md" || len(p.Names) != 1 || p.Names[0].Path != "plan.md" {
			t.Errorf("%s: versions %v, names %v", path, p.Versions, p.Names)
		}
	}
	old := pastOf(t, r, base, 20, nil)
	got := pastOf(t, r, head, 20, func(id CommitID) (*Past, bool) { return old, id == base })
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Errorf("from an ancestor (-full +incremental):\n%s", diff)
	}
}

// Where the files are missing that a rename is known by, it is none.
func TestPastsOfPartialClone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of the note\n", 20)
	d := newRepo(t, map[string]string{"old.md": long, "same.md": "1"})
	commit(t, d, "rename", map[string]string{"old.md": "-", "new.md": long + "more\n", "same.md": "-", "as.md": "1"})
	head := commit(t, d, "edit", map[string]string{"new.md": long + "and more\n"})
	git(t, d, "config", "uploadpack.allowFilter", "true")
	s := filepath.Join(tempDir(t), "s")
	git(t, d, "clone", "-q", "--filter=blob:none", "file://"+d, s)
	for dir, names := range map[string]int{d: 1, s: 0} {
		r := mustOpen(t, dir)
		p := pastOf(t, r, head, 20, nil)
		if p.Gaps != (names == 0) || len(p.Files["new.md"].Names) != names || len(p.Files["as.md"].Names) != 1 {
			t.Errorf("%d names: gaps %v, %+v", names, p.Gaps, p.Files)
		}
		versions, err := r.Log(context.Background(), head, "new.md", 0)
		if err != nil || len(versions) != 2+names {
			t.Errorf("%d names: versions %+v, %v", names, versions, err)
		}
	}
}

// A walk that ends at what is known of an ancestor finds what a whole one finds.
func TestPastsIncremental(t *testing.T) {
	for _, name := range []string{"kepano-obsidian", "rust-rfcs"} {
		if !long && name == "rust-rfcs" {
			continue
		}
		r := mustOpen(t, vault(t, name))
		_, head, _ := r.Head()
		want := pastOf(t, r, head, 20, nil)
		for _, rev := range []string{"HEAD~1", "HEAD~20", "HEAD^2"} {
			base, err := r.Resolve(rev)
			if err != nil {
				continue // not a merge
			}
			old := pastOf(t, r, base, 20, nil)
			asked := 0
			got := pastOf(t, r, head, 20, func(id CommitID) (*Past, bool) { asked++; return old, id == base })
			if diff := cmp.Diff(want, got); diff != "" || asked == 0 {
				t.Errorf("%s: from %s (%d asked; -full +incremental):\n%s", name, rev, asked, diff)
			}
		}
	}
}

// Where nothing was renamed, the versions of a file are those of its log.
func TestPastsAgreeWithLog(t *testing.T) {
	r := mustOpen(t, vault(t, "kepano-obsidian"))
	_, head, _ := r.Head()
	for path, p := range pastOf(t, r, head, 10000, nil).Files {
		if len(p.Names) > 0 {
			continue
		}
		log, err := r.Log(context.Background(), head, path, 0)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []CommitID
		for _, v := range log {
			want = append(want, v.Commit.ID)
		}
		for _, v := range p.Versions {
			got = append(got, v.Commit)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-log +past):\n%s", path, diff)
		}
	}
}
