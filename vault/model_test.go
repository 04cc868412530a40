package vault

import (
	"os"
	"path/filepath"
	"testing"
)

func TestModelDir(t *testing.T) {
	cache, base := t.TempDir(), t.TempDir()
	t.Setenv("MODELS", filepath.Join(base, "elsewhere"))
	for _, dir := range []string{filepath.Join(cache, "models", "tiny"), filepath.Join(base, "elsewhere", "mine")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(cache, "models", "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(base, "elsewhere", "mine")
	for _, c := range []struct {
		model, dir string
		found      bool
	}{
		{"tiny", filepath.Join(cache, "models", "tiny"), true},
		{"other", filepath.Join(cache, "models", "other"), false},
		{"file", file, false},
		{"none", "", false},
		{"..", filepath.Dir(base), true},
		{mine, mine, true},
		{"./elsewhere/mine", mine, true},
		{"elsewhere/mine", mine, true},
		{"$MODELS/mine", mine, true},
	} {
		cfg := &Config{CacheDir: cache, Model: c.model}
		if err := cfg.resolveModel(base); err != nil {
			t.Errorf("%s: %v", c.model, err)
		}
		if dir, found := cfg.modelDir(cfg.Model); dir != c.dir || found != c.found {
			t.Errorf("%s: %q, %v; want %q, %v", c.model, dir, found, c.dir, c.found)
		}
	}
	if dir, found := (&Config{CacheDir: cache}).modelDir(""); dir != "" || found {
		t.Errorf("no model: %q, %v", dir, found)
	}
}
