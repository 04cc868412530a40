//go:build unix

package vault_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// canary stands only where no tool may read.
const canary = "canary7f3a"

// trap is a vault whose repository, files and surroundings are set so that a tool
// which follows a path, a ref or a command too far tells or does what it must not.
type trap struct {
	root, dir string
	cache     string
	svc       *vault.Service
	sprung    string // the file that a command would make
	before    map[string]string
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	dir := vaulttest.Repo(t, desk)
	tr := &trap{root: filepath.Dir(dir), dir: dir, cache: t.TempDir()}
	tr.sprung = filepath.Join(tr.root, "sprung")
	t.Setenv("KB_TEST_SECRET", canary)
	for name, text := range map[string]string{
		"../secret.md": "# Secret\n" + canary, "../secrets/x.md": "# X\n" + canary, ".git/canary.md": canary, ".git/refs/heads/odd": canary,
		".gitattributes": "*.md filter=trap diff=trap merge=trap\n",
	} {
		vaulttest.Write(t, dir, name, text)
	}
	for name, target := range map[string]string{"notes/link.md": "../../secret.md", "notes/dirlink": "../../secrets", ".git/refs/heads/link": "../../../../secret.md", "manual/up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	tr.arm(t)
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: tr.cache})
	if err != nil {
		t.Fatal(err)
	}
	if tr.svc, err = vault.NewService(cfg, vault.Agent, t.Logf); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.svc.Close() })
	tr.before = tr.files(t)
	return tr
}

