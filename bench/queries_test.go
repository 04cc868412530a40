package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestHeadingQueries(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.md":  "# Borrow Checker: the `NLL` rules\n\ntext\n## Summary\n## Drop order\n",
		"b.md":  "## Drop order\n\n#not a heading\n### Über-Größe (2)\n",
		"c.txt": "# Not a note at all\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := headingQueries(dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := headingQueries(dir, 10)
	if !slices.Equal(got, again) {
		t.Errorf("two draws differ: %q, %q", got, again)
	}
	if few, _ := headingQueries(dir, 2); !slices.Equal(few, got[:2]) {
		t.Errorf("a smaller draw is %q, want the first of %q", few, got)
	}
	slices.Sort(got)
	if want := []string{"borrow checker the nll rules", "drop order", "über größe"}; !slices.Equal(got, want) {
		t.Errorf("queries %q, want %q", got, want)
	}
}
