package note

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestYAML(t *testing.T) {
	tests := []struct {
		src  string
		want any
	}{
		{"a: b", "b"},
		{"a: 2024-01-31", "2024-01-31"},
		{"a: 10:30", "10:30"},
		{"a: 2024-01-31T10:30:00+02:00", "2024-01-31T10:30:00+02:00"},
		{"a: 12", int64(12)},
		{"a: -5", int64(-5)},
		{"a: 1.5", 1.5},
		{"a: 1.10", "1.10"},
		{"a: 007", "007"},
		{"a: 0x1F", "0x1F"},
		{"a: 1_000", "1_000"},
		{"a: 1e3", "1e3"},
		{"a: .5", ".5"},
		{"a: true", true},
		{"a: False", false},
		{"a: yes", "yes"},
		{"a: null", nil},
		{"a: ~", nil},
		{"a:", nil},
		{"a: ''", ""},
		{"a: \"12\"", "12"},
		{"a: 'it''s'", "it's"},
		{"a: \"tab\\tq\\\" \\u00e9\"", "tab\tq\" é"},
		{"a: [b, 2, \"c d\", 'e']", []any{"b", int64(2), "c d", "e"}},
		{"a: []", []any{}},
		{"a:\n  - b\n  - 2024-01-31\n  - \"[[c]]\"", []any{"b", "2024-01-31", "[[c]]"}},
		{"a:\n- b\n# comment\n- c", []any{"b", "c"}},
		{"a: b # comment", "b"},
		{"a: b#c", "b#c"},
		{"a: http://b.c:80/d", "http://b.c:80/d"},
		{"a: |\n  one\n  two\n", "one\ntwo\n"},
		{"a: >-\n  one\n  two\n", "one two"},
		{"a: one\n  two", "one two"},
		{"a:\n  b: 1\n  c: [x]", map[string]any{"b": int64(1), "c": []any{"x"}}},
		{"a: {b: c}", map[string]any{"b": "c"}},
		{"a:\n  - b: 1\n    c: 2", []any{map[string]any{"b": int64(1), "c": int64(2)}}},
		{"a: [[b]]", []any{[]any{"b"}}},
		{"a: &x [1]\nb: *x", []any{int64(1)}},
		{"x: &x {p: 1}\na:\n  <<: *x\n  q: 2", map[string]any{"p": int64(1), "q": int64(2)}},
		{"a: !!str 12", "12"},
		{"a: {{date}}", "{{date}}"},
		{"\"a\": b", "b"},
		{"日本: x\na: 語", "語"},
	}
	for _, tt := range tests {
		n, _ := Parse([]byte("---\n" + tt.src + "\n---\nbody"))
		got, ok := n.Field("A")
		if diff := cmp.Diff(tt.want, got); diff != "" || !ok {
			t.Errorf("%q: field a (-want +got):\n%s%v", tt.src, diff, n.Problems)
		}
		checkTextNote(t, "---\n"+tt.src+"\n---\nbody")
	}
}

func TestFrontmatterExtent(t *testing.T) {
	tests := []struct {
		src, body string
		fields    int
		problem   bool
	}{
		{"---\na: 1\n---\nbody", "body", 1, false},
		{"---  \na: 1\n...\nbody", "body", 1, false},
		{"---\n---\nbody", "body", 0, false},
		{"---\n# comment\n---\nbody", "body", 0, false},
		{"\xef\xbb\xbf---\r\na: 1\r\n---\r\nbody", "body", 1, false},
		{"---\na: 1\n---", "", 1, false},
		{" ---\na: 1\n---\nbody", " ---\na: 1\n---\nbody", 0, false},
		{"\n---\na: 1\n---\n", "\n---\na: 1\n---\n", 0, false},
		{"----\na: 1\n---\n", "----\na: 1\n---\n", 0, false},
		{"---\n\nJust text after a rule\n\n---\n", "---\n\nJust text after a rule\n\n---\n", 0, false},
		{"---\na: [\n---\nbody", "---\na: [\n---\nbody", 0, true},
		{"---\na: \"b\nc: d\n---\nbody", "---\na: \"b\nc: d\n---\nbody", 0, true},
		{"---\na: '\n---\nbody", "---\na: '\n---\nbody", 0, true},
		{"---\na: 1\nbody", "---\na: 1\nbody", 0, true},
		{"---\na: *nope\n---\n", "---\na: *nope\n---\n", 0, true},
		{"+++\na = 1\nb = [\"x\"]\n[t]\nc = 2\n+++\nbody", "body", 3, false},
		{"+++\na = \n+++\nbody", "+++\na = \n+++\nbody", 0, true},
		{"a:: 1\nb-c:: x, y\n\nbody", "\nbody", 2, false},
		{"std::vector is\n", "std::vector is\n", 0, false},
		{"- a:: 1\n", "- a:: 1\n", 0, false},
		{"---\na: " + strings.Repeat("x", maxFrontmatter) + "\n---\n", "", 0, true},
		{"---\na: [" + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "]\n---\nb", "", 0, true},
	}
	for _, tt := range tests {
		checkTextNote(t, tt.src)
		n, text := Parse([]byte(tt.src))
		if tt.body == "" && tt.problem {
			tt.body = tt.src
		}
		if got := string(text[n.Body:]); got != tt.body {
			t.Errorf("Parse(%.60q): body %.60q, want %.60q", tt.src, got, tt.body)
		}
		if len(n.Fields) != tt.fields || (len(n.Problems) > 0) != tt.problem {
			t.Errorf("Parse(%.60q): fields %v, problems %v; want %d fields, problem %v", tt.src, n.Fields, n.Problems, tt.fields, tt.problem)
		}
	}
}

