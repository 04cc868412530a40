package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"kb/internal/vaulttest"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kb": main})
}

// The scripts read like the manual; beside the engine's own commands they have
// those of scriptCommands.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: isolate,
		Cmds:  scriptCommands,
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition " + name)
		},
		UpdateScripts:   *update,
		ContinueOnError: true,
	})
}

// isolate gives a script a home, a cache and a git of its own.
func isolate(e *testscript.Env) error {
	e.Vars = append(e.Vars, vaulttest.Env()...)
	for name, dir := range map[string]string{"HOME": ".home", "KB_CACHE_DIR": ".cache", "XDG_RUNTIME_DIR": ".run"} {
		dir = filepath.Join(e.WorkDir, dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		e.Setenv(name, dir)
	}
	e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".home", ".config"))
	e.Setenv("KB_CONFIG", "")
	return nil
}

var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"commit": commitCommand,
	"exits":  exitsCommand,
	"json":   jsonCommand,
	"let":    letCommand,
	"mcp":    mcpCommand,
	"damage": damageCommand,
	"model":  modelCommand,
}

// model DIR GROUP... writes a small embedding model to which the words of a group
// mean the same.
func modelCommand(ts *testscript.TestScript, _ bool, args []string) {
	vaulttest.Model(scriptT{ts}, ts.MkAbs(args[0]), 1, args[1:]...)
}

// scriptT lets a script fail as a test does.
type scriptT struct{ *testscript.TestScript }

func (scriptT) Helper() {}

// commit DATE MESSAGE commits everything in the current directory at noon UTC.
func commitCommand(ts *testscript.TestScript, _ bool, args []string) {
	date := args[0] + "T12:00:00Z"
	was := ts.Getenv("GIT_COMMITTER_DATE")
	ts.Setenv("GIT_COMMITTER_DATE", date)
	ts.Setenv("GIT_AUTHOR_DATE", date)
	defer ts.Setenv("GIT_COMMITTER_DATE", was)
	ts.Check(ts.Exec("git", "add", "--all"))
	ts.Check(ts.Exec("git", "commit", "--quiet", "--allow-empty", "--message", args[1]))
}

// exits STATUS COMMAND… runs a command that must end with that status.
func exitsCommand(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	status := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

// json FILE FIELD VALUE compares one field of JSON: results.0.path, results.len for a
// length, "absent" where there is no such field. Texts need no quotes.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE FIELD VALUE")
	}
	got := jsonField(ts, args[0], args[1])
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %v)", args[1], got, args[2], neg)
	}
}

// let NAME FIELD FILE sets a variable to a field of JSON; let NAME = COMMAND… to
// what a command prints.
func letCommand(ts *testscript.TestScript, _ bool, args []string) {
	if args[1] == "=" {
		ts.Check(ts.Exec(args[2], args[3:]...))
		ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
		return
	}
	ts.Setenv(args[0], jsonField(ts, args[2], args[1]))
}

func jsonField(ts *testscript.TestScript, file, field string) string {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &v); err != nil {
		ts.Fatalf("%s is not JSON: %v", file, err)
	}
	for _, key := range strings.Split(field, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
			if _, ok := x[key]; !ok {
				return "absent"
			}
		case []any:
			i, err := strconv.Atoi(key)
			switch {
			case key == "len":
				v = len(x)
			case err != nil || i >= len(x):
				return "absent"
			default:
				v = x[i]
			}
		default:
			return "absent"
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	ts.Check(e.Encode(v))
	return strings.TrimSpace(b.String())
}

// mcp REQUESTS ANSWERS [ARG…] starts kb, with the arguments mcp when there are none, sends each line of a file, waits for
// the answers to those with an id, closes, and writes what came to a file. Lines
// of the file that begin with # say which tool to call: "# search {"query":"x"}".
func mcpCommand(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := []string{"mcp"}
	if len(args) > 2 {
		command = args[2:]
	}
	cmd := exec.CommandContext(ctx, "kb", command...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = scriptEnv(ts)
	cmd.Stderr = ts.Stderr()
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	expect := 1
	lines := []string{handshake, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
	for i, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		if call, ok := strings.CutPrefix(line, "# "); ok {
			name, arguments, _ := strings.Cut(call, " ")
			line = `{"jsonrpc":"2.0","id":` + strconv.Itoa(i+1) + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
		}
		if strings.Contains(line, `"id":`) {
			expect++
		}
		lines = append(lines, line)
	}
	_, err = in.Write([]byte(strings.Join(lines, "\n") + "\n"))
	ts.Check(err)
	answers := map[int]json.RawMessage{}
	s := bufio.NewScanner(out)
	s.Buffer(nil, 16<<20)
	for len(answers) < expect && s.Scan() {
		var m struct{ ID *int }
		if err := json.Unmarshal(s.Bytes(), &m); err != nil || m.ID == nil {
			ts.Fatalf("not an answer on stdout: %s", s.Bytes())
		}
		answers[*m.ID] = json.RawMessage(bytes.Clone(s.Bytes()))
	}
	ts.Check(in.Close())
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("kb mcp: %v", err)
	}
	if len(answers) < expect {
		ts.Fatalf("%d answers, want %d", len(answers), expect)
	}
	raw, err := json.Marshal(answers)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), raw, 0o644))
}

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}`

func scriptEnv(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range []string{"HOME", "KB_CACHE_DIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "KB_CONFIG"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return append(env, vaulttest.Env()...)
}

// damage flip|cut DIR flips a byte in the middle of every file of some size
// below DIR, or cuts it there.
func damageCommand(ts *testscript.TestScript, _ bool, args []string) {
	err := filepath.WalkDir(ts.MkAbs(args[1]), func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil || len(b) < 16 {
			return err
		}
		// Badger's files are sparse: what is written stands at their beginning.
		end := len(bytes.TrimRight(b, "\x00"))
		if args[0] == "cut" {
			return os.Truncate(name, int64(end/2))
		}
		b[end/2] ^= 0xff
		return os.WriteFile(name, b, 0o644)
	})
	ts.Check(err)
}

// The help of every command is golden: review reads the difference.
func TestHelp(t *testing.T) {
	pages := map[string][]string{"kb": nil}
	c := &cli{}
	var grammar struct{ commands }
	if err := c.buildParser(&grammar); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.parser.Model.Leaves(true) {
		for ; n.Type == kong.CommandNode; n = n.Parent {
			pages[strings.ReplaceAll(commandPath(n), " ", "-")] = strings.Fields(commandPath(n))
		}
	}
	for name, words := range pages {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("testdata", "help", name+".txt"), output(t, append([]string{"help"}, words...)...))
		})
	}
}

// output runs kb in this process, into a file, and returns what it printed.
func output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if status := run(context.Background(), args, stdio{os.Stdin, out, os.Stderr}); status != 0 {
		t.Fatalf("kb %s: exit status %d", strings.Join(args, " "), status)
	}
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-file +program; -update rewrites it):\n%s", file, diff)
	}
}
