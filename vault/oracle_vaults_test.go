package vault_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

var mayLink = regexp.MustCompile(`\]\(|\[\[|\]\[|\]: `)

// Every link of the vaults leads where the oracle says.
func TestLinksOfVaultsAreTheOracles(t *testing.T) {
	for _, archive := range []string{"kepano-obsidian.bundle", "rust-rfcs.bundle", "tldr.git.tar.gz"} {
		t.Run(archive, func(t *testing.T) {
			dir := clone(t, vaulttest.Shared(t, "data/vaults/"+archive))
			if strings.HasPrefix(archive, "tldr") && os.Getenv("KB_LONG") == "" {
				keepOnly(t, dir, ".github", "CONTRIBUTING.md", "README.md", "contributing-guides", "images", "pages.ko", "scripts")
			}
			s := vaulttest.Service(t, dir)
			o := newOracle(committedFiles(t, dir))
			links, notes := 0, 0
			for _, p := range o.paths {
				if !isNote(p) || !mayLink.MatchString(o.files[p]) {
					continue
				}
				out, broken := o.judge(p)
				links += len(out) + len(broken)
				notes++
				checkJudgement(t, s, p, out, broken)
			}
			t.Logf("%d links of %d notes", links, notes)
		})
	}
}

// keepOnly makes a commit of some of HEAD's files and directories.
func keepOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	kept := vaulttest.Git(t, dir, append([]string{"ls-tree", "HEAD"}, names...)...)
	cmd := exec.Command("git", "-C", dir, "mktree")
	cmd.Stdin = strings.NewReader(kept + "\n")
	tree, err := cmd.Output()
	if err != nil {
		t.Fatalf("git mktree: %v", err)
	}
	commit := vaulttest.Git(t, dir, "commit-tree", strings.TrimSpace(string(tree)), "-m", "fewer")
	vaulttest.Git(t, dir, "update-ref", "HEAD", commit)
}

func checkJudgement(t *testing.T, s *vault.Service, p string, out, broken []string) {
	t.Helper()
	arg, _ := json.Marshal(map[string]any{"path": p, "direction": "out", "at": "HEAD", "max_tokens": 1000000})
	r := ask[vault.LinksResult](t, s, "kb_links", string(arg))
	var gotOut, gotBroken []string
	for _, l := range r.Out {
		gotOut = append(gotOut, l.Path)
	}
	for _, b := range r.Broken {
		gotBroken = append(gotBroken, b.Path)
	}
	slices.Sort(gotOut)
	slices.Sort(gotBroken)
	if diff := cmp.Diff(out, gotOut); diff != "" {
		t.Errorf("%s leads to (-oracle +kb):\n%s", p, diff)
	}
	if diff := cmp.Diff(broken, gotBroken); diff != "" {
		t.Errorf("%s, broken (-oracle +kb):\n%s", p, diff)
	}
}

// committedFiles reads the files of HEAD.
func committedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out, err := exec.Command("git", "-C", dir, "archive", "HEAD").Output()
	if err != nil {
		t.Fatalf("git archive: %v", err)
	}
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
}
