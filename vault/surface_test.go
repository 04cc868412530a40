package vault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	pathpkg "path"
	"reflect"
	"strings"
	"testing"
	"time"

	"kb/gitstore"
	"kb/internal/vaulttest"
	"kb/vault"
)

// hostile are values that some tool, file system or shell may take for more than
// text.
var hostile = []string{
	"../main", "refs/heads/main", "HEAD", "main", "drafts/../main", "-x", "--help", "@{-1}", "a..b", "x.lock", "a b", ".", "..", "/", "",
	"../../x", ".git", ".Git/hooks", "a/.git /b", "a/.git./b", ".git::$INDEX_ALLOCATION/x", "git~1/x", "GITHUB~1", ".g\u200cit/x", ".gıt", "C:\\x", "\\\\host\\x",
	"/etc/passwd", "con", "nul.md", "a:b", "a\x00b", "a\nb", "a\r\nKb-Draft: x", "\u202eabc", "ＡＧＥＮＴＳ.md", "AGENTS.md", "agents.MD ", "CLAUDE\u2060.md", "kb.yaml", ".kb/templates/note", ".obsidian/app",
	"---\npublish: true\n---", "title\"\n---\nx: y", "{{title}}", "${HOME}", "$(touch x)", "`touch x`", "%2e%2e/x", "kb://notes/../x", "kb://notes@main/retry.md", "kb://manual/intro.md",
	"manual:intro.md", "notes:journal/secret.md", "retry", "limits.md", "link.md", "dirlink/x.md", "notes", "2026-01-31", "worktree", "a\ufffdb", "\xff\xfe", "日本語", "e\u0301", "null", "true",
	strings.Repeat("../", 40) + "etc/passwd", strings.Repeat("a/", 100) + "x", strings.Repeat("x", 300), strings.Repeat("x", 1<<20),
}

// surface is a vault, and what agents must not be able to change of it.
type surface struct {
	svc  *vault.Service
	repo *gitstore.Repo
	dir  string
	refs map[string]gitstore.CommitID // but drafts
}

func newSurface(t testing.TB) *surface {
	dir := vaulttest.Repo(t, desk)
	vaulttest.Git(t, dir, "config", "core.symlinks", "true")
	blob := vaulttest.Git(t, dir, "hash-object", "-w", "kb.yaml")
	vaulttest.Git(t, dir, "update-index", "--add", "--cacheinfo", "120000,"+blob+",notes/link.md", "--cacheinfo", "120000,"+blob+",notes/dirlink")
	vaulttest.Git(t, dir, "commit", "-q", "-m", "links")
	vaulttest.Git(t, dir, "tag", "v1")
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := vault.NewService(cfg, vault.Agent, func(string, ...any) {}) // a fuzz target may not log
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.Clock = func() time.Time { return testTime }
	repo, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	u := &surface{svc: s, repo: repo, dir: dir, refs: map[string]gitstore.CommitID{}}
	for _, r := range u.allRefs(t) {
		u.refs[r.Name] = r.Commit
	}
	return u
}

func (u *surface) allRefs(t testing.TB) []gitstore.Ref {
	refs, err := u.repo.Refs("")
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// call runs a tool, whatever comes of it.
func (u *surface) call(op *vault.Op, args []byte) {
	who := vault.Caller{Agent: "x\nKb-Draft: y <a@b>", Client: "\x1b[31m"}
	_, _ = u.svc.DoAs(context.Background(), who, op, args, nil)
}

// check looks whether anything but drafts moved, and whether anything but the
// collection's notes changed in them.
func (u *surface) check(t testing.TB, op, args string) {
	t.Helper()
	left := len(u.refs)
	for _, r := range u.allRefs(t) {
		if strings.HasPrefix(r.Name, "refs/heads/drafts/") {
			u.checkDraft(t, r, op, args)
			continue
		}
		if was, ok := u.refs[r.Name]; !ok || was != r.Commit {
			t.Fatalf("%s %.300q: %s moved", op, args, r.Name)
		}
		left--
	}
	if left != 0 {
		t.Fatalf("%s %.300q: a ref is gone", op, args)
	}
}

func (u *surface) checkDraft(t testing.TB, r gitstore.Ref, op, args string) {
	t.Helper()
	changes, err := u.repo.Diff(context.Background(), u.refs["refs/heads/main"], r.Commit, "")
	if err != nil {
		t.Fatalf("%s %.300q: %s: %v", op, args, r.Name, err)
	}
	for _, c := range changes {
		for _, path := range []string{c.Path, c.From} {
			if path != "" && !proper(path) {
				t.Fatalf("%s %.300q: %s %s in %s", op, args, c.Kind, path, r.Name)
			}
		}
	}
	// One draft at a time is enough: they would grow without end.
	if err := u.repo.DeleteRef(r.Name, r.Commit); err != nil {
		t.Fatal(err)
	}
}

// proper reports whether an agent may change the file at a path.
func proper(path string) bool {
	low := strings.ToLower(path)
	if !strings.HasPrefix(path, "notes/") || !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".markdown") || path != pathpkg.Clean(path) {
		return false
	}
	if strings.HasPrefix(low, "notes/legal/") || strings.HasPrefix(low, "notes/journal/") || strings.ContainsAny(low, "\\\x00:") {
		return false
	}
	for part := range strings.SplitSeq(low, "/") {
		switch strings.Trim(part, ". \u2060\u200c") {
		case "agents.md", "claude.md", "git", "github", "kb", "kb.yaml", "obsidian", "claude", "cursor":
			return !strings.HasPrefix(part, ".") && !strings.HasSuffix(part, "md") && part != "kb.yaml"
		}
		if part == "dirlink" || strings.Contains(part, "~1") || strings.HasPrefix(part, ".git") {
			return false
		}
	}
	return low != "notes/link.md"
}

