package note

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	maxSyntax  = 64 << 10 // bytes given to the YAML or TOML library
	maxDepth   = 64       // of nested values
	maxAliases = 100      // references to anchors, each copied where it stands
	maxValues  = 1 << 16  // values in all, those copied for references included
)

// readYAML reads a YAML mapping. Scalars keep what was written: see [scalar].
// Most properties are so plain that [plainProperty] reads them. The library,
// slow and of quadratic time, gets the others one at a time, and all of them
// together only where they may depend on each other.
func readYAML(inner []byte, line int) (fields []Field, problems []Problem) {
	fields, ok := readSeparately(inner, line)
	if !ok {
		var p *Problem
		if fields, p = readAnyYAML(inner, line); p != nil {
			return nil, []Problem{*p}
		}
	}
	return uniqueFields(fields, nil)
}

// readSeparately reads properties one by one. It reports false if that is not
// the same as reading them together, or something is wrong with them.
func readSeparately(inner []byte, line int) (fields []Field, ok bool) {
	if bytes.ContainsAny(inner, "&*\t") {
		return nil, false
	}
	for len(inner) > 0 {
		end := propertyEnd(inner)
		source := inner[:end]
		f, ok := plainProperty(source, line)
		if !ok {
			some, p := readAnyYAML(source, line)
			if p != nil || len(some) > 1 {
				return nil, false
			}
			fields = append(fields, some...)
		} else if f.Key != "" {
			fields = append(fields, f)
		}
		line += bytes.Count(source, newline)
		inner = inner[end:]
	}
	return fields, true
}

// propertyEnd returns the offset of the second line of inner that starts with
// what may be a property's name.
func propertyEnd(inner []byte) int {
	at := lineEnd(inner, 0)
	for at < len(inner) && bytes.IndexByte([]byte(" -#\n"), inner[at]) >= 0 {
		at = lineEnd(inner, at)
	}
	return at
}

func readAnyYAML(inner []byte, line int) (fields []Field, p *Problem) {
	defer func() { // the YAML library panics on some malformed input
		if e := recover(); e != nil {
			fields, p = nil, malformed(line, "frontmatter is not valid YAML")
		}
	}()
	if p := outsize(inner, line); p != nil {
		return nil, p
	}
	file, err := parser.ParseBytes(inner, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, yamlProblem(err, line)
	}
	if len(file.Docs) == 0 {
		return nil, nil
	}
	r := yamlReader{line: line - 1, anchors: map[string]ast.Node{}}
	fields = r.fields(file.Docs[0].Body)
	if r.err != nil {
		return nil, malformed(r.errLine, "frontmatter: %v", r.err)
	}
	return fields, nil
}

func yamlProblem(err error, line int) *Problem {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		return malformed(line+syntax.Token.Position.Line-1, "frontmatter is not valid YAML: %s", syntax.Message)
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	return malformed(line, "frontmatter is not valid YAML: %s", message)
}

// outsize returns a problem for properties that a library is not to be given.
func outsize(inner []byte, line int) *Problem {
	switch {
	case len(inner) > maxSyntax:
		return malformed(line, "frontmatter of %d KiB is too large", len(inner)>>10)
	case NestsTooDeep(inner):
		return malformed(line, "frontmatter nests more than %d values", maxDepth)
	}
	return nil
}

// NestsTooDeep reports whether YAML opens more than 64 flow collections or 256
// compact sequences within each other, for which the library takes memory that grows
// with the square of the depth. It may count brackets within quotes.
func NestsTooDeep(src []byte) bool {
	depth, dashes := 0, 0
	for i, c := range src {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		case '\n':
			dashes = 0
		case '-', '?', ':':
			if i+1 < len(src) && src[i+1] == ' ' {
				dashes++
			}
		}
		if depth > maxDepth || dashes > 4*maxDepth {
			return true
		}
	}
	return false
}

// A yamlReader turns syntax nodes into values, within limits.
type yamlReader struct {
	line            int // lines before the document
	anchors         map[string]ast.Node
	aliases, values int
	err             error
	errLine         int
}

