package vector

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"testing"
)

func TestModels(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range Models() {
		if seen[m.Name] {
			t.Errorf("%s is listed twice", m.Name)
		}
		seen[m.Name] = true
		if got, ok := ModelByName(m.Name); !ok || got.Repository != m.Repository {
			t.Errorf("ModelByName(%s) = %v, %v", m.Name, got, ok)
		}
		if rev, err := hex.DecodeString(m.Revision); err != nil || len(rev) != 20 {
			t.Errorf("%s: revision %q", m.Name, m.Revision)
		}
		if m.Dim < 1 || m.Dim > maxDim || m.Licence == "" || len(m.Files) == 0 {
			t.Errorf("%s is incomplete: %+v", m.Name, m)
		}
		for _, f := range m.Files {
			sum, err := hex.DecodeString(f.SHA256)
			if err != nil || len(sum) != 0 && len(sum) != sha256.Size || f.Size > 0 && len(sum) == 0 {
				t.Errorf("%s: %+v: a size comes with a hash", m.Name, f)
			}
			if f.Path != path.Clean(f.Path) || path.IsAbs(f.Path) {
				t.Errorf("%s: path %q", m.Name, f.Path)
			}
		}
	}
	if _, ok := ModelByName(DefaultModel); !ok {
		t.Errorf("there is no %s", DefaultModel)
	}
	if _, ok := ModelByName("none"); ok {
		t.Error("there is a model called none")
	}
}

// TestKnownHashes compares the published hashes with the files themselves.
func TestKnownHashes(t *testing.T) {
	m, _ := ModelByName("m2v-bge64-vq128")
	for _, f := range m.Files {
		src, err := os.ReadFile(shared(t, "models", m.Name, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(src); f.SHA256 != "" && (hex.EncodeToString(sum[:]) != f.SHA256 || int64(len(src)) != f.Size) {
			t.Errorf("%s has %d bytes and the hash %x", f.Path, len(src), sum)
		}
	}
	if e := m2v(t, Options{}); e.Dim() != m.Dim {
		t.Errorf("it has %d dimensions, not %d", e.Dim(), m.Dim)
	}
}