func TestFrontmatterBombs(t *testing.T) {
	for _, name := range []string{"front bomb", "front selfref"} {
		src := hostile[name](1000)
		n, _ := Parse([]byte(src))
		if len(n.Problems) != 1 || n.Body != 0 {
			t.Errorf("%s: problems %v, body at %d; want one problem and all of it text", name, n.Problems, n.Body)
		}
	}
}

func TestFieldLines(t *testing.T) {
	tests := []struct{ src, want string }{
		{"---\na: 1\n\n# c\nb:\n  - x\nc: |\n  t\nd: {x: 1}\n---\n", "a2 b5 c7 d9"},
		{"---\na: &x 1\nb: *x\n\nc: 3\n---\n", "a2 b3 c5"},
		{"---\na: 1\nb: 2\na: 3\n---\n", "b3 a4"},
		{"+++\nb = 1\n\na = 2\n[x]\ny = 1\n[x.z]\n+++\n", "b2 a4 x5"},
		{"a:: 1\nb:: 2\n", "a1 b2"},
	}
	for _, tt := range tests {
		n, _ := Parse([]byte(tt.src))
		var got []string
		for _, f := range n.Fields {
			got = append(got, f.Key+string(rune('0'+f.Line)))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("Parse(%q): fields %v, want %s", tt.src, got, tt.want)
		}
	}
}

func TestDuplicateKeyLastWins(t *testing.T) {
	n, _ := Parse([]byte("---\ntitle: one\ntitle: two\n---\n"))
	if n.Title != "two" || len(n.Fields) != 1 {
		t.Errorf("title %q, fields %v; want the last", n.Title, n.Fields)
	}
}

