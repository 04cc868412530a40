package tui

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// show opens a screen of a size on a desk, and gives it keys.
func show(t *testing.T, desk Desk, width, height int, keys ...string) *screen {
	t.Helper()
	s := newScreen(context.Background(), desk, func() time.Time { return today })
	send(t, s, tea.WindowSizeMsg{Width: width, Height: height})
	run(t, s, s.Init())
	press(t, s, keys...)
	return s
}

func send(t *testing.T, s *screen, msg tea.Msg) {
	t.Helper()
	_, cmd := s.Update(msg)
	run(t, s, cmd)
}

// run runs a command and what follows from it, as the program would.
func run(t *testing.T, s *screen, cmd tea.Cmd) {
	t.Helper()
	if cmd == nil {
		return
	}
	msg := cmd()
	if _, quits := msg.(tea.QuitMsg); quits {
		s.status.text = "quit"
		return
	}
	send(t, s, msg)
}

var codes = map[string]tea.Key{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"tab": {Code: tea.KeyTab}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "backspace": {Code: tea.KeyBackspace}, "space": {Code: ' ', Text: " "},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
}

// press gives keys by name; "text:…" types.
func press(t *testing.T, s *screen, keys ...string) {
	t.Helper()
	for _, name := range keys {
		if text, ok := strings.CutPrefix(name, "text:"); ok {
			for _, r := range text {
				send(t, s, tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		k, ok := codes[name]
		if !ok {
			k = tea.Key{Code: []rune(name)[0], Text: name}
		}
		send(t, s, tea.KeyPressMsg(k))
	}
}

// picture is the screen as text, each row checked for its width.
func picture(t *testing.T, s *screen) string {
	t.Helper()
	text := ansi.Strip(s.draw())
	lines := strings.Split(text, "\n")
	if len(lines) != s.height && s.height >= leastRows && s.width >= leastColumns {
		t.Errorf("%d rows, want %d", len(lines), s.height)
	}
	for i, line := range lines {
		if n := s.method.StringWidth(line); n > s.width {
			t.Errorf("row %d takes %d columns of %d: %q", i, n, s.width, line)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestScreens(t *testing.T) {
	for _, tt := range []struct {
		name          string
		width, height int
		keys          []string
	}{
		{"list-80x24", 80, 24, nil},
		{"list-200x50", 200, 50, nil},
		{"diff-80x24", 80, 24, []string{"tab", "n", "]", "]", "space"}},
		{"diff-200x50", 200, 50, []string{"tab", "n", "]", "]", "space"}},
		{"confirm-80x24", 80, 24, []string{"m"}},
		{"part-80x24", 80, 24, []string{"tab", "n", "space", "m"}},
		{"problems-80x24", 80, 24, []string{"down", "m"}},
		{"conflict-80x24", 80, 24, []string{"down", "down", "m"}},
		{"wide-characters-80x24", 80, 24, []string{"end", "tab"}},
		{"reject-80x24", 80, 24, []string{"r", "text:no sources given"}},
		{"filter-80x24", 80, 24, []string{"/", "text:ada gloss"}},
		{"nothing-80x24", 80, 24, []string{"/", "text:zzz", "enter"}},
		{"help-80x24", 80, 24, []string{"?"}},
		{"narrow-40x12", 40, 12, nil},
		{"narrow-diff-40x12", 40, 12, []string{"tab", "n", "down", "down", "down"}},
		{"tiny-10x3", 10, 3, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := picture(t, show(t, newTable(), tt.width, tt.height, tt.keys...))
			golden(t, filepath.Join("testdata", tt.name+".txt"), got)
		})
	}
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
		t.Errorf("%s (-file +screen; -update rewrites it):\n%s", file, diff)
	}
}
