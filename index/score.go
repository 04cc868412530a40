package index

import "math"

// The constants of ranking, chosen on the judged collections (eval_test.go):
// one set for all languages and collections.
const (
	k1 = 1.5
	// k3 saturates the weight of a word that stands in the query more than once.
	k3 = 1
	// An obsolete note keeps this part of its score.
	obsoleteFactor = 0.5
	// A note that is asked to rank higher gets so much of its score on top.
	boostPart = 0.5
	// What is found by the beginning of the last word, and by another spelling.
	prefixFactor = 0.7
	spellFactor  = 0.6
	// The whole of foo-bar, the parts of fooBar.
	extraFactor = 0.5
)

// fieldWeight and fieldB are the weight of an occurrence in a field and how much
// the field's length tells against it.
var (
	fieldWeight = [fieldCount]float64{
		fieldTitle: 3, fieldAlias: 2, fieldHeading: 1.5, fieldTag: 1.5, fieldMeta: 0.5, fieldBody: 1, fieldName: 5,
	}
	fieldB = [storedFields]float64{
		fieldTitle: 0.5, fieldAlias: 0.3, fieldHeading: 0.5, fieldTag: 0.3, fieldMeta: 0.3, fieldBody: 0.75,
	}
)

// A term of a path counts as fieldName in the file name, as folderWeight elsewhere.
const folderWeight = 0.5

// idfOf is ln(1 + (N − df + ½) / (df + ½)), on a grid of 2⁻²⁰ so that it is the
// same on every machine.
func idfOf(df, n int) float64 {
	idf := math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
	return math.Round(idf*(1<<20)) / (1 << 20)
}

// saturate is the contribution of a term with weighted frequency w.
func saturate(idf, w float64) float64 {
	return idf * (float64((k1+1)*w) / (k1 + w))
}

// repeated is the weight of a word that stands n times in the query.
func repeated(n int) float64 {
	return (k3 + 1) * float64(n) / (k3 + float64(n))
}

// coordination is the part of its score that a note keeps when it has the given
// part of the query's words, by idf. The fewer words there are, the more it
// matters to have them all: to lack all would cost 1/(1+words).
func coordination(words int, part float64) float64 {
	c := 1 / (1 + float64(words))
	return 1 - c + float64(c*part)
}

// weigh is the weighted frequency of a term: Σ weight·tf / (1 − b + b·length/average).
// The conversions keep compilers from fusing a product and a sum.
func (v *View) weigh(t *tally, lens *[storedFields]uint32, fields fieldSet) float64 {
	var sum float64
	for f, n := range t {
		if n > 0 && fields.has(f) {
			sum += v.weighField(f, n, lens[f])
		}
	}
	return sum
}

func (v *View) weighField(f int, n, length uint32) float64 {
	b := fieldB[f]
	rel := float64(length) / v.avg[f]
	return float64(fieldWeight[f]*float64(n)) / (1 - b + float64(b*rel))
}

// roundScore puts a score on the grid of 10⁻⁶ on which scores are compared and shown.
func roundScore(s float64) float64 { return math.Round(s*1e6) / 1e6 }

// fieldSet is a set of fields.
type fieldSet uint8

const allFields = fieldSet(1<<fieldCount - 1)

func (s fieldSet) has(f int) bool { return s&(1<<f) != 0 }

func fieldsOf(field int) fieldSet {
	if field == anyField {
		return allFields
	}
	return 1 << field
}
