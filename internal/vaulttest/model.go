package vaulttest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Model writes a small static embedding model into dir, which it makes. Words of
// one group mean the same to it; other words mean a little of what their letters
// do. The seed tells one model from another.
func Model(t fataler, dir string, seed int, groups ...string) {
	t.Helper()
	const letters = 16
	dim := letters + len(groups)
	vocab := map[string]int{}
	var rows []float32
	add := func(token string, group int, strength float32) {
		if _, ok := vocab[token]; ok {
			t.Fatalf("%q is in two groups", token)
		}
		vocab[token] = len(vocab)
		row := make([]float32, dim)
		if group >= 0 {
			row[letters+group] = strength
		} else if strength > 0 {
			for i := range letters {
				row[i] = strength * float32(math.Sin(float64(seed+len(vocab)*(i+3))))
			}
		}
		rows = append(rows, row...)
	}
	add("[UNK]", -1, 0)
	for c := 'a'; c <= 'z'; c++ {
		add(string(c), -1, 0.1)
		add("##"+string(c), -1, 0.1)
	}
	for g, words := range groups {
		for _, w := range strings.Fields(words) {
			add(w, g, 1)
		}
	}
	tokenizer, err := json.Marshal(map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": vocab},
	})
	check(t, err)
	body, err := binary.Append(nil, binary.LittleEndian, rows)
	check(t, err)
	head, err := json.Marshal(map[string]any{"embeddings": map[string]any{"dtype": "F32", "shape": []int{len(vocab), dim}, "data_offsets": []int{0, len(body)}}})
	check(t, err)
	tensors := append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), body...)
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), tokenizer, 0o644))
	check(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), tensors, 0o644))
}

// fataler is the part of testing.TB that a script test has, too.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func check(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}
