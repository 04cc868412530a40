package index

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kb/note"
	"kb/vector"
)

// simulation is a SIMULATED embedding model: its vectors are made from the
// judgements. A query is a random direction plus noise; a document is the sum of
// the directions of the queries that it answers, plus noise. No model is like
// that - it knows what nobody can know - but how good it is can be chosen, and
// so how a fusion treats models from perfect to useless.
type simulation struct {
	dim   int
	noise float64 // as a multiple of a direction
	draw  uint64  // which of the random ones
}

// noises make models from nearly perfect to much worse than words.
var noises = []float64{1, 2, 2.5, 3, 4}

// model is a simulation of one collection: centred vectors and their spread.
type model struct {
	blobs   []note.ID // by document
	docs    [][]float32
	queries map[string][]float32 // by id
	spread  vector.Spread
}

func (s simulation) model(t testing.TB, j *judged) *model {
	t.Helper()
	r := rand.New(rand.NewPCG(s.draw, uint64(s.dim)))
	topics, noisy := map[string][]float64{}, map[string][]float64{}
	for _, q := range j.queries {
		topics[q.ID], noisy[q.ID] = s.random(r), s.random(r)
		if gains := j.gains[q.ID]; !anyPositive(gains) {
			delete(topics, q.ID)
		}
	}
	m := &model{queries: map[string][]float32{}}
	byKey := map[vector.Key][]float32{}
	for _, d := range j.docs {
		sum := scaled(s.random(r), s.noise)
		for _, id := range slices.Sorted(maps.Keys(topics)) {
			if j.gains[id][d.ID] > 0 {
				sum = plus(sum, topics[id])
			}
		}
		v, blob := unitOf(sum), plainSource(d.Title, d.Text).Blob
		m.blobs, m.docs = append(m.blobs, blob), append(m.docs, v)
		key := vector.Key{}
		copy(key[:], blob[:])
		byKey[key] = v
	}
	mean := m.center(t, s.dim, byKey)
	for _, q := range j.queries {
		if topics[q.ID] != nil {
			m.queries[q.ID] = vector.Centered(unitOf(plus(topics[q.ID], scaled(noisy[q.ID], s.noise))), mean)
		}
	}
	return m
}

// center takes the mean away from the documents' vectors, as a view does.
func (m *model) center(t testing.TB, dim int, byKey map[vector.Key][]float32) []float64 {
	t.Helper()
	keys := slices.SortedFunc(maps.Keys(byKey), func(a, b vector.Key) int { return slices.Compare(a[:], b[:]) })
	var ordered iter.Seq2[vector.Key, []float32] = func(yield func(vector.Key, []float32) bool) {
		for _, k := range keys {
			if !yield(k, byKey[k]) {
				return
			}
		}
	}
	pack, err := vector.NewPack("simulation", dim, ordered)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := pack.Select(slices.Values(keys))
	mean := vector.Mean(dim, all)
	if m.spread, err = vector.SpreadOf(mean, all); err != nil {
		t.Fatal(err)
	}
	for i, v := range m.docs {
		m.docs[i] = vector.Centered(v, mean)
	}
	return mean
}

// random is a vector of about length 1.
func (s simulation) random(r *rand.Rand) []float64 {
	v := make([]float64, s.dim)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return scaled(v, 1/lengthOf(v))
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * by
	}
	return out
}

func plus(a, b []float64) []float64 {
	out := slices.Clone(a)
	for i, x := range b {
		out[i] += x
	}
	return out
}

func lengthOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func unitOf(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range scaled(v, 1/lengthOf(v)) {
		out[i] = float32(x)
	}
	return out
}

// near are the cosines of all documents.
func (m *model) near(query string) map[note.ID]Near {
	out := make(map[note.ID]Near, len(m.docs))
	for i, v := range m.docs {
		if cos := roundScore(vector.Dot(m.queries[query], v)); out[m.blobs[i]].Cosine < cos || i == 0 {
			out[m.blobs[i]] = Near{Cosine: cos}
		}
	}
	return out
}

// meaning is what a query is asked with: the 200 nearest, and the best by words.
func (m *model) meaning(query string, alone bool) *Meaning {
	const nearest = 200
	return &Meaning{
		Alone: alone,
		Near: func(_ context.Context, _ string, best []note.ID, _ func(note.ID) bool) (map[note.ID]Near, error) {
			all := m.near(query)
			out := map[note.ID]Near{}
			for _, id := range append(byCosine(all)[:min(nearest, len(all))], best...) {
				out[id] = all[id]
			}
			return out, nil
		},
		Weigh: func(_ context.Context, _ string, words func(note.ID) float64) (float64, error) {
			all := m.near(query)
			agreement, first := 0.0, byCosine(all)
			for _, id := range first[:min(3, len(first))] {
				agreement += words(id) / float64(min(3, len(first)))
			}
			return m.spread.Weight(m.queries[query], all[first[0]].Cosine, agreement), nil
		},
	}
}

