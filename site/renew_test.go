package site

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

// renewing is a site that follows a vault that changes.
type renewing struct {
	out     string
	set     *Set
	kept    []byte
	renewed int // times that it was not built anew
}

// follow makes the site of a set as it is now: by Renew, where that can.
func (r *renewing) follow(t *testing.T, now *Set) map[string]string {
	t.Helper()
	built, err := r.renew(now)
	if errors.Is(err, ErrAnew) {
		built, err = Build(context.Background(), now, Options{Out: r.out, Keep: true})
	} else {
		r.renewed++
	}
	if err != nil {
		t.Fatal(err)
	}
	r.set, r.kept = now, built.Kept
	files := filesIn(t, r.out)
	if built.Files != len(files) {
		t.Errorf("%d files are said to be %d", len(files), built.Files)
	}
	return files
}

// renew calls Renew with the docs that differ, if they are at the same paths.
func (r *renewing) renew(now *Set) (*Built, error) {
	if r.set == nil || !slices.EqualFunc(r.set.Docs, now.Docs, func(a, b *Doc) bool { return a.Path == b.Path }) {
		return nil, ErrAnew
	}
	edited := *now
	edited.Docs, edited.Files = nil, nil
	for i, d := range now.Docs {
		if was := r.set.Docs[i]; was.Blob != d.Blob || was.Updated != d.Updated || len(was.Versions) != len(d.Versions) {
			more := *d
			more.Versions = d.Versions[:len(d.Versions)-len(was.Versions)]
			edited.Docs = append(edited.Docs, &more)
		}
	}
	e := Edits{Set: &edited, MostVersions: 100, Average: averageOf}
	e.Note = func(ctx context.Context, d *Doc) (*note.Note, error) {
		raw, ok := former.Load(d.Blob)
		if !ok {
			return nil, os.ErrNotExist
		}
		n, _ := note.Parse(raw.([]byte))
		return n, nil
	}
	e.Alone = func(ctx context.Context, d *Doc, blob note.ID) (*SearchNote, error) {
		n := slices.IndexFunc(now.Search.Notes, func(i int) bool { return now.Docs[i].Path == d.Path })
		return now.Search.Alone(ctx, n, blob)
	}
	if now.Search != nil {
		words := *now.Search
		words.Notes, words.Lengths, words.Obsolete, words.Each, words.Streams = nil, nil, nil, nil, nil
		edited.Search = &words
	}
	return Renew(context.Background(), r.kept, e, Options{Out: r.out, Keep: true})
}

// editText changes words of a note: in its text, in a heading, in properties that
// pages show.
func editText(r *rand.Rand, notes map[string]string) {
	paths := slices.Sorted(maps.Keys(notes))
	path := paths[r.IntN(len(paths))]
	lines := strings.SplitAfter(notes[path], "\n")
	at := r.IntN(len(lines))
	switch r.IntN(4) {
	case 0:
		lines = slices.Insert(lines, at, fmt.Sprintf("\nnovel%d and w%d\n\n", r.IntN(1000), r.IntN(4000)))
	case 1:
		lines = slices.Insert(lines, at, fmt.Sprintf("\n## Part %d\n\n", r.IntN(9)))
	case 2:
		lines[at] = strings.Replace(lines[at], " w", " w1", 1)
	default:
		lines = append(lines, "\n```mermaid\ngraph\n```\n"[:6+r.IntN(2)*15], "\n")
	}
	notes[path] = strings.Join(lines, "")
}

