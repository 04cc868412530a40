package index

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The language of queries:
//
//	query  = both { "OR" both }
//	both   = list { "AND" list }
//	list   = { [ "+" | "-" | "NOT" ] item }
//	item   = "(" query ")" | [ field ":" ] ( word | word "*" | '"' words '"' )
//
// A list of plain items finds notes with any of them; items with + or a field
// must be there, items with - or NOT must not. Signs count only at the start of a word,
// operators only in upper case, and a field only by a known name, so that plain
// text rarely means anything but its words.

var errSyntax = errors.New("syntax")

// node is a parsed query: a leaf, or children joined by op.
type node struct {
	op   operator
	kids []*node
	leaf *leaf
	must bool // of a child of a list
	not  bool
}

type operator uint8

const (
	opLeaf operator = iota
	opList
	opAnd
	opOr
)

// leaf is one word, phrase or prefix.
type leaf struct {
	text   string
	field  int // or anyField
	phrase bool
	prefix bool
	units  []*unit // filled by plan
}

const anyField = -1

var queryFields = map[string]int{
	"title": fieldTitle, "alias": fieldAlias, "heading": fieldHeading, "tag": fieldTag,
	"meta": fieldMeta, "body": fieldBody, "name": fieldName, "path": fieldName,
}

// parseQuery reads a query. When the syntax is bad, the query is its plain
// words, and the note says why.
func parseQuery(text string) (n *node, remark string) {
	text = strings.ToValidUTF8(text, " ")
	p := parser{s: text}
	n, err := p.query(0)
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("%w: unexpected %q", errSyntax, p.s[p.i:])
	}
	if err == nil && !n.positive() && n.any() {
		err = fmt.Errorf("%w: nothing to search for but exclusions", errSyntax)
	}
	if err == nil {
		return n, ""
	}
	return plainQuery(text), "read as plain words: " + strings.TrimPrefix(err.Error(), errSyntax.Error()+": ")
}

// plainQuery reads every word of text as a word.
func plainQuery(text string) *node {
	n := &node{op: opList}
	for _, w := range strings.Fields(text) {
		n.kids = append(n.kids, &node{leaf: &leaf{text: w, field: anyField}})
	}
	return n
}

// any reports whether there is a leaf below n.
func (n *node) any() bool {
	return n.op == opLeaf || slices.ContainsFunc(n.kids, (*node).any)
}

// positive reports whether n asks for anything to be there.
func (n *node) positive() bool {
	if n.not {
		return false
	}
	return n.op == opLeaf || slices.ContainsFunc(n.kids, (*node).positive)
}

const maxDepth = 50

type parser struct {
	s     string
	i     int
	depth int
}

// peek skips spaces and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for p.i < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		if r != 0 && !unicode.IsSpace(r) {
			return p.s[p.i]
		}
		p.i += n
	}
	return 0
}

// operator reports whether the next word is op, and takes it.
func (p *parser) operator(op string) bool {
	p.peek()
	rest, ok := strings.CutPrefix(p.s[p.i:], op)
	if !ok {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsSpace(r) && r != '(' && r != ')' {
		return false
	}
	p.i += len(op)
	return true
}

func (p *parser) query(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: too many parentheses", errSyntax)
	}
	return p.joined("OR", opOr, func() (*node, error) {
		return p.joined("AND", opAnd, func() (*node, error) { return p.list(depth) })
	})
}

// joined reads operands separated by an operator.
func (p *parser) joined(name string, op operator, operand func() (*node, error)) (*node, error) {
	n, err := operand()
	if err != nil {
		return nil, err
	}
	for p.operator(name) {
		next, err := operand()
		if err != nil {
			return nil, err
		}
		if !next.any() || !n.any() {
			return nil, fmt.Errorf("%w: nothing beside %s", errSyntax, name)
		}
		if n.op != op {
			n = &node{op: op, kids: []*node{n}}
		}
		n.kids = append(n.kids, next)
	}
	return n, nil
}

func (p *parser) list(depth int) (*node, error) {
	n := &node{op: opList}
	for {
		c := p.peek()
		if c == 0 || c == ')' && p.depth > 0 || p.atOperator() {
			return n, nil
		}
		kid, err := p.item(depth)
		if err != nil {
			return nil, err
		}
		if kid != nil {
			n.kids = append(n.kids, kid)
		}
	}
}

func (p *parser) atOperator() bool {
	i := p.i
	defer func() { p.i = i }()
	return p.operator("AND") || p.operator("OR")
}

// item reads one item with its sign; nil when it is nothing but a sign.
func (p *parser) item(depth int) (*node, error) {
	var must, not bool
	if p.operator("NOT") {
		if p.peek() == 0 {
			return nil, fmt.Errorf("%w: nothing after NOT", errSyntax)
		}
		not = true
	} else if c := p.s[p.i]; (c == '+' || c == '-') && p.signs(p.i+1) {
		must, not = c == '+', c == '-'
		p.i++
	}
	var n *node
	if p.peek() == '(' {
		p.i++
		p.depth++
		var err error
		if n, err = p.query(depth + 1); err != nil {
			return nil, err
		}
		if p.peek() != ')' {
			return nil, fmt.Errorf("%w: ( without )", errSyntax)
		}
		p.i++
		p.depth--
	} else {
		l, err := p.leaf()
		if l == nil || err != nil {
			return nil, err
		}
		n = &node{leaf: l}
		must = must || l.field != anyField && !not
	}
	if must || not {
		n = &node{op: opList, kids: []*node{n}}
	}
	n.must, n.not = must, not
	return n, nil
}

// signs reports whether a sign before position i belongs to what follows: a
// word, a phrase or a parenthesis, and not another sign, as in --flag or C++.
func (p *parser) signs(i int) bool {
	if i >= len(p.s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.s[i:])
	return r == '"' || r == '(' || classOf(r).wordly() || classOf(r).dense()
}

func (p *parser) leaf() (*leaf, error) {
	l := &leaf{field: anyField}
	if name, rest, ok := strings.Cut(p.s[p.i:], ":"); ok {
		f, known := queryFields[strings.ToLower(name)]
		if r, _ := utf8.DecodeRuneInString(rest); known && rest != "" && !unicode.IsSpace(r) && r != ':' {
			l.field = f
			p.i += len(name) + 1
		}
	}
	if p.peek() == '"' {
		end := strings.IndexByte(p.s[p.i+1:], '"')
		if end < 0 {
			return nil, fmt.Errorf("%w: \" without \"", errSyntax)
		}
		l.text, l.phrase = p.s[p.i+1:p.i+1+end], true
		p.i += end + 2
		return l, nil
	}
	start := p.i
	for p.i < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		if unicode.IsSpace(r) || r == ')' && p.depth > 0 {
			break
		}
		p.i += n
	}
	l.text = p.s[start:p.i]
	if t, ok := strings.CutSuffix(l.text, "*"); ok {
		l.text, l.prefix = t, true
	}
	if l.text == "" {
		return nil, nil
	}
	return l, nil
}
