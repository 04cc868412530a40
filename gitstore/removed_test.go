package gitstore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was removed agrees with git, which follows the first parents likewise.
func TestRemovedAgreesWithGit(t *testing.T) {
	for _, name := range []string{"kepano-obsidian", "rust-rfcs"} {
		d := vault(t, name)
		r := mustOpen(t, d)
		_, head, err := r.Head()
		if err != nil {
			t.Fatal(err)
		}
		removed, err := r.Removed(context.Background(), head, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range removed {
			got = append(got, c.Path)
		}
		log := git(t, d, "-c", "core.quotePath=false", "log", "--first-parent", "-m", "--format=", "--name-only", "--diff-filter=D", "--find-renames=100%", "-l0", "HEAD")
		want := strings.FieldsFunc(log, func(r rune) bool { return r == '\n' })
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: removed (-git +ours):\n%s", name, diff)
		}
	}
}

// A file that went to another path was not removed; one that came back was, once.
func TestRemoved(t *testing.T) {
	d := newRepo(t, map[string]string{"n/a.md": "a\n", "n/b.md": "b\n", "c.md": "c\n"})
	git(t, d, "mv", "n/a.md", "n/moved.md")
	git(t, d, "rm", "-q", "n/b.md", "c.md")
	commit(t, d, "gone", nil)
	last := commit(t, d, "back", map[string]string{"n/b.md": "b again\n"})
	removed, err := mustOpen(t, d).Removed(context.Background(), last, "n")
	if diff := cmp.Diff([]string{"removed b.md"}, flat(removed)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