// After edits of text, a site that was renewed is, file for file, the one that is made
// anew, and its pages are those that a rebuild would have left alone.
func TestRenewEqualsBuild(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 11))
			notes, pasts := map[string]string{}, map[string][]Version{}
			for i := range 60 {
				notes[fmt.Sprintf("d%d/n%d.md", i%4, i)] = fmt.Sprintf("---\ntags: [a%d/b]\n---\n# N%d\n\nSee [[n%d#Part %d]] ![[n%d]]\n\n", i%3, i, r.IntN(60), r.IntN(9), r.IntN(60)) + wordsOf(r, 250)
			}
			dir := t.TempDir()
			step := 0
			set := func() *Set {
				var files []string
				for _, path := range slices.Sorted(maps.Keys(notes)) {
					files = append(files, path, notes[path])
				}
				s := searchable(t, vaultOf(append(files, "pic.png", "a picture")...))
				s.Commit.ID = fmt.Sprintf("%040d", step)
				for i, d := range s.Docs {
					now := Version{Commit: d.Blob.String(), Date: fmt.Sprintf("2024-02-%02d", 1+len(notes[d.Path])%28), Author: "Ada", Subject: "Edit", Path: d.Path}
					if past := pasts[d.Path]; len(past) == 0 || past[0].Commit != now.Commit {
						pasts[d.Path] = append([]Version{now}, past...)
					}
					d.Versions = slices.Clone(pasts[d.Path])
					d.Updated = d.Versions[0].Date
					d.MoreVersions = i%2 == 0
				}
				return s
			}
			live := &renewing{out: filepath.Join(dir, "out")}
			live.follow(t, set())
			for step = range 16 {
				for range 1 + r.IntN(3) {
					if step%5 == 4 {
						edit(r, notes)
					} else {
						editText(r, notes)
					}
				}
				got := live.follow(t, set())
				fresh := filepath.Join(dir, fmt.Sprint("fresh", step))
				if diff := cmp.Diff(made(t, set(), fresh), got); diff != "" {
					t.Fatalf("step %d: %.3000s", step, diff)
				}
				if err := os.RemoveAll(fresh); err != nil {
					t.Fatal(err)
				}
			}
			if live.renewed < 8 {
				t.Errorf("the site was renewed %d times of 16", live.renewed)
			}
		})
	}
}

// A site of which something is not as the build left it is not renewed, and nothing in it
// is touched.
func TestRenewOfAnotherSite(t *testing.T) {
	set := func(more string) *Set {
		files := garden()
		files[5] += more
		return searchable(t, vaultOf(files...))
	}
	for name, harm := range map[string]func(dir string) error{
		"a file is gone":         func(dir string) error { return os.Remove(filepath.Join(dir, "guides", "limits.md")) },
		"a file has other bytes": func(dir string) error { return os.WriteFile(filepath.Join(dir, "404.html"), []byte("x"), 0o644) },
		"a file is a link": func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "tags.html"), filepath.Join(dir, "t")), os.Symlink("t", filepath.Join(dir, "tags.html")))
		},
		"a file was written": func(dir string) error {
			soon := time.Now().Add(time.Minute)
			return os.Chtimes(filepath.Join(dir, "index.html"), soon, soon)
		},
		"another build": func(dir string) error { return os.WriteFile(filepath.Join(dir, unfinished), nil, 0o644) },
		"the manifest": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, manifestFile), []byte(`{"generator": "kb"}`), 0o644)
		},
		"no site": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			live := &renewing{out: filepath.Join(t.TempDir(), "out")}
			live.follow(t, set(""))
			live.follow(t, set("\nMore.\n"))
			if live.renewed != 1 {
				t.Fatal("an edit did not renew the site")
			}
			if err := harm(live.out); err != nil {
				t.Fatal(err)
			}
			var before map[string]string
			if name != "no site" {
				before = filesIn(t, live.out)
			}
			if _, err := live.renew(set("\nMore, and more.\n")); !errors.Is(err, ErrAnew) {
				t.Fatalf("got %v, want %v", err, ErrAnew)
			}
			if name == "no site" {
				return
			}
			if diff := cmp.Diff(before, filesIn(t, live.out)); diff != "" {
				t.Errorf("the site changed: %s", diff)
			}
		})
	}
}

// What a build left is read as it was written, and damage is noticed.
func TestKept(t *testing.T) {
	built, err := Build(context.Background(), searchable(t, vaultOf(garden()...)), Options{Out: filepath.Join(t.TempDir(), "out"), Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	k, err := readKept(built.Kept)
	if err != nil || len(k.docs) != 3 || string(k.bytes()) != string(built.Kept) {
		t.Fatalf("%d docs, %v", len(k.docs), err)
	}
	for at := range built.Kept {
		damaged := slices.Clone(built.Kept)
		damaged[at] ^= 4
		if _, err := readKept(damaged); err == nil {
			t.Fatalf("a change of byte %d is not noticed", at)
		}
	}
	if _, err := readKept(built.Kept[:len(built.Kept)/2]); err == nil {
		t.Error("half of it is taken for all")
	}
}
