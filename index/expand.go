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
	terms, err := e.vocabulary(beginning{prefix: u.raw, other: &vellum.AlwaysMatch{}})
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

// vocabulary returns the terms that a accepts, sorted. Some may have no note in
// the view.
func (e *evaluation) vocabulary(a beginning) ([]string, error) {
	var terms []string
	for i := range e.v.parts {
		dict, err := e.dict(i)
		if err != nil {
			return nil, fmt.Errorf("read dictionary: %w", err)
		}
		if terms, err = appendTerms(terms, dict, a); err != nil {
			return nil, err
		}
	}
	for _, t := range e.v.names.beginning(a.prefix) {
		if a.accepts(t) {
			terms = append(terms, t)
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms), nil
}

func appendTerms(terms []string, dict segment.TermDictionary, a segment.Automaton) (_ []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read dictionary: %v", p)
		}
	}()
	it := dict.(*zap.Dictionary).AutomatonIteratorOmitCount(a, nil, nil)
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

// beginning accepts what begins with a prefix and is accepted by another
// automaton: vellum itself notices only at the next match that it is past the
// end of a range. A state is the other's, times 256, plus the bytes of the
// prefix that were read; -1 accepts nothing.
type beginning struct {
	prefix string // of fewer than 256 bytes
	other  segment.Automaton
	ascii  bool // bytes above 0x7f are not accepted
}

func (a beginning) Start() int               { return a.other.Start() << 8 }
func (a beginning) CanMatch(s int) bool      { return s >= 0 && a.other.CanMatch(s>>8) }
func (a beginning) WillAlwaysMatch(int) bool { return false }

func (a beginning) IsMatch(s int) bool {
	return s >= 0 && s&0xff == len(a.prefix) && a.other.IsMatch(s>>8)
}

func (a beginning) Accept(s int, b byte) int {
	read := s & 0xff
	if s < 0 || read < len(a.prefix) && b != a.prefix[read] || a.ascii && b >= utf8.RuneSelf {
		return -1
	}
	return a.other.Accept(s>>8, b)<<8 | min(read+1, len(a.prefix))
}

func (a beginning) accepts(t string) bool {
	s := a.Start()
	for i := 0; i < len(t) && a.CanMatch(s); i++ {
		s = a.Accept(s, t[i])
	}
	return a.CanMatch(s) && a.IsMatch(s)
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

// The last word of a query of up to shortQuery words that stands in no path may be
// the beginning of one that does, although notes have it: while a name is typed. At
// most maxCompletions are looked at.
const (
	shortQuery     = 5
	maxCompletions = 64
)

// completions are the words of paths that begin as u does, each as a bonus for the
// notes that are called so.
func (e *evaluation) completions(u *unit) (units []*unit) {
	if c, _ := classAt([]byte(u.raw), 0); c != letter || utf8.RuneCountInString(u.raw) < 3 {
		return nil
	}
	if slices.ContainsFunc(u.terms, func(t string) bool { return len(e.v.names.lookup(t)) > 0 }) {
		return nil
	}
	terms := e.v.names.beginning(u.raw)
	for _, t := range terms[:min(len(terms), maxCompletions)] {
		units = append(units, &unit{word: u.word, terms: []string{t}, fields: 1 << fieldName, factor: prefixFactor, extra: true, scored: true, raw: t, times: 1})
	}
	return units
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
// the most frequent, then the first in byte order. A word in ASCII is not taken
// for one that is not. It is "" when there is none.
func (e *evaluation) spelling(unknown string, fields fieldSet) (string, error) {
	most := 0
	switch n := utf8.RuneCountInString(unknown); {
	case n >= 8:
		most = 2
	case n >= 4:
		most = 1
	}
	for d := 1; d <= most; d++ {
		best, err := e.nearest(unknown, d, fields)
		if err != nil || best != "" {
			return best, err
		}
	}
	return "", nil
}

// nearest returns the most frequent term within edits of unknown, the first in
// byte order of equals.
func (e *evaluation) nearest(unknown string, edits int, fields fieldSet) (string, error) {
	dfa, err := levenshteins()[edits].BuildDfa(unknown, uint8(edits))
	if err != nil {
		return "", nil // too long for an automaton
	}
	terms, err := e.vocabulary(beginning{other: dfa, ascii: isASCII(unknown)})
	if err != nil {
		return "", err
	}
	defer e.clearUnit()
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
	return best, nil
}
