package vault

import "kb/index"

// Match is a line that holds what was searched for; matches stand in **.
type Match struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Explain tells how a score came about. Words is the score by words: the sum of
// the terms' contributions, times coverage, times obsolete. In the mode hybrid the
// score is words / best_words + weight × cosine, in the mode vector the cosine.
// Boost is the part of its size by which boost_entity raised it.
type Explain struct {
	Terms     []ExplainTerm `json:"terms"`
	Coverage  float64       `json:"coverage"` // for how much of the query the note has
	Obsolete  float64       `json:"obsolete"` // below 1 for a note that says it is
	Words     float64       `json:"words"`
	BestWords float64       `json:"best_words,omitempty"` // the best score by words in the view
	Weight    float64       `json:"weight,omitempty"`
	Boost     float64       `json:"boost,omitempty"`
	Cosine    *float64      `json:"cosine,omitempty"` // of the query and the nearest chunk, from the middle of the view
	Chunk     *int          `json:"chunk,omitempty"`  // which one that is
}

// ExplainTerm is what one term gave. Notes is how many notes of the view have
// it; Fields is its weighted frequency by field, Weighted their sum.
type ExplainTerm struct {
	Term         string             `json:"term"`
	Notes        int                `json:"notes"`
	IDF          float64            `json:"idf"`
	Fields       map[string]float64 `json:"fields"`
	Weighted     float64            `json:"weighted"`
	Contribution float64            `json:"contribution"`
}

func explain(h index.Hit) *Explain {
	x := h.Explain
	if x == nil {
		return nil
	}
	e := &Explain{Terms: []ExplainTerm{}, Coverage: x.Coverage, Obsolete: x.Obsolete, Words: x.Words, BestWords: x.Best, Weight: x.Weight, Boost: x.Boost}
	if h.Near != nil {
		e.Cosine, e.Chunk = &h.Near.Cosine, &h.Near.Chunk
	}
	for _, t := range x.Terms {
		e.Terms = append(e.Terms, ExplainTerm{Term: t.Term, Notes: t.Notes, IDF: t.IDF, Fields: t.Fields,
			Weighted: t.Weighted, Contribution: t.Contribution})
	}
	return e
}
