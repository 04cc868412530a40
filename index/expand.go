package index

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"
	zap "github.com/blevesearch/zapx/v17"
)

// maxExpansions bounds the terms that a prefix stands for: the first of them in
// byte order that the view has.
const maxExpansions = 4096

// collectPrefix makes u's terms all those of the view that begin with u.raw,
// besides its own, and adds up their weights as if they were one term.
func (e *evaluation) collectPrefix(u *unit) error {
	terms, err := e.vocabulary(&vellum.AlwaysMatch{}, u.raw, func(t string) bool { return strings.HasPrefix(t, u.raw) })
	if err != nil {
		return err
	}
	terms = append(terms, u.terms...)
	slices.Sort(terms)
	left := maxExpansions
	u.terms = nil
	for _, t := range slices.Compact(terms) {
		n, err := e.collectTerm(t, u.fields)
		if err != nil {
			return err
		}
		if n > 0 {
			u.terms = append(u.terms, t)
			if left--; left == 0 {
				break
			}
		}
	}
	return e.ctx.Err()
}

// vocabulary returns the terms that begin with prefix and that the automaton
// accepts (for words of paths: that accept does), sorted. Some may have no note
// in the view. An empty prefix is none.
func (e *evaluation) vocabulary(a segment.Automaton, prefix string, accept func(string) bool) ([]string, error) {
	var terms []string
	for i := range e.v.parts {
		dict, err := e.dict(i)
		if err != nil {
			return nil, fmt.Errorf("read dictionary: %w", err)
		}
		if terms, err = appendTerms(terms, dict, a, prefix); err != nil {
			return nil, err
		}
	}
	for t := range e.v.names.words {
		if accept(t) {
			terms = append(terms, t)
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms), nil
}

func appendTerms(terms []string, dict segment.TermDictionary, a segment.Automaton, prefix string) (_ []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read dictionary: %v", p)
		}
	}()
	var from, to []byte
	if prefix != "" {
		from, to = []byte(prefix), after(prefix)
	}
	it := dict.(*zap.Dictionary).AutomatonIteratorOmitCount(a, from, to)
	for {
		t, err := it.Next()
		if err != nil && !errors.Is(err, vellum.ErrIteratorDone) {
			return nil, fmt.Errorf("read dictionary: %w", err)
		}
		if t == nil {
			return terms, nil
		}
		if !strings.HasPrefix(t.Term, tagMark) {
			terms = append(terms, t.Term)
		}
	}
}

// after returns the smallest string greater than all that begin with prefix.
func after(prefix string) []byte {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// otherwise reads a word that no note has as the beginning of one, when it is
// the query's last, or in another spelling. What it finds is in e.touched.
func (e *evaluation) otherwise(u *unit, res *Result) error {
	letters := utf8.RuneCountInString(u.raw)
	if c, _ := classAt([]byte(u.raw), 0); c != letter {
		return nil
	}
	if u.last && letters >= 3 {
		begin := *u
		begin.prefix = true
		if err := e.collect(&begin); err != nil || len(e.touched) > 0 {
			u.prefix, u.terms, u.factor = true, begin.terms, u.factor*prefixFactor
			return err
		}
	}
	if strings.ContainsFunc(u.raw, unicode.IsNumber) {
		return nil // v2 is not a misspelt v3
	}
	best, err := e.spelling(u.terms[0], u.fields)
	if err != nil || best == "" {
		return err
	}
	res.Corrected = append(res.Corrected, Correction{u.word, best})
	u.terms, u.factor = []string{best}, u.factor*spellFactor
	return e.collect(u)
}

// levenshteins are slow to make and safe to share.
var levenshteins = sync.OnceValue(func() (b [3]*levenshtein.LevenshteinAutomatonBuilder) {
	for d := 1; d <= 2; d++ {
		b[d], _ = levenshtein.NewLevenshteinAutomatonBuilder(uint8(d), true) // fails only for greater distances
	}
	return b
})

// spelling returns the term nearest to an unknown one: of those within one edit
// (two for eight letters and more; swapping neighbours is one) the nearest, then
// the most frequent, then the first in byte order. It is "" when there is none.
func (e *evaluation) spelling(unknown string, fields fieldSet) (string, error) {
	most := 0
	switch n := utf8.RuneCountInString(unknown); {
	case n >= 8:
		most = 2
	case n >= 4:
		most = 1
	}
	for d := 1; d <= most; d++ {
		dfa, err := levenshteins()[d].BuildDfa(unknown, uint8(d))
		if err != nil {
			continue // too long for an automaton
		}
		terms, err := e.vocabulary(dfa, "", func(t string) bool { ok, _ := dfa.MatchAndDistance(t); return ok })
		if err != nil {
			return "", err
		}
		best, most := "", 0
		for _, t := range terms {
			e.clearUnit()
			if _, err := e.collectTerm(t, fields); err != nil {
				return "", err
			}
			if len(e.touched) > most {
				best, most = t, len(e.touched)
			}
		}
		e.clearUnit()
		if best != "" {
			return best, nil
		}
	}
	return "", nil
}
