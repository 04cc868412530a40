package vault

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A kb.yaml comes with a repository, which may be anybody's: none makes kb take
// much memory, or end, and all that is no configuration is refused.
func TestHostileConfig(t *testing.T) {
	laughs := "&a0 [x, x, x, x, x, x, x, x, x]"
	for i := range 11 {
		laughs += fmt.Sprintf(", &a%d [%s*a%d]", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), i)
	}
	deep := func(open, end string, n int) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	for name, text := range map[string]string{
		"billion laughs, a list":       "protected: [" + laughs + "]",
		"billion laughs, a text":       "language: [" + laughs + "]",
		"billion laughs, collections":  "collections: [" + laughs + "]",
		"billion laughs, unknown":      "x: [" + laughs + "]\ncollections: [{name: n, path: .}]",
		"billion laughs, a mapping":    "visibility: {private: [" + laughs + "]}",
		"an alias of itself":           "protected: &a [*a]",
		"a mapping merged into itself": "site: &a {<<: *a}",
		"brackets":                     "protected: " + deep("[", "]", 100_000),
		"braces":                       "site: " + deep("{a: ", "}", 50_000),
		"dashes":                       "protected:\n" + strings.Repeat("- ", 50_000) + "x",
		"quotes that do not end":       "language: " + strings.Repeat(`"'`, 50_000),
		"a large one":                  "language: " + strings.Repeat("x", 1<<20),
		"many documents":               strings.Repeat("---\na: b\n", 10_000),
		"anchors":                      strings.Repeat("&a ", 50_000) + "x: y",
		"tags":                         "language: " + strings.Repeat("!!str ", 20_000) + "en",
	} {
		file := filepath.Join(t.TempDir(), "kb.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := readConfig(file)
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 600 {
			t.Errorf("%s: reading %d KiB took %d MiB", name, len(text)>>10, took)
		}
		if err == nil {
			t.Errorf("%s: read as %.200q", name, fmt.Sprint(c))
		}
		if err != nil && (len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x00\x1b\x07")) {
			t.Errorf("%s: %.300q", name, err)
		}
		if _, _, err := readRecipe("r.yaml", []byte(text)); err == nil {
			t.Errorf("%s: read as a recipe", name)
		}
	}
}
