package vector

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// tokenizerVersion names the behaviour of this code in fingerprints.
const tokenizerVersion = 2

// A tokenizer turns text into the tokens that a model was trained on, as its
// tokenizer.json describes them. It never fails on a text. The names of special
// tokens have no meaning within a text.
//
// Truncation and padding that the file may ask for are the business of the
// embedder, and ignored here.
type tokenizer struct {
	normalize []func(string) string
	split     splitter
	cutter    cutter
	unknown   int32 // -1 if there is none
	before    []int32
	after     []int32
	size      int // every token is below it
	hash      [sha256.Size]byte
}

// A cutter appends the tokens of one word.
type cutter interface {
	cut(dst []int32, word string) []int32
}

// tokens returns the first limit tokens of text, without the special ones that
// frame it.
func (t *tokenizer) tokens(text string, limit int) []int32 {
	text = strings.ToValidUTF8(clip(text), string(utf8.RuneError))
	for _, f := range t.normalize {
		text = f(text)
	}
	ids := make([]int32, 0, min(limit, len(text)/3+8))
	t.split(text, true, func(word string) bool {
		ids = t.cutter.cut(ids, word)
		return len(ids) < limit
	})
	return ids[:min(limit, len(ids))]
}

// framed returns the tokens of text in the frame that the model expects, at
// most limit of them: it is the text that is cut, not the frame.
func (t *tokenizer) framed(text string, limit int) []int32 {
	inner := t.tokens(text, max(0, limit-len(t.before)-len(t.after)))
	return slices.Concat(t.before, inner, t.after)
}

// What tokenizer.json holds. Parts that come in several kinds stay raw.
type tokenizerJSON struct {
	Added      []addedJSON     `json:"added_tokens"`
	Normalizer json.RawMessage `json:"normalizer"`
	Split      json.RawMessage `json:"pre_tokenizer"`
	Post       json.RawMessage `json:"post_processor"`
	Model      modelJSON       `json:"model"`
}

type addedJSON struct {
	ID      int32  `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`
}

