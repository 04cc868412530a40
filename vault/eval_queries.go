package vault

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// judgedQuery is a query and the documents that people found relevant.
type judgedQuery struct {
	id    string
	text  string
	gains map[string]float64
}

// readJudged returns the queries of a collection that have a relevant document, in
// the order of the file.
func readJudged(dir string) ([]judgedQuery, error) {
	gains, err := readGains(dir)
	if err != nil {
		return nil, err
	}
	var out []judgedQuery
	err = eachLine(dir, "queries.jsonl", func(_ int, line string) error {
		var q struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return err
		}
		if g := gains[q.ID]; g != nil {
			out = append(out, judgedQuery{q.ID, q.Text, g})
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		return nil, errorf(Usage, "%s: no query has a relevant document", dir)
	}
	return out, err
}

// readGains returns the positive gains of a collection, by query and document.
func readGains(dir string) (map[string]map[string]float64, error) {
	gains := map[string]map[string]float64{}
	return gains, eachLine(dir, "qrels.tsv", func(n int, line string) error {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			return fmt.Errorf("want query, document and score, separated by tabs")
		}
		score, err := strconv.ParseFloat(f[2], 64)
		if err != nil && n == 1 {
			return nil // the header
		}
		if err != nil || math.IsInf(score, 0) {
			return fmt.Errorf("score %q is not a number", f[2])
		}
		if score > 0 {
			if gains[f[0]] == nil {
				gains[f[0]] = map[string]float64{}
			}
			gains[f[0]][f[1]] = score
		}
		return nil
	})
}

// identity names queries and judgements: those that differ in anything have
// another.
func identity(judged []judgedQuery) string {
	h := sha256.New()
	for _, q := range judged {
		fmt.Fprintf(h, "%q %q\n", q.id, q.text)
		for _, id := range slices.Sorted(maps.Keys(q.gains)) {
			fmt.Fprintf(h, "%q %v\n", id, q.gains[id])
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// eachLine calls fn with each line of a file or of its .gz.
func eachLine(dir, name string, fn func(n int, line string) error) error {
	f, err := os.Open(filepath.Join(dir, name))
	var r io.Reader = f
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.Open(filepath.Join(dir, name+".gz")); err == nil {
			if r, err = gzip.NewReader(f); err != nil {
				f.Close()
				return errorf(Usage, "read %s.gz: %w", name, err)
			}
		}
	}
	if err != nil {
		return errorf(NotFound, "%s has neither %s nor %s.gz", dir, name, name).
			hint("a collection is corpus.jsonl, queries.jsonl and qrels.tsv")
	}
	defer f.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		if strings.TrimSpace(s.Text()) == "" {
			continue
		}
		if err := fn(n, s.Text()); err != nil {
			return errorf(Usage, "%s:%d: %w", filepath.Join(dir, name), n, err)
		}
	}
	return s.Err()
}
