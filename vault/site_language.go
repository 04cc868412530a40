package vault

import (
	"cmp"
	"path"
	"strings"

	"golang.org/x/text/language"

	"kb/note"
	"kb/site"
)

// langPlace is where the language stands in a directory's name in
// site.translations.
const langPlace = "{lang}"

// siteLanguage sets in which language a doc is and of what it is a translation:
// as its properties say, else the directory that it is in.
func (v *Vault) siteLanguage(d *site.Doc, n *note.Note) {
	for _, pattern := range v.cfg.Site.Translations {
		if l, rest, ok := inLanguage(pattern, d.Path); ok {
			d.Language, d.Translated = l, rest
			break
		}
	}
	d.Language = cmp.Or(property(n, "lang"), d.Language)
	if key := property(n, "translationKey"); key != "" {
		d.Translated = "\x00" + key // which no path has
	}
}

func property(n *note.Note, key string) string {
	for _, f := range n.Fields {
		if strings.EqualFold(f.Key, key) {
			return n.String(f.Key)
		}
	}
	return ""
}

// inLanguage reports whether a note is below a directory of a language, or below
// the one that the pattern without it names, which is of the site's own, "". Its
// translations have the same rest.
func inLanguage(pattern, name string) (lang, rest string, ok bool) {
	before, after, _ := strings.Cut(strings.Trim(path.Clean(pattern), "/"), langPlace)
	if below, found := strings.CutPrefix(name, before); found {
		lang, rest, found = strings.Cut(below, after+"/")
		if _, err := language.Parse(lang); found && err == nil {
			return lang, rest, true
		}
	}
	own := strings.Trim(strings.TrimRight(before, ".-_/")+after, "/")
	if own == "" {
		return "", name, true
	}
	rest, ok = strings.CutPrefix(name, own+"/")
	return "", rest, ok
}
