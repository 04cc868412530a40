//go:build linux && amd64

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/faults"
	"kb/internal/vaulttest"
)

// writings are the kinds of what kb writes for good, and the files that tell of
// each, below a workshop; docs/reference/faults.md has a row for each.
var writings = []struct {
	kind  string
	files *regexp.Regexp
}{
	{"directory", regexp.MustCompile(`^home/(kb|cache(/\w+)?)$`)},
	{"facts", regexp.MustCompile(`^home/cache/\w+/facts`)},
	{"sidecar", regexp.MustCompile(`^home/cache/\w+/lex/.*\.ids`)},
	{"session mark", regexp.MustCompile(`^home/cache/\w+/lex/.*/writing$`)},
	{"segment", regexp.MustCompile(`^home/cache/\w+/lex`)},
	{"vector pack", regexp.MustCompile(`^home/cache/\w+/vec`)},
	{"owner.lock", regexp.MustCompile(`^home/cache/\w+/owner\.lock$`)},
	{"owner.json", regexp.MustCompile(`^home/cache/\w+/owner\.json`)},
	{"socket", regexp.MustCompile(`\.sock$`)},
	{"log", regexp.MustCompile(`^home/cache/\w+/kb\.log$`)},
	{"sync.jsonl", regexp.MustCompile(`^home/cache/\w+/sync\.jsonl`)},
	{"git pack", regexp.MustCompile(`^vault/\.git/objects/pack/`)},
	{"git object", regexp.MustCompile(`^vault/\.git/objects`)},
	{"git reflog", regexp.MustCompile(`^vault/\.git/logs/`)},
	{"git ref", regexp.MustCompile(`^vault/\.git(/refs|/HEAD|/packed-refs|/kb|$)`)},
	{"kb.yaml", regexp.MustCompile(`^vault/\.?kb\.yaml`)},
	{"client's configuration", regexp.MustCompile(`^vault/\.+mcp\.json`)},
	{"token file", regexp.MustCompile(`^home/kb/\.?tokens\.json`)},
	{"audit log", regexp.MustCompile(`^audit\.jsonl$`)},
	{"export", regexp.MustCompile(`^\.?out\.md`)},
	{"site's trail", regexp.MustCompile(`^home/cache/\w+/sites`)},
	{"site", regexp.MustCompile(`^\.?site`)},
}

func kindOf(path string) string {
	for _, w := range writings {
		if w.files.MatchString(path) {
			return w.kind
		}
	}
	return ""
}

// workshop is a vault with all that belongs to it below one directory, which can
// be put back as it was.
type workshop struct {
	*program
	t           *testing.T
	root, saved string
	pages       *pages
	fresh       map[string][]string // see freshAnswers
}

func newWorkshop(t *testing.T, repo string) *workshop {
	t.Helper()
	root := t.TempDir()
	w := &workshop{t: t, root: filepath.Join(root, "now"), saved: filepath.Join(root, "saved"), fresh: map[string][]string{}}
	home := filepath.Join(w.root, "home")
	must(t, os.MkdirAll(home, 0o700))
	w.copy(repo, filepath.Join(w.root, "vault"))
	env := append(os.Environ(), vaulttest.Env()...)
	w.program = &program{filepath.Join(w.root, "vault"), append(env, "HOME="+home, "XDG_CONFIG_HOME="+home, "KB_CONFIG=",
		"KB_CACHE_DIR="+filepath.Join(home, "cache"), "XDG_RUNTIME_DIR="+home)}
	return w
}

// copy copies a directory with times and modes.
func (w *workshop) copy(from, to string) {
	w.t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		w.t.Fatalf("cp -a %s %s: %v: %s", from, to, err, out)
	}
}

func (w *workshop) save() { w.copy(w.root, w.saved) }

func (w *workshop) restore() {
	w.t.Helper()
	must(w.t, os.RemoveAll(w.root))
	w.copy(w.saved, w.root)
}

// read is the text of a file, "" where there is none.
func (w *workshop) read(name string) string {
	b, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(b)
}

// TestFaults breaks every kind of write that there is: it fails, it fails though it
// was done, or the process dies before or after it. Whatever is left, kb check
// finds nothing wrong with what is derived, every answer is that of a program that
// derived everything anew, and what was to be written is as before or as after;
// the same command then does what it should.
func TestFaults(t *testing.T) {
	var mu sync.Mutex
	ends := map[string]map[string]int{} // by kind and fault, how the program ended
	t.Run("deeds", func(t *testing.T) {
		for name, d := range deeds {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d.tryAll(t, func(x point, end string) {
					mu.Lock()
					defer mu.Unlock()
					key := x.kind + ": " + x.name()
					if ends[key] == nil {
						ends[key] = map[string]int{}
					}
					ends[key][end]++
				})
			})
		}
	})
	if t.Failed() || len(ends) == 0 {
		return
	}
	for _, w := range writings {
		for _, f := range []string{"failed", "failed but done", "killed"} {
			t.Logf("%s: %s: %v", w.kind, f, ends[w.kind+": "+f])
			if len(ends[w.kind+": "+f]) == 0 {
				t.Errorf("%s: %s: it did not happen", w.kind, f)
			}
		}
	}
}

