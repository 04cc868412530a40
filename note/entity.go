package note

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Entity is something a note names: by a link, a mark, or its properties. Kind
// is url, email, hashtag, mention or field.
type Entity struct {
	Kind  string
	Name  string
	Count int
}

// The kinds of entities.
const (
	EntityURL     = "url"     // without scheme, query and fragment: example.org/page
	EntityEmail   = "email"   // in lower case
	EntityHashtag = "hashtag" // inline, without '#'
	EntityMention = "mention" // @name, without '@'
	EntityField   = "field"   // an item of the property entities
)

var (
	emailForm   = regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`)
	mentionForm = regexp.MustCompile(`(?:^|[\s(\["'「『（])@([\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?)`)
)

// entities collects what n names, by kind and name. Code names nothing: @media is
// no person.
func (n *Note) entities(root ast.Node, text []byte, inline []tagFact) []Entity {
	c := entityCounter{}
	for _, l := range n.Links {
		if name, ok := urlName(l.Target); ok {
			c.add(EntityURL, name)
		} else if mail, ok := strings.CutPrefix(strings.ToLower(l.Target), "mailto:"); ok {
			c.add(EntityEmail, mail)
		}
	}
	for _, t := range inline {
		c.add(EntityHashtag, strings.ToLower(t.name))
	}
	for _, s := range n.Strings("entities") {
		c.add(EntityField, strings.TrimSpace(s))
	}
	if body := text[n.Body:]; bytes.IndexByte(body, '@') >= 0 {
		c.scan(withoutCode(root, text)[n.Body:])
	}
	return c.list()
}

// withoutCode returns text with backticks in the place of code.
func withoutCode(root ast.Node, text []byte) []byte {
	clean := text
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		spans := codeOf(n)
		if len(spans) > 0 && &clean[0] == &text[0] {
			clean = bytes.Clone(text)
		}
		for _, s := range spans {
			for i := s.Start; i < s.End; i++ {
				if clean[i] != '\n' {
					clean[i] = '`'
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return clean
}

// codeOf returns where the code of a node stands, if it is any.
func codeOf(n ast.Node) (spans []Span) {
	switch n.Kind() {
	case ast.KindCodeBlock, ast.KindFencedCodeBlock:
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			spans = append(spans, Span{s.Start, s.Stop})
		}
	case ast.KindCodeSpan:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				spans = append(spans, Span{t.Segment.Start, t.Segment.Stop})
			}
		}
	}
	return spans
}

// scan finds mail addresses and mentions; a line without '@' costs nothing.
func (c entityCounter) scan(body []byte) {
	const most = 4096 // of a line: what is longer is data, not prose
	for rest := string(body); ; {
		at := strings.IndexByte(rest, '@')
		if at < 0 {
			return
		}
		start := strings.LastIndexByte(rest[:at], '\n') + 1
		end := strings.IndexByte(rest[at:], '\n')
		if end < 0 {
			end = len(rest)
		} else {
			end += at
		}
		line := rest[start:min(end, start+most)]
		for _, m := range emailForm.FindAllString(line, -1) {
			c.add(EntityEmail, strings.ToLower(m))
		}
		for _, m := range mentionForm.FindAllStringSubmatch(line, -1) {
			c.add(EntityMention, m[1])
		}
		rest = rest[end:]
	}
}

// urlName is a web address as an entity is named.
func urlName(target string) (string, bool) {
	if !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") {
		return "", false
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(u.Host), "www.")+u.Path, "/"), true
}

// entityCounter counts by kind and name.
type entityCounter map[Entity]int

func (c entityCounter) add(kind, name string) {
	if name != "" && len(name) <= 512 {
		c[Entity{Kind: kind, Name: name}]++
	}
}

func (c entityCounter) list() []Entity {
	out := make([]Entity, 0, len(c))
	for e, n := range c {
		e.Count = n
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entity) int {
		if k := strings.Compare(a.Kind, b.Kind); k != 0 {
			return k
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
