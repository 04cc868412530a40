package index

import "unicode/utf8"

// maxTerm bounds the bytes of a term; what is longer is cut.
const maxTerm = 255

// term is a term that an analyzer has met. What follows hash is a builder's
// scratch: slot is the term's place in the note in hand if gen is that note's,
// first and last are its first and last posting in the segment in hand if
// segment is that segment's.
type term struct {
	text string
	hash uint32 // what the position stream stores of it

	gen, segment      uint32
	slot, first, last int32
}

// word is what one stretch of characters means: the term that stands at its
// position, and more terms that find it (the parts of fooBar).
type word struct {
	main  *term
	parts []*term
}

// token is a term at a place in the text. Only main tokens have a position among
// the words; the others find the text at [start, end) under another name.
type token struct {
	term       *term
	start, end int32
	kind       tokenKind
}

type tokenKind uint8

const (
	mainToken  tokenKind = iota
	partToken            // a part of a main token: foo of fooBar
	wholeToken           // several main tokens in one: foobar of foo-bar
)

// analyzer turns text into tokens. It remembers the words it has seen, and is
// not safe for concurrent use.
type analyzer struct {
	lang  *language
	words map[string]*word
	terms map[string]*term
	whole []byte

	gen, segment uint32 // the latest of terms' scratch
}

// maxWords bounds what an analyzer remembers from one task to the next.
const maxWords = 1 << 17

func newAnalyzer(l *language) *analyzer {
	return &analyzer{lang: l, words: map[string]*word{}, terms: map[string]*term{}}
}

// begin begins a task: a segment, or the reading of one text. It forgets words
// when there are too many; terms from before are then no longer met.
func (a *analyzer) begin() {
	if len(a.words) > maxWords {
		clear(a.words)
		clear(a.terms)
	}
	a.segment++
}

// next returns the generation of the next note's terms.
func (a *analyzer) next() uint32 {
	a.gen++
	return a.gen
}

// tokens appends the tokens of text to dst. Starts and ends are offsets into text.
func (a *analyzer) tokens(dst []token, text []byte) []token {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			if !asciiClass[b].wordly() {
				i++
				continue
			}
			dst, i = a.compound(dst, text, i)
			continue
		}
		c, n := classAt(text, i)
		switch {
		case c.wordly():
			dst, i = a.compound(dst, text, i)
		case c.dense():
			dst, i = a.run(dst, text, i, c)
		default:
			i += n
		}
	}
	return dst
}

// compound reads pieces joined as in foo_bar, node.js, std::vec or 2024-01-31:
// each piece is a token, and the whole without its joints is one more, so that
// wi-fi and wifi find each other.
func (a *analyzer) compound(dst []token, s []byte, start int) ([]token, int) {
	const maxPieces, maxWhole = 6, 48
	a.whole = a.whole[:0]
	pieces, i := 0, start
	for {
		end := pieceEnd(s, i)
		dst = a.piece(dst, s[i:end], i, end)
		pieces++
		j := joint(s, end)
		if pieces > 1 || j > 0 {
			a.whole = append(a.whole, s[i:end]...)
		}
		if n := suffix(s, i, end); j == 0 && n > 0 {
			whole := a.intern(unaccent(fold(string(s[i : end+n]))))
			dst = append(dst, token{whole, int32(i), int32(end + n), wholeToken})
			end += n
		}
		i = end + j
		if j == 0 {
			break
		}
	}
	if pieces > 1 && pieces <= maxPieces && len(a.whole) <= maxWhole {
		if w := a.word(a.whole); w.main != nil {
			dst = append(dst, token{w.main, int32(start), int32(i), wholeToken})
		}
	}
	return dst, i
}

func (a *analyzer) piece(dst []token, raw []byte, start, end int) []token {
	w := a.words[string(raw)]
	if w == nil {
		w = a.word(raw)
	}
	if w.main == nil {
		return dst
	}
	dst = append(dst, token{w.main, int32(start), int32(end), mainToken})
	for _, p := range w.parts {
		dst = append(dst, token{p, int32(start), int32(end), partToken})
	}
	return dst
}

// run reads a run of a script without spaces: overlapping pairs of characters,
// marks staying with their base. The last character is an extra token, so that
// every character of the run begins some term and can be found by prefix.
func (a *analyzer) run(dst []token, s []byte, i int, c class) ([]token, int) {
	first, n := i, 0 // of the pair in hand
	mid := i
	for i < len(s) {
		k, w := classAt(s, i)
		if k != c && k != extend {
			break
		}
		if k == c {
			if n == 2 {
				dst = a.pair(dst, s, first, i, mainToken)
				first, n = mid, 1
			}
			mid = i
			n++
		}
		i += w
	}
	dst = a.pair(dst, s, first, i, mainToken)
	if n == 2 {
		dst = a.pair(dst, s, mid, i, partToken)
	}
	return dst, i
}

func (a *analyzer) pair(dst []token, s []byte, start, end int, kind tokenKind) []token {
	raw := s[start:end]
	w := a.words[string(raw)]
	if w == nil {
		w = &word{main: a.intern(foldPair(string(raw)))}
		a.words[string(raw)] = w
	}
	return append(dst, token{w.main, int32(start), int32(end), kind})
}

// word returns the meaning of raw, computing it once.
func (a *analyzer) word(raw []byte) *word {
	if w := a.words[string(raw)]; w != nil {
		return w
	}
	w := &word{}
	s := string(raw)
	if t := a.lang.normalize(s); t != "" {
		w.main = a.intern(t)
	}
	for _, p := range camelParts(s) {
		if t := a.lang.normalize(p); t != "" {
			w.parts = append(w.parts, a.intern(t))
		}
	}
	a.words[s] = w
	return w
}

func (a *analyzer) intern(text string) *term {
	text = cut(text, maxTerm)
	t := a.terms[text]
	if t == nil {
		t = &term{text: text, hash: hashTerm(text)}
		a.terms[text] = t
	}
	return t
}

// cut shortens s to at most n bytes at the start of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// hashTerm is FNV-1a, folded to 24 bits.
func hashTerm(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return (h ^ h>>24) & (1<<24 - 1)
}
