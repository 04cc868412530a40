package vault

import (
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

func TestTokens(t *testing.T) {
	tests := []struct {
		s    string
		want int
	}{{"", 0}, {"a", 1}, {"abcd", 1}, {"abcde", 2}, {"日本語", 3}, {"Größe", 2}}
	for _, tt := range tests {
		if got := Tokens(tt.s); got != tt.want {
			t.Errorf("Tokens(%q) = %d, want %d", tt.s, got, tt.want)
		}
	}
}

func TestCutTokens(t *testing.T) {
	para := strings.Repeat("word ", 20)
	tests := []struct {
		name, s string
		budget  int
		want    string // the end of what is kept
	}{
		{"all", "short", 100, "short"},
		{"no limit", para, 0, para},
		{"at a section", "# A\n" + para + "\n\n# B\n" + para, 40, "word \n\n"},
		{"at a paragraph", para + "\n\n" + para, 40, "word \n\n"},
		{"at a line", para + "\n" + para, 40, "word \n"},
		{"at a word", strings.Repeat("word ", 200), 20, "word"},
		{"within a word", strings.Repeat("x", 1000), 10, "xx"},
		{"within 日本語", strings.Repeat("日本語", 100), 10, "日"},
	}
	for _, tt := range tests {
		n := cutTokens(tt.s, tt.budget)
		kept := tt.s[:n]
		if !strings.HasSuffix(kept, tt.want) || n == 0 || tt.budget > 0 && Tokens(kept) > tt.budget {
			t.Errorf("%s: kept %q", tt.name, kept)
		}
		if n < len(tt.s) && Tokens(kept) < tt.budget/2-2 {
			t.Errorf("%s: %d of %d tokens used", tt.name, Tokens(kept), tt.budget)
		}
	}
	// Never over the budget, never within a character, always some progress.
	f := func(s string, budget uint8) bool {
		if budget == 0 || s == "" {
			return true
		}
		s = strings.ToValidUTF8(s, "x")
		n := cutTokens(s, int(budget))
		return n > 0 && Tokens(s[:n]) <= int(budget) && utf8.ValidString(s[:n])
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"collection", "query", "max_results", "scope", "status", "at", "tag", "Retry policy"}
	tests := []struct {
		word string
		n    int
		want []string
	}{
		{"colection", 1, []string{"collection"}},
		{"qeury", 1, []string{"query"}}, // neighbours swapped
		{"QUERY", 1, []string{"query"}},
		{"retry", 1, []string{"Retry policy"}},
		{"stauts", 2, []string{"status"}},
		{"zzzzzz", 3, nil},
		{"", 3, nil},
		{"tga", 2, []string{"tag"}},
	}
	for _, tt := range tests {
		if got := nearest(tt.word, names, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	tests := []struct {
		a, b        string
		limit, want int
	}{{"", "", 3, 0}, {"abc", "abc", 3, 0}, {"abc", "acb", 3, 1}, {"abc", "ab", 3, 1}, {"kitten", "sitting", 5, 3}, {"ä", "a", 2, 1}, {"abcdef", "", 2, 3}}
	for _, tt := range tests {
		if got := editDistance(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("editDistance(%q, %q, %d) = %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
}

func TestConditions(t *testing.T) {
	tests := []struct {
		where  string
		values []string
		want   bool
	}{
		{"rating>3", []string{"4"}, true},
		{"rating>3", []string{"3"}, false},
		{"rating>=3", []string{"3.0"}, true},
		{"rating > 10", []string{"9"}, false}, // as numbers
		{"rating>10", nil, false},
		{"due<2026-02-01", []string{"2026-01-31"}, true},
		{"due<2026-02-01", []string{"2026/01/31"}, true}, // as dates
		{"status=Done", []string{"done"}, true},
		{"status!=done", []string{"open"}, true},
		{"status!=done", nil, true},
		{"status!=done", []string{"open", "done"}, false},
		{"status=", nil, true},
		{"status=", []string{"x"}, false},
		{"status!=", []string{"x"}, true},
		{"status!=", nil, false},
		{"name~da", []string{"Ada", "Bob"}, true},
		{"name~zz", []string{"Ada"}, false},
		{`name="Ada Lovelace"`, []string{"ada lovelace"}, true},
		{"my key=x", []string{"x"}, true},
		{"größe=x", []string{"x"}, true},
		{"status=published", []string{"[[Published]]"}, true},
		{"status=[[Published]]", []string{"[[Published]]"}, true},
		{"status=live", []string{"[[states/published|Live]]"}, true},
		{"status=states/published", []string{"[[states/published|Live]]"}, true},
		{"status=[[states/published|Live]]", []string{"[[states/published|Live]]"}, true},
		{"status!=Published", []string{"[[Published]]"}, false},
		{"status!=Draft", []string{"[[Published]]"}, true},
		{"status~publ", []string{"[[Published]]"}, true},
		{"status~[[", []string{"[[Published]]"}, true},
		{"due>2026-02-01", []string{"[[2026-01-31]]"}, false},
		{`sign=">="`, []string{">="}, true},
	}
	for _, tt := range tests {
		conds, err := parseWhere([]string{tt.where})
		if err != nil {
			t.Errorf("%s: %v", tt.where, err)
			continue
		}
		if got := conds[0].holds(tt.values); got != tt.want {
			t.Errorf("%s of %q = %v, want %v", tt.where, tt.values, got, tt.want)
		}
	}
	for _, bad := range []string{"", "status", "=x", "!x", "a==b c", "rating>>3", "rating=>3", "a~=b"} {
		conds, err := parseWhere([]string{bad})
		if err == nil {
			t.Errorf("parseWhere(%q) = %+v", bad, conds)
		}
	}
}

// What a note says cannot steer a terminal, nor hide text from a reader.
func TestTextIsSafe(t *testing.T) {
	hostile := "a\x1b[31mred\x1b]0;title\x07b\u202Ereversed\u200Bzero\rback\x00nul"
	for _, color := range []bool{false, true} {
		var b strings.Builder
		text := NewText(&b)
		text.Color, text.Width = color, 40
		(&SearchResult{Query: hostile, MissingTerms: []string{hostile}, Results: []Hit{{
			Title: hostile, Path: hostile, Heading: hostile, Excerpt: hostile, Lines: []int{1, 2}, SupersededBy: hostile}}}).Text(text)
		(&ContextResult{Documents: []Context{{Title: hostile, Path: hostile, Summary: hostile, Tags: []string{hostile},
			Outline: []OutlineEntry{{1, hostile, "", 1}}, Links: []Linked{{Title: hostile, Path: hostile}}, Passages: []Passage{{hostile, nil, hostile}}}}}).Text(text)
		(&Digest{Collections: []CollectionDigest{{Name: hostile, Sections: []SectionDigest{{hostile, 1, []string{hostile}, hostile}},
			Recent: []RecentNote{{hostile, hostile, hostile}}, Wanted: []WantedNote{{hostile, 1}}}}}).Text(text)
		(&QueryResult{Documents: []DocInfo{{Path: hostile, Title: hostile, Tags: []string{hostile}}}}).Text(text)
		(&Sections{Collections: []CollectionInfo{{Name: "c", Description: hostile}}, Sections: []SectionInfo{{"c", hostile, hostile, 1}}}).Text(text)
		(&Document{Title: hostile, Path: hostile, Content: hostile, SupersededBy: hostile}).Text(text)
		(&Briefing{Content: hostile, Sources: []Source{{1, "kb://x", hostile}}}).Text(text)
		(&Stats{ByStatus: map[string]int{hostile: 1}}).Text(text)
		(&Findings{Findings: []Finding{{Message: hostile, Hint: hostile}}}).Text(text)
		for _, bad := range []string{"\x1b[31m", "\x1b]0", "\x07", "\u202E", "\u200B", "\r", "\x00"} {
			if strings.Contains(b.String(), bad) {
				t.Errorf("colour %v: %q comes through", color, bad)
			}
		}
	}
}

func TestTable(t *testing.T) {
	rows := [][]string{{"one", "", "three"}, {"日本", "2", strings.Repeat("long ", 10)}}
	var b strings.Builder
	text := NewText(&b)
	text.Width = 30
	text.Table(rows)
	want := "one      three\n日本  2  long long long long …\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	text.Color = true
	text.Table([][]string{{text.Accent("a"), text.Strong("")}, {text.Accent("bcd"), text.Strong(strings.Repeat("x", 40))}})
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if printedWidth(line) > 30 || strings.Count(line, "\x1b[0m") != strings.Count(line, "\x1b[")/2 {
			t.Errorf("%q", line)
		}
	}
	b.Reset()
	NewText(&b).Table(rows)
	if want := "- one - three\n"; !strings.HasPrefix(b.String(), want) {
		t.Errorf("for an agent: %q", b.String())
	}
}