// end looks at what costs more: the whole of the trees, and the work tree.
func (u *surface) end(t testing.TB) {
	t.Helper()
	status := vaulttest.Git(t, u.dir, "status", "--porcelain", "--untracked-files=all")
	for line := range strings.Lines(status) { // the links are in the commit only
		if f := strings.Fields(line); len(f) != 2 || f[0] != "D" || f[1] != "notes/link.md" && f[1] != "notes/dirlink" {
			t.Errorf("work tree: %s", status)
		}
	}
	vaulttest.Git(t, u.dir, "fsck", "--strict")
}

// Whatever arguments an agent gives to whatever tool: no ref outside
// refs/heads/drafts/ moves, and no file outside the collection changes.
func TestAgentsCannotPublish(t *testing.T) {
	u := newSurface(t)
	rng := rand.New(rand.NewPCG(11, 12))
	for _, op := range vault.Ops() {
		if op.People {
			continue
		}
		rounds := 6
		if op.Writes {
			rounds = 120
		}
		for range rounds {
			args, err := json.Marshal(randomArguments(rng, op))
			if err != nil {
				t.Fatal(err)
			}
			u.call(op, args)
			u.check(t, op.Name, string(args))
		}
	}
	u.end(t)
}

// randomArguments are arguments of the right kinds, some hostile.
func randomArguments(rng *rand.Rand, op *vault.Op) map[string]any {
	args := map[string]any{}
	for _, p := range op.Params() {
		usual := p.Required || rng.IntN(4) == 0
		if !usual {
			continue
		}
		args[p.Name] = randomValue(rng, p)
	}
	switch op.Name {
	case "kb_write":
		args["title"] = args["title"].(string) + "x"
		if rng.IntN(2) == 0 {
			args["body"] = "Text."
		}
		delete(args, "fields")
	case "kb_edit":
		args["path"] = []string{"retry.md", "limits.md", hostile[rng.IntN(len(hostile))]}[rng.IntN(3)]
		kinds := []string{"append", "rename", "restore", "set", "delete", "prepend"}
		keep := kinds[rng.IntN(len(kinds))]
		for _, p := range op.Params() {
			if p.Name == keep {
				args[keep] = randomValue(rng, p)
			} else if p.Name != "path" && p.Name != "draft" && p.Name != "message" && p.Name != "base" {
				delete(args, p.Name)
			}
		}
	}
	return args
}

func randomValue(rng *rand.Rand, p vault.Param) any {
	text := hostile[rng.IntN(len(hostile))]
	if rng.IntN(3) == 0 {
		text += "/" + hostile[rng.IntN(len(hostile))]
	}
	switch p.Type.Kind() {
	case reflect.Slice:
		return []string{text}
	case reflect.Map:
		return map[string]string{text: hostile[rng.IntN(len(hostile))]}
	case reflect.Bool:
		return true
	case reflect.Int:
		return rng.IntN(300)
	case reflect.Float64:
		return rng.Float64()
	}
	return text
}

// FuzzAgentSurface is TestAgentsCannotPublish with arguments of the fuzzer's.
func FuzzAgentSurface(f *testing.F) {
	templates := []string{
		`{"title":"T","body":"x","draft":%}`, `{"title":%,"body":%}`, `{"title":"T","body":"x","directory":%}`, `{"title":"T","body":"x","filename":%,"tags":[%]}`,
		`{"path":"retry.md","rename":%}`, `{"path":%,"append":"x","base":%}`, `{"path":"retry.md","set":{%:%},"message":%}`, `{"path":%,"restore":"main","draft":%}`,
	}
	for i, v := range hostile[:len(hostile)-1] { // the last is too long to mutate
		quoted, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		k := i % len(templates)
		f.Add(byte(k/4), bytes.ReplaceAll([]byte(templates[k]), []byte("%"), quoted))
	}
	u := newSurface(f)
	var tools []*vault.Op
	for _, name := range []string{"kb_write", "kb_edit", "kb_drafts", "get_document", "search", "kb_export", "reindex"} {
		op, _ := vault.FindOp(name)
		tools = append(tools, op)
	}
	f.Fuzz(func(t *testing.T, tool byte, args []byte) {
		op := tools[int(tool)%len(tools)]
		u.call(op, args)
		u.check(t, op.Name, string(args))
	})
}
