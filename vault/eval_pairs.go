package vault

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// EvalPairs compares two scores of each query. P is of the two-sided randomisation
// test: how often the sum of the differences would be as far from 0 if chance
// alone had decided which score is whose. Rounds is how many such cases were
// counted: all, if the test is exact, else a fixed random sample.
type EvalPairs struct {
	Wins          int        `json:"wins"` // of the second
	Losses        int        `json:"losses"`
	Ties          int        `json:"ties"`
	P             float64    `json:"p"`
	Exact         bool       `json:"exact"`
	Rounds        int        `json:"rounds"`
	LargestLosses []EvalPair `json:"largest_losses"`
	LargestWins   []EvalPair `json:"largest_wins"`
}

// EvalPair is nDCG@10 of one query, twice.
type EvalPair struct {
	ID   string  `json:"id"`
	Text string  `json:"text"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
}

func (p EvalPair) gain() int64 { return grid(p.B) - grid(p.A) }

// pairUp compares the scores of pairs, and names at most limit of the queries that
// lost the most, and as many that won.
func pairUp(pairs []EvalPair, limit int) EvalPairs {
	r := EvalPairs{LargestLosses: []EvalPair{}, LargestWins: []EvalPair{}}
	var differences []int64
	for _, p := range pairs {
		switch d := p.gain(); {
		case d > 0:
			r.Wins++
			r.LargestWins = append(r.LargestWins, p)
			differences = append(differences, d)
		case d < 0:
			r.Losses++
			r.LargestLosses = append(r.LargestLosses, p)
			differences = append(differences, -d)
		default:
			r.Ties++
		}
	}
	// Stable, so that equal ones stay in the order of the queries.
	slices.SortStableFunc(r.LargestLosses, func(a, b EvalPair) int { return cmp.Compare(a.gain(), b.gain()) })
	slices.SortStableFunc(r.LargestWins, func(a, b EvalPair) int { return cmp.Compare(b.gain(), a.gain()) })
	r.P, r.Exact, r.Rounds = signFlips(differences, sumOf(pairs))
	r.LargestLosses = r.LargestLosses[:min(limit, len(r.LargestLosses))]
	r.LargestWins = r.LargestWins[:min(limit, len(r.LargestWins))]
	return r
}

// Scores are compared and added up in millionths: whole numbers, so that every
// machine comes to the same result.
const millionths = 1e6

func grid(x float64) int64 { return int64(math.Round(x * millionths)) }

// onGrid is the multiple of a millionth nearest to x.
func onGrid(x float64) float64 { return float64(grid(x)) / millionths }

// sumOf is the sum of the differences.
func sumOf(pairs []EvalPair) (sum int64) {
	for _, p := range pairs {
		sum += p.gain()
	}
	return sum
}

// The test of [signFlips] counts every case up to exactPairs differences, a
// sample of sampledRounds otherwise, drawn by a generator of a fixed seed.
const (
	exactPairs    = 20
	sampledRounds = 100_000
)

// signFlips returns how likely it is that the sum of sizes is as far from 0 as
// observed when each sign is a coin's. The case observed is one of those
// counted: p is never 0. Without sizes it is 1.
func signFlips(sizes []int64, observed int64) (p float64, exact bool, rounds int) {
	far := max(observed, -observed)
	if len(sizes) <= exactPairs {
		rounds = 1 << len(sizes)
		hits := 0
		for signs := range rounds {
			if sum := flipped(sizes, uint64(signs)); max(sum, -sum) >= far {
				hits++
			}
		}
		return onGrid(float64(hits) / float64(rounds)), true, rounds
	}
	hits := 1
	coins := rand.NewPCG(1, 2)
	for range sampledRounds {
		var sum int64
		for rest := sizes; len(rest) > 0; rest = rest[min(64, len(rest)):] {
			sum += flipped(rest[:min(64, len(rest))], coins.Uint64())
		}
		if max(sum, -sum) >= far {
			hits++
		}
	}
	return onGrid(float64(hits) / (sampledRounds + 1)), false, sampledRounds
}

// flipped is the sum of at most 64 sizes, those negative that have a bit in signs.
func flipped(sizes []int64, signs uint64) (sum int64) {
	for i, n := range sizes {
		mask := -int64(signs >> i & 1) // 0, or all ones: the negative of n is (n ^ -1) + 1
		sum += (n ^ mask) - mask
	}
	return sum
}
