package tui

import (
	"strings"
	"testing"
)

// What is left out is dim as soon as it is.
func TestOutIsDim(t *testing.T) {
	const line = "\x1b[2m+\x1b[m \x1b[2mtags: [http, retry]\x1b[m"
	s := show(t, newTable(), 80, 24, "tab", "n", "]")
	for i, key := range []string{"space", "space", "a", "a"} {
		press(t, s, key)
		if got, want := strings.Contains(s.draw(), line), i%2 == 0; got != want {
			t.Errorf("after %d keys the line is dim: %v, want %v", i+1, got, want)
		}
	}
}
