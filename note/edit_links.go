package note

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Rewrite changes what links lead to. It calls fn for every wikilink, embed and
// inline Markdown link with a target, in properties too, and for every link
// reference definition, in source order; where fn reports true, target takes
// the place of [Link.Target]. What else a link has stays: its text, fragment,
// title and angle brackets, and whether its target is percent-encoded. Rewrite
// returns how many targets it changed. It leaves links in code and comments,
// bytes that cannot be edited, and a link that cannot be written with its new
// target, such as a wikilink to a name with '|'.
func Rewrite(src []byte, fn func(l Link) (target string, ok bool)) ([]byte, int) {
	s, err := openText(src)
	if err != nil {
		return src, 0
	}
	changed := 0
	for _, l := range s.editableLinks() {
		target, ok := fn(l.Link)
		if !ok || target == l.Target {
			continue
		}
		if with, ok := l.withTarget(s.text, target); ok {
			s.splice(l.dest.Start, l.dest.End, with)
			changed++
		}
	}
	if changed == 0 {
		return src, 0
	}
	return s.bytes(), changed
}

// editableLinks returns the links whose targets can be changed where they are,
// in source order: dest is the target of a wikilink, the whole destination of
// another.
func (s *source) editableLinks() []linkFact {
	links := s.fieldLinks()
	root, f, err := parseMarkdown(s.text, s.note.Body)
	if err != nil {
		return nil
	}
	for _, l := range f.links {
		switch {
		case l.Target == "" || l.Kind == AutoLink || l.ref:
		case l.Kind == WikiLink:
			l.dest = wikiTarget(s.text, l.Link)
			links = append(links, l)
		default:
			links = append(links, l)
		}
	}
	links = append(links, definitions(root, s.text)...)
	slices.SortStableFunc(links, func(a, b linkFact) int { return a.dest.Start - b.dest.Start })
	lines := newLineCounter(s.text)
	kept := links[:0]
	end := 0
	for _, l := range links {
		if l.dest.Start < end || l.dest.End <= l.dest.Start || !l.fits(s.text) {
			continue
		}
		end = l.dest.End
		l.Line = lines.at(l.Start)
		if l.Kind == MarkdownLink && l.node != nil {
			l.Text = plainText(l.node, s.text, true)
		}
		kept = append(kept, l)
	}
	return kept
}

// fits reports whether the target is where dest says.
func (l *linkFact) fits(text []byte) bool {
	written := text[l.dest.Start:l.dest.End]
	if l.Kind == WikiLink {
		return string(written) == l.Target
	}
	t := markdownTarget(written)
	return t.Target == l.Target && t.Fragment == l.Fragment
}

// fieldLinks returns the links of the properties, none that an escape hides.
func (s *source) fieldLinks() (links []linkFact) {
	m, ok := findMatter(s.text)
	if !ok || s.note.Body == 0 {
		return nil
	}
	for _, l := range fieldLinks(withoutComments(s.text, m), m, s.note.Fields) {
		again, size, ok := wikiLink(s.text[l.Start:l.End])
		if ok && size == l.End-l.Start && again.Target == l.Target && l.Target != "" {
			links = append(links, linkFact{Link: l, dest: wikiTarget(s.text, l)})
		}
	}
	return links
}

// withoutComments returns text with spaces for the comments of its properties.
func withoutComments(text []byte, m matter) []byte {
	y := syntaxOf(text)
	if y == logseqSyntax || !bytes.Contains(text[m.inner.Start:m.inner.End], []byte{'#'}) {
		return text
	}
	out := bytes.Clone(text)
	for at := m.inner.Start; at < m.inner.End; {
		end := lineEnd(text, at)
		line := string(bytes.TrimRight(text[at:end], "\n"))
		comment := y.commentStart(line)
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			comment = 0
		}
		for i := comment; i < len(line); i++ {
			out[at+i] = ' '
		}
		at = end
	}
	return out
}

// wikiTarget returns where the target of a wikilink is.
func wikiTarget(text []byte, l Link) Span {
	start := l.Start + bytes.Index(text[l.Start:l.End], []byte("[[")) + 2
	for start < l.End && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	return Span{start, min(start+len(l.Target), l.End)}
}

