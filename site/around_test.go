package site

import "testing"

func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		"**bold** and `code`\n- an item":        "bold and code - an item",
		"# Title\n> [!note]- Aside":             "Title Aside",
		"| a | b |\n|---|:-:|\n| 1 | `x\\|y` |": "a · b 1 · x|y",
		"a | b\n--- | ---\n1 | 2":               "a | b 1 | 2",
		"one - two\n\n---\n\nthree":             "one - two --- three",
		"|":                                     "",
		"":                                      "",
	} {
		if got := tidy(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
