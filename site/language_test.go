package site

import (
	"strings"
	"testing"
)

// A page says in which language it is, and where the others are.
func TestTranslations(t *testing.T) {
	set := vaultOf("a.md", "# Tar\n", "de.md", "# Teer\n", "de2.md", "# Noch ein Teer\n", "fr.md", "# Goudron\n", "alone.md", "# Alone\n", "odd.md", "# Odd\n")
	for _, d := range set.Docs {
		switch d.Path {
		case "alone.md":
			d.Language, d.Translated = "ru", "alone"
		case "odd.md":
			d.Language = "\"><script>"
		default:
			d.Language, d.Translated = strings.Trim(strings.TrimSuffix(d.Path, ".md"), "2a"), "tar"
		}
	}
	set.BaseURL = "https://example.org/x/"
	out := t.TempDir() + "/site"
	files := made(t, set, out)
	for name, wants := range map[string][]string{
		"a.html": {`<html lang="en"`, `<link rel="alternate" hreflang="de" href="https://example.org/x/de.html">`, `hreflang="en" href="https://example.org/x/a.html"`,
			`<a href="fr.html" hreflang="fr" lang="fr"><bdi>Goudron</bdi> (fr)</a>`},
		"de.html":    {`<html lang="de"`, `<nav id="nav" aria-label="Contents" lang="en">`, `hreflang="fr"`, `hreflang="de" href="https://example.org/x/de.html"`},
		"alone.html": {`<html lang="ru"`},
		"odd.html":   {`<html lang="en"`},
	} {
		for _, want := range wants {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s lacks %s:\n%s", name, want, files[name])
			}
		}
	}
	if n := strings.Count(files["a.html"], `rel="alternate" hreflang`); n != 3 {
		t.Errorf("a.html names %d languages", n)
	}
	if strings.Contains(files["alone.html"], "hreflang") {
		t.Error("alone.html has a translation")
	}
	set.Docs[4].Title = "Goudron de houille"
	again := made(t, set, out)
	if again["a.html"] == files["a.html"] {
		t.Error("a.html does not show the new title of its translation")
	}
}
