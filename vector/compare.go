package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// MinAgreement is the least cosine that [Compare] must find for the native
// engine to be trusted with a model. Rounding alone stays above 1 - 1e-6.
const MinAgreement = 0.99999

// ErrNothingToCompare is returned by [Compare] for a model that only one engine
// runs.
var ErrNothingToCompare = errors.New("only one engine runs this model")

// comparedTexts differ in length, script and what tokenizers make of them.
var comparedTexts = []string{
	"retry",
	"How do I restart the service after a failed migration?",
	"Größe, naïve café, Москва, 東京都, مرحبا - 3.14 × 10⁻⁷; foo_bar(x) != `baz`",
	"The index is a function of bytes that git names. It is stored under the hash of those bytes, never under a path; " +
		"a commit is then only a set of pairs of path and blob, and any number of commits share what is derived from them.",
	"a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
}

// Compare runs five texts through the native engine and through the general
// one, and returns the least cosine of their vectors. The engines share the
// tokenizer and nothing else: below [MinAgreement] the graph is not what the
// native engine takes it for.
func Compare(ctx context.Context, dir string, opts Options) (cosine float64, err error) {
	opts.Engine = "native"
	native, err := Open(dir, opts)
	if errors.Is(err, ErrUnsupported) {
		return 0, fmt.Errorf("%w: %w", ErrNothingToCompare, err)
	} else if err != nil {
		return 0, err
	}
	defer native.Close()
	if _, ok := native.(*static); ok {
		return 0, ErrNothingToCompare
	}
	opts.Engine = "hugot"
	general, err := Open(dir, opts)
	if err != nil {
		return 0, err
	}
	defer general.Close()
	want, err := general.Embed(ctx, comparedTexts, Passage)
	if err != nil {
		return 0, err
	}
	got, err := native.Embed(ctx, comparedTexts, Passage)
	if err != nil {
		return 0, err
	}
	cosine = math.Inf(1)
	for i := range got {
		cosine = min(cosine, Dot(got[i], want[i]))
	}
	return cosine, nil
}
