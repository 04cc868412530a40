package index

// hits makes hits of the notes found.
func (e *evaluation) hits(p *plan, q Query, top []found, wanted float64, res *Result) error {
	for _, f := range top {
		res.Hits = append(res.Hits, Hit{
			Member: int(f.member), Also: e.v.also(f, q.Keep), Score: f.score, Chunk: -1, Terms: e.words(p, f.doc), Near: f.near,
		})
	}
	if q.Explain {
		if err := e.explain(p, q, top, wanted, res.Hits); err != nil {
			return err
		}
	}
	if q.NoExcerpt || len(top) == 0 {
		return nil
	}
	return e.excerpts(p, q, top, res)
}

// also returns the other kept paths of a note.
func (v *View) also(f found, keep func(int) bool) []int {
	var out []int
	for _, m := range v.docs[f.doc].members {
		if m != f.member && (keep == nil || keep(int(m))) {
			out = append(out, int(m))
		}
	}
	return out
}

// words returns the words of the query that note d has.
func (e *evaluation) words(p *plan, d int32) []string {
	var out []string
	for i, u := range p.units {
		if i < 64 && u.scored && !u.extra && e.mask[d]&(1<<i) != 0 {
			out = append(out, u.word)
		}
	}
	return out
}

// explain looks every unit up once more, for the notes that are shown.
func (e *evaluation) explain(p *plan, q Query, top []found, wanted float64, hits []Hit) error {
	for i, f := range top {
		x := &Explanation{Coverage: e.coverage(p, f.doc, wanted), Obsolete: 1, Words: f.words, Best: p.best, Boost: e.v.boosted(q, f.doc)}
		if q.Meaning != nil && !q.Meaning.Alone {
			x.Weight = p.weight
		}
		if e.v.docs[f.doc].obsolete {
			x.Obsolete = obsoleteFactor
		}
		hits[i].Explain = x
	}
	for _, u := range p.units {
		if !u.scored {
			continue
		}
		if err := e.collect(u); err != nil {
			return err
		}
		for i, f := range top {
			w := e.weight[f.doc]
			if w == 0 {
				continue
			}
			hits[i].Explain.Terms = append(hits[i].Explain.Terms, TermExplanation{
				Term: u.label(), Notes: u.df, IDF: u.idf, Weighted: w,
				Contribution: float64(u.factor*repeated(u.times)) * saturate(u.idf, w),
			})
		}
		if err := e.explainFields(u, top, hits); err != nil {
			return err
		}
	}
	return nil
}

// explainFields adds how often each field has u.
func (e *evaluation) explainFields(u *unit, top []found, hits []Hit) error {
	for f := range fieldNames {
		one := *u
		if one.fields &= 1 << f; one.fields == 0 {
			continue
		}
		if err := e.collect(&one); err != nil {
			return err
		}
		for i, t := range top {
			w := e.weight[t.doc]
			if w == 0 {
				continue
			}
			terms := hits[i].Explain.Terms
			x := &terms[len(terms)-1]
			if x.Fields == nil {
				x.Fields = map[string]float64{}
			}
			x.Fields[fieldNames[f]] = w
		}
	}
	return nil
}

// label is how an explanation calls a unit.
func (u *unit) label() string {
	switch {
	case u.phrase != nil:
		s := ""
		for _, t := range u.phrase {
			s += " " + t.text
		}
		return `"` + s[1:] + `"`
	case u.prefix:
		return u.raw + "*"
	}
	return u.terms[0]
}