func TestTOML(t *testing.T) {
	n, text := Parse([]byte("+++\ntitle = \"T\"\ndate = 2024-01-31\nat = 2024-01-31T10:30:00Z\ntime = 10:30:00\nn = 3\nf = 1.5\nb = true\nl = [1, \"x\"]\n[taxonomies]\ntags = [\"p\", \"q\"]\n+++\n# Body\n"))
	want := []Field{
		{"title", "T", 2}, {"date", "2024-01-31", 3}, {"at", "2024-01-31T10:30:00Z", 4}, {"time", "10:30:00", 5}, {"n", int64(3), 6}, {"f", 1.5, 7}, {"b", true, 8},
		{"l", []any{int64(1), "x"}, 9}, {"taxonomies", map[string]any{"tags": []any{"p", "q"}}, 10},
	}
	if diff := cmp.Diff(want, n.Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if n.Title != "T" || string(text[n.Body:]) != "# Body\n" || n.Created() != "2024-01-31" {
		t.Errorf("title %q, body %q, created %q", n.Title, text[n.Body:], n.Created())
	}
	if diff := cmp.Diff([]string{"p", "q"}, n.Tags); diff != "" {
		t.Errorf("tags of [taxonomies] (-want +got):\n%s", diff)
	}
}

func TestFrontmatterLinks(t *testing.T) {
	src := "---\ncover: \"![[a.png]]\"\nup:\n  - \"[[B#c|d]]\"\n  - '[[B#c|d]]'\nraw: [[x]]\nesc: \"[[\\x41]]\"\nm: {k: \"see [[E]] and [[F]]\"}\n---\n[[Body]]\n"
	n, text := Parse([]byte(src))
	want := []Link{
		{Kind: WikiLink, Embed: true, Target: "a.png", Text: "a.png", Line: 2},
		{Kind: WikiLink, Target: "B", Fragment: "c", Text: "d", Line: 4},
		{Kind: WikiLink, Target: "B", Fragment: "c", Text: "d", Line: 5},
		{Kind: WikiLink, Target: "A", Text: "A", Line: 7},
		{Kind: WikiLink, Target: "E", Text: "E", Line: 8},
		{Kind: WikiLink, Target: "F", Text: "F", Line: 8},
		{Kind: WikiLink, Target: "Body", Text: "Body", Line: 10},
	}
	if diff := cmp.Diff(want, n.Links, cmpopts.IgnoreFields(Link{}, "Start", "End")); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if got := string(text[n.Links[2].Start:n.Links[2].End]); got != "[[B#c|d]]" {
		t.Errorf("third link spans %q", got)
	}
	checkTextNote(t, src)
}

func TestFields(t *testing.T) {
	n, _ := Parse([]byte("---\nTitle: \" T \"\nalias: X\naliases: [Y, X, \"[[Z]]\"]\nStatus: Superseded\nlist: [a, [b, 2]]\ncsv: a, b c\nspaced: a b\nnum: 1.5\nempty:\nmodified: 2024/02/01\nsuperseded_by: [[New Note]]\n---\n"))
	if n.Title != "T" || n.Status() != "Superseded" || n.Created() != "" || n.Updated() != "2024/02/01" || n.Superseded() != "New Note" || !n.Obsolete() {
		t.Errorf("title %q, status %q, created %q, updated %q, superseded %q", n.Title, n.Status(), n.Created(), n.Updated(), n.Superseded())
	}
	if diff := cmp.Diff([]string{"X", "Y", "Z"}, n.Aliases); diff != "" {
		t.Errorf("aliases (-want +got):\n%s", diff)
	}
	for key, want := range map[string][]string{"LIST": {"a", "b", "2"}, "csv": {"a", "b c"}, "spaced": {"a", "b"}, "num": {"1.5"}, "empty": nil, "none": nil} {
		if diff := cmp.Diff(want, n.Strings(key)); diff != "" {
			t.Errorf("Strings(%q) (-want +got):\n%s", key, diff)
		}
	}
	for src, want := range map[string]string{"\"[[A b|c]]\"": "A b", "'[[A#h]]'": "A#h", "a/b.md": "a/b.md", "": ""} {
		n, _ := Parse([]byte("---\nsuperseded_by: " + src + "\n---\n"))
		if n.Superseded() != want || n.Obsolete() != (want != "") {
			t.Errorf("superseded_by: %s gives %q, want %q", src, n.Superseded(), want)
		}
	}
	for file, want := range map[string]string{"a/b c.md": "b c", "x": "x", ".md": ".md", "a.b.md": "a.b"} {
		if got := (&Note{}).TitleAt(file); got != want {
			t.Errorf("TitleAt(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestParseDate(t *testing.T) {
	day := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC)
	at := time.Date(2024, 1, 31, 10, 30, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"2024-01-31": day, " 2024/01/31 ": day, "2024.01.31": day, "20240131": day, "[[2024-01-31]]": day, "31 January 2024": day, "Jan 31, 2024": day, "2024-1-31": day,
		"2024-01-31 10:30": at, "2024-01-31T10:30": at, "2024-01-31T10:30:00Z": at, "2024-01-31t10:30:00z": at, "2024-01-31T12:30:00+02:00": at, "2024-01-31 12:30:00 +0200": at,
	} {
		if got, ok := ParseDate(s); !ok || !got.Equal(want) {
			t.Errorf("ParseDate(%q) = %v, %v; want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "2024", "01/02/2024", "2024-13-01", "soon", "{{date}}", "10:30", strings.Repeat("2024-01-31 ", 9)} {
		if got, ok := ParseDate(s); ok {
			t.Errorf("ParseDate(%q) = %v, want none", s, got)
		}
	}
}
