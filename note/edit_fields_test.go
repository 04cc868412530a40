package note

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func TestSetFields(t *testing.T) {
	set := func(key string, value any) []Field { return []Field{{Key: key, Value: value}} }
	day := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name, src string
		fields    []Field
		want      string
	}{
		{"replace", "---\na: 1\nb: 2\n---\nx", set("a", "new"), "---\na: new\nb: 2\n---\nx"},
		{"comment stays", "---\na: 1  # why\n---\n", set("a", 2), "---\na: 2  # why\n---\n"},
		{"hash in a value is no comment", "---\na: x#y\n---\n", set("a", 2), "---\na: 2\n---\n"},
		{"hash in quotes is no comment", "---\na: \"x # y\" # z\n---\n", set("a", "b"), "---\na: \"b\" # z\n---\n"},
		{"single quotes stay", "---\na: 'it''s # x' # z\n---\n", set("a", "he's"), "---\na: 'he''s' # z\n---\n"},
		{"what is so already is not touched", "---\na:   \"1\"\nb: [ x,y ]\nc: 2024-01-01\n---\n", []Field{{Key: "a", Value: "1"}, {Key: "b", Value: []string{"x", "y"}}, {Key: "c", Value: day.AddDate(0, -4, 0)}}, "---\na:   \"1\"\nb: [ x,y ]\nc: 2024-01-01\n---\n"},
		{"a date stays bare", "---\na: 2024-01-01\n---\n", set("a", "2024-05-01"), "---\na: 2024-05-01\n---\n"},
		{"a new date in a string is quoted", "---\na: x\n---\n", set("a", "2024-05-01"), "---\na: \"2024-05-01\"\n---\n"},
		{"a time is bare", "---\na: x\n---\n", set("a", day), "---\na: 2024-05-01\n---\n"},
		{"a time of day too", "---\na: x\n---\n", set("a", day.Add(90*time.Minute)), "---\na: 2024-05-01T01:30:00Z\n---\n"},
		{"case of the name", "---\nTitle: x\n---\n", set("title", "z"), "---\nTitle: z\n---\n"},
		{"new is last", "---\na: 1\n# end\n---\nx", set("b", true), "---\na: 1\n# end\nb: true\n---\nx"},
		{"new list", "---\na: 1\n---\n", set("b", []string{"x", "y z", "2"}), "---\na: 1\nb:\n  - x\n  - y z\n  - \"2\"\n---\n"},
		{"empty list", "---\na: 1\n---\n", set("a", []string{}), "---\na: []\n---\n"},
		{"list items and comments stay", "---\nt: # tags\n- 'x' # one\n# about y\n- y\n- z\n---\n", set("t", []string{"z", "x", "w"}), "---\nt: # tags\n- z\n- 'x' # one\n- w\n# about y\n---\n"},
		{"list to text", "---\nt: # tags\n  - x\n  - y\nu: 1\n---\n", set("t", "a"), "---\nt: a # tags\nu: 1\n---\n"},
		{"text to list", "---\nt: x # c\nu: 1\n---\n", set("t", []string{"a"}), "---\nt: [a] # c\nu: 1\n---\n"},
		{"nothing to list", "---\nt: # c\nu: 1\n---\n", set("t", []string{"a"}), "---\nt: # c\n  - a\nu: 1\n---\n"},
		{"flow list stays one", "---\nt: [x, 'y', z] # c\n---\n", set("t", []string{"z", "a b", "y, z"}), "---\nt: [z, a b, \"y, z\"] # c\n---\n"},
		{"flow list over lines", "---\nt: [x,\n  y]\nu: 1\n---\n", set("t", []string{"a"}), "---\nt: [a]\nu: 1\n---\n"},
		{"block text", "---\na: |\n  one\n\n  # two\n\n# c\nb: 1\n---\n", set("a", "x\ny"), "---\na: \"x\\ny\"\n\n# c\nb: 1\n---\n"},
		{"quoted text over lines", "---\na: \"x\n  y\"\nb: 1\n---\n", set("a", "z"), "---\na: \"z\"\nb: 1\n---\n"},
		{"remove", "---\na: 1\n# c\nb:\n  - x\nc: 3\n---\nx", set("b", nil), "---\na: 1\n# c\nc: 3\n---\nx"},
		{"remove what is not there", "---\na: 1\n---\nx", set("b", nil), "---\na: 1\n---\nx"},
		{"remove all", "---\na: 1\n---\nx", set("a", nil), "---\n---\nx"},
		{"several", "---\na: 1\nb: 2\nc: 3\n---\n", []Field{{Key: "c", Value: "z"}, {Key: "d", Value: 4}, {Key: "a", Value: nil}}, "---\nb: 2\nc: z\nd: 4\n---\n"},
		{"quoted name", "---\n\"a b\" : 1\n---\n", set("a b", 2), "---\n\"a b\" : 2\n---\n"},
		{"no frontmatter", "# T\n", set("a", "b"), "---\na: b\n---\n# T\n"},
		{"empty note", "", set("a", "b"), "---\na: b\n---\n"},
		{"nothing to remove", "# T\n", set("a", nil), "# T\n"},
		{"rule, no frontmatter", "---\n\nx\n\n---\n", set("a", "b"), "---\na: b\n---\n---\n\nx\n\n---\n"},
		{"empty frontmatter", "---\n---\nx", set("a", "b"), "---\na: b\n---\nx"},
		{"dots close it", "---\na: 1\n...\nx", set("b", 2), "---\na: 1\nb: 2\n...\nx"},
		{"CRLF", "---\r\na: 1\r\nb: 2\r\n---\r\nx\r\n", []Field{{Key: "a", Value: "z"}, {Key: "c", Value: []string{"d"}}}, "---\r\na: z\r\nb: 2\r\nc:\r\n  - d\r\n---\r\nx\r\n"},
		{"BOM", "\xef\xbb\xbf---\na: 1\n---\nx", set("a", 2), "\xef\xbb\xbf---\na: 2\n---\nx"},
		{"BOM without frontmatter", "\xef\xbb\xbfx", set("a", 2), "\xef\xbb\xbf---\na: 2\n---\nx"},
		{"bytes that are not UTF-8", "---\na: 1\n---\n\xff\xfex\xe9", set("a", 2), "---\na: 2\n---\n\xff\xfex\xe9"},
		{"indented", "---\n  a: 1\n  b: 2\n---\n", []Field{{Key: "a", Value: 3}, {Key: "c", Value: []string{"d"}}}, "---\n  a: 3\n  b: 2\n  c:\n    - d\n---\n"},
		{"alias", "---\na: &x 1\nb: *x\n---\n", set("b", 2), "---\na: &x 1\nb: 2\n---\n"},
		{"anchor that nobody uses", "---\na: &x 1\nb: 2\n---\n", set("a", 2), "---\na: 2\nb: 2\n---\n"},
		{"placeholder", "---\ndate: {{date}}\nb: 1\n---\n", set("b", 2), "---\ndate: {{date}}\nb: 2\n---\n"},
		{"map", "---\na: 1\n---\n", set("a", map[string]any{"x": "no", "y": []any{1, "1"}}), "---\na: {x: \"no\", \"y\": [1, \"1\"]}\n---\n"},
		{"TOML", "+++\na = 'x' # c\nl = [\"p\",\n \"q\"]\n[t]\nb = 1\n+++\nx", []Field{{Key: "a", Value: "it"}, {Key: "l", Value: []string{"r"}}, {Key: "n", Value: "2024-01-01"}}, "+++\na = 'it' # c\nl = [\"r\"]\nn = \"2024-01-01\"\n[t]\nb = 1\n+++\nx"},
		{"TOML of tables only", "+++\n[t]\nb = 1\n+++\nx", set("a", 1), "+++\na = 1\n[t]\nb = 1\n+++\nx"},
		{"Logseq", "type:: a\ntags:: b, c\n\nx", []Field{{Key: "type", Value: "q r"}, {Key: "tags", Value: []string{"d", "e"}}, {Key: "new", Value: true}}, "type:: q r\ntags:: d, e\nnew:: true\n\nx"},
	}
	for _, tt := range tests {
		got, err := SetFields([]byte(tt.src), tt.fields)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: (-want +got):\n%s%v", tt.name, diff, err)
		}
	}
}

