package diff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnified(t *testing.T) {
	tests := []struct{ name, old, now, want string }{
		{"changed", "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", "--- a/x\n+++ b/x\n@@ -1,6 +1,6 @@\n a\n b\n c\n-d\n+D\n e\n f\n"},
		{"one line", "a\n", "b\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"},
		{"no end of line", "a\nb", "a\nb\n", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"emptied", "a\n", "", "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n"},
		{"binary", "a\x00", "b\n", "--- a/x\n+++ b/x\nBinary files differ\n"},
		{"same", "a\n", "a\n", ""},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, Unified("x", "x", []byte(test.old), []byte(test.now))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if got, want := Unified("", "x", nil, []byte("a\n")), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"; got != want {
		t.Errorf("a new file:\n%s\nwant\n%s", got, want)
	}
}

// What Unified writes is a patch that git applies, and Apply makes the same of
// the hunks.
func TestPatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		old, now := randomText(r), ""
		for line := range strings.Lines(old) {
			switch r.IntN(8) {
			case 0:
			case 1:
				now += line + fmt.Sprintln("new", r.IntN(5))
			case 2:
				now += fmt.Sprintln("other", r.IntN(5))
			default:
				now += line
			}
		}
		hunks := Hunks([]byte(old), []byte(now), 3)
		all := Apply([]byte(old), []byte(now), hunks, func(int) bool { return true })
		if string(all) != now {
			t.Fatalf("all hunks of %q make %q, want %q", old, all, now)
		}
		if none := Apply([]byte(old), []byte(now), hunks, func(int) bool { return false }); string(none) != old {
			t.Fatalf("no hunk makes %q of %q", none, old)
		}
		if patched := gitApply(t, old, Unified("x", "x", []byte(old), []byte(now))); patched != now {
			t.Fatalf("git makes %q of %q, want %q", patched, old, now)
		}
	}
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 5 + r.IntN(40) {
		fmt.Fprintln(&b, "line", r.IntN(10))
	}
	return strings.TrimSuffix(b.String(), strings.Repeat("\n", r.IntN(2)))
}

func gitApply(t *testing.T, old, patch string) string {
	t.Helper()
	if patch == "" {
		return old
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "apply", "--unidiff-zero", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
	cmd.Env = append(os.Environ(), "GIT_DIR=/nowhere")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v: %s\n%s", err, out, patch)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Some of the hunks can be taken without the others.
func TestApplySome(t *testing.T) {
	old := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"
	now := "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\n"
	hunks := Hunks([]byte(old), []byte(now), 3)
	if len(hunks) != 2 {
		t.Fatalf("%d hunks, want 2", len(hunks))
	}
	got := Apply([]byte(old), []byte(now), hunks, func(i int) bool { return i == 1 })
	if want := "a\nb\nc\nd\ne\nf\ng\nh\ni\nJ\n"; string(got) != want {
		t.Errorf("the second hunk makes %q, want %q", got, want)
	}
}

// The words that differ are between brackets.
func TestWords(t *testing.T) {
	tests := []struct{ name, old, now, want string }{
		{"one word", "wait two seconds\n", "wait three seconds\n", "wait [two] seconds|wait [three] seconds"},
		{"neighbours", "wait one two seconds\n", "wait three four seconds\n", "wait [one two] seconds|wait [three four] seconds"},
		{"wrapped anew", "a long paragraph of words\nthat goes on\n", "a long paragraph\nof words that goes on well\n",
			"a long paragraph[ ]of words|that goes on|a long paragraph|of words[ ]that goes on[ well]"},
		{"scripts", "再試行の間隔は二秒\n", "再試行の間隔は三秒\n", "再試行の間隔は[二]秒|再試行の間隔は[三]秒"},
		{"punctuation", "see a.b(c)\n", "see a.b(d)\n", "see a.b([c])|see a.b([d])"},
		{"nothing in common", "alpha beta\n", "gamma delta\n", "alpha beta|gamma delta"},
		{"only added", "", "new\n", "new"},
	}
	for _, test := range tests {
		var got []string
		for _, h := range Hunks([]byte(test.old), []byte(test.now), 0) {
			h.Words()
			h.Words()
			for _, l := range h.Lines {
				got = append(got, bracketed(l))
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func bracketed(l Line) string {
	var b strings.Builder
	at := 0
	for _, m := range l.Marks {
		b.WriteString(l.Text[at:m.Start] + "[" + l.Text[m.Start:m.End] + "]")
		at = m.End
	}
	return b.String() + l.Text[at:]
}

func FuzzHunks(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nc"), 3)
	f.Add([]byte(""), []byte("\n\n"), 0)
	f.Fuzz(func(t *testing.T, old, now []byte, context int) {
		context = max(0, min(context, 10))
		hunks := Hunks(old, now, context)
		if got := Apply(old, now, hunks, func(int) bool { return true }); string(got) != string(now) {
			t.Fatalf("%q to %q: %q", old, now, got)
		}
		for _, h := range hunks {
			h.Words()
			for _, l := range h.Lines {
				bracketed(l) // every mark lies within its line
			}
		}
	})
}
