package vault

import "testing"

func TestInLanguage(t *testing.T) {
	for _, tt := range []struct {
		pattern, name, lang, rest string
		ok                        bool
	}{
		{"pages.{lang}", "pages.de/common/tar.md", "de", "common/tar.md", true},
		{"pages.{lang}", "pages.pt_BR/tar.md", "pt_BR", "tar.md", true},
		{"pages.{lang}", "pages/common/tar.md", "", "common/tar.md", true},
		{"pages.{lang}/", "pages.zh-Hant-TW/x.md", "zh-Hant-TW", "x.md", true},
		{"pages.{lang}", "pages.archive/x.md", "", "", false},
		{"pages.{lang}", "pages.de.md", "", "", false},
		{"pages.{lang}", "other/x.md", "", "", false},
		{"{lang}", "de/x.md", "de", "x.md", true},
		{"{lang}", "x.md", "", "x.md", true},
		{"{lang}", "pictures/x.md", "", "pictures/x.md", true},
		{"{lang}/docs", "fr/docs/a/b.md", "fr", "a/b.md", true},
		{"{lang}/docs", "docs/a/b.md", "", "a/b.md", true},
		{"content/{lang}", "content/a.md", "", "a.md", true},
		{"content/{lang}", "content/ru/a.md", "ru", "a.md", true},
	} {
		lang, rest, ok := inLanguage(tt.pattern, tt.name)
		if ok != tt.ok || ok && (lang != tt.lang || rest != tt.rest) {
			t.Errorf("%s below %s: %q, %q, %v; want %q, %q, %v", tt.name, tt.pattern, lang, rest, ok, tt.lang, tt.rest, tt.ok)
		}
	}
}
