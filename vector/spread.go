package vector

import (
	"math"
	"slices"
)

// Spread says how well the vectors of a view tell its texts apart.
type Spread struct {
	Texts int // that have a vector
	// Dimensions is how many dimensions the texts fill: unrelated ones in so many,
	// equally likely in all directions, would have cosines as large as theirs. A
	// space of few dimensions has no room for many texts.
	Dimensions float64

	sample [][]float32 // of length 1, from the middle
}

// sampledTexts is how many texts [SpreadOf] compares with each other.
const sampledTexts = 256

// SpreadOf returns the spread of the vectors of sets, which have that mean. It
// looks at those with the smallest keys: a sample that depends on the vectors
// alone, however they are divided among packs, as long as none is in two.
func SpreadOf(mean []float64, sets ...*Set) (Spread, error) {
	s := Spread{}
	for _, at := range smallestKeys(sets) {
		v, err := at.pack.Vector(at.row)
		if err != nil {
			return s, err
		}
		if c := Centered(v, mean); Dot(c, c) > 0 { // a text in which the model knows nothing tells nothing
			s.sample = append(s.sample, c)
		}
	}
	for _, set := range sets {
		s.Texts += set.len()
	}
	var squares float64
	for i, a := range s.sample {
		for _, b := range s.sample[:i] {
			cos := Dot(a, b)
			squares += float64(cos * cos) // converted, so that nothing is fused
		}
	}
	if n := len(s.sample); squares > 0 {
		s.Dimensions = min(float64(n*(n-1)/2)/squares, float64(s.Texts-1)) // n points lie in n-1 dimensions
	}
	return s, nil
}

// packRow is where a vector is.
type packRow struct {
	pack *Pack
	row  int
}

// smallestKeys returns the vectors of sets with the smallest keys, in their order.
func smallestKeys(sets []*Set) []packRow {
	var found []packRow
	for _, s := range sets {
		n := 0
		for i := 0; i < s.pack.Len() && n < sampledTexts; i++ { // a pack is in order of its keys
			if s.has(i) {
				found = append(found, packRow{s.pack, i})
				n++
			}
		}
	}
	slices.SortFunc(found, func(a, b packRow) int {
		x, y := a.pack.Key(a.row), b.pack.Key(b.row)
		return slices.Compare(x[:], y[:])
	})
	return found[:min(sampledTexts, len(found))]
}

// What a model must show before its cosines count for more than [VectorWeight].
// A view whose vectors fill fewestDimensions or fewer is one that the model
// hardly tells apart: only words rank it well. From enoughDimensions on, how much
// a query is trusted depends on what it finds. Trusts are weights for each
// standard deviation of the cosines.
const (
	fewestDimensions = 30
	enoughDimensions = 50
	mostTrust        = 0.4
	agreementTrust   = 0.45
	standingTrust    = 0.1
	byChance         = 1.2 // standard deviations below what chance brings about, from which standing out counts
)

// Weight returns the weight of cosines beside words for a query that lies in the
// direction to: [VectorWeight], and more the further its nearest text stands out
// from what chance brings about, and the more words agree that the nearest are
// right. nearest is the largest cosine; agreement is the mean of the scores by
// words, each from 0 to 1, of the nearest notes.
func (s Spread) Weight(to []float32, nearest, agreement float64) float64 {
	room := (s.Dimensions - fewestDimensions) / (enoughDimensions - fewestDimensions)
	mean, deviation := s.cosines(to)
	if room <= 0 || deviation == 0 {
		return VectorWeight
	}
	standsOut := max(0, (nearest-mean)/deviation-largestOf(s.Texts)+byChance)
	trust := min(mostTrust, float64(standingTrust*standsOut)+float64(agreementTrust*agreement)) * min(1, room)
	return math.Round((VectorWeight+float64(trust/deviation))*1e6) / 1e6
}

// cosines returns the mean and the standard deviation of the cosines of the sample.
func (s Spread) cosines(to []float32) (mean, deviation float64) {
	n := float64(len(s.sample))
	var sum, squares float64
	for _, v := range s.sample {
		cos := Dot(to, v)
		sum += cos
		squares += float64(cos * cos)
	}
	mean = sum / n
	return mean, math.Sqrt(max(0, squares/n-float64(mean*mean)))
}

// largestOf is about how many standard deviations the largest of n normal numbers
// lies above their mean.
func largestOf(n int) float64 {
	return math.Round((math.Sqrt(2*math.Log(float64(n)))-0.4)*1e6) / 1e6
}
