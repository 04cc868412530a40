package index

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/bg"
	"github.com/blevesearch/bleve/v2/analysis/lang/ca"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/cs"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/el"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/eu"
	"github.com/blevesearch/bleve/v2/analysis/lang/fa"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/ga"
	"github.com/blevesearch/bleve/v2/analysis/lang/gl"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/hy"
	"github.com/blevesearch/bleve/v2/analysis/lang/id"
	"github.com/blevesearch/bleve/v2/analysis/lang/in"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pl"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
	trapostrophe "github.com/blevesearch/bleve/v2/analysis/token/apostrophe"
	"github.com/blevesearch/bleve/v2/registry"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/tamil"
	"golang.org/x/text/unicode/norm"
)

// script is a group of letters that one language at a time has the say over.
type script uint8

const (
	other script = iota
	latin
	cyrillic
	arabic
	devanagari
	scripts
)

func scriptOf(s string) script {
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case r < 0x250 || unicode.Is(unicode.Latin, r):
		return latin
	case r < 0x370:
	case r >= 0x400 && r < 0x530:
		return cyrillic
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Devanagari, r):
		return devanagari
	}
	return other
}

// grammar is what a language does to the words of its script, as names of
// bleve's registry: filters that take an article or an ending off at its
// apostrophe, filters that change the word without apostrophes, and the list of
// words that say nothing.
type grammar struct {
	script  script
	elision string
	stem    []string
	stop    string
}

// The filters are those of bleve's analyzers in their order, with two
// differences. Of several stemmers, Snowball's is taken: German's light one, and
// Porter's of English, find less on most of the judged collections. Croatian has no
// suffix transformation, since bleve's picks one of several at random.
var grammars = map[string]grammar{
	"ar":   {arabic, "", []string{ar.NormalizeName, ar.StemmerName}, ar.StopName},
	"bg":   {cyrillic, "", nil, bg.StopName},
	"ca":   {latin, ca.ElisionName, nil, ca.StopName},
	"ckb":  {arabic, "", []string{ckb.NormalizeName, ckb.StemmerName}, ckb.StopName},
	"cs":   {latin, "", nil, cs.StopName},
	"da":   {latin, "", []string{da.SnowballStemmerName}, da.StopName},
	"de":   {latin, "", []string{de.NormalizeName, de.SnowballStemmerName}, de.StopName},
	"el":   {other, "", nil, el.StopName},
	"en":   {latin, "", []string{en.SnowballStemmerName}, en.StopName},
	"es":   {latin, "", []string{es.SnowballStemmerName}, es.StopName},
	"eu":   {latin, "", nil, eu.StopName},
	"fa":   {arabic, "", []string{ar.NormalizeName, fa.NormalizeName}, fa.StopName},
	"fi":   {latin, "", []string{fi.SnowballStemmerName}, fi.StopName},
	"fr":   {latin, fr.ElisionName, []string{fr.SnowballStemmerName}, fr.StopName},
	"ga":   {latin, ga.ElisionName, []string{irishStemmer}, ga.StopName},
	"gl":   {latin, "", nil, gl.StopName},
	"hi":   {devanagari, "", []string{in.NormalizeName, hi.NormalizeName, hi.StemmerName}, hi.StopName},
	"hr":   {latin, "", []string{hr.StemmerName}, hr.StopName},
	"hu":   {latin, "", []string{hu.SnowballStemmerName}, hu.StopName},
	"hy":   {other, "", nil, hy.StopName},
	"id":   {latin, "", nil, id.StopName},
	"it":   {latin, it.ElisionName, []string{it.SnowballStemmerName}, it.StopName},
	"nl":   {latin, "", []string{nl.SnowballStemmerName}, nl.StopName},
	"no":   {latin, "", []string{no.SnowballStemmerName}, no.StopName},
	"none": {},
	"pl":   {latin, "", []string{pl.SnowballStemmerName}, pl.StopName},
	"pt":   {latin, "", []string{pt.LightStemmerName}, pt.StopName},
	"ro":   {latin, "", []string{ro.SnowballStemmerName}, ro.StopName},
	"ru":   {cyrillic, "", []string{ru.SnowballStemmerName}, ru.StopName},
	"sv":   {latin, "", []string{sv.SnowballStemmerName}, sv.StopName},
	"ta":   {other, "", []string{tamilStemmer}, ""},
	"tr":   {latin, trapostrophe.Name, []string{tr.SnowballStemmerName}, tr.StopName},
}

// Whose words the scripts hold unless the configured language claims them.
var usual = [scripts]string{latin: "en", cyrillic: "ru", arabic: "ar", devanagari: "hi"}

// Filters of our own, under names that bleve does not have: stemmers that it
// has in its library only, and what takes out the apostrophes that are left.
const (
	irishStemmer    = "stemmer_ga_snowball"
	tamilStemmer    = "stemmer_ta_snowball"
	joinApostrophes = "join_apostrophes"
)

