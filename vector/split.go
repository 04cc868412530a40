package vector

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A splitter calls yield for each word of text until that returns false, and
// then returns false itself. first says that text stands at the beginning of
// the whole.
type splitter func(text string, first bool, yield func(word string) bool) bool

type splitterJSON struct {
	Type          string            `json:"type"`
	Pretokenizers []json.RawMessage `json:"pretokenizers"`
	// of Metaspace
	Replacement    string `json:"replacement"`
	PrependScheme  string `json:"prepend_scheme"`
	AddPrefixSpace *bool  `json:"add_prefix_space"` // what old files have instead
	Split          *bool  `json:"split"`
}

func parseSplitter(src json.RawMessage) (splitter, error) {
	return parseSplitterAt(src, 0)
}

func parseSplitterAt(src json.RawMessage, depth int) (splitter, error) {
	p, err := decodeTyped[splitterJSON](src)
	if err != nil {
		return nil, err
	}
	switch p.Type {
	case "":
		return splitNothing, nil
	case "BertPreTokenizer":
		return splitBERT, nil
	case "WhitespaceSplit":
		return splitSpace, nil
	case "Metaspace":
		return p.metaspace()
	case "Sequence":
		if depth > 8 {
			return nil, fmt.Errorf("%w: pre-tokenizers nest too deep", ErrModel)
		}
		return p.sequence(depth)
	}
	return nil, fmt.Errorf("%w: pre-tokenizer of type %q", ErrUnsupported, p.Type)
}

func splitNothing(text string, _ bool, yield func(string) bool) bool {
	return text == "" || yield(text)
}

func splitSpace(text string, _ bool, yield func(string) bool) bool {
	for word := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		if !yield(word) {
			return false
		}
	}
	return true
}

// splitBERT splits at white space and makes every punctuation mark a word.
func splitBERT(text string, _ bool, yield func(string) bool) bool {
	start := 0
	for i, r := range text {
		space := unicode.IsSpace(r)
		if !space && !isPunct(r) {
			continue
		}
		if start < i && !yield(text[start:i]) {
			return false
		}
		start = i + utf8.RuneLen(r)
		if !space && !yield(text[i:start]) {
			return false
		}
	}
	return start == len(text) || yield(text[start:])
}

// isPunct reports whether r is a word of its own: ASCII symbols count.
func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.IsPunct(r)
}

// metaspace marks where words begin with a visible character.
func (p splitterJSON) metaspace() (splitter, error) {
	mark := p.Replacement
	if utf8.RuneCountInString(mark) != 1 {
		return nil, fmt.Errorf("%w: metaspace replaces by %q", ErrModel, mark)
	}
	scheme := p.PrependScheme
	if scheme == "" {
		scheme = "always"
		if p.AddPrefixSpace != nil && !*p.AddPrefixSpace {
			scheme = "never"
		}
	}
	whole := p.Split != nil && !*p.Split
	return func(text string, first bool, yield func(string) bool) bool {
		if text == "" {
			return true
		}
		text = strings.ReplaceAll(text, " ", mark)
		if (scheme == "always" || scheme == "first" && first) && !strings.HasPrefix(text, mark) {
			text = mark + text
		}
		if whole {
			return yield(text)
		}
		return splitBefore(text, mark, yield)
	}, nil
}

// splitBefore splits text before every mark.
func splitBefore(text, mark string, yield func(string) bool) bool {
	for text != "" {
		end := len(text)
		if _, size := utf8.DecodeRuneInString(text); size < len(text) {
			if i := strings.Index(text[size:], mark); i >= 0 {
				end = size + i
			}
		}
		if !yield(text[:end]) {
			return false
		}
		text = text[end:]
	}
	return true
}

// sequence splits the words of each splitter by the next.
func (p splitterJSON) sequence(depth int) (splitter, error) {
	all := splitter(splitNothing)
	for _, src := range p.Pretokenizers {
		next, err := parseSplitterAt(src, depth+1)
		if err != nil {
			return nil, err
		}
		outer := all
		all = func(text string, first bool, yield func(string) bool) bool {
			return outer(text, first, func(word string) bool {
				ok := next(word, first, yield)
				first = false
				return ok
			})
		}
	}
	return all, nil
}