func (r *yamlReader) fail(n ast.Node, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
		r.errLine = r.lineOf(n)
	}
}

func (r *yamlReader) lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return r.line + 1
	}
	return r.line + n.GetToken().Position.Line
}

func (r *yamlReader) fields(body ast.Node) (fields []Field) {
	switch body := body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
	case *ast.MappingNode:
		for _, pair := range body.Values {
			fields = append(fields, r.field(pair))
		}
	case *ast.MappingValueNode:
		fields = append(fields, r.field(body))
	default:
		r.fail(body, "not a list of properties")
	}
	return fields
}

func (r *yamlReader) field(pair *ast.MappingValueNode) Field {
	return Field{Key: r.key(pair.Key), Value: r.value(pair.Value, 1), Line: r.lineOf(pair.Key)}
}

func (r *yamlReader) key(n ast.MapKeyNode) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.MappingKeyNode:
		if s, ok := n.Value.(*ast.StringNode); ok {
			return s.Value
		}
		r.fail(n, "a property's name is not text")
		return ""
	}
	if t := n.GetToken(); t != nil && strings.TrimSpace(t.Value) != "" {
		return strings.TrimSpace(t.Value)
	}
	r.fail(n, "a property has no name")
	return ""
}

func (r *yamlReader) value(n ast.Node, depth int) any {
	r.values++
	if depth > maxDepth || r.values > maxValues {
		r.fail(n, "too many values, or nested too deep")
	}
	if r.err != nil {
		return nil
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.StringNode:
		if n.Token != nil && isPlainToken(n) {
			return scalar(n.Value)
		}
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for _, v := range n.Values {
			list = append(list, r.value(v, depth+1))
		}
		return list
	case *ast.MappingNode:
		return r.mapping(n.Values, depth)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, depth)
	case *ast.TagNode:
		if n.Start.Value == "!!str" && n.Value != nil && n.Value.Type() != ast.LiteralType {
			return n.Value.GetToken().Value
		}
		return r.value(n.Value, depth+1)
	case *ast.AnchorNode:
		r.anchors[n.Name.GetToken().Value] = n.Value
		return r.value(n.Value, depth+1)
	case *ast.AliasNode:
		return r.alias(n, depth)
	}
	return scalar(strings.TrimSpace(n.GetToken().Value))
}

func (r *yamlReader) mapping(pairs []*ast.MappingValueNode, depth int) any {
	m := make(map[string]any, len(pairs))
	for _, pair := range pairs {
		if _, merge := pair.Key.(*ast.MergeKeyNode); merge {
			inherited, _ := r.value(pair.Value, depth+1).(map[string]any)
			for k, v := range inherited {
				if _, set := m[k]; !set {
					m[k] = v
				}
			}
			continue
		}
		m[r.key(pair.Key)] = r.value(pair.Value, depth+1)
	}
	return m
}

func (r *yamlReader) alias(n *ast.AliasNode, depth int) any {
	r.aliases++
	name := n.Value.GetToken().Value
	target, ok := r.anchors[name]
	switch {
	case r.aliases > maxAliases:
		r.fail(n, "more than %d references to anchors", maxAliases)
	case !ok:
		r.fail(n, "no anchor %q", name)
	default:
		return r.value(target, depth+1)
	}
	return nil
}

func isPlainToken(n *ast.StringNode) bool {
	switch n.Token.Type.String() {
	case "DoubleQuote", "SingleQuote":
		return false
	}
	return true
}

// scalar reads an unquoted scalar: null, a truth value, or a number if writing
// it again gives the same text. All else, such as 2024-01-31, 10:30, 007, 0x1F or
// 1.10, stays the text that it is.
func scalar(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if c := s[0]; c != '-' && (c < '0' || c > '9') || len(s) > 24 {
		return s
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(i, 10) == s {
		return i
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && formatFloat(f) == s {
		return f
	}
	return s
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