// definitions returns the link reference definitions, each as a link.
func definitions(root ast.Node, src []byte) (links []linkFact) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		d, ok := n.(*ast.LinkReferenceDefinition)
		if !ok || !entering || d.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		r := text.NewBlockReader(src, d.Lines())
		r.SkipSpaces()
		_, at := r.Position()
		if r.Peek() != '[' {
			return ast.WalkContinue, nil
		}
		if _, ok := secondLabel(r); !ok || r.Peek() != ':' {
			return ast.WalkContinue, nil
		}
		r.Advance(1)
		r.SkipSpaces()
		_, dest, ok := destination(r)
		l := linkFact{Link: markdownTarget(d.Destination), dest: dest}
		if ok && l.Target != "" {
			l.Start, l.End = at.Start, d.Lines().At(d.Lines().Len()-1).Stop
			links = append(links, l)
		}
		return ast.WalkContinue, nil
	})
	return links
}

// withTarget returns what to write at dest for a link to target; false if
// nothing would read back as it.
func (l *linkFact) withTarget(text []byte, target string) (string, bool) {
	if l.Kind == WikiLink {
		again, _, ok := wikiLink([]byte("[[" + target + "]]"))
		return target, ok && again.Target == target && again.Fragment == "" && !strings.ContainsAny(target, "|\\\"")
	}
	written := string(text[l.dest.Start:l.dest.End])
	path, rest := splitDestination(written, l.Link)
	angle := l.dest.Start > 0 && text[l.dest.Start-1] == '<'
	if i := strings.IndexByte(path, '?'); i >= 0 && strings.HasSuffix(target, unescapePercent(path[i:])) {
		target = strings.TrimSuffix(target, unescapePercent(path[i:]))
		rest = path[i:] + rest
	}
	for _, style := range []escapeStyle{styleOf(path, angle), {spaces: true, letters: true}} {
		with := escapeTarget(target, style) + rest
		if t := markdownTarget([]byte(with)); t.Fragment == l.Fragment && (t.Target == target || strings.HasPrefix(t.Target, target+"?")) {
			return with, true
		}
	}
	return "", false
}

// splitDestination cuts a destination before the '#' of its fragment.
func splitDestination(written string, l Link) (path, rest string) {
	for i := range len(written) {
		if written[i] != '#' {
			continue
		}
		if t := markdownTarget([]byte(written[:i])); t.Target == l.Target && t.Fragment == "" {
			return written[:i], written[i:]
		}
	}
	return written, ""
}

// An escapeStyle tells what a destination has percent-encoded besides what
// must be.
type escapeStyle struct{ spaces, parens, letters bool }

func styleOf(path string, angle bool) escapeStyle {
	style := escapeStyle{spaces: !angle || strings.Contains(path, "%20")}
	style.parens = !strings.ContainsAny(path, "()") && !angle || strings.Contains(path, "%28")
	for i := 0; i+2 < len(path); i++ {
		if path[i] == '%' && strings.IndexByte("89abcdefABCDEF", path[i+1]) >= 0 {
			style.letters = true
		}
	}
	return style
}

// escapeTarget percent-encodes what could end a destination or be taken for
// other markup before it is one.
func escapeTarget(target string, style escapeStyle) string {
	parens := style.parens || strings.Count(target, "(") != strings.Count(target, ")") || strings.Index(target, ")") < strings.Index(target, "(")
	var b strings.Builder
	for i := range len(target) {
		c := target[i]
		switch {
		case c == ' ' && !style.spaces,
			(c == '(' || c == ')') && !parens,
			c >= 0x80 && !style.letters,
			c > ' ' && c < 0x7f && strings.IndexByte("\"#%&'()*<>?[\\]^_`{|}~$=!", c) < 0,
			c == '_' || c == '\'' || c == '&' && style.letters || c == '=' || c == '~' || c == '!':
			b.WriteByte(c)
		default:
			b.WriteString(fmt.Sprintf("%%%02X", c))
		}
	}
	return b.String()
}