func byCosine(all map[note.ID]Near) []note.ID {
	return slices.SortedFunc(maps.Keys(all), func(a, b note.ID) int {
		return cmp.Or(cmp.Compare(all[b].Cosine, all[a].Cosine), slices.Compare(a[:], b[:]))
	})
}

// rankFusion is nDCG@10 of reciprocal rank fusion of two rankings of 200.
func (j *judged) rankFusion(t testing.TB, v *View, m *model) float64 {
	t.Helper()
	var f figures
	for _, q := range j.queries {
		if !anyPositive(j.gains[q.ID]) {
			continue
		}
		var lists [2][]vector.Scored
		for i, meaning := range []*Meaning{nil, m.meaning(q.ID, true)} {
			r, err := v.Search(t.Context(), Query{Text: q.Text, Max: 200, NoExcerpt: true, Meaning: meaning})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range r.Hits {
				lists[i] = append(lists[i], vector.Scored{ID: v.members[h.Member].Path, Score: h.Score})
			}
		}
		var ranked []float64
		for _, s := range vector.FuseRanks(lists[0], lists[1]) {
			ranked = append(ranked, j.gains[q.ID][s.ID])
		}
		f.add(ranked, j.gains[q.ID])
	}
	return f.ndcg10 / float64(f.queries)
}

// A model that alone is as good as words gains in the mode hybrid what reciprocal
// rank fusion gains, or more; one that is much worse costs nothing. Where there
// are few queries, a figure is the mean of several draws.
func TestSimulatedModels(t *testing.T) {
	dir := sharedDir(t, "data/ir")
	for name, draws := range map[string]uint64{
		"adi": 8, "medline": 6, "cacm": 1, "cranfield": 1, "stackfaq-even": 1, "anthropic-codebase": 1, "chroma-chunking": 1, "scifact-train": 1,
	} {
		t.Run(name, func(t *testing.T) {
			if name != "adi" && os.Getenv("KB_EVAL") != "all" {
				t.Skip("large: set KB_EVAL=all")
			}
			j := readJudged(t, filepath.Join(dir, name))
			v := j.view(t, "")
			words := j.measure(t, v, func(string) *Meaning { return nil }).ndcg10
			for _, noise := range noises {
				var sum simulated
				for draw := range draws {
					sum.add(j.simulate(t, v, simulation{384, noise, draw + 1}))
				}
				mean := sum.divided(float64(draws))
				t.Logf("noise %-3g words %.3f  vectors %.3f  weight 0.15 %.3f  hybrid %.3f  RRF %.3f  %.0f dimensions", noise, words, mean.alone, mean.fixed, mean.hybrid, mean.ranks, mean.dimensions)
				if mean.alone >= words && mean.hybrid < mean.ranks-0.005 {
					t.Errorf("noise %g: hybrid has %.4f, reciprocal rank fusion %.4f", noise, mean.hybrid, mean.ranks)
				}
				if mean.hybrid < words-0.005 {
					t.Errorf("noise %g: hybrid has %.4f, words alone %.4f", noise, mean.hybrid, words)
				}
			}
		})
	}
}

// simulated is what a simulated model makes of a collection: nDCG@10 in several
// ways to use it.
type simulated struct{ alone, hybrid, fixed, ranks, dimensions float64 }

func (j *judged) simulate(t testing.TB, v *View, s simulation) simulated {
	t.Helper()
	m := s.model(t, j)
	ndcg := func(meaning func(query string) *Meaning) float64 { return j.measure(t, v, meaning).ndcg10 }
	return simulated{
		alone:  ndcg(func(query string) *Meaning { return m.meaning(query, true) }),
		hybrid: ndcg(func(query string) *Meaning { return m.meaning(query, false) }),
		fixed: ndcg(func(query string) *Meaning {
			return &Meaning{Weight: vector.VectorWeight, Near: m.meaning(query, false).Near}
		}),
		ranks:      j.rankFusion(t, v, m),
		dimensions: m.spread.Dimensions,
	}
}

func (s *simulated) add(o simulated) {
	s.alone += o.alone
	s.hybrid += o.hybrid
	s.fixed += o.fixed
	s.ranks += o.ranks
	s.dimensions += o.dimensions
}

func (s simulated) divided(n float64) simulated {
	return simulated{s.alone / n, s.hybrid / n, s.fixed / n, s.ranks / n, s.dimensions / n}
}