func TestSetFieldsRefuses(t *testing.T) {
	tests := []struct {
		name, src string
		field     Field
		want      error
	}{
		{"not YAML", "---\na: [\n---\nx", Field{Key: "a", Value: 1}, ErrFrontmatter},
		{"not closed", "---\na: 1\nx", Field{Key: "b", Value: 1}, ErrFrontmatter},
		{"twice", "---\na: 1\na: 2\nb: 1\n---\n", Field{Key: "b", Value: 2}, ErrFrontmatter},
		{"twice but for case", "---\na: 1\nA: 2\n---\n", Field{Key: "a", Value: 2}, ErrFrontmatter},
		{"braces", "---\n{a: 1, b: 2}\n---\n", Field{Key: "a", Value: 2}, ErrFrontmatter},
		{"added to braces", "---\n{a: 1, b: 2}\n---\n", Field{Key: "c", Value: 2}, ErrFrontmatter},
		{"question mark", "---\n? a\n: 1\n---\n", Field{Key: "a", Value: 2}, ErrFrontmatter},
		{"anchor in use", "---\na: &x 1\nb: *x\n---\n", Field{Key: "a", Value: 2}, ErrFrontmatter},
		{"anchor in use removed", "---\na: &x 1\nb: *x\n---\n", Field{Key: "a"}, ErrFrontmatter},
		{"not TOML", "+++\na = \n+++\n", Field{Key: "a", Value: 1}, ErrFrontmatter},
		{"TOML table", "+++\n[a]\nb = 1\n[c]\n+++\n", Field{Key: "a", Value: 1}, ErrFrontmatter},
		{"TOML dotted", "+++\na.b = 1\na.c = 2\n+++\n", Field{Key: "a", Value: 1}, ErrFrontmatter},
		{"Logseq number as text", "a:: x\n", Field{Key: "b", Value: "2\n3"}, ErrField},
		{"no name", "x", Field{Value: 1}, ErrField},
		{"name with a line", "x", Field{Key: "a\nb", Value: 1}, ErrField},
		{"name with a colon", "x", Field{Key: "a: b", Value: 1}, ErrField},
		{"no number", "x", Field{Key: "a", Value: math.NaN()}, ErrField},
		{"no value", "x", Field{Key: "a", Value: struct{}{}}, ErrField},
		{"UTF-16", "\xff\xfea\x00", Field{Key: "a", Value: 1}, ErrUneditable},
		{"binary", "a\x00b", Field{Key: "a", Value: 1}, ErrUneditable},
	}
	for _, tt := range tests {
		out, err := SetFields([]byte(tt.src), []Field{tt.field})
		if !errors.Is(err, tt.want) || out != nil {
			t.Errorf("%s: %q, %v; want %v", tt.name, out, err, tt.want)
		}
	}
	if _, err := SetFields(nil, []Field{{Key: "a", Value: 1}, {Key: "A", Value: 2}}); !errors.Is(err, ErrField) {
		t.Errorf("a property given twice: %v", err)
	}
	if _, err := SetFields(make([]byte, MaxText+1), nil); !errors.Is(err, ErrUneditable) {
		t.Errorf("a huge note: %v", err)
	}
}

