package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenMatrix opens every kind of repository and reads all of its HEAD.
func TestOpenMatrix(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.md": "one\n", "sub/b.md": "two\n", "sub/deep/c.md": "three\n"}
	cases := []struct {
		name string
		make func(t *testing.T) (open, workTree string)
	}{
		{"normal", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			return d, d
		}},
		{"subdirectory", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			return filepath.Join(d, "sub", "deep"), d
		}},
		{"git directory", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			return filepath.Join(d, ".git"), d
		}},
		{"through a symbolic link", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			link := filepath.Join(tempDir(t), "link")
			if err := os.Symlink(filepath.Join(d, "sub"), link); err != nil {
				t.Skip(err)
			}
			return link, d
		}},
		{"detached", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			git(t, d, "checkout", "-q", "--detach")
			return d, d
		}},
		{"linked work tree", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			w := filepath.Join(tempDir(t), "linked")
			git(t, d, "worktree", "add", "-q", "-b", "other", w)
			return filepath.Join(w, "sub"), w
		}},
		{"linked work tree of a bare repository", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			bare, w := filepath.Join(tempDir(t), "b.git"), filepath.Join(tempDir(t), "linked")
			git(t, d, "clone", "-q", "--bare", d, bare)
			git(t, bare, "worktree", "add", "-q", "-b", "other", w)
			return w, w
		}},
		{"bare", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			bare := filepath.Join(tempDir(t), "b.git")
			git(t, d, "clone", "-q", "--bare", d, bare)
			return bare, ""
		}},
		{"inside a bare repository", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			bare := filepath.Join(tempDir(t), "b.git")
			git(t, d, "clone", "-q", "--bare", d, bare)
			return filepath.Join(bare, "refs"), ""
		}},
		{"shallow", func(t *testing.T) (string, string) {
			d := newRepo(t, map[string]string{"old.md": "x"})
			commit(t, d, "second", map[string]string{"old.md": "-"})
			commit(t, d, "third", files)
			s := filepath.Join(tempDir(t), "s")
			git(t, d, "clone", "-q", "--depth", "1", "file://"+d, s)
			return s, s
		}},
		{"alternates", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			git(t, d, "repack", "-adq")
			s := filepath.Join(tempDir(t), "s")
			git(t, d, "clone", "-q", "--shared", d, s)
			return s, s
		}},
		{"relative alternates of alternates", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			s, s2 := filepath.Join(filepath.Dir(d), "s"), filepath.Join(filepath.Dir(d), "s2")
			git(t, d, "clone", "-q", "--shared", d, s)
			git(t, d, "clone", "-q", "--shared", s, s2)
			write(t, s2, ".git/objects/info/alternates", "# note\n../../../s/.git/objects\n/nowhere\n")
			return s2, s2
		}},
		{"submodule", func(t *testing.T) (string, string) {
			inner, outer := newRepo(t, files), newRepo(t, map[string]string{"x": "x"})
			git(t, outer, "submodule", "--quiet", "add", inner, "mod")
			return filepath.Join(outer, "mod", "sub"), filepath.Join(outer, "mod")
		}},
		{"separate git directory", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			s := filepath.Join(tempDir(t), "s")
			git(t, d, "clone", "-q", "--separate-git-dir", filepath.Join(tempDir(t), "g"), d, s)
			return s, s
		}},
		{"core.worktree", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			w := tempDir(t)
			git(t, d, "config", "core.worktree", w)
			return filepath.Join(d, ".git"), w
		}},
		{"sparse checkout", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			git(t, d, "sparse-checkout", "set", "sub")
			return d, d
		}},
		{"packed refs and objects", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			git(t, d, "gc", "-q")
			return d, d
		}},
		{"loose-*.pack", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			git(t, d, "maintenance", "run", "--quiet", "--task=loose-objects")
			git(t, d, "prune-packed", "-q")
			if m, _ := filepath.Glob(filepath.Join(d, ".git/objects/pack/loose-*.pack")); len(m) == 0 {
				t.Skip("this git names the packs of its loose-objects task otherwise")
			}
			return d, d
		}},
		{"partial clone", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			s := filepath.Join(tempDir(t), "s")
			git(t, d, "clone", "-q", "--filter=blob:none", "file://"+d, s)
			return s, s
		}},
		{"harmless extensions", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			write(t, d, ".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha1\n"+
				"\tpreciousObjects = true ; comment\n\tnoop = \"x\"\n")
			return d, d
		}},
		{"relative work trees", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			git(t, d, "config", "core.repositoryformatversion", "0")
			git(t, d, "config", "extensions.relativeWorktrees", "true")
			git(t, d, "config", "extensions.refStorage", "files")
			return d, d
		}},
		{"HEAD is a symbolic link", func(t *testing.T) (string, string) {
			d := newRepo(t, files)
			head := filepath.Join(d, ".git", "HEAD")
			if err := os.Remove(head); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("refs/heads/main", head); err != nil {
				t.Skip(err)
			}
			return d, d
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, workTree := c.make(t)
			r := mustOpen(t, dir)
			if r.WorkTree() != workTree {
				t.Errorf("WorkTree() = %q, want %q", r.WorkTree(), workTree)
			}
			_, id, err := r.Head()
			if err != nil {
				t.Fatal(err)
			}
			if want := git(t, dir, "rev-parse", "HEAD"); id.String() != want {
				t.Errorf("Head() = %s, want %s", id, want)
			}
			list, _, err := r.Files(context.Background(), id, "")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range list {
				b, err := r.Blob(f.Blob)
				if err != nil {
					t.Fatal(err)
				}
				got[f.Path] = string(b)
			}
			delete(got, ".gitmodules")
			if diff := cmp.Diff(files, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		make func(t *testing.T) string
		want error
		text string
	}{
		{"no repository", func(t *testing.T) string { return tempDir(t) }, ErrNotRepository, ""},
		{"no directory", func(t *testing.T) string { return filepath.Join(tempDir(t), "none") }, ErrNotRepository, "none"},
		{"sha256", func(t *testing.T) string {
			d := filepath.Join(tempDir(t), "d")
			git(t, ".", "init", "-q", "--object-format=sha256", d)
			return d
		}, ErrUnsupported, "sha256"},
		{"reftable", func(t *testing.T) string {
			d := newRepo(t, nil)
			git(t, d, "config", "core.repositoryformatversion", "1")
			write(t, d, ".git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n")
			return d
		}, ErrUnsupported, "reftable"},
		{"future version", func(t *testing.T) string {
			d := newRepo(t, nil)
			write(t, d, ".git/config", "[core]\nrepositoryformatversion = 2\n")
			return d
		}, ErrUnsupported, "version 2"},
		{"unknown extension", func(t *testing.T) string {
			d := newRepo(t, nil)
			write(t, d, ".git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nquantum = true\n")
			return d
		}, ErrUnsupported, "quantum"},
		{"broken .git file", func(t *testing.T) string {
			d := tempDir(t)
			write(t, d, ".git", "what\n")
			return d
		}, ErrNotRepository, "gitdir"},
		{".git file that leads nowhere", func(t *testing.T) string {
			d := tempDir(t)
			write(t, d, ".git", "gitdir: ../gone\n")
			return d
		}, ErrNotRepository, "gone"},
		{"broken config", func(t *testing.T) string {
			d := newRepo(t, nil)
			write(t, d, ".git/config", "[core\n")
			return d
		}, nil, "config"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(c.make(t))
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("Open: %v; want %v mentioning %q", err, c.want, c.text)
			}
		})
	}
}

