package gitstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever the history, what is made of an ancestor's dates and files is what is
// made from nothing.
func TestMadeOfAnAncestors(t *testing.T) {
	dir := newRepo(t, nil)
	gitIn(t, dir, []byte(randomHistory(120)), "fast-import", "--quiet")
	r := mustOpen(t, dir)
	known := map[CommitID]*Dates{}
	var before CommitID
	alike := 0
	for _, line := range strings.Fields(git(t, dir, "rev-list", "--reverse", "--topo-order", "refs/heads/all")) {
		id, err := ParseCommitID(line)
		if err != nil {
			t.Fatal(err)
		}
		want, err := r.Dates(context.Background(), id, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Dates(context.Background(), id, func(c CommitID) (*Dates, bool) { return known[c], known[c] != nil && c[0]%3 == 0 })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.all(), got.all()); diff != "" {
			t.Fatalf("dates of %s (-afresh +from an ancestor's):\n%s", id, diff)
		}
		if old := known[before]; old != nil {
			if paths, ok := got.Differing(old); ok {
				differAt(t, got, old, paths)
			}
		}
		if patched(t, r, before, id) {
			alike++
		}
		known[id], before = got, id
	}
	if alike < 60 {
		t.Errorf("only %d of 120 listings were made of others", alike)
	}
}

// differAt fails where two dates are not the same, and paths lack it.
func differAt(t *testing.T, a, b *Dates, paths []string) {
	t.Helper()
	for _, d := range []*Dates{a, b} {
		for path := range d.all() {
			x, inA := a.At(path)
			y, inB := b.At(path)
			if (x != y || inA != inB) && !slices.Contains(paths, path) {
				t.Fatalf("%s is not among the differing: %+v, %+v", path, x, y)
			}
		}
	}
}

// patched lists b by what changed since a, where that is possible.
func patched(t *testing.T, r *Repo, a, b CommitID) bool {
	t.Helper()
	if a.IsZero() {
		return false
	}
	var trees [2]TreeID
	var files [2]map[string]File
	var problems [2][]Problem
	for i, id := range []CommitID{a, b} {
		c, err := r.Commit(id)
		if err != nil {
			t.Fatal(err)
		}
		list, left, err := r.Files(context.Background(), id, "")
		if err != nil {
			t.Fatal(err)
		}
		trees[i], problems[i], files[i] = c.Tree, left, map[string]File{}
		for _, f := range list {
			files[i][f.Path] = f
		}
	}
	changes, ok, err := r.FilesSince(context.Background(), trees[0], trees[1], "")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return false
	}
	for _, c := range changes {
		if delete(files[0], c.Path); c.Kind != Removed {
			files[0][c.Path] = File{Path: c.Path, Blob: c.New, Size: -1}
		}
	}
	if diff := cmp.Diff(files[1], files[0]) + cmp.Diff(problems[1], problems[0]); diff != "" {
		t.Fatalf("%s since %s (-listed +made of the other):\n%s", b, a, diff)
	}
	return true
}

