package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What the site embeds, and what its tests run, is what the sources say.
func TestAssetsAreCurrent(t *testing.T) {
	dir := t.TempDir()
	stems := filepath.Join(dir, "assets", "stem")
	err := errors.Join(os.MkdirAll(stems, 0o755), os.Mkdir(filepath.Join(dir, "testdata"), 0o755))
	err = errors.Join(err, bundle(filepath.Dir(stems)), translateStemmers(stems), bundleStemmers(stems), bundleNode(filepath.Join(dir, "testdata")))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		want, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if got, err := os.ReadFile(filepath.Join("..", name)); !bytes.Equal(got, want) {
			t.Errorf("%s is not what its sources make: run make site-assets (%v)", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
