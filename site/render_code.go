package site

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

const (
	codeRecipe = "chroma/2.27.0/1"
	// maxCode bounds the code that is highlighted, maxCodeLine its lines: lexers
	// take time that grows faster than a line.
	maxCode     = 64 << 10
	maxCodeLine = 4 << 10
)

// highlighter marks the words of code with classes.
type highlighter struct{ cache Cache }

// highlight returns code with its words in <span class="…">. It is not ok if
// the language is unknown, or the code too long.
func (h *highlighter) highlight(lang string, code []byte) ([]byte, bool) {
	if len(code) > maxCode || longestLine(code) > maxCodeLine {
		return nil, false
	}
	key := cacheKey(codeRecipe, lang, code)
	out, cached := h.cache.Get(key)
	if !cached {
		out = highlight(lang, code)
		h.cache.Put(key, out)
	}
	return out, len(out) > 0
}

func longestLine(code []byte) int {
	longest := 0
	for line := range bytes.SplitSeq(code, []byte{'\n'}) {
		longest = max(longest, len(line))
	}
	return longest
}

// languages are the lexers by their names in lower case. Of two with one name
// the one meant is that of higher priority, then the first by its own name.
var languages = sync.OnceValue(func() map[string]chroma.Lexer {
	all := slices.Clone(lexers.GlobalLexerRegistry.Lexers)
	slices.SortStableFunc(all, func(a, b chroma.Lexer) int {
		return cmp.Or(cmp.Compare(b.Config().Priority, a.Config().Priority), cmp.Compare(a.Config().Name, b.Config().Name))
	})
	byName := map[string]chroma.Lexer{}
	for _, l := range all {
		for _, name := range append([]string{l.Config().Name}, l.Config().Aliases...) {
			if name = strings.ToLower(name); byName[name] == nil {
				byName[name] = l
			}
		}
	}
	return byName
})

// highlight returns nil if there is nothing to mark. Code is a note's, and the
// lexers of many authors: one that panics, goes round in circles or loses text
// does not highlight.
func highlight(lang string, code []byte) (marked []byte) {
	lexer := languages()[lang]
	if lexer == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			marked = nil
		}
	}()
	rest := string(bytes.ReplaceAll(code, []byte("\r\n"), []byte("\n")))
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, rest)
	if err != nil {
		return nil
	}
	m := marker{}
	for most := 2*len(rest) + 1000; most > 0; most-- {
		t := tokens()
		if t == chroma.EOF {
			m.end()
			if rest != "" {
				return nil
			}
			return m.out.Bytes()
		}
		var found bool
		if rest, found = strings.CutPrefix(rest, t.Value); !found {
			return nil
		}
		m.add(tokenClass(t.Type), t.Value)
	}
	return nil
}

// marker writes text in classes, neighbours of one class together.
type marker struct {
	out   bytes.Buffer
	class string
	text  strings.Builder
}

func (m *marker) add(class, text string) {
	if class != m.class {
		m.end()
		m.class = class
	}
	m.text.WriteString(text)
}

func (m *marker) end() {
	text := html.EscapeString(m.text.String())
	if m.class != "" && strings.TrimSpace(text) != "" {
		text = fmt.Sprintf(`<span class="%s">%s</span>`, m.class, text)
	}
	m.out.WriteString(text)
	m.text.Reset()
}

// tokenClass returns the class of a token, "" for plain text. assets/kb.css
// colours the classes.
func tokenClass(t chroma.TokenType) string {
	switch t {
	case chroma.Name, chroma.Text, chroma.TextWhitespace, chroma.Punctuation, chroma.NameOther, chroma.Error:
		return ""
	}
	return chroma.StandardTypes[t]
}