// awkward are strings that must stay strings in every reader of YAML.
var awkward = []string{
	"", " ", "no", "No", "y", "on", "off", "true", "null", "~", "10:30", "2024-01-01", "2024-01-01 10:00", "1e3", "007", "0x1F", "0o7", "1_000", "-1", "+1", ".5", ".inf", ".NaN", "12",
	"a: b", "a:", ": a", "a # b", "#a", "# a", "a#b", "'", "\"", "''", "it's", "\"q\"", `\`, `a\nb`, "a\nb", "a\n\nb\n", "\ta", "a\tb", "a\rb", "\r\n", "- a", "-", "--- ", "---", "...", "? a", "! a", "& a", "* a",
	"[a]", "[[a]]", "{a}", "{{date}}", "a, b", "a]", "| a", "> a", "%a", "@a", "`a`", "<<", "=", "日本語: テスト", "é", "😀", "\u0085", "\u00a0a", "\u2028", "\ufeff", "\x01\x1b\x7f", "a b ", " a", "http://x.y:80/z", "https://x.y/a#b", "key:value", "C:\\x", "a ' b", "!!str x",
	"title: x\n---\nadmin: true", "x\n...\ny", strings.Repeat("long ", 100),
}

func TestStringsReadBackAsThemselves(t *testing.T) {
	for _, s := range awkward {
		fields := []Field{{Key: "s", Value: s}, {Key: "list", Value: []string{s, "x", s}}, {Key: "map", Value: map[string]any{"k": s, "l": []any{s}}}, {Key: "end", Value: "e"}}
		front, err := NewFrontmatter(fields)
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		var theirs map[string]any
		inner := strings.TrimSuffix(strings.TrimPrefix(string(front), "---\n"), "---\n")
		if err := yaml.Unmarshal([]byte(inner), &theirs); err != nil {
			t.Errorf("%q: go-yaml: %v in\n%s", s, err, inner)
			continue
		}
		n, _ := Parse(append(front, "body"...))
		ours := map[string]any{}
		for _, f := range n.Fields {
			ours[f.Key] = f.Value
		}
		want := map[string]any{"s": s, "list": []any{s, "x", s}, "map": map[string]any{"k": s, "l": []any{s}}, "end": "e"}
		if diff := cmp.Diff(want, ours); diff != "" {
			t.Errorf("%q: (-want +ours):\n%s", s, diff)
		}
		if diff := cmp.Diff(want, theirs); diff != "" {
			t.Errorf("%q: (-want +go-yaml):\n%s", s, diff)
		}
		for _, src := range []string{"---\ns: x # c\nl: [a]\nb:\n  - a\n---\n", "---\ns: 'x'\nl: ['a']\nb:\n- 'a'\n---\n", "+++\ns = 'x'\nl = ['a']\nb = []\n+++\n", ""} {
			out, err := SetFields([]byte(src), []Field{{Key: "s", Value: s}, {Key: "l", Value: []string{s, "a"}}, {Key: "b", Value: []string{"a", s}}})
			if n, _ := Parse(out); err != nil || n.Fields[0].Value != any(s) {
				t.Errorf("%q: set in %q: %q, %v", s, src, out, err)
			}
		}
	}
}

func TestNewFrontmatter(t *testing.T) {
	got, err := NewFrontmatter([]Field{{Key: "title", Value: "A: \"b\"\n---\n# x"}, {Key: "tags", Value: []string{"go", "10:30"}}, {Key: "created", Value: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)}, {Key: "none"}, {Key: "n", Value: 1.5}})
	want := "---\ntitle: \"A: \\\"b\\\"\\n---\\n# x\"\ntags:\n  - go\n  - \"10:30\"\ncreated: 2024-01-02\n\"n\": 1.5\n---\n"
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	if got, err := NewFrontmatter(nil); string(got) != "---\n---\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFileSlug(t *testing.T) {
	tests := map[string]string{
		"Hello, World!": "hello-world", "Café & Crème": "cafe-and-creme", "Привет мир": "privet-mir", "中文标题": "zhong-wen-biao-ti", "日本語のタイトル": "ri-ben-yu-notaitoru",
		"한국어 제목": "hangugeo-jemog", "مرحبا بالعالم": "mrhb-bl-lm", "Ελληνικά": "ellenika", "𝓯𝓪𝓷𝓬𝔂": "fancy", "a/b\\c:d..": "a-b-c-d", "../../etc": "etc", "foo_bar": "foo-bar", "CON": "note-con", "lpt1": "note-lpt1",
		"😀🎉": "note-f7648e9f", "": "note-e3b0c442", "...": "note-ab5df625", "\xff\x00": "note-ea5dbf95",
	}
	for title, want := range tests {
		if got := FileSlug(title); got != want {
			t.Errorf("FileSlug(%q) = %q, want %q", title, got, want)
		}
	}
	if got := FileSlug(strings.Repeat("word ", 40)); len(got) > maxFileSlug || strings.HasSuffix(got, "-") || !strings.HasSuffix(got, "word") {
		t.Errorf("long title: %q", got)
	}
	if got := FileSlug(strings.Repeat("w", 200)); len(got) != maxFileSlug {
		t.Errorf("long word: %q", got)
	}
}

func FuzzFileSlug(f *testing.F) {
	f.Add("a B")
	f.Add("😀")
	f.Fuzz(func(t *testing.T, title string) {
		s := FileSlug(title)
		if s == "" || len(s) > maxFileSlug+len("note-") || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s[0] == '-' || s[len(s)-1] == '-' {
			t.Errorf("FileSlug(%q) = %q", title, s)
		}
	})
}

// FuzzSetFields sets, adds and removes properties of any text: what is around
// them stays, and they read as they were set, in go-yaml too.
func FuzzSetFields(f *testing.F) {
	for _, s := range awkward {
		f.Add("---\na: 1 # c\nb:\n  - x\n---\nbody", "a", s)
	}
	f.Add("+++\na = 1\n+++\n", "b", "x")
	f.Add("a:: b\r\n\r\nx", "a", "c")
	f.Add("---\n\"q\": 'x'\nl: [a, b]\n---\n", "l", "c")
	f.Fuzz(func(t *testing.T, src, key, value string) {
		n, _ := Parse([]byte(src))
		for _, v := range []any{value, []string{value, "b", value}, nil} {
			out, err := SetFields([]byte(src), []Field{{Key: key, Value: v}})
			if err != nil {
				continue
			}
			after, _ := Parse(out)
			got, ok := after.Field(key)
			logseq := len(src) > 0 && strings.HasPrefix(string(out), key) || strings.Contains(string(out), "::")
			if v == nil && ok || v != nil && !logseq && !sameValue(got, v) {
				t.Errorf("set %q to %q in %q: %q in %q", key, v, src, got, out)
			}
			for _, o := range n.Fields {
				if same, _ := after.Field(o.Key); !strings.EqualFold(o.Key, key) && !sameValue(same, o.Value) {
					t.Errorf("set %q in %q changes %q: %q", key, src, o.Key, out)
				}
			}
		}
		front, err := NewFrontmatter([]Field{{Key: key, Value: value}, {Key: "end-of-it", Value: "x"}})
		if err != nil {
			return
		}
		var theirs map[string]any
		if err := yaml.Unmarshal(front[4:len(front)-4], &theirs); err != nil || theirs[key] != strings.ToValidUTF8(value, "\uFFFD") || len(theirs) != 2 {
			t.Errorf("%q: %q: go-yaml reads %q, %v from %q", key, value, theirs, err, front)
		}
	})
}
