package index

import (
	"fmt"
)

// unit is one thing that is looked up and scored: a term or alternatives that
// count as one, or a phrase.
type unit struct {
	word   string   // of the query, as it is reported
	terms  []string // alternatives: occurrences are added up
	phrase []*phraseTerm
	fields fieldSet
	factor float64
	extra  bool // a bonus: says nothing about what the note covers
	whole  bool // an extra that stands for its leaf's main terms together
	neg    bool // below a negation
	prefix bool // terms are those that begin with raw
	scored bool // false below a negation
	stop   bool
	open   bool   // an unknown word that may be read otherwise
	raw    string // folded but not stemmed, for prefixes
	last   bool   // the query's last word
	times  int    // it stands in the query
	df     int
	idf    float64
	set    bitset // notes that have it, when the query needs sets
}

// phraseTerm is a term of a phrase in its place.
type phraseTerm struct {
	text string
	hash uint32
}

// maxUnits bounds what one query looks up.
const maxUnits = 512

// plan is a query ready to be evaluated.
type plan struct {
	root    *node
	units   []*unit
	words   int    // main units that are scored
	sets    bool   // the query needs sets of notes
	allowed bitset // the notes that its structure allows; nil for all
	cut     bool   // it had more than maxUnits

	finished bool // its last word is not completed

	best   float64 // the best score by words in the view, once it is known
	weight float64 // of a cosine beside words
}

func (v *View) plan(text string) (*plan, string) {
	root, remark := parseQuery(text)
	b := v.segs.builders.Get().(*builder)
	defer v.segs.builders.Put(b)
	b.an.begin()
	p := &plan{}
	seen := map[string]*unit{}
	p.fill(root, b, seen, true)
	if p.cut && remark == "" {
		remark = fmt.Sprintf("only the first %d terms are searched", maxUnits)
	}
	p.root = root.prune()
	p.sets = !p.root.plainList()
	if !p.sets {
		p.dropStops()
	}
	for _, u := range p.units {
		if u.scored && !u.extra {
			p.words++
		}
	}
	if n := len(p.units); n > 0 && !p.sets {
		p.markLast()
	}
	return p, remark
}

// plainList reports whether n is a list of words and phrases without structure.
func (n *node) plainList() bool {
	if n.op != opList || n.must || n.not {
		return n.op == opLeaf && !n.must && !n.not
	}
	for _, k := range n.kids {
		if k.op != opLeaf {
			return false
		}
	}
	return true
}

// prune removes what has no terms, which says nothing about any note. It may
// return an empty list.
func (n *node) prune() *node {
	var kids []*node
	for _, k := range n.kids {
		if k = k.prune(); k.op != opLeaf && len(k.kids) > 0 || k.op == opLeaf && len(k.leaf.units) > 0 {
			kids = append(kids, k)
		}
	}
	n.kids = kids
	return n
}

// fill gives every leaf its units. A term that stands in the query twice is scored once.
func (p *plan) fill(n *node, b *builder, seen map[string]*unit, scored bool) {
	if n.not {
		scored = false
	}
	for _, k := range n.kids {
		p.fill(k, b, seen, scored)
	}
	if n.leaf == nil {
		return
	}
	l := n.leaf
	for _, u := range l.analyze(b) {
		if len(p.units) == maxUnits {
			p.cut = true
			break
		}
		key := u.key()
		u.neg = !scored
		u.scored = scored && seen[key] == nil
		if first := seen[key]; !u.scored && scored {
			first.times++
		} else if scored {
			seen[key] = u
			u.times = 1
		}
		l.units = append(l.units, u)
		p.units = append(p.units, u)
	}
}

// key is the same for units that look up the same.
func (u *unit) key() string {
	key := fmt.Sprint(u.fields, u.extra, u.prefix, u.terms)
	for _, t := range u.phrase {
		key += "\x00" + t.text
	}
	return key
}

// analyze returns the units of a leaf.
func (l *leaf) analyze(b *builder) []*unit {
	if l.field == fieldTag && !l.phrase && !l.prefix {
		if t := tagTerm(l.text); t != tagMark {
			return []*unit{{word: l.text, terms: []string{cut(t, maxTerm)}, fields: fieldsOf(fieldTag), factor: 1}}
		}
	}
	text := []byte(l.text)
	b.toks = b.an.tokens(b.toks[:0], text)
	if l.phrase {
		return l.phraseUnit(b.toks)
	}
	var units []*unit
	for i, t := range b.toks {
		raw := string(text[t.start:t.end])
		extra := t.kind != mainToken
		u := &unit{word: raw, terms: []string{t.term.text}, fields: fieldsOf(l.field), factor: 1, extra: extra, open: !extra, raw: cut(unaccent(fold(raw)), maxTerm), whole: t.kind == wholeToken}
		if extra {
			u.factor = extraFactor
			if c, _ := classAt(text, int(t.start)); c.dense() {
				continue // a pair of the query holds it already
			}
		}
		if l.prefix && i == len(b.toks)-1 {
			u.prefix, u.open = true, false
		}
		if single(raw) {
			u.prefix, u.open, u.raw = true, false, t.term.text // it begins pairs
		}
		u.stop = l.field == anyField && !l.prefix && b.an.lang.stop[u.raw]
		units = append(units, u)
	}
	return units
}

// single reports whether s is one character of a script without spaces.
func single(s string) bool {
	c, n := classAt([]byte(s), 0)
	return c.dense() && n == len(s)
}

func (l *leaf) phraseUnit(toks []token) []*unit {
	u := &unit{word: l.text, fields: fieldsOf(l.field), factor: 1}
	for _, t := range toks {
		if t.kind == mainToken {
			u.phrase = append(u.phrase, &phraseTerm{t.term.text, t.term.hash})
		}
	}
	switch len(u.phrase) {
	case 0:
		return nil
	case 1:
		term := u.phrase[0].text
		u.terms, u.phrase, u.raw, u.prefix = []string{term}, nil, term, single(term)
	}
	return []*unit{u}
}

// dropStops leaves out stop words where other words remain. It is only called
// for plain lists; phrases and words with + keep them.
func (p *plan) dropStops() {
	kept := p.units[:0:0]
	for _, u := range p.units {
		if !u.stop {
			kept = append(kept, u)
		}
	}
	for _, u := range kept {
		if !u.extra {
			p.units = kept
			return
		}
	}
}

// markLast finds the word that may be unfinished.
func (p *plan) markLast() {
	for i := len(p.units) - 1; i >= 0; i-- {
		if u := p.units[i]; !u.extra {
			u.last = true
			return
		}
	}
}
