package gitstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// editedHistory is a stream for git fast-import: mostly edits, on branches that are
// merged, at times that are odd now and then.
func editedHistory(commits int) string {
	rnd := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	paths := []string{"a.md", "b.md", "dir/c.md", "dir/d.md"}
	for n := 1; n <= commits; n++ {
		when := 1700000000 + 60*n
		if rnd.IntN(5) == 0 {
			when -= 60 * rnd.IntN(4)
		}
		fmt.Fprintf(&b, "commit refs/heads/c%d\nmark :%d\ncommitter C%d <c@x> %d +0000\ndata 1\nx\n", n, n, n%3, when)
		if n > 1 {
			fmt.Fprintf(&b, "from :%d\n", max(1, n-1-rnd.IntN(2)))
		}
		if other := n - 1 - rnd.IntN(4); rnd.IntN(3) == 0 && other > 0 {
			fmt.Fprintf(&b, "merge :%d\n", other)
		}
		for _, p := range paths {
			switch k := rnd.IntN(120); {
			case n == 1 || k < 40:
				fmt.Fprintf(&b, "M 100644 inline %s\ndata 1\n%d\n", p, rnd.IntN(4))
			case k == 40:
				fmt.Fprintf(&b, "M 100755 inline %s\ndata 1\n%d\n", p, rnd.IntN(4))
			case k == 41:
				fmt.Fprintf(&b, "D %s\n", p)
			case k == 42:
				fmt.Fprintf(&b, "M 120000 inline link\ndata 1\n%d\n", rnd.IntN(4))
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

// What a past has more than that of an ancestor is what the commits between tell,
// where they do.
func TestVersionsSince(t *testing.T) {
	for name, history := range map[string]string{"edits": editedHistory(150), "anything": randomHistory(120)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newRepo(t, nil)
			gitIn(t, dir, []byte(history), "fast-import", "--quiet")
			r := mustOpen(t, dir)
			told, merges := 0, 0
			for _, line := range strings.Fields(git(t, dir, "rev-list", "--topo-order", "refs/heads/all")) {
				to, err := ParseCommitID(line)
				if err != nil {
					t.Fatal(err)
				}
				whole := pastOf(t, r, to, 1000, nil)
				merged := false
				for from := to; ; {
					c, err := r.Commit(from)
					if err != nil {
						t.Fatal(err)
					}
					if merged = merged || len(c.Parents) > 1; len(c.Parents) == 0 {
						break
					}
					from = c.Parents[0]
					if !toldSince(t, r, from, to, whole) {
						break // nor do those before
					}
					if told++; merged {
						merges++
					}
				}
			}
			if name == "edits" && (told < 100 || merges < 20) {
				t.Errorf("told of %d pairs of commits, %d of them with merges between", told, merges)
			}
		})
	}
}

// toldSince compares pasts with those of an ancestor and what came since, if that is
// told.
func toldSince(t *testing.T, r *Repo, from, to CommitID, whole *Past) bool {
	t.Helper()
	news, ok, err := r.VersionsSince(context.Background(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return false
	}
	got := pastOf(t, r, from, 1000, nil)
	dates := map[CommitID]*Dates{}
	for _, id := range []CommitID{from, to} {
		if dates[id], err = r.Dates(context.Background(), id, nil); err != nil {
			t.Fatal(err)
		}
	}
	for path, versions := range news {
		f := got.Files[path]
		f.Versions = append(versions, f.Versions...)
		got.Files[path] = f
	}
	got.Commit = to
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Fatalf("%s since %s (-whole +since):\n%s", to, from, diff)
	}
	for path := range whole.Files {
		was, _ := dates[from].At(path)
		if is, _ := dates[to].At(path); len(news[path]) > 0 && is.Commit != news[path][0].Commit || len(news[path]) == 0 && is.Commit != was.Commit {
			t.Fatalf("%s at %s is dated by %s, since %s has %v", path, to, is.Commit, from, news[path])
		}
	}
	return true
}