// The manual has a row for every kind of write.
func TestFaultsTold(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/faults.md")
	must(t, err)
	var rows, want []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, row[1])
	}
	for _, w := range writings {
		want = append(want, w.kind)
	}
	slices.Sort(rows)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.DeleteFunc(rows, func(s string) bool { return s == "what is written" })); diff != "" {
		t.Errorf("kinds of writes (-tested +told):\n%s", diff)
	}
}

// shape is what calls have in common that differ in random parts of a name.
func shape(w faults.Write, path string) string {
	return w.Call + " " + randomPart.ReplaceAllString(path, "#")
}

var randomPart = regexp.MustCompile(`[0-9a-f]{38,}|[0-9a-f]{16}|/[0-9a-f]{2}/|\d+`)

// tryAll does a deed undisturbed, and then with faults of what it wrote.
func (d deed) tryAll(t *testing.T, tell func(x point, end string)) {
	w := newWorkshop(t, d.repo(t))
	if d.prepare != nil {
		d.prepare(w)
	}
	w.save()
	before := d.result(w)
	shapes := map[string][]string{} // by kind, in order
	end, out, err := d.do(w, func(c faults.Write, path string) faults.Fault {
		if s, kind := shape(c, path), kindOf(path); !slices.Contains(shapes[kind], s) {
			shapes[kind] = append(shapes[kind], s)
		}
		return faults.None
	})
	if errors.Is(err, faults.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil || end != "done" {
		t.Fatalf("undisturbed: %s, %v: %s", end, err, out)
	}
	if other := shapes[""]; other != nil {
		t.Errorf("writes of no kind: %q", other)
	}
	after := d.result(w)
	for _, x := range d.points(shapes) {
		t.Run(fmt.Sprintf("%s %s", x.fault, x.shape), func(t *testing.T) {
			w.t = t
			if end := d.try(w, x, before, after); end != "" {
				tell(x, end)
			}
		})
	}
}

// point is a call that is broken, and how.
type point struct {
	kind, shape string
	fault       faults.Fault
}

// name is the fault; which side of the call a process dies at is all one.
func (x point) name() string {
	if x.fault == faults.Killed || x.fault == faults.KilledDone {
		return "killed"
	}
	return x.fault.String()
}

// points are the calls that are broken: in a long test each in every way, else
// some of each kind, a different one in each way; dying before or after one will do.
func (d deed) points(shapes map[string][]string) (all []point) {
	if long() {
		for _, kind := range slices.Concat(d.kinds, d.more) {
			for _, s := range shapes[kind] {
				for f := faults.Failed; f <= faults.KilledDone; f++ {
					all = append(all, point{kind, s, f})
				}
			}
		}
		return all
	}
	for i, kind := range d.kinds {
		of := shapes[kind]
		for k, f := range []faults.Fault{faults.Failed, faults.FailedDone, faults.Killed + faults.Fault(i%2)} {
			if len(of) > 0 {
				all = append(all, point{kind, of[(k*len(of)+i)/3%len(of)], f})
			}
		}
	}
	return all
}

func (d deed) result(w *workshop) string {
	if d.outcome == nil {
		return ""
	}
	return d.outcome(w)
}

// line is the deed's command line.
func (d deed) line(w *workshop) (args []string) {
	for _, a := range d.args {
		args = append(args, strings.ReplaceAll(a, "@ROOT", w.root))
	}
	return args
}

// do does the deed, under watch if choose is not nil, and tells how it ended.
func (d deed) do(w *workshop, choose func(c faults.Write, path string) faults.Fault) (end, out string, err error) {
	cmd := w.command(d.line(w)...)
	var said, complained bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(d.input), &said, &complained
	if d.client != nil {
		r, pipe := io.Pipe()
		defer pipe.Close()
		cmd.Stdout = pipe
		go d.serve(cmd, r)
	}
	if choose == nil {
		if end = "done"; cmd.Run() != nil {
			end = fmt.Sprint("exit ", cmd.ProcessState.ExitCode())
		}
		return end, said.String() + complained.String(), nil
	}
	status, err := faults.Run(cmd, func(c faults.Write) faults.Fault {
		path, below := strings.CutPrefix(c.Path, w.root+"/")
		if !below {
			return faults.None
		}
		return choose(c, path)
	})
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		end = "killed"
	case status.Exited() && status.ExitStatus() == 0:
		end = "done"
	default:
		end = fmt.Sprint("exit ", status.ExitStatus())
	}
	return end, said.String() + complained.String(), err
}

