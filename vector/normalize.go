package vector

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

type normalizerJSON struct {
	Type        string            `json:"type"`
	Normalizers []json.RawMessage `json:"normalizers"`
	// of BertNormalizer
	CleanText    bool  `json:"clean_text"`
	ChineseChars bool  `json:"handle_chinese_chars"`
	StripAccents *bool `json:"strip_accents"` // null means: if Lowercase
	Lowercase    bool  `json:"lowercase"`
	// of Replace, Prepend and Strip
	Pattern    patternJSON `json:"pattern"`
	Content    string      `json:"content"`
	Prepend    string      `json:"prepend"`
	StripLeft  bool        `json:"strip_left"`
	StripRight bool        `json:"strip_right"`
	// of Precompiled
	Charsmap []byte `json:"precompiled_charsmap"` // base64
}

type patternJSON struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

// parseNormalizer returns the functions to apply to a text, in order.
func parseNormalizer(src json.RawMessage) ([]func(string) string, error) {
	all, err := flattenNormalizers(src, 0)
	if err != nil {
		return nil, err
	}
	var out []func(string) string
	for len(all) > 0 {
		if n := replaceable(all); n > 0 {
			out, all = append(out, replaceBytes(all[:n])), all[n:]
			continue
		}
		f, err := all[0].function()
		if err != nil {
			return nil, err
		}
		out, all = append(out, f), all[1:]
	}
	return out, nil
}

// flattenNormalizers resolves sequences within sequences.
func flattenNormalizers(src json.RawMessage, depth int) ([]normalizerJSON, error) {
	n, err := decodeTyped[normalizerJSON](src)
	switch {
	case err != nil:
		return nil, err
	case depth > 8:
		return nil, fmt.Errorf("%w: normalizers nest too deep", ErrModel)
	case n.Type == "":
		return nil, nil
	case n.Type != "Sequence":
		return []normalizerJSON{n}, nil
	}
	var out []normalizerJSON
	for _, src := range n.Normalizers {
		inner, err := flattenNormalizers(src, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

func (n normalizerJSON) function() (func(string) string, error) {
	switch n.Type {
	case "BertNormalizer":
		return n.bert(), nil
	case "Lowercase":
		return lower, nil
	case "StripAccents":
		return dropMarks, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Prepend":
		return func(s string) string {
			if s == "" {
				return s
			}
			return n.Prepend + s
		}, nil
	case "Strip":
		return n.strip(), nil
	case "Replace":
		return n.replace()
	case "Precompiled":
		m, err := parseCharsmap(n.Charsmap)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrModel, err)
		}
		return m.apply, nil
	}
	return nil, fmt.Errorf("%w: normalizer of type %q", ErrUnsupported, n.Type)
}

func (n normalizerJSON) strip() func(string) string {
	return func(s string) string {
		if n.StripLeft {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if n.StripRight {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}
}

func (n normalizerJSON) replace() (func(string) string, error) {
	if p := n.Pattern.String; p != nil && *p != "" {
		return func(s string) string { return strings.ReplaceAll(s, *p, n.Content) }, nil
	}
	if p := n.Pattern.Regex; p != nil {
		switch *p {
		case `\s+`:
			return func(s string) string { return replaceRuns(s, n.Content, 1, unicode.IsSpace) }, nil
		case ` {2,}`:
			return func(s string) string { return replaceRuns(s, n.Content, 2, isBlank) }, nil
		}
		return nil, fmt.Errorf("%w: normalizer replaces the pattern %q", ErrUnsupported, *p)
	}
	return nil, fmt.Errorf("%w: normalizer replaces nothing", ErrModel)
}

func isBlank(r rune) bool { return r == ' ' }

// replaceRuns replaces every run of at least least characters that are in.
func replaceRuns(s, by string, least int, in func(rune) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	start, n := -1, 0
	flush := func(end int) {
		if start < 0 {
			return
		}
		if n >= least {
			b.WriteString(by)
		} else {
			b.WriteString(s[start:end])
		}
		start, n = -1, 0
	}
	for i, r := range s {
		switch {
		case !in(r):
			flush(i)
			b.WriteRune(r)
		case start < 0:
			start, n = i, 1
		default:
			n++
		}
	}
	flush(len(s))
	return b.String()
}

// replaceable returns how many replacements at the front can be made in one
// pass: each of one byte, none of them touching what an earlier one wrote.
func replaceable(all []normalizerJSON) int {
	written := ""
	seen := make(map[string]bool)
	for i, n := range all {
		p := n.Pattern.String
		if n.Type != "Replace" || p == nil || len(*p) != 1 || seen[*p] || strings.Contains(written, *p) {
			return i
		}
		seen[*p] = true
		written += n.Content
	}
	return len(all)
}

func replaceBytes(all []normalizerJSON) func(string) string {
	var pairs []string
	for _, n := range all {
		pairs = append(pairs, *n.Pattern.String, n.Content)
	}
	return strings.NewReplacer(pairs...).Replace
}

// bert returns the normalizer of BERT's own tokenizer: it removes what cannot
// be seen, sets Han characters apart, and strips accents and case.
func (n normalizerJSON) bert() func(string) string {
	strip := n.Lowercase
	if n.StripAccents != nil {
		strip = *n.StripAccents
	}
	return func(s string) string {
		ascii := isASCII(s)
		s = n.clean(s)
		if strip && !ascii {
			s = dropMarks(norm.NFD.String(s))
		}
		if n.Lowercase {
			s = lower(s)
		}
		return s
	}
}

// clean applies clean_text and handle_chinese_chars.
func (n normalizerJSON) clean(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for _, r := range s {
		switch {
		case n.CleanText && isInvisible(r):
		case n.CleanText && isSpace(r):
			b.WriteByte(' ')
		case n.ChineseChars && isHan(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower is strings.ToLower but for the one letter whose lower case is two
// characters everywhere but in Turkish.
func lower(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
}

// dropMarks removes characters that only modify the one before.
func dropMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

func isSpace(r rune) bool {
	return r == ' ' || '\t' <= r && r <= '\r' || r >= utf8.RuneSelf && (unicode.IsSpace(r) || unicode.Is(unicode.Z, r))
}

// isInvisible reports whether BERT drops r: a control, a format character, a
// surrogate, or one for private use.
func isInvisible(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7F
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// isHan reports whether BERT sets r apart as a word: the Han blocks that were
// known when it was made.
func isHan(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0x3400 <= r && r <= 0x4DBF || 0xF900 <= r && r <= 0xFAFF ||
		0x20000 <= r && r <= 0x2A6DF || 0x2A700 <= r && r <= 0x2B73F || 0x2B740 <= r && r <= 0x2B81F ||
		0x2B820 <= r && r <= 0x2CEAF || 0x2F800 <= r && r <= 0x2FA1F
}
