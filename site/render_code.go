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
	"github.com/alecthomas/chroma/v2/styles"
)

const (
	codeRecipe = "chroma/2.27.0"
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

// highlight returns nil if there is nothing to mark.
func highlight(lang string, code []byte) []byte {
	lexer := languages()[lang]
	if lexer == nil {
		return nil
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: true}, string(code))
	if err != nil {
		return nil
	}
	var b bytes.Buffer
	for t := tokens(); t != chroma.EOF; t = tokens() {
		text := html.EscapeString(t.Value)
		if class := tokenClass(t.Type); class != "" && strings.TrimSpace(text) != "" {
			fmt.Fprintf(&b, `<span class="%s">%s</span>`, class, text)
		} else {
			b.WriteString(text)
		}
	}
	return b.Bytes()
}

// tokenClass returns the class of a token, "" for plain text.
func tokenClass(t chroma.TokenType) string {
	switch t {
	case chroma.Name, chroma.Text, chroma.TextWhitespace, chroma.Punctuation, chroma.NameOther, chroma.Error:
		return ""
	}
	return chroma.StandardTypes[t]
}

// CodeCSS returns the rules that colour code as a style of chroma has it, each
// below selector: CodeCSS("pre", "github").
func CodeCSS(selector, style string) string {
	s := styles.Get(style)
	var b strings.Builder
	types := s.Types()
	for _, t := range sortedTypes(types) {
		class, rule := tokenClass(t), entryCSS(s.Get(t))
		if class != "" && rule != "" {
			fmt.Fprintf(&b, "%s .%s{%s}\n", selector, class, rule)
		}
	}
	return b.String()
}

func sortedTypes(types []chroma.TokenType) []chroma.TokenType {
	slices.Sort(types)
	return slices.Compact(types)
}

func entryCSS(e chroma.StyleEntry) string {
	var rules []string
	if e.Colour.IsSet() {
		rules = append(rules, "color:"+e.Colour.String())
	}
	if e.Bold == chroma.Yes {
		rules = append(rules, "font-weight:bold")
	}
	if e.Italic == chroma.Yes {
		rules = append(rules, "font-style:italic")
	}
	if e.Underline == chroma.Yes {
		rules = append(rules, "text-decoration:underline")
	}
	return strings.Join(rules, ";")
}