type modelJSON struct {
	Type         string          `json:"type"`
	Vocab        json.RawMessage `json:"vocab"`
	UnkToken     string          `json:"unk_token"`
	UnkID        *int            `json:"unk_id"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	MaxChars     int             `json:"max_input_chars_per_word"`
	ByteFallback bool            `json:"byte_fallback"`
}

// parseTokenizer reads a tokenizer.json. It refuses what it would tokenize
// differently.
func parseTokenizer(src []byte) (*tokenizer, error) {
	var j tokenizerJSON
	if err := json.Unmarshal(src, &j); err != nil {
		return nil, fmt.Errorf("%w: tokenizer.json: %w", ErrModel, err)
	}
	t := &tokenizer{unknown: -1, hash: sha256.Sum256(src)}
	for _, step := range []func(*tokenizerJSON) error{t.readNormalizer, t.readSplit, t.readModel, t.readFrame} {
		if err := step(&j); err != nil {
			return nil, fmt.Errorf("tokenizer.json: %w", err)
		}
	}
	return t, nil
}

func (t *tokenizer) readNormalizer(j *tokenizerJSON) (err error) {
	t.normalize, err = parseNormalizer(j.Normalizer)
	return err
}

func (t *tokenizer) readSplit(j *tokenizerJSON) (err error) {
	t.split, err = parseSplitter(j.Split)
	return err
}

func (t *tokenizer) readModel(j *tokenizerJSON) error {
	special := make(map[string]bool)
	for _, a := range j.Added {
		if a.ID < 0 || a.ID >= maxVocab {
			return fmt.Errorf("%w: token %d of %q", ErrModel, a.ID, a.Content)
		}
		special[a.Content] = special[a.Content] || a.Special
		t.size = max(t.size, int(a.ID)+1)
	}
	switch kind := j.Model.kind(); kind {
	case "WordPiece":
		w, err := newWordPiece(j.Model, special)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrModel, err)
		}
		t.cutter, t.unknown = w, w.unknown
		t.size = max(t.size, w.size)
	case "Unigram":
		u, err := newUnigram(j.Model, special)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrModel, err)
		}
		t.cutter, t.unknown = u, u.unknown
		t.size = max(t.size, len(u.scores))
	default:
		return fmt.Errorf("%w: tokenizer of type %q", ErrUnsupported, kind)
	}
	return nil
}

// kind returns the type of the model, which old files leave to the reader.
func (m *modelJSON) kind() string {
	if m.Type == "" && m.UnkToken != "" && m.MaxChars > 0 {
		return "WordPiece"
	}
	return m.Type
}

// maxVocab bounds the tokens of a vocabulary.
const maxVocab = 1 << 22

func (m *modelJSON) wordVocab() (map[string]int32, error) {
	var vocab map[string]int32
	if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	for text, id := range vocab {
		if id < 0 || id >= maxVocab {
			return nil, fmt.Errorf("token %d of %q", id, text)
		}
	}
	return vocab, nil
}

type scored struct {
	text  string
	score float64
}

// UnmarshalJSON reads the pair [text, score].
func (s *scored) UnmarshalJSON(src []byte) error {
	pair := [2]any{&s.text, &s.score}
	return json.Unmarshal(src, &pair)
}

func (m *modelJSON) scoredVocab() ([]scored, error) {
	var vocab []scored
	if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	if len(vocab) == 0 || len(vocab) > maxVocab {
		return nil, fmt.Errorf("vocabulary of %d pieces", len(vocab))
	}
	return vocab, nil
}

// readFrame reads the tokens before and after a single text.
func (t *tokenizer) readFrame(j *tokenizerJSON) error {
	p, err := decodeTyped[postJSON](j.Post)
	if err != nil {
		return err
	}
	switch p.Type {
	case "":
	case "BertProcessing", "RobertaProcessing":
		t.before, t.after = []int32{p.Cls.id}, []int32{p.Sep.id}
	case "TemplateProcessing":
		if err := t.readTemplate(p); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: post-processor of type %q", ErrUnsupported, p.Type)
	}
	for _, id := range slices.Concat(t.before, t.after) {
		if id < 0 || int(id) >= t.size {
			return fmt.Errorf("%w: frame uses token %d of %d", ErrModel, id, t.size)
		}
	}
	return nil
}

type postJSON struct {
	Type    string                    `json:"type"`
	Single  []map[string]templatePart `json:"single"`
	Special map[string]struct {
		IDs []int32 `json:"ids"`
	} `json:"special_tokens"`
	Cls frameToken `json:"cls"`
	Sep frameToken `json:"sep"`
}

type templatePart struct {
	ID string `json:"id"`
}

// frameToken is the pair [text, token].
type frameToken struct{ id int32 }

// UnmarshalJSON implements [json.Unmarshaler].
func (f *frameToken) UnmarshalJSON(src []byte) error {
	var text string
	pair := [2]any{&text, &f.id}
	return json.Unmarshal(src, &pair)
}

func (t *tokenizer) readTemplate(p postJSON) error {
	seen := false
	for _, part := range p.Single {
		if _, ok := part["Sequence"]; ok {
			seen = true
			continue
		}
		s, ok := p.Special[part["SpecialToken"].ID]
		if !ok {
			return fmt.Errorf("%w: template names the unknown token %q", ErrModel, part["SpecialToken"].ID)
		}
		if seen {
			t.after = append(t.after, s.IDs...)
		} else {
			t.before = append(t.before, s.IDs...)
		}
	}
	return nil
}

// decodeTyped reads an optional object. null and nothing give the zero value.
func decodeTyped[T any](src json.RawMessage) (v T, err error) {
	if len(src) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(src, &v); err != nil {
		return v, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return v, nil
}
