package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What the site embeds is what the sources say.
func TestAssetsAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := bundle(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kb.js", "early.js"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../assets", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its sources make: run make site-assets", name)
		}
	}
}
