package vector

import (
	"cmp"
	"slices"
)

// Scored is something found, named by ID, with its score.
type Scored struct {
	ID    string
	Score float64
}

// VectorWeight is the weight of cosines in [Fuse] that suits even weak models
// (for others see [Spread.Weight]),
// if the vectors are [Centered]. Measured with a model of 64 dimensions beside
// BM25F (nDCG@10 of words alone, and fused): medline .705 and .717, stackfaq
// .790 and .796, cranfield .535 and .537, cacm .487 and .487, adi .522 and .524,
// chroma .811 and .809. A weight of 0.3 loses .011 on cacm; [FuseRanks] loses
// .09 to .38 with such a model.
const VectorWeight = 0.15

// RankConstant is the k of [FuseRanks] in the paper that introduced it and in
// most systems since.
const RankConstant = 60

// Fuse joins the scores of words with those of vectors: the first are scaled so
// that the best has 1, and weight times the second, which should be cosines, is
// added. What one list lacks scores 0 there; a caller who wants the exact sum
// scores every candidate in both. Scores of words must not be negative.
//
// The result is in order of score, equal ones by ID. With no scores of words, or
// with weight 0, the order is that of the other list alone.
func Fuse(text, vectors []Scored, weight float64) []Scored {
	best := 0.0
	for _, s := range text {
		best = max(best, s.Score)
	}
	sum := make(map[string]float64, len(text)+len(vectors))
	for _, s := range text {
		if best > 0 {
			sum[s.ID] = s.Score / best
		} else {
			sum[s.ID] = 0
		}
	}
	for _, s := range vectors {
		sum[s.ID] += float64(weight * s.Score) // converted, so that nothing is fused
	}
	return ranked(sum)
}

// FuseRanks joins rankings, the best first in each: a place r, counted from 1,
// is worth 1/(RankConstant+r). The result is in order of the sums, equal ones by
// ID. It needs no scores, and takes a poor ranking as seriously as a good one.
func FuseRanks(lists ...[]Scored) []Scored {
	sum := make(map[string]float64)
	for _, list := range lists {
		for i, s := range list {
			sum[s.ID] += 1 / float64(RankConstant+1+i)
		}
	}
	return ranked(sum)
}

// ranked returns sums in order. Each was added up in the order of the lists, so
// that the order of the map does not matter.
func ranked(sum map[string]float64) []Scored {
	out := make([]Scored, 0, len(sum))
	for id, score := range sum {
		out = append(out, Scored{id, score})
	}
	slices.SortFunc(out, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Diversify returns the first n of a ranking with repetition pushed back:
// again and again it takes the one with the largest
//
//	(1-diversity) × score - diversity × likeness to the most alike one taken
//
// (maximal marginal relevance), of equals the one that ranks first. Scores are
// scaled so that the best has 1; alike gives the likeness of two by their places
// in ranking, a cosine say. diversity 0 keeps the order, 1 looks at likeness
// alone. It calls alike n × len(ranking) times.
func Diversify(ranking []Scored, n int, diversity float64, alike func(i, j int) float64) []Scored {
	n = max(0, min(n, len(ranking)))
	if diversity <= 0 {
		return slices.Clone(ranking[:n])
	}
	best := 0.0
	for _, s := range ranking {
		best = max(best, s.Score)
	}
	if best == 0 {
		best = 1
	}
	worth := func(i int, nearest float64) float64 {
		return float64((1-diversity)*(ranking[i].Score/best)) - float64(diversity*nearest)
	}
	out, taken := make([]Scored, 0, n), make([]bool, len(ranking))
	nearest := make([]float64, len(ranking)) // to what is taken; 0 is what nothing is like
	for len(out) < n {
		next := -1
		for i := range ranking {
			if !taken[i] && (next < 0 || worth(i, nearest[i]) > worth(next, nearest[next])) {
				next = i
			}
		}
		out, taken[next] = append(out, ranking[next]), true
		for i := range ranking {
			if !taken[i] {
				nearest[i] = max(nearest[i], alike(i, next))
			}
		}
	}
	return out
}