// randomHistory is a stream for git fast-import: branches and merges, files that
// change and change back, move, become links and directories, at odd times.
func randomHistory(commits int) string {
	rnd := rand.New(rand.NewPCG(11, 12))
	var b strings.Builder
	paths := []string{"a.md", "b.md", "dir/c.md", "dir/d.md", "dir/sub/e.md", "f", "f/g.md", "x.png", "dir/.git/odd"}
	for n := 1; n <= commits; n++ {
		fmt.Fprintf(&b, "commit refs/heads/c%d\nmark :%d\ncommitter C%d <c@x> %d +0000\ndata 1\nx\n", n, n, n%3, 1700000000+60*n+rnd.IntN(7)*60-180)
		if n > 1 {
			fmt.Fprintf(&b, "from :%d\n", max(1, n-1-rnd.IntN(3)))
		}
		if other := n - 1 - rnd.IntN(8); rnd.IntN(3) == 0 && other > 0 {
			fmt.Fprintf(&b, "merge :%d\n", other)
		}
		for range rnd.IntN(4) {
			p := paths[rnd.IntN(len(paths)-btoi(rnd.IntN(6) > 0))]
			switch k := rnd.IntN(12); {
			case k < 7:
				fmt.Fprintf(&b, "M 100644 inline %s\ndata 1\n%d\n", p, rnd.IntN(3))
			case k < 8:
				fmt.Fprintf(&b, "M 100755 inline %s\ndata 1\n%d\n", p, rnd.IntN(3))
			case k < 9:
				fmt.Fprintf(&b, "M 120000 inline %s\ndata 1\nz\n", p)
			default:
				fmt.Fprintf(&b, "D %s\n", p)
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "commit refs/heads/all\ncommitter C <c@x> 1800000000 +0000\ndata 1\nx\nfrom :%d\n", commits)
	for n := 1; n < commits; n++ {
		fmt.Fprintf(&b, "merge :%d\n", n)
	}
	return b.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A file that both lines of a merge added, and that the merge changed, was made when
// the later of them says, whichever line is known.
func TestDatesOfMergeOfWhatBothAdded(t *testing.T) {
	var b strings.Builder
	commit := func(n, minute int, from, file string) {
		fmt.Fprintf(&b, "commit refs/heads/all\nmark :%d\ncommitter C <c@x> %d +0000\ndata 1\nx\n%sM 100644 inline %s\ndata 1\n%d\n",
			n, 1700000000+60*minute, from, file, n)
	}
	commit(1, 1, "", "base.md")
	commit(2, 2, "from :1\n", "note.md")
	commit(3, 9, "from :2\n", "base.md") // known
	commit(4, 5, "from :1\n", "note.md")
	commit(5, 10, "from :3\nmerge :4\n", "note.md")
	dir := newRepo(t, nil)
	gitIn(t, dir, []byte(b.String()), "fast-import", "--quiet")
	r := mustOpen(t, dir)
	dates := func(rev string, known func(CommitID) (*Dates, bool)) *Dates {
		t.Helper()
		id, err := ParseCommitID(strings.TrimSpace(git(t, dir, "rev-parse", rev)))
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Dates(context.Background(), id, known)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := dates("all^1", nil)
	want := dates("all", nil)
	got := dates("all", func(id CommitID) (*Dates, bool) { return first, id == first.Commit })
	if diff := cmp.Diff(want.all(), got.all()); diff != "" {
		t.Errorf("dates (-afresh +from an ancestor's):\n%s", diff)
	}
	if made := want.all()["note.md"].Created.Unix(); made != 1700000000+60*5 {
		t.Errorf("made at %d, not when it was last added", made)
	}
}

// A file's past names every path that it had, and pairs what was removed with what
// was added as from nothing, whichever ancestor's past is known.
func TestPastsMadeOfAnAncestors(t *testing.T) {
	text := func(changed int) string {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "line %d of the note\n", i+btoi(i < changed)*100)
		}
		return b.String()
	}
	put := func(path, text string) string {
		return fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	var b strings.Builder
	for n, change := range []string{
		put("old.md", text(0)) + put("one.md", "one\n"),
		"D old.md\n" + put("near.md", text(2)) + put("far.md", text(6)),
		"D near.md\n" + "R one.md two.md\n",
		"R two.md three.md\n",
	} {
		fmt.Fprintf(&b, "commit refs/heads/all\ncommitter C <c@x> %d +0000\ndata 1\nx\n%s", 1700000000+60*n, change)
	}
	dir := newRepo(t, nil)
	gitIn(t, dir, []byte(b.String()), "fast-import", "--quiet")
	r := mustOpen(t, dir)
	for _, rev := range []string{"all~3", "all~2", "all~1"} {
		pasts := func(rev string, known *Past) *Past {
			t.Helper()
			id, err := ParseCommitID(strings.TrimSpace(git(t, dir, "rev-parse", rev)))
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.Pasts(context.Background(), id, 20, func(c CommitID) (*Past, bool) { return known, known != nil && c == known.Commit })
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if diff := cmp.Diff(pasts("all", nil), pasts("all", pasts(rev, nil))); diff != "" {
			t.Errorf("with the past of %s known (-afresh +from an ancestor's):\n%s", rev, diff)
		}
	}
}
