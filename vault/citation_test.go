package vault

import (
	"strings"
	"testing"
	"testing/quick"
)

func TestCitation(t *testing.T) {
	commit := strings.Repeat("0a", 20)
	tests := []struct {
		s    string
		want citation
	}{
		{"kb://notes/a.md", citation{"notes", "", "a.md", ""}},
		{"kb://notes@" + commit + "/a/b.md#top", citation{"notes", commit, "a/b.md", "top"}},
		{"kb://notes@main/a%20b.md", citation{"notes", "main", "a b.md", ""}},
		{"kb://notes@drafts%2Fx/a.md", citation{"notes", "drafts/x", "a.md", ""}},
		{"kb://notes/a b (c).md#d e", citation{"notes", "", "a b (c).md", "d e"}}, // as people write it
		{"kb://notes/100%.md", citation{"notes", "", "100%.md", ""}},
		{"kb://notes/ü.md#ä", citation{"notes", "", "ü.md", "ä"}},
	}
	for _, tt := range tests {
		got, err := parseCitation(tt.s)
		if err != nil || got != tt.want {
			t.Errorf("parseCitation(%q) = %+v, %v, want %+v", tt.s, got, err, tt.want)
		}
	}
	for _, s := range []string{"", "kb://", "kb://notes", "kb://notes/", "http://notes/a.md", "notes/a.md"} {
		if got, err := parseCitation(s); err == nil {
			t.Errorf("parseCitation(%q) = %+v, want an error", s, got)
		}
	}
}

// What is written is read, whatever the path, and stands in running text
// without a space, a quote or a bracket.
func TestCitationRoundTrip(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	f := func(path, fragment string) bool {
		path = strings.TrimPrefix(path, "/")
		if path == "" || !strings.EqualFold(path, strings.ToValidUTF8(path, "")) {
			return true
		}
		want := citation{"notes", commit, path, fragment}
		s := want.String()
		got, err := parseCitation(s)
		return err == nil && got == want && !strings.ContainsAny(s, " \n\t()<>\"")
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"a#b.md", "a?b.md", "a%b.md", "a%20b.md", "a b/c (d).md", "#.md", "日本語/ノート.md", `q"uote.md`, "a@b/c:d.md"} {
		if !f(path, "x#y z") {
			t.Errorf("%q: %s", path, citation{"notes", commit, path, "x#y z"})
		}
	}
}

func TestCursor(t *testing.T) {
	for _, c := range []string{"x", "x.", ".5", "abc.-1", "abc.x", "abc.9999999999", "abc.99999999999999999999"} {
		if r, err := resume(c, "HEAD"); err == nil {
			t.Errorf("resume(%q) = %+v", c, r)
		}
	}
	for c, want := range map[string]resumption{
		"":        {at: "HEAD"},
		"abc.15":  {at: "abc", offset: 15},
		"vabc.15": {at: "HEAD", fingerprint: "abc", offset: 15},
	} {
		if r, err := resume(c, "HEAD"); r != want || err != nil {
			t.Errorf("resume(%q) = %+v, %v", c, r, err)
		}
	}
}

func TestParseMoment(t *testing.T) {
	tests := []struct{ s, want string }{
		{"2026-01-31", "2026-01-31T23:59:59.999999999Z"},
		{"2024-02-29", "2024-02-29T23:59:59.999999999Z"},
		{"2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"},
		{"2026-01-31T10:00:00+02:00", "2026-01-31T08:00:00Z"},
	}
	for _, tt := range tests {
		got, ok := parseMoment(tt.s)
		if !ok || got.UTC().Format("2006-01-02T15:04:05.999999999Z07:00") != tt.want {
			t.Errorf("parseMoment(%q) = %v, %v, want %s", tt.s, got, ok, tt.want)
		}
	}
	for _, s := range []string{"", "main", "2026-02-30", "2026-1-3", "v2026-01-31", "2026", "abc1234"} {
		if got, ok := parseMoment(s); ok {
			t.Errorf("parseMoment(%q) = %v", s, got)
		}
	}
}