// arm sets every command that git would run by a repository's configuration.
func (tr *trap) arm(t *testing.T) {
	t.Helper()
	script := filepath.Join(tr.root, "trap.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >> "+tr.sprung+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"pre-commit", "post-commit", "reference-transaction", "post-index-change", "post-checkout", "pre-auto-gc", "update", "post-merge", "prepare-commit-msg", "commit-msg"} {
		vaulttest.Write(t, tr.dir, ".git/hooks/"+hook, "")
		name := filepath.Join(tr.dir, ".git/hooks", hook)
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(script, name); err != nil {
			t.Fatal(err)
		}
	}
	config := "[trap]\n\tword = " + canary + "\n[core]\n\tfsmonitor = " + script + "\n\tsshCommand = " + script + "\n\tpager = " + script + "\n\teditor = " + script +
		"\n[filter \"trap\"]\n\tclean = " + script + "\n\tsmudge = " + script + "\n\trequired = true\n[diff]\n\texternal = " + script +
		"\n[diff \"trap\"]\n\ttextconv = " + script + "\n\tcommand = " + script + "\n[merge \"trap\"]\n\tdriver = " + script + "\n[alias]\n\tlog = !" + script +
		"\n[credential]\n\thelper = " + script + "\n[uploadpack]\n\tpackObjectsHook = " + script + "\n"
	f, err := os.OpenFile(filepath.Join(tr.dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(config); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// files are those of the vault and beside it, but for what drafts may add: objects,
// refs of drafts and the locks of refs.
func (tr *trap) files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(tr.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(tr.dir, name)
		if name == tr.cache {
			return fs.SkipDir
		}
		for _, may := range []string{".git/objects", ".git/refs/heads/drafts", ".git/logs/refs/heads/drafts", ".git/kb"} {
			if rel == may {
				return fs.SkipDir
			}
		}
		switch d.Type() {
		case fs.ModeSymlink:
			all[rel], err = os.Readlink(name)
		case 0:
			var b []byte
			b, err = os.ReadFile(name)
			all[rel] = string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// escapes are values that lead out of a vault, for whoever follows them.
func (tr *trap) escapes() []string {
	secret := filepath.Join(tr.root, "secret.md")
	return []string{
		"../secret.md", "../../secret.md", "notes/../../secret.md", "./notes/./../../secret.md", secret, "/" + secret, "file://" + secret, "~/secret.md",
		"..\\secret.md", "notes\\..\\..\\secret.md", "%2e%2e/secret.md", "..%2fsecret.md", "../secret.md\x00.md", "../secret", "secret",
		"notes/link.md", "link.md", "link", "notes/dirlink/x.md", "dirlink/x", "manual/up/.git/canary.md", "up/.git/config",
		".git/canary.md", ".git/canary", ".git/config", "notes/../.git/config", ".GIT/config", "git~1/config", "manual/../../secret.md",
		"kb://notes/../../secret.md", "kb://notes@HEAD/../../secret.md", "kb://notes/link.md", "kb://../secret.md", "notes:../../secret.md", "HEAD:../secret.md", ":(top)../secret.md",
		"refs/heads/link", "refs/heads/odd", "heads/link", "odd", "refs/../../../secret.md", "refs/heads/../../../../secret.md", "../../secret",
		"-C..", "--git-dir=" + tr.root, "--output=" + tr.sprung, "-o" + tr.sprung, "--upload-pack=touch " + tr.sprung, "--exec=touch " + tr.sprung, "ext::sh -c touch% " + tr.sprung,
		"$(touch " + tr.sprung + ")", "`touch " + tr.sprung + "`", "| touch " + tr.sprung, "; touch " + tr.sprung, "x\ntouch " + tr.sprung, "${KB_TEST_SECRET}", "$KB_TEST_SECRET", "{{env \"KB_TEST_SECRET\"}}",
		tr.sprung, "../sprung", "/proc/self/environ", "/dev/stdin", "http://127.0.0.1:1/x", "\\\\127.0.0.1\\x",
	}
}

// plain are arguments with which each tool works.
var plain = map[string]map[string]any{
	"search":       {"query": "calls"},
	"kb_brief":     {"query": "calls"},
	"get_document": {"path": "retry.md"},
	"kb_context":   {"path": []string{"retry.md"}},
	"kb_similar":   {"path": "retry.md"},
	"kb_links":     {"path": "retry.md"},
	"kb_history":   {"path": "retry.md"},
	"kb_write":     {"title": "A note", "body": "Text.", "draft": "d"},
	"kb_edit":      {"path": "retry.md", "append": "More.", "draft": "d"},
}

// Through whatever parameter of whatever tool a path, a ref or a command comes:
// nothing is read that is no note of the vault, no file is made or changed, and
// nothing runs.
func TestNothingEscapes(t *testing.T) {
	tr := newTrap(t)
	for _, op := range vault.Ops() {
		if op.People {
			continue
		}
		for n, p := range op.Params() {
			for i, value := range tr.escapes() {
				if op.Writes && i%4 != n%4 {
					continue // its drafts grow; TestAgentsCannotPublish tries them all
				}
				args := map[string]any{}
				for k, v := range plain[op.Name] {
					args[k] = v
				}
				switch p.Type.Kind() {
				case reflect.String:
					args[p.Name] = value
				case reflect.Slice:
					args[p.Name] = []string{value}
				case reflect.Map:
					args[p.Name] = map[string]string{value: value}
				default:
					continue
				}
				tr.call(t, op, p.Name, args)
			}
		}
	}
	if _, err := os.Lstat(tr.sprung); err == nil {
		what, _ := os.ReadFile(tr.sprung)
		t.Errorf("a command ran: %s", what)
	}
	for name, text := range tr.files(t) {
		if was, ok := tr.before[name]; !ok || was != text {
			t.Errorf("%s was made or changed: %.200q", name, text)
		}
		delete(tr.before, name)
	}
	for name := range tr.before {
		t.Errorf("%s is gone", name)
	}
	tr.isSet(t)
}

// call calls a tool, whose answer or error must not tell what is hidden.
func (tr *trap) call(t *testing.T, op *vault.Op, param string, args map[string]any) {
	t.Helper()
	raw, err := json.Marshal(args)
	must(t, err)
	told := ""
	r, err := tr.svc.Do(t.Context(), op, raw, nil)
	if err != nil {
		e := vault.AsError(err)
		told = e.Message + e.Hint
	} else {
		b, err := vault.MarshalResult(r)
		must(t, err)
		told = string(b)
	}
	if strings.Contains(told, canary) {
		t.Errorf("%s with %s %.200q tells: %.600s", op.Name, param, args[param], told)
	}
}

// isSet demands that the trap is one: links lead out, and git runs commands.
func (tr *trap) isSet(t *testing.T) {
	t.Helper()
	for _, name := range []string{"notes/link.md", "notes/dirlink/x.md", ".git/refs/heads/link", "manual/up/.git/canary.md"} {
		if b, err := os.ReadFile(filepath.Join(tr.dir, name)); err != nil || !strings.Contains(string(b), canary) {
			t.Errorf("%s leads nowhere: %v", name, err)
		}
	}
	_ = exec.Command("git", "-C", tr.dir, "status").Run()
	if _, err := os.Lstat(tr.sprung); err != nil {
		t.Error("git status runs nothing")
	}
}

// A vault that is reached through a link is the vault. A collection that is a link
// to what is outside is refused.
func TestSymlinkedVault(t *testing.T) {
	dir := vaulttest.Repo(t, desk)
	outside := filepath.Join(t.TempDir(), "outside")
	vaulttest.Write(t, outside, "x.md", "# X\n")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	cache := t.TempDir()
	answers := func(at string) (told []string) {
		svc := vaulttest.ServiceIn(t, at, cache, vault.Agent)
		for name, args := range map[string]string{"search": `{"query":"calls secret"}`, "list_sections": `{}`, "kb_digest": `{}`, "get_document": `{"path":"retry.md"}`} {
			op, _ := vault.FindOp(name)
			r, err := svc.Do(t.Context(), op, []byte(args), nil)
			must(t, err)
			b, err := vault.MarshalResult(r)
			must(t, err)
			told = append(told, name+" "+string(b))
		}
		slices.Sort(told)
		return told
	}
	if diff := cmp.Diff(answers(dir), answers(link)); diff != "" {
		t.Errorf("through a link (-vault +link):\n%s", diff)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) != 1 {
		t.Errorf("derived data: %v, %v", entries, err)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "manual")))
	must(t, os.Symlink(outside, filepath.Join(dir, "manual")))
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: cache})
	must(t, err)
	if _, err := vault.NewService(cfg, vault.Agent, t.Logf); err == nil || !strings.Contains(err.Error(), "not inside a git repository") {
		t.Errorf("a collection that leads out: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