// serve has the client call the server that says where it is, and ends it.
func (d deed) serve(cmd *exec.Cmd, said *io.PipeReader) {
	line, err := bufio.NewReader(said).ReadString('\n')
	if err == nil {
		_ = d.client(strings.TrimSpace(line)) // the server may be killed
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	_, _ = io.Copy(io.Discard, said)
}

// strike does the deed with a fault at the first write that is meant.
func (d deed) strike(w *workshop, x point, meant func(c faults.Write, path string) bool) (end, out string, struck bool) {
	w.restore()
	end, out, err := d.do(w, func(c faults.Write, path string) faults.Fault {
		if struck || !meant(c, path) {
			return faults.None
		}
		struck = true
		return x.fault
	})
	must(w.t, err)
	return end, out, struck
}

// try does the deed with a fault, looks at what is left, and does it again. It
// returns how the program ended, "" if the write did not happen this time.
func (d deed) try(w *workshop, x point, before, after string) string {
	end, out, struck := d.strike(w, x, func(c faults.Write, path string) bool { return shape(c, path) == x.shape })
	if !struck { // as a directory of objects need not be made when the commit has another hash
		end, out, struck = d.strike(w, x, func(_ faults.Write, path string) bool { return kindOf(path) == x.kind })
	}
	if !struck {
		w.t.Log("no such write this time")
		return ""
	}
	if strings.Contains(out, "goroutine ") || strings.HasPrefix(end, "exit") && out == "" {
		w.t.Errorf("%s: %s", end, out)
	}
	if !d.apart {
		w.isSound("after the fault", d.model)
	}
	if now := d.result(w); now != before && now != after && !d.torn {
		w.t.Errorf("half done:\n%s\nbefore:\n%s\nafter:\n%s", now, before, after)
	}
	if again, out, _ := d.do(w, nil); again != "done" && !containsAny(out, d.done) {
		w.t.Errorf("again: %s: %s", again, out)
	}
	if now := d.result(w); now != after {
		w.t.Errorf("again:\n%s\nwant:\n%s", now, after)
	}
	if !d.apart && (d.model || long()) {
		w.isSound("when done again", false)
	}
	return end
}

// isSound demands that nothing is wrong - a damaged store was moved aside - and
// that answers are those of a program that derived everything anew: also by vectors,
// unless some may be missing.
func (w *workshop) isSound(when string, wordsOnly bool) {
	w.t.Helper()
	out, err := w.run("check", "--json")
	if err != nil && strings.Contains(out, "everything is derived again") { // which is told once
		out, err = w.run("check", "--json")
	}
	if err != nil {
		w.t.Errorf("%s: kb check: %v: %s", when, err, out)
	}
	if out, err := exec.Command("git", "-C", w.dir, "fsck", "--strict", "--no-dangling").CombinedOutput(); err != nil {
		w.t.Errorf("%s: git fsck: %v: %s", when, err, out)
	}
	got, want := w.answers(w.program, wordsOnly), w.freshAnswers(wordsOnly)
	for i, g := range got {
		if g != want[i] {
			w.t.Errorf("%s: answer %d\ngot   %.600s\nfresh %.600s", when, i, g, want[i])
		}
	}
}

// freshAnswers are those of a program that derived everything anew; they are asked
// for once of a commit.
func (w *workshop) freshAnswers(wordsOnly bool) []string {
	w.t.Helper()
	key := fmt.Sprint(vaulttest.Git(w.t, w.dir, "rev-parse", "HEAD"), w.read("vault/kb.yaml"), wordsOnly)
	if w.fresh[key] == nil {
		p := newProgram(w.t, w.dir)
		p.mustRun(w.t, "reindex", "--at", "HEAD")
		w.fresh[key] = w.answers(p, wordsOnly)
	}
	return w.fresh[key]
}

// answers asks one server for everything.
func (w *workshop) answers(p *program, wordsOnly bool) (all []string) {
	w.t.Helper()
	s, err := p.serve()
	must(w.t, err)
	ask := func(name string, args map[string]any) {
		w.t.Helper()
		raw, err := s.call(name, args)
		must(w.t, err)
		all = append(all, exact(w.t, raw))
	}
	ask("search", map[string]any{"query": "otters river", "mode": "text", "at": "HEAD", "explain": true})
	ask("kb_digest", map[string]any{"at": "HEAD"})
	if !wordsOnly {
		ask("search", map[string]any{"query": "otters river", "at": "HEAD"})
		ask("kb_health", map[string]any{"at": "HEAD"})
	}
	must(w.t, s.end())
	return all
}

// exact is an answer without what the state of the derived data may change.
func exact(t *testing.T, raw []byte) string {
	t.Helper()
	var m map[string]any
	must(t, json.Unmarshal(raw, &m))
	for _, key := range []string{"index", "degraded", "seconds"} {
		delete(m, key)
	}
	b, err := json.Marshal(m)
	must(t, err)
	return string(b)
}