func TestOpenHonoursEnvironmentOnlyWithoutDir(t *testing.T) {
	a, b := newRepo(t, map[string]string{"a": "a"}), newRepo(t, map[string]string{"b": "b"})
	t.Setenv("GIT_DIR", filepath.Join(a, ".git"))
	if r := mustOpen(t, ""); r.WorkTree() != a {
		t.Errorf("Open(\"\").WorkTree() = %s, want %s", r.WorkTree(), a)
	}
	if r := mustOpen(t, b); r.WorkTree() != b {
		t.Errorf("Open(b).WorkTree() = %s, want %s", r.WorkTree(), b)
	}
	w := tempDir(t)
	t.Setenv("GIT_WORK_TREE", w)
	if r := mustOpen(t, ""); r.WorkTree() != w {
		t.Errorf("with GIT_WORK_TREE: %s, want %s", r.WorkTree(), w)
	}
	t.Setenv("GIT_DIR", w)
	if _, err := Open(""); !errors.Is(err, ErrNotRepository) {
		t.Errorf("GIT_DIR without repository: %v", err)
	}
}

func TestRel(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a/b/c.md": "x"})
	r := mustOpen(t, d)
	for dir, want := range map[string]string{d: "", d + "/a": "a", d + "/a/b/../b": "a/b", d + "/new/dir": "new/dir", d + "/..x": "..x"} {
		if got, err := r.Rel(filepath.FromSlash(dir)); got != want || err != nil {
			t.Errorf("Rel(%s) = %q, %v; want %q", dir, got, err, want)
		}
	}
	if got, err := r.Rel(filepath.Dir(d)); err == nil {
		t.Errorf("Rel of the parent = %q", got)
	}
}

func TestPartialCloneNamesTheRemedy(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "old\n"})
	old := git(t, d, "rev-parse", "HEAD:a.md")
	commit(t, d, "second", map[string]string{"a.md": "new\n"})
	s := filepath.Join(tempDir(t), "s")
	git(t, d, "clone", "-q", "--filter=blob:none", "file://"+d, s)
	r := mustOpen(t, s)
	_, err := r.Blob(blobID(t, old))
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "partial clone") || !strings.Contains(err.Error(), "git fetch") {
		t.Errorf("Blob of a blob left out: %v", err)
	}
}

func TestClosedRepository(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "a"})
	r, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := r.Head()
	r.Close()
	r.Close()
	if _, err := r.Commit(id); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Commit after Close: %v", err)
	}
	if _, err := r.Worktree(context.Background(), Options{}); err == nil {
		t.Error("Worktree after Close succeeds")
	}
}
