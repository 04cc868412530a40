// Package imports is a test: it fails when a package imports what the
// architecture does not let it.
package imports

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// ours lists, for each package, the packages of ours that it may import.
var ours = map[string][]string{
	"kb/note":               {},
	"kb/gitstore":           {"kb/note", "kb/internal/diff"},
	"kb/draft":              {"kb/gitstore", "kb/note"},
	"kb/cas":                {"kb/note", "kb/internal/diskfull"},
	"kb/index":              {"kb/note", "kb/cas"},
	"kb/export":             {"kb/note"},
	"kb/site":               {"kb/note", "kb/internal/diff"},
	"kb/vector":             {},
	"kb/embed":              {"kb/note", "kb/cas", "kb/vector"},
	"kb/convert":            {},
	"kb/ingest":             {"kb/convert", "kb/internal/fetch", "kb/internal/secrets", "kb/note", "kb/vault"},
	"kb/internal/fetch":     {},
	"kb/internal/diff":      {},
	"kb/internal/secrets":   {},
	"kb/internal/diskfull":  {},
	"kb/internal/owner":     {"kb/internal/diskfull"},
	"kb/vault":              {"kb/note", "kb/gitstore", "kb/draft", "kb/cas", "kb/index", "kb/embed", "kb/export", "kb/vector", "kb/site", "kb/internal/diff", "kb/internal/diskfull", "kb/internal/fetch", "kb/internal/journal", "kb/internal/owner", "kb/internal/secrets", "kb/internal/watch"},
	"kb/internal/httpd":     {"kb/internal/access"},
	"kb/internal/watch":     {},
	"kb/internal/models":    {"kb/internal/fetch", "kb/vector"},
	"kb/mcp":                {"kb/vault", "kb/internal/access"},
	"kb/cmd/kb":             {"kb/cmd/kb/tui", "kb/ingest", "kb/mcp", "kb/site", "kb/vault", "kb/internal/access", "kb/internal/diff", "kb/internal/fetch", "kb/internal/httpd", "kb/internal/journal", "kb/internal/models"},
	"kb/internal/access":    {},
	"kb/internal/journal":   {},
	"kb/cmd/kb/tui":         {"kb/internal/diff"},
	"kb/internal/vaulttest": {"kb/vault"},
	"kb/internal/ptytest":   {},
	"kb/internal/faults":    {},
	"kb/internal/imports":   {},
	"kb/bench":              {},
}

// doors lists, for each third-party module, the packages that may import it.
// A module that is not listed is free to use: it is a small helper without state.
var doors = map[string][]string{
	"github.com/yuin/goldmark":               {"kb/note"},
	"github.com/goccy/go-yaml":               {"kb/note", "kb/vault"}, // notes' properties; the configuration
	"github.com/pelletier/go-toml":           {"kb/note"},
	"github.com/gosimple/slug":               {"kb/note"},
	"github.com/go-git/":                     {"kb/gitstore"},
	"github.com/dgraph-io/":                  {"kb/cas"},
	"google.golang.org/protobuf":             {"kb/cas"}, // Badger's manifest
	"github.com/blevesearch/":                {"kb/index"},
	"github.com/RoaringBitmap/":              {"kb/index"},
	"github.com/JohannesKaufmann/":           {"kb/convert"},
	"github.com/go-shiori/go-readability":    {"kb/convert"},
	"github.com/ledongthuc/pdf":              {"kb/convert"},
	"github.com/mmcdole/gofeed":              {"kb/convert"},
	"github.com/coder/hnsw":                  {"kb/vector"},
	"github.com/alecthomas/chroma":           {"kb/site"},
	"github.com/microcosm-cc/bluemonday":     {"kb/site"},
	"github.com/dop251/goja":                 {"kb/site"},
	"github.com/knights-analytics/":          {"kb/vector"},
	"github.com/gomlx/":                      {"kb/vector"},
	"github.com/gofrs/flock":                 {"kb/internal/owner", "kb/internal/models", "kb/internal/access", "kb/internal/journal", "kb/site"},
	"github.com/fsnotify/fsnotify":           {"kb/internal/watch"},
	"github.com/modelcontextprotocol/go-sdk": {"kb/mcp"},
	"github.com/golang-jwt/jwt":              {"kb/internal/access"},
	"github.com/MicahParks/keyfunc":          {"kb/internal/access"},
	"golang.org/x/time":                      {"kb/internal/httpd"},
	"github.com/prometheus/":                 {"kb/internal/httpd"},
	"github.com/alecthomas/kong":             {"kb/cmd/kb"},
	"github.com/schollz/progressbar":         {"kb/cmd/kb"},
	"charm.land/bubbletea":                   {"kb/cmd/kb/tui"},
	"github.com/charmbracelet/x/ansi":        {"kb/cmd/kb/tui", "kb/internal/ptytest"}, // widths of characters; control sequences
	"github.com/creack/pty":                  {"kb/internal/ptytest"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "kb/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		allowed, listed := ours[p.ImportPath]
		if !listed {
			t.Errorf("%s is not in the architecture: add it here and to ARCHITECTURE.md", p.ImportPath)
		}
		for _, imp := range p.Imports {
			check(t, p.ImportPath, imp, allowed)
		}
	}
}

func check(t *testing.T, pkg, imp string, allowed []string) {
	if strings.HasPrefix(imp, "kb/") && !slices.Contains(allowed, imp) {
		t.Errorf("%s imports %s, which the architecture does not let it", pkg, imp)
	}
	for module, door := range doors {
		if strings.HasPrefix(imp, module) && !slices.Contains(door, pkg) {
			t.Errorf("%s imports %s: the door to it is %s", pkg, imp, strings.Join(door, ", "))
		}
	}
}
