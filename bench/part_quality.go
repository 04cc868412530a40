package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// collection is a judged set with what a reference BM25 reaches on it (Lucene's
// formula, k1 1.2, b 0.75, Porter stemming, 33 stop words, title and text; for
// Chinese, bigrams).
type collection struct {
	dir      string
	language string
	ndcg     float64 // of the reference
	recall   float64 // its recall@100, 0 where it was not published
	goal     float64
}

var collections = []collection{
	{"scifact-train", "en", 0.695, 0.933, 0.685},
	{"cranfield", "en", 0.510, 0.750, 0.500},
	{"medline", "en", 0.690, 0.796, 0.680},
	{"cacm", "en", 0.470, 0.654, 0.460},
	{"adi", "en", 0.481, 0.910, 0.471},
	{"stackfaq-even", "en", 0.72, 0, 0.71},
	{"chroma-chunking", "en", 0.799, 0.994, 0.789},
	{"anthropic-codebase", "en", 0.587, 0.934, 0.577},
	{"xquad/en", "en", 0.965, 0, 0.955},
	{"cmrc2018-zh", "en", 0.984, 0, 0.97},
	{"drcd-dev-zht", "en", 0.971, 0, 0.95},
	{"xquad/zh", "en", 0.963, 0, 0.95},
	{"xquad/de", "de", 0.915, 0, 0.90},
	{"xquad/ru", "ru", 0.871, 0, 0.87},
	{"xquad/th", "en", 0.855, 0, 0.84},
}

// evalMode is what the benchmarks read of one mode of `kb eval`.
type evalMode struct {
	NDCG10    float64 `json:"ndcg@10"`
	Recall100 float64 `json:"recall@100"`
	P50       float64 `json:"p50_ms"`
}

func parseEval(out string) (evalMode, error) {
	var r struct {
		Modes []evalMode `json:"modes"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return evalMode{}, err
	}
	if len(r.Modes) == 0 {
		return evalMode{}, errors.New("kb eval reported no mode")
	}
	return r.Modes[0], nil
}

// measureQuality runs `kb eval` on every collection. A set that is missing does
// not keep the others from being measured.
func measureQuality(l *lab) (*table, error) {
	t := &table{}
	cache := l.scratch("cache")
	var recalls []string
	for _, c := range collections {
		dir, err := l.source("ir", filepath.FromSlash(c.dir))
		if err != nil {
			t.note("**%s left out:** %v", c.dir, err)
			continue
		}
		out, _, err := l.command("", l.kb, "--cache-dir", cache, "--json", "--quiet", "eval", dir, "--language", c.language)
		if err != nil {
			return t, err
		}
		m, err := parseEval(out)
		if err != nil {
			return t, err
		}
		t.add(row{Measure: fmt.Sprintf("%s (`--language %s`)", c.dir, c.language), Unit: inNDCG, KB: number(m.NDCG10),
			Against: "reference BM25", Reference: number(c.ndcg), Figure: number(m.NDCG10), Goal: atLeast(c.goal)})
		if c.recall > 0 {
			recalls = append(recalls, fmt.Sprintf("%s %.3f (%.3f)", c.dir, m.Recall100, c.recall))
		}
	}
	t.note("nDCG@10 through the public operation, `kb eval`. Recall@100 (reference): %s.", strings.Join(recalls, ", "))
	return t, nil
}
