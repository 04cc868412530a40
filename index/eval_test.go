package index

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"kb/note"
)

// sharedDir is where judged collections are, or the test is skipped.
func sharedDir(t testing.TB, sub string) string {
	t.Helper()
	root := os.Getenv("KB_SHARED")
	if root == "" {
		root = "../../shared"
	}
	dir := filepath.Join(root, sub)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data: %v (set KB_SHARED)", err)
	}
	return dir
}

// judged is a collection with queries and what is relevant to them.
type judged struct {
	docs    []judgedDoc
	queries []judgedDoc
	gains   map[string]map[string]float64
}

type judgedDoc struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func readJudged(t testing.TB, dir string) *judged {
	t.Helper()
	j := &judged{gains: map[string]map[string]float64{}}
	j.docs = readJSONLines(t, filepath.Join(dir, "corpus.jsonl.gz"))
	j.queries = readJSONLines(t, filepath.Join(dir, "queries.jsonl.gz"))
	for i, line := range strings.Split(string(readGzip(t, filepath.Join(dir, "qrels.tsv.gz"))), "\n") {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if i == 0 || len(f) < 3 {
			continue
		}
		gain, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		if j.gains[f[0]] == nil {
			j.gains[f[0]] = map[string]float64{}
		}
		j.gains[f[0]][f[1]] = gain
	}
	return j
}

func readGzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
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

func readJSONLines(t testing.TB, path string) []judgedDoc {
	t.Helper()
	var out []judgedDoc
	sc := bufio.NewScanner(strings.NewReader(string(readGzip(t, path))))
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var d judgedDoc
		if err := json.Unmarshal(sc.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// view indexes the collection, one note a document.
func (j *judged) view(t testing.TB, lang string) *View {
	t.Helper()
	s, err := OpenSegments(t.TempDir(), lang)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	var srcs []Source
	var members []Member
	for _, d := range j.docs {
		src := plainSource(d.Title, d.Text)
		srcs = append(srcs, src)
		members = append(members, Member{"c", d.ID, src.Blob})
	}
	for len(srcs) > 0 {
		n := min(1000, len(srcs))
		if err := s.Add(context.Background(), srcs[:n]); err != nil {
			t.Fatal(err)
		}
		srcs = srcs[n:]
	}
	v, err := s.View(members, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// plainSource is a note of a title and a body without markup.
func plainSource(title, text string) Source {
	return Source{note.Hash([]byte(title + "\x00" + text)), &note.Note{Title: title}, []byte(text)}
}

// figures are means over the queries that have something relevant.
type figures struct {
	queries                          int
	ndcg10, recall10, recall100, mrr float64
	p50                              time.Duration
}

func (f figures) String() string {
	return fmt.Sprintf("queries %4d  nDCG@10 %.4f  R@10 %.4f  R@100 %.4f  MRR@10 %.4f  p50 %v", f.queries, f.ndcg10, f.recall10, f.recall100, f.mrr, f.p50)
}

// measure asks v every query, each with what meaning returns for its id.
func (j *judged) measure(t testing.TB, v *View, meaning func(query string) *Meaning) (f figures) {
	t.Helper()
	var times []time.Duration
	for _, q := range j.queries {
		gains := j.gains[q.ID]
		if !anyPositive(gains) {
			continue
		}
		start := time.Now()
		res, err := v.Search(context.Background(), Query{Text: q.Text, Max: 100, NoExcerpt: true, Meaning: meaning(q.ID)})
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
		var ranked []float64
		for _, h := range res.Hits {
			ranked = append(ranked, gains[v.members[h.Member].Path])
			for _, a := range h.Also { // the same bytes under two names
				ranked[len(ranked)-1] = max(ranked[len(ranked)-1], gains[v.members[a].Path])
			}
		}
		f.add(ranked, gains)
	}
	n := float64(f.queries)
	f.ndcg10, f.recall10, f.recall100, f.mrr = f.ndcg10/n, f.recall10/n, f.recall100/n, f.mrr/n
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	f.p50 = times[len(times)/2]
	return f
}

func anyPositive(gains map[string]float64) bool {
	for _, g := range gains {
		if g > 0 {
			return true
		}
	}
	return false
}

func (f *figures) add(ranked []float64, gains map[string]float64) {
	var ideal []float64
	for _, g := range gains {
		if g > 0 {
			ideal = append(ideal, g)
		}
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(ideal)))
	f.queries++
	f.ndcg10 += dcg(ranked, 10) / dcg(ideal, 10)
	f.recall10 += relevant(ranked, 10) / float64(len(ideal))
	f.recall100 += relevant(ranked, 100) / float64(len(ideal))
	for i, g := range ranked[:min(10, len(ranked))] {
		if g > 0 {
			f.mrr += 1 / float64(i+1)
			break
		}
	}
}

func dcg(g []float64, k int) (s float64) {
	for i, x := range g[:min(k, len(g))] {
		s += x / math.Log2(float64(i+2))
	}
	return s
}

func relevant(g []float64, k int) (n float64) {
	for _, x := range g[:min(k, len(g))] {
		if x > 0 {
			n++
		}
	}
	return n
}

// TestQuality reports every collection, and fails below its bound. KB_EVAL=all
// reads all of them; otherwise only the small ones.
func TestQuality(t *testing.T) {
	dir := sharedDir(t, "data/ir")
	for _, c := range []struct {
		name  string
		bound float64 // nDCG@10
		small bool
	}{
		{"adi", 0.471, true},
		{"medline", 0.680, true},
		{"cranfield", 0.500, false},
		{"cacm", 0.460, false},
		{"scifact-train", 0.685, false},
		{"stackfaq-even", 0.71, false},
		{"chroma-chunking", 0.789, false},
		{"anthropic-codebase", 0.577, false},
		{"cmrc2018-zh", 0.97, false},
		{"drcd-dev-zht", 0.95, false},
		{"xquad/en", 0.955, false},
		{"xquad/zh", 0.95, false},
		{"xquad/de", 0.90, false},
		{"xquad/ru", 0.87, false},
		{"xquad/th", 0.84, false},
	} {
		t.Run(strings.ReplaceAll(c.name, "/", "-"), func(t *testing.T) {
			if !c.small && os.Getenv("KB_EVAL") != "all" {
				t.Skip("large: set KB_EVAL=all")
			}
			j := readJudged(t, filepath.Join(dir, c.name))
			f := j.measure(t, j.view(t, os.Getenv("KB_EVAL_LANGUAGE")), func(string) *Meaning { return nil })
			t.Log(f)
			if f.ndcg10 < c.bound {
				t.Errorf("nDCG@10 %.4f, want at least %.4f", f.ndcg10, c.bound)
			}
		})
	}
}
