package vault

import (
	"fmt"
	"math"
	"slices"
)

// Measures are means over queries, rounded to four decimals, or those of one
// query. nDCG takes the qrels' scores as gains.
type Measures struct {
	NDCG10    float64 `json:"ndcg@10"`
	Recall10  float64 `json:"recall@10"`
	Recall100 float64 `json:"recall@100"`
	MRR10     float64 `json:"mrr@10"`
}

// measure is how well a ranking of ids answers q.
func (q judgedQuery) measure(ranked []string) (m Measures) {
	hits10, hits100 := 0, 0
	for i, id := range ranked[:min(100, len(ranked))] {
		gain := q.gains[id]
		if gain <= 0 {
			continue
		}
		hits100++
		if i >= 10 {
			continue
		}
		hits10++
		m.NDCG10 += discounted(gain, i)
		if m.MRR10 == 0 {
			m.MRR10 = 1 / float64(i+1)
		}
	}
	m.NDCG10 /= q.ideal()
	m.Recall10 = float64(hits10) / float64(len(q.gains))
	m.Recall100 = float64(hits100) / float64(len(q.gains))
	return m
}

// ideal is the discounted gain of the best ten in the best order.
func (q judgedQuery) ideal() (sum float64) {
	gains := make([]float64, 0, len(q.gains))
	for _, g := range q.gains {
		gains = append(gains, g)
	}
	slices.Sort(gains)
	slices.Reverse(gains)
	for i, g := range gains[:min(10, len(gains))] {
		sum += discounted(g, i)
	}
	return sum
}

func discounted(gain float64, place int) float64 { return gain / math.Log2(float64(place)+2) }

// mean is the mean of each measure.
func mean(all []Measures) (m Measures) {
	for _, x := range all {
		m.NDCG10 += x.NDCG10
		m.Recall10 += x.Recall10
		m.Recall100 += x.Recall100
		m.MRR10 += x.MRR10
	}
	n := float64(max(len(all), 1))
	return Measures{rounded(m.NDCG10 / n), rounded(m.Recall10 / n), rounded(m.Recall100 / n), rounded(m.MRR10 / n)}
}

// less is the difference of two means.
func (m Measures) less(o Measures) Measures {
	return Measures{rounded(m.NDCG10 - o.NDCG10), rounded(m.Recall10 - o.Recall10), rounded(m.Recall100 - o.Recall100), rounded(m.MRR10 - o.MRR10)}
}

// rounded is a measure as it is shown: to four decimals.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// cells are the measures in a table.
func (m Measures) cells(format string) (out []string) {
	for _, x := range []float64{m.NDCG10, m.Recall10, m.Recall100, m.MRR10} {
		out = append(out, fmt.Sprintf(format, x))
	}
	return out
}
