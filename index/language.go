package index

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

type stemmer func(*snowballstem.Env) bool

var stemmers = map[string]stemmer{
	"ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem,
	"fi": finnish.Stem, "fr": french.Stem, "ga": irish.Stem, "hu": hungarian.Stem, "it": italian.Stem,
	"nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem,
	"sv": swedish.Stem, "ta": tamil.Stem, "tr": turkish.Stem, "none": nil,
}

// Languages returns the names that [OpenSegments] accepts, sorted.
func Languages() []string {
	var names []string
	for n := range stemmers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// language is how words are normalised: the stemmer of the configured language,
// Russian's for Cyrillic words whatever the language.
type language struct {
	name    string
	stem    stemmer
	elision bool // l'homme, dell'arte: the article is dropped
}

// newLanguage accepts a name of Languages, also with a region (de-CH); "" is English.
func newLanguage(name string) (*language, error) {
	if name == "" {
		name = "en"
	}
	base, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "-")
	stem, ok := stemmers[base]
	if !ok {
		return nil, fmt.Errorf("language %q: want one of %s", name, strings.Join(Languages(), ", "))
	}
	return &language{base, stem, base == "fr" || base == "it"}, nil
}

// normalize returns the term of one piece of text: folded, without possessive
// and apostrophes, stemmed. It is "" when nothing is left.
func (l *language) normalize(s string) string {
	s = fold(s)
	s = l.apostrophes(s)
	if cyrillic(s) {
		if l.name != "none" {
			s = run(russian.Stem, s)
		}
	} else if l.stem != nil {
		s = run(l.stem, s)
	}
	return unaccent(s)
}

func run(stem stemmer, s string) string {
	if len(s) > maxTerm {
		return s
	}
	env := snowballstem.NewEnv(s)
	stem(env)
	return env.Current()
}

func (l *language) apostrophes(s string) string {
	if !strings.Contains(s, "'") {
		return s
	}
	s = strings.TrimSuffix(s, "'s")
	if l.elision {
		if article, rest, ok := strings.Cut(s, "'"); ok && len(article) <= 5 && rest != "" {
			s = rest
		}
	}
	return strings.ReplaceAll(s, "'", "")
}

// fold removes differences of width, case and invisible characters, and spells
// apostrophes alike. The result is in NFC.
func fold(s string) string {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '’' || r == '＇':
			return '\''
		case r >= 0xff01 && r <= 0xff5e:
			return unicode.ToLower(r - 0xfee0)
		case r == '\u00ad', r >= '\u200b' && r <= '\u200d', r == '\u2060', r >= 0xfe00 && r <= 0xfe0f:
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return norm.NFC.String(s)
}

// foldPair folds characters of scripts without spaces: half-width kana to
// full-width, composed.
func foldPair(s string) string { return norm.NFC.String(norm.NFKC.String(s)) }

// unaccent removes accents where a searcher would leave them out: from Latin
// and Greek letters, and the vowel points of Arabic and Hebrew.
func unaccent(s string) string {
	for i := 0; ; i++ {
		if i == len(s) {
			return s
		}
		if s[i] >= utf8.RuneSelf {
			break
		}
	}
	base := rune(0)
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			if unicode.In(base, unicode.Latin, unicode.Greek, unicode.Arabic, unicode.Hebrew) {
				return -1
			}
			return r
		}
		base = r
		switch r {
		case 'ø':
			return 'o'
		case 'ł':
			return 'l'
		case 'đ':
			return 'd'
		case 'ı':
			return 'i'
		}
		return r
	}, norm.NFD.String(strings.ReplaceAll(s, "ß", "ss")))
	return norm.NFC.String(plain)
}

func cyrillic(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x400 && r < 0x530
}

// camelParts splits fooBar, HTTPServer and the like; nil when there is one part.
// A part has at least two characters, or the word stays whole.
func camelParts(s string) []string {
	const maxParts = 6
	var parts []string
	rs := []rune(s)
	start := 0
	for i := 1; i < len(rs); i++ {
		lowUp := unicode.IsLower(rs[i-1]) && unicode.IsUpper(rs[i])
		acronym := i+1 < len(rs) && unicode.IsUpper(rs[i-1]) && unicode.IsUpper(rs[i]) && unicode.IsLower(rs[i+1]) &&
			string(rs[i+1:]) != "s" // APIs
		if !lowUp && !acronym {
			continue
		}
		if i-start < 2 || len(rs)-i < 2 || len(parts) == maxParts {
			return nil
		}
		parts = append(parts, string(rs[start:i]))
		start = i
	}
	if parts == nil {
		return nil
	}
	return append(parts, string(rs[start:]))
}
