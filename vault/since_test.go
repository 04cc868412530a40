package vault_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kb/internal/vaulttest"
	"kb/vault"
)

// Whatever happens to a vault, what is derived of a view from that of an earlier
// one is what is derived from nothing.
func TestDerivedSinceIsDerivedAfresh(t *testing.T) {
	seeds := uint64(4)
	if os.Getenv("KB_LONG") != "" {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := history{t: t, r: rand.New(rand.NewPCG(seed, 1)), dir: vaulttest.Repo(t, "-- README.md --\nHome\n-- @commit 2024-01-01 first --\n"), notes: map[string]string{}}
			for range 25 {
				h.write(h.anyPath())
			}
			v := openVault(t, h.dir)
			updates := 0
			for range 40 {
				for range 1 + h.r.IntN(3) {
					h.step()
				}
				for _, at := range h.views() {
					updated, err := v.DerivedAfresh(context.Background(), at)
					if err != nil {
						t.Fatalf("at %q: %v\n%s", at, err, strings.Join(h.log, "\n"))
					}
					if updated {
						updates++
					}
				}
			}
			if updates < 30 {
				t.Errorf("only %d of more than 40 views were derived from an earlier one", updates)
			}
		})
	}
}

// history changes a work tree at random.
type history struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	notes map[string]string
	log   []string
}

// views commits the work tree at times, on top of what was there or beside it, and
// names the views to look at.
func (h *history) views() []string {
	if h.r.IntN(2) == 0 {
		return []string{""}
	}
	day := fmt.Sprintf("20%02d-0%d-01T10:00:00Z", 24+len(h.log)/60, 1+h.r.IntN(9))
	h.log = append(h.log, "commit "+day)
	vaulttest.Commit(h.t, h.dir, day, "next")
	return [][]string{{"HEAD"}, {"HEAD", ""}, {"HEAD~1", "HEAD"}}[h.r.IntN(3)]
}

func (h *history) anyPath() string {
	names := []string{"a", "B", "b", "c d", "é", "index", "README", "x.y"}
	p := names[h.r.IntN(len(names))] + []string{".md", ".md", ".md", ".md", ".markdown", ".png"}[h.r.IntN(6)]
	for range h.r.IntN(3) {
		p = path.Join(names[h.r.IntN(4)]+"dir", p)
	}
	if h.r.IntN(8) == 0 {
		p = path.Join(".kb", p) // apart: neither a note nor a file that links lead to
	}
	return p
}

func (h *history) known() string {
	all := make([]string, 0, len(h.notes))
	for p := range h.notes {
		all = append(all, p)
	}
	slices.Sort(all)
	return all[h.r.IntN(len(all))]
}

func (h *history) step() {
	switch n := h.r.IntN(10); {
	case n < 4:
		h.write(h.known())
	case n < 6:
		h.write(h.anyPath())
	case n < 8 && len(h.notes) > 8:
		h.remove(h.known())
	case n < 9:
		from, to := h.known(), h.anyPath()
		text := h.notes[from]
		h.remove(from)
		h.put(to, text)
	default:
		h.put(h.anyPath(), h.notes[h.known()])
	}
}

func (h *history) write(p string) { h.put(p, h.text()) }

func (h *history) put(p, text string) {
	h.log = append(h.log, fmt.Sprintf("write %s: %q", p, text))
	h.notes[p] = text
	vaulttest.Write(h.t, h.dir, p, text)
}

func (h *history) remove(p string) {
	h.log = append(h.log, "remove "+p)
	delete(h.notes, p)
	if err := os.Remove(filepath.Join(h.dir, filepath.FromSlash(p))); err != nil {
		h.t.Fatal(err)
	}
}

// text is a note with names, links and sentences that others have, too.
func (h *history) text() string {
	var b strings.Builder
	pick := func(s ...string) string { return s[h.r.IntN(len(s))] }
	if h.r.IntN(2) == 0 {
		fmt.Fprintf(&b, "---\ntitle: %s\naliases: [%s, %s]\n---\n", pick("a", "One", "Two"), pick("b", "nick", "ONE"), pick("é", "nowhere", "other"))
	}
	fmt.Fprintf(&b, "# %s\n\n## %s\n\ntext ^%s\n\n", pick("a", "One", "Two", "Three"), pick("H", "G"), pick("x", "y"))
	for range h.r.IntN(5) {
		target := pick("a", "b", "c d", "é", "One", "nick", "nowhere", "index", "x.y", "a.png", h.anyPath(), h.anyPath()) + pick("", "", "#H", "#G", "#^x")
		fmt.Fprintf(&b, pick("[[%s]]\n", "![[%s]]\n", "[t](<%s>)\n", "[t](<../%s>)\n", "[t](</%s?q>)\n"), target)
	}
	fmt.Fprintf(&b, "[f](%s)\n\n", pick("adir", "../Bdir/", ".", "..", "bdir/adir"))
	for i := range 6 {
		if h.r.IntN(12) > 0 {
			fmt.Fprintf(&b, "Sentence %d is about otters and badgers that live in the river number %d all the year.\n", i, i)
		}
	}
	return b.String()
}

// A view is made although the commit of the one before is gone.
func TestViewSincePrunedCommit(t *testing.T) {
	dir := vaulttest.Repo(t, "-- a.md --\nOne\n-- @commit 2024-01-01 first --\n-- b.md --\nTwo\n-- @commit 2024-01-02 second --\n")
	v := openVault(t, dir)
	if _, err := v.DerivedAfresh(context.Background(), "HEAD"); err != nil {
		t.Fatal(err)
	}
	vaulttest.Git(t, dir, "reset", "--quiet", "--hard", "HEAD~1")
	vaulttest.Write(t, dir, "c.md", "Three\n")
	vaulttest.Commit(t, dir, "2024-01-03T10:00:00Z", "third")
	vaulttest.Git(t, dir, "reflog", "expire", "--expire=now", "--all")
	vaulttest.Git(t, dir, "update-ref", "-d", "ORIG_HEAD")
	vaulttest.Git(t, dir, "gc", "--quiet", "--prune=now")
	if _, err := v.DerivedAfresh(context.Background(), "HEAD"); err != nil {
		t.Error(err)
	}
}

// What is not committed is dated by the day on which it is read, also by a process
// that read the same the day before.
func TestUncommittedNotesAreOfToday(t *testing.T) {
	dir := vaulttest.Repo(t, "-- a.md --\na\n-- @commit 2024-01-01 one --\n")
	vaulttest.Write(t, dir, "new.md", "new")
	v := openVault(t, dir)
	for _, day := range []string{"2024-02-01", "2024-02-02"} {
		now, _ := time.Parse(time.DateOnly, day)
		v.SetNow(now)
		p := vault.HealthParams{StaleDays: 90, MaxTokens: 1000}
		p.At = "worktree"
		r, err := v.Health(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprintf("%+v", r.Collections)
		if !strings.Contains(said, "add created: "+day) {
			t.Errorf("on %s: %s", day, said)
		}
	}
}
