package vault

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRON(t *testing.T) {
	tests := []struct {
		src  string
		want map[string]any
	}{
		{`(a: 1, b: "x", c: true, d: [1, 2,], e: None, f: Some("y"))`,
			map[string]any{"a": 1.0, "b": "x", "c": true, "d": []any{1.0, 2.0}, "e": nil, "f": "y"}},
		{"// c\n#![enable(x)]\nConfig( /* c */ a: r#\"q\"uote\"#, )", map[string]any{"a": `q"uote`}},
		{`{"k": (x: -1.5e3), "l": 1_000}`, map[string]any{"k": map[string]any{"x": -1500.0}, "l": 1000.0}},
		{"(a: \"two\nlines \\\"q\\\" \\\\ \\u{e4}\")", nil}, // only what Go's strings have
		{`(a: Kind(b: 1), c: Unit)`, map[string]any{"a": map[string]any{"b": 1.0}, "c": "Unit"}},
	}
	for _, tt := range tests {
		p := ronParser{src: tt.src, line: 1}
		got, err := p.document()
		if tt.want == nil {
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.src, got, err, tt.want)
		}
	}
	for _, src := range []string{"", "(", "(a", "(a:", "(a: )", `(a: "x`, "(a: 1 b: 2)", "[1]", "(a: 1) x", "(a: r#\"x\")", strings.Repeat("(a: ", 100), "(a: ?)"} {
		p := ronParser{src: src, line: 1}
		if got, err := p.document(); err == nil {
			t.Errorf("%.40q: %v, want an error", src, got)
		}
	}
}

func FuzzRON(f *testing.F) {
	for _, s := range []string{`(a: 1, b: ["x"])`, "/* (", "r#", `"\`, "Some(Some(1))", "{1:2}", "(a: r##\"x\"##)", "// x", "\xff(", "_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p := ronParser{src: src, line: 1}
		_, err := p.document()
		if p.pos > len(src) || p.line < 1 || p.line > strings.Count(src, "\n")+1 {
			t.Errorf("%q: at %d, line %d: %v", src, p.pos, p.line, err)
		}
	})
}

// What is converted is read back as it was meant.
func TestConvertRON(t *testing.T) {
	dir := t.TempDir()
	src := `(collections: [(name: "docs", path: "../docs", description: "a: \"b\" #c", writable: true, sections: [(prefix: "yes", description: "- x")])])`
	write(t, filepath.Join(dir, "conf", "c.ron"), src)
	write(t, filepath.Join(dir, "docs", "a.md"), "a")
	text, err := ConvertRON(filepath.Join(dir, "conf", "c.ron"), dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ConfigName)
	write(t, file, text)
	c, err := LoadConfig(Locate{File: file})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := c.Collections[0]
	if got.Name != "docs" || got.Path != filepath.Join(dir, "docs") || got.Description != `a: "b" #c` || !got.Writable ||
		!reflect.DeepEqual(got.Sections, []SectionConfig{{"yes", "- x"}}) {
		t.Errorf("%+v", got)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Whatever stands in a file is a configuration, or an error that names the file.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		"collections: [{name: a, path: .}]", "collections:\n  - name: a\n    path: .\n    sections: [{prefix: x}]\n", "view: [", "a: &a [*a]",
		"search: {max_results: 1.5}", "search:\n", "collections: {a: b}", "? x", "---\n---\n", "0\n---", "- a", "visibility: {private: x}", "collections: !!binary x",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src []byte) {
		file := filepath.Join(dir, ConfigName)
		if err := os.WriteFile(file, src, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := LoadConfig(Locate{File: file, CacheDir: dir})
		if err != nil && (AsError(err).Code != Usage || !strings.Contains(err.Error(), ConfigName)) {
			t.Errorf("%q: %+v", src, err)
		}
	})
}

// The defaults are those that are documented; a written configuration is read
// back as the same.
func TestConfigRoundTrip(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ConfigName)
	write(t, file, "collections: [{name: a, path: .}]\n")
	t.Setenv("KB_CACHE_DIR", "")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	c, err := LoadConfig(Locate{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if c.View != "worktree" || c.Language != "en" || c.Search.MaxResults != 10 || c.Search.MaxLimit != 50 || c.Search.Mode != "hybrid" ||
		c.Vector.ANN != "exact" || c.Visibility.Default != "public" || !reflect.DeepEqual(c.Collections[0].Include, []string{"**/*.md", "**/*.markdown"}) {
		t.Errorf("defaults: %+v", c)
	}
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, text)
	again, err := LoadConfig(Locate{File: file})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if second, err := again.YAML(); err != nil || second != text {
		t.Errorf("read back differently (%v):\n%s\n%s", err, text, second)
	}
}
