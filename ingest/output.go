package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kb/note"
	"kb/vault"
)

// MaxOutput bounds what the command of a recipe may print.
const MaxOutput = 8 << 20

// ErrOutput says that what a command printed is no notes.
var ErrOutput = errors.New("its output is no notes")

// printed is a note as a line of JSON that a command prints.
type printed struct {
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Tags   []string `json:"tags"`
	Source string   `json:"source"`
}

// Outputs makes documents of what a command of a recipe printed: one of Markdown,
// or one of each line of JSON. A document is known by the recipe and its source,
// else its title: printed again, it updates its note.
func Outputs(recipe, format string, output []byte) ([]vault.Import, error) {
	if format != "jsonl" {
		parsed, _ := note.Parse(output)
		title := cmp.Or(parsed.Title, recipe)
		return []vault.Import{{Source: "recipe:" + recipe, Type: "markdown", Title: title, Body: string(output)}}, nil
	}
	var list []vault.Import
	number := 0
	for line := range bytes.Lines(output) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		n, err := outputLine(recipe, line)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrOutput, number, err)
		}
		list = append(list, n)
	}
	return list, nil
}

func outputLine(recipe string, line []byte) (n vault.Import, err error) {
	var p printed
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return n, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return n, errors.New("more than one value")
	}
	if strings.TrimSpace(p.Title) == "" || strings.TrimSpace(p.Body) == "" {
		return n, errors.New("a note has a title and a body")
	}
	sum := sha256.Sum256([]byte(cmp.Or(p.Source, p.Title)))
	n = vault.Import{Source: "recipe:" + recipe + "#" + hex.EncodeToString(sum[:8]), Type: "recipe", Title: p.Title, Tags: p.Tags, Body: p.Body}
	if p.Source == "" {
		return n, nil
	}
	head, err := note.NewFrontmatter([]note.Field{{Key: "source", Value: p.Source}})
	n.Body = string(head) + "\n" + p.Body
	return n, err
}

// Take adds documents that are read already, in batches.
func (a *Adder) Take(ctx context.Context, list []vault.Import) (*vault.Added, error) {
	total := &vault.Added{Added: []vault.AddedNote{}, Updated: []vault.AddedNote{}, Skipped: []vault.AddedNote{}, Failed: []vault.AddedNote{}, Missing: []vault.AddedNote{}, Draft: a.Draft, DryRun: a.DryRun}
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < batchNotes && (n == 0 || size+bytesOf(&list[n]) <= batchBytes) {
			size += bytesOf(&list[n])
			n++
		}
		r, err := a.Vault.Add(ctx, a.params(list[:n]))
		if err != nil {
			return nil, err
		}
		total.Join(r)
		list = list[n:]
	}
	return total, nil
}
