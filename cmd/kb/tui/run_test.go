//go:build linux || darwin

package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kb/internal/ptytest"
)

// TestMain runs the screen itself when a test starts this program on a terminal.
func TestMain(m *testing.M) {
	if os.Getenv("TUI_SCREEN") == "" {
		os.Exit(m.Run())
	}
	err := Run(context.Background(), newTable(), Options{In: os.Stdin, Out: os.Stdout, NoColor: os.Getenv("TUI_SCREEN") == "plain"})
	fmt.Println("left:", err)
}

func terminal(t *testing.T, width, height int, env ...string) *ptytest.Terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	term, err := ptytest.Start(cmd, width, height)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// The screen on a real terminal: it appears, obeys, follows a resize, and leaves.
func TestRun(t *testing.T) {
	for _, name := range []string{"vt100", "xterm-256color", "linux"} {
		t.Run(name, func(t *testing.T) {
			term := terminal(t, 80, 24, "TUI_SCREEN=1", "TERM="+name)
			steps := []struct{ keys, want string }{
				{"", "guides: how clients retry"},
				{"\x1b[B", "Add a glossary"},
				{"m", "not merged: glossary.md: the frontmatter has no title"},
				{"\x1b[A", "At most 3 times.\n\n"},
				{"m", "merge retry-notes into main: 3 notes, +12 -4? y/n"},
				{"y", "merged retry-notes"},
				{"", "kb review  3 drafts"},
				{"jj", "日本語の文章と絵文字"},
				{"r", "reject because:"},
				{"no source\r", "rejected 日本語のノート"},
			}
			for _, s := range steps {
				if err := term.Type(s.keys); err != nil {
					t.Fatal(err)
				}
				if err := term.Wait(s.want); err != nil {
					t.Fatal(err)
				}
			}
			leave(t, term)
		})
	}
}

// Without colour there are attributes, and on a terminal with colours they are used.
func TestRunWithoutColour(t *testing.T) {
	for _, tt := range []struct {
		name   string
		colour bool
		env    []string
	}{
		{"colour", true, []string{"TUI_SCREEN=1", "NO_COLOR="}},
		{"--no-color", false, []string{"TUI_SCREEN=plain", "NO_COLOR="}},
		{"NO_COLOR", false, []string{"TUI_SCREEN=1", "NO_COLOR=1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			term := terminal(t, 80, 24, append(tt.env, "TERM=xterm-256color", "CLICOLOR_FORCE=", "COLORTERM=")...)
			if err := term.Wait("tags: [http, retry]"); err != nil {
				t.Fatal(err)
			}
			if got := term.Coloured(); got != tt.colour {
				t.Errorf("coloured %v, want %v", got, tt.colour)
			}
			if err := term.Type("q"); err != nil {
				t.Fatal(err)
			}
			if err := term.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// leave resizes the terminal, waits for the new layout, and quits.
func leave(t *testing.T, term *ptytest.Terminal) {
	t.Helper()
	if err := term.Resize(40, 12); err != nil {
		t.Fatal(err)
	}
	if err := term.Wait("\n ↑↓ draft  tab diff  ? help  q quit"); err != nil {
		t.Fatal(err)
	}
	if err := term.Type("q"); err != nil {
		t.Fatal(err)
	}
	if err := term.Wait("left: <nil>"); err != nil {
		t.Error(err)
	}
	if err := term.Close(); err != nil {
		t.Error(err)
	}
}

// What a terminal shows is what the golden screens say.
func TestRunIsGolden(t *testing.T) {
	golden, err := os.ReadFile("testdata/help-80x24.txt")
	if err != nil {
		t.Fatal(err)
	}
	term := terminal(t, 80, 24, "TUI_SCREEN=plain", "TERM=vt100")
	for _, step := range [][2]string{{"", "how clients retry"}, {"?", "any key goes back"}} {
		if err := term.Type(step[0]); err != nil {
			t.Fatal(err)
		}
		if err := term.Wait(step[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := body(term.Screen()), body(string(golden)); got != want {
		t.Errorf("on the terminal:\n%s\nwant:\n%s", got, want)
	}
	if err := term.Type("qq"); err != nil {
		t.Fatal(err)
	}
	if err := term.Close(); err != nil {
		t.Error(err)
	}
}

// body is a screen without its first line, whose ages are those of today.
func body(screen string) string { return screen[strings.IndexByte(screen, '\n'):] }
