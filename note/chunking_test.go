package note_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"kb/embed"
	"kb/internal/vaulttest"
	"kb/note"
	"kb/vector"
)

// A cutting is a way to cut notes: sizes, and by how many bytes a chunk reaches
// back into the one before.
type cutting struct{ tiny, target, most, overlap int }

var cuttings = []cutting{
	{100, 400, 1000, 0}, {200, 800, 1800, 0}, {200, 1200, 2600, 0}, {200, 1800, 4000, 0}, {400, 2600, 5200, 0}, {400, 3600, 8000, 0},
	{200, 800, 1800, 200}, {200, 1200, 2600, 300}, {200, 1800, 4000, 400},
}

// TestChunkingFigures prints what different chunks are worth: by the answer spans
// of chroma-chunking, how much of an answer the best five chunks hold and how much
// of them is answer, and by judged collections how notes rank by vectors.
func TestChunkingFigures(t *testing.T) {
	if os.Getenv("KB_LONG") == "" {
		t.Skip("long: KB_LONG=1 runs it")
	}
	e, err := vector.Open(vaulttest.Shared(t, "data/models/m2v-bge64-vq128"), vector.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range cuttings {
		spans := measureSpans(t, e, c)
		t.Logf("%4d/%4d/%4d+%3d: %5d chunks; words: %v; vectors: %v", c.tiny, c.target, c.most, c.overlap, spans.chunks, spans.words, spans.vectors)
		for _, set := range []string{"medline", "cranfield", "stackfaq-even"} {
			t.Logf("%4d/%4d/%4d+%3d: %s: nDCG@10 by vectors %.3f", c.tiny, c.target, c.most, c.overlap, set, measureNDCG(t, e, c, set))
		}
	}
}

// cut returns the chunks of a note, and what is embedded of them.
func (c cutting) cut(src []byte) (*note.Note, []string) {
	n, text := note.Parse(src)
	n.Chunks = n.ChunksOf(text, c.tiny, c.target, c.most)
	for i := len(n.Chunks) - 1; i > 0; i-- {
		n.Chunks[i].Start = max(n.Chunks[i-1].Start, n.Chunks[i].Start-c.overlap)
	}
	return n, embed.Texts(n, text)
}

// quality is as in the chunking evaluation of Chroma, in bytes for tokens: of the
// best five chunks, and the recall of as many as fill a budget.
type quality struct{ recall, precision, iou, filled float64 }

const (
	bestChunks = 5
	budget     = 8000 // bytes
)

func (q quality) String() string {
	return fmt.Sprintf("recall %.3f precision %.3f IoU %.3f, recall of %d bytes %.3f", q.recall, q.precision, q.iou, budget, q.filled)
}

type spanFigures struct {
	chunks         int
	words, vectors quality
}

// place is a stretch of a document.
type place struct {
	doc        string
	start, end int
}

func measureSpans(t *testing.T, e vector.Embedder, c cutting) (f spanFigures) {
	var places []place
	var texts []string
	answers := map[string][]place{}
	for _, doc := range []string{"chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts"} {
		src := unzip(t, "ir/chroma-chunking/docs/"+doc+".md.gz")
		n, parts := c.cut(src)
		for i, chunk := range n.Chunks {
			places, texts = append(places, place{doc, chunk.Start, chunk.End}), append(texts, parts[i])
		}
		var offsets []int
		for i := range string(src) {
			offsets = append(offsets, i)
		}
		eachLine(t, "ir/chroma-chunking/spans.jsonl.gz", func(s struct {
			Query      string `json:"query-id"`
			Doc        string `json:"doc"`
			Start, End int
			Content    string
		}) {
			if s.Doc == doc {
				p := place{doc, offsets[s.Start], offsets[s.End]}
				if string(src[p.start:p.end]) != s.Content {
					t.Fatalf("%s: another text at %d", doc, s.Start)
				}
				answers[s.Query] = append(answers[s.Query], p)
			}
		})
	}
	f.chunks = len(places)
	words, vectors := newBM25(texts), newCosines(t, e, texts)
	asked := 0.0
	eachLine(t, "ir/chroma-chunking/queries.jsonl.gz", func(q judged) {
		if want := answers[q.ID]; len(want) > 0 {
			asked++
			f.words.add(best(words.scores(q.Text), 50), places, want)
			f.vectors.add(best(vectors.scores(t, q.Text), 50), places, want)
		}
	})
	for _, q := range []*quality{&f.words, &f.vectors} {
		*q = quality{q.recall / asked, q.precision / asked, q.iou / asked, q.filled / asked}
	}
	return f
}

// add compares the chunks found for a question, the best first, with its answer.
func (q *quality) add(found []int, places []place, want []place) {
	answer := 0
	for _, w := range want {
		answer += w.end - w.start
	}
	hit, whole := covered(places, found[:bestChunks], want)
	q.recall += float64(hit) / float64(answer)
	q.precision += float64(hit) / float64(whole)
	q.iou += float64(hit) / float64(whole+answer-hit)
	var last place
	n, room := 0, budget
	for room > 0 && n < len(found) {
		last = places[found[n]]
		room -= last.end - last.start
		n++
	}
	cut := slices.Clone(places)
	cut[found[n-1]].end = last.end + min(0, room)
	hit, _ = covered(cut, found[:n], want)
	q.filled += float64(hit) / float64(answer)
}

// covered returns how many bytes of an answer are in the chunks found, and how
// many bytes these are.
func covered(places []place, found []int, want []place) (hit, whole int) {
	got := map[place]bool{}
	for _, i := range found {
		whole += places[i].end - places[i].start
		for _, w := range want {
			if w.doc != places[i].doc {
				continue
			}
			for at := max(w.start, places[i].start); at < min(w.end, places[i].end); at++ {
				got[place{w.doc, at, at}] = true
			}
		}
	}
	return len(got), whole
}

type judged struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func measureNDCG(t *testing.T, e vector.Embedder, c cutting, set string) float64 {
	var texts, owner []string
	eachLine(t, "ir/"+set+"/corpus.jsonl.gz", func(d judged) {
		_, parts := c.cut([]byte("---\ntitle: " + strconv.Quote(d.Title) + "\n---\n\n" + d.Text + "\n"))
		for _, p := range parts {
			texts, owner = append(texts, p), append(owner, d.ID)
		}
	})
	gains := map[string]map[string]float64{}
	for _, line := range strings.Split(string(unzip(t, "ir/"+set+"/qrels.tsv.gz")), "\n")[1:] {
		if f := strings.Fields(line); len(f) == 3 {
			if gains[f[0]] == nil {
				gains[f[0]] = map[string]float64{}
			}
			gains[f[0]][f[1]], _ = strconv.ParseFloat(f[2], 64)
		}
	}
	cosines := newCosines(t, e, texts)
	sum, n := 0.0, 0.0
	eachLine(t, "ir/"+set+"/queries.jsonl.gz", func(q judged) {
		if len(gains[q.ID]) == 0 {
			return
		}
		var ranked []string
		for _, i := range best(cosines.scores(t, q.Text), 200) {
			if !slices.Contains(ranked, owner[i]) {
				ranked = append(ranked, owner[i])
			}
		}
		sum += ndcg(ranked, gains[q.ID])
		n++
	})
	return sum / n
}

func ndcg(ranked []string, gains map[string]float64) float64 {
	var ideal []float64
	for _, g := range gains {
		ideal = append(ideal, g)
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	got, want := 0.0, 0.0
	for i := range 10 {
		if i < len(ranked) {
			got += gains[ranked[i]] / math.Log2(float64(i+2))
		}
		if i < len(ideal) {
			want += ideal[i] / math.Log2(float64(i+2))
		}
	}
	return got / max(want, 1e-9)
}

// best returns the numbers of the k largest scores.
func best(scores []float64, k int) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order[:min(k, len(order))]
}

// cosines scores texts by their vectors, from the middle of all.
type cosines struct {
	e       vector.Embedder
	mean    []float64
	vectors [][]float32
}

func newCosines(t *testing.T, e vector.Embedder, texts []string) *cosines {
	vectors, err := e.Embed(t.Context(), texts, vector.Passage)
	if err != nil {
		t.Fatal(err)
	}
	c := &cosines{e: e, mean: make([]float64, e.Dim()), vectors: vectors}
	for _, v := range vectors {
		for i, x := range v {
			c.mean[i] += float64(x) / float64(len(vectors))
		}
	}
	for i, v := range vectors {
		c.vectors[i] = vector.Centered(v, c.mean)
	}
	return c
}

func (c *cosines) scores(t *testing.T, query string) []float64 {
	q, err := c.e.Embed(t.Context(), []string{query}, vector.Query)
	if err != nil {
		t.Fatal(err)
	}
	to := vector.Centered(q[0], c.mean)
	out := make([]float64, len(c.vectors))
	for i, v := range c.vectors {
		out[i] = vector.Dot(to, v)
	}
	return out
}

// bm25 scores texts by the words of a query, with Lucene's formula.
type bm25 struct {
	counts []map[string]float64
	length []float64
	mean   float64
	with   map[string]float64 // texts that have a word
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func newBM25(texts []string) *bm25 {
	b := &bm25{with: map[string]float64{}}
	for _, text := range texts {
		counts := map[string]float64{}
		words := wordsOf(text)
		for _, w := range words {
			counts[w]++
		}
		for w := range counts {
			b.with[w]++
		}
		b.counts, b.length = append(b.counts, counts), append(b.length, float64(len(words)))
		b.mean += float64(len(words)) / float64(len(texts))
	}
	return b
}

func (b *bm25) scores(query string) []float64 {
	const k1, slope = 1.2, 0.75
	out := make([]float64, len(b.counts))
	for _, w := range wordsOf(query) {
		idf := math.Log(1 + (float64(len(out))-b.with[w]+0.5)/(b.with[w]+0.5))
		for i, counts := range b.counts {
			if tf := counts[w]; tf > 0 {
				out[i] += idf * tf / (tf + k1*(1-slope+slope*b.length[i]/b.mean))
			}
		}
	}
	return out
}

func unzip(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(vaulttest.Shared(t, "data/"+filepath.Dir(name)), filepath.Base(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func eachLine[T any](t *testing.T, name string, fn func(T)) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(string(unzip(t, name))))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		fn(v)
	}
}
