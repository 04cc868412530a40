package site

import (
	"fmt"
	"maps"
	"slices"
)

// loadWords reads the words of the build before.
func (c *searchChange) loadWords(files fileList) (out []wordCount, err error) {
	for _, hash := range files.hashes() {
		data, err := c.loadPart("words", hash)
		if err != nil {
			return nil, err
		}
		words, ok := readWords(data)
		if !ok {
			return nil, fmt.Errorf("%w: a file of words", errNoPart)
		}
		out = append(out, words...)
	}
	return out, nil
}

// changeWords writes the vocabulary.
func (c *searchChange) changeWords(words []wordCount) error {
	maps.DeleteFunc(c.counts, func(_ string, n int) bool { return n == 0 })
	if len(c.counts) == 0 {
		return c.keepWords()
	}
	tails, err := c.loadWords(c.before.Tails.Files)
	if err != nil {
		return err
	}
	reversed := make(map[string]int, len(c.counts))
	for word, n := range c.counts {
		reversed[backwards(word)] = n
	}
	return c.vocabulary(c.x, mergeWords(words, c.counts), mergeWords(tails, reversed))
}

func (c *searchChange) keepWords() error {
	c.x.Words, c.x.Heads, c.x.Tails = c.before.Words, c.before.Heads, c.before.Tails
	for _, list := range append(slices.Collect(maps.Values(c.x.Words)), c.x.Heads.Files, c.x.Tails.Files) {
		if err := c.keepParts("words", list); err != nil {
			return err
		}
	}
	return nil
}

// mergeWords adds counts to words, both in byte order.
func mergeWords(words []wordCount, counts map[string]int) []wordCount {
	out := make([]wordCount, 0, len(words)+len(counts))
	changed := slices.Sorted(maps.Keys(counts))
	for _, w := range words {
		for len(changed) > 0 && changed[0] < w.word {
			out, changed = append(out, wordCount{changed[0], counts[changed[0]]}), changed[1:]
		}
		if len(changed) > 0 && changed[0] == w.word {
			w.notes += counts[w.word]
			changed = changed[1:]
		}
		if w.notes > 0 {
			out = append(out, w)
		}
	}
	for _, word := range changed {
		out = append(out, wordCount{word, counts[word]})
	}
	return out
}