func init() {
	for name, f := range map[string]analysis.TokenFilter{
		irishStemmer: snowball(irish.Stem), tamilStemmer: snowball(tamil.Stem), joinApostrophes: joiner{},
	} {
		err := registry.RegisterTokenFilter(name, func(map[string]any, *registry.Cache) (analysis.TokenFilter, error) {
			return f, nil
		})
		if err != nil {
			panic(err) // unreachable unless bleve takes the name
		}
	}
}

type snowball func(*snowballstem.Env) bool

// Filter implements analysis.TokenFilter.
func (stem snowball) Filter(ts analysis.TokenStream) analysis.TokenStream {
	for _, t := range ts {
		env := snowballstem.NewEnv(string(t.Term))
		stem(env)
		t.Term = []byte(env.Current())
	}
	return ts
}

// Languages returns the names that [OpenSegments] accepts, sorted.
func Languages() []string { return slices.Sorted(maps.Keys(grammars)) }

// language is how words are normalised. It is safe for concurrent use.
type language struct {
	name    string
	filters [scripts][]analysis.TokenFilter
	stop    map[string]bool // folded, without accents
}

// newLanguage accepts a name of Languages, also with a region (de-CH); "" is English.
func newLanguage(name string) (*language, error) {
	if name == "" {
		name = "en"
	}
	base, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "-")
	own, ok := grammars[base]
	if !ok {
		return nil, fmt.Errorf("language %q: want one of %s", name, strings.Join(Languages(), ", "))
	}
	l := &language{name: base, stop: map[string]bool{}}
	cache := registry.NewCache()
	for s := range scripts {
		g := grammars[usual[s]]
		if base == "none" || s == own.script {
			g = own
		}
		filters, err := g.filters(cache)
		if err != nil {
			return nil, fmt.Errorf("language %q: %w", name, err)
		}
		l.filters[s] = filters
	}
	return l, l.readStops(cache, own.stop)
}

// filters returns what is done to a folded word, in this order. The possessive
// goes in every language, since names are borrowed.
func (g grammar) filters(cache *registry.Cache) ([]analysis.TokenFilter, error) {
	var out []analysis.TokenFilter
	for _, name := range append([]string{en.PossessiveName, g.elision, joinApostrophes}, g.stem...) {
		if name == "" {
			continue
		}
		f, err := cache.TokenFilterNamed(name)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// joiner makes isn't isnt.
type joiner struct{}

// Filter implements analysis.TokenFilter.
func (joiner) Filter(ts analysis.TokenStream) analysis.TokenStream {
	for _, t := range ts {
		t.Term = bytes.ReplaceAll(t.Term, []byte("'"), nil)
	}
	return ts
}

func (l *language) readStops(cache *registry.Cache, name string) error {
	if name == "" {
		return nil
	}
	words, err := cache.TokenMapNamed(name)
	for w := range words {
		l.stop[unaccent(fold(w))] = true
	}
	return err
}

// normalize returns the term of one piece of text: folded, without possessive
// and apostrophes, stemmed as its script asks for. It is "" when nothing is left.
func (l *language) normalize(s string) string {
	s = fold(s)
	if s == "" || len(s) > maxTerm {
		return unaccent(s)
	}
	ts := analysis.TokenStream{{Term: []byte(s)}}
	for _, f := range l.filters[scriptOf(s)] {
		ts = f.Filter(ts)
	}
	if len(ts) == 1 && len(ts[0].Term) > 0 {
		s = string(ts[0].Term)
	}
	return unaccent(s)
}

// fold removes differences of width, case and invisible characters, and spells
// apostrophes alike. The result is in NFC.
func fold(s string) string {
	if isASCII(s) {
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

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldPair folds characters of scripts without spaces: half-width kana to
// full-width, composed.
func foldPair(s string) string { return norm.NFC.String(norm.NFKC.String(s)) }

// unaccent removes accents where a searcher would leave them out: from Latin
// and Greek letters, and the vowel points of Arabic and Hebrew.
func unaccent(s string) string {
	if isASCII(s) {
		return s
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

// camelParts splits fooBar, HTTPServer and the like; nil when there is one part.
// A part has at least two characters, or the word stays whole.
func camelParts(s string) []string {
	if len(s) < 4 || !strings.ContainsFunc(s[1:], unicode.IsUpper) {
		return nil
	}
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

// StopWords returns the words of a language that plain queries leave out, folded
// and sorted.
func StopWords(language string) ([]string, error) {
	l, err := newLanguage(language)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(l.stop)), nil
}

// Articles returns the words that a language takes off before an apostrophe, as
// the French l' of l'air, sorted; none for most.
func Articles(language string) ([]string, error) {
	l, err := newLanguage(language)
	if err != nil {
		return nil, err
	}
	name := articleLists[l.name]
	if name == "" {
		return []string{}, nil
	}
	words, err := registry.NewCache().TokenMapNamed(name)
	return slices.Sorted(maps.Keys(words)), err
}

var articleLists = map[string]string{"ca": ca.ArticlesName, "fr": fr.ArticlesName, "ga": ga.ArticlesName, "it": it.ArticlesName}
