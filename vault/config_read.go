package vault

import (
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"kb/note"
)

// readConfig reads one kb.yaml. Whatever does not fit is an error that names
// the file, the line and what would be accepted.
func readConfig(file string) (*Config, error) {
	c := &Config{File: file}
	src, err := readAtMost(file, mostYAML+1)
	if err != nil {
		return nil, errorf(NotFound, "read configuration: %w", err)
	}
	tree, err := c.parse(src)
	if err != nil {
		return nil, err
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return nil, c.errorAt(0, "the file is empty").hint("kb init --force writes a commented one")
	}
	if len(tree.Docs) > 1 {
		line := 0
		if start := tree.Docs[1].Start; start != nil {
			line = start.Position.Line
		}
		return nil, c.errorAt(line, "more than one YAML document")
	}
	body := tree.Docs[0].Body
	if err := c.checkNode(body, reflect.TypeFor[Config](), ""); err != nil {
		return nil, err
	}
	if err := yaml.NodeToValue(body, c); err != nil {
		return nil, c.errorAt(yamlErrorLine(err), "%s", yamlErrorText(err))
	}
	for i, n := range collectionLines(body) {
		if i < len(c.Collections) {
			c.Collections[i].line = n
		}
	}
	return c, nil
}

// mostYAML bounds the files of settings that a repository brings.
const mostYAML = 256 << 10

func readAtMost(file string, n int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// parse reads YAML, whatever it is: a repository may come from anybody.
func (c *Config) parse(src []byte) (tree *ast.File, err error) {
	defer func() { // the library panics on some malformed input
		if recover() != nil {
			tree, err = nil, c.errorAt(0, "not valid YAML")
		}
	}()
	switch {
	case len(src) > mostYAML:
		return nil, c.errorAt(0, "more than %d KiB", mostYAML>>10)
	case note.NestsTooDeep(src):
		return nil, c.errorAt(0, "it nests too deep")
	}
	if tree, err = parser.ParseBytes(src, 0); err != nil {
		return nil, c.errorAt(yamlErrorLine(err), "%s", yamlErrorText(err))
	}
	return tree, nil
}

// checkNode compares the keys and the values of a node with the fields of t.
func (c *Config) checkNode(n ast.Node, t reflect.Type, at string) error {
	switch t.Kind() {
	case reflect.Struct:
		return c.checkMapping(n, t, at)
	case reflect.Slice:
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			return c.errorAt(line(n), "%s is a list", at).hint("%s: [ … ]", at)
		}
		for _, v := range seq.Values {
			if err := c.checkNode(v, t.Elem(), at); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		return c.checkNode(n, t.Elem(), at)
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return c.errorAt(line(n), "%s: %s", at, n).hint("%s is true or false", at)
		}
	case reflect.Int, reflect.Float64:
		_, isInt := n.(*ast.IntegerNode)
		_, isFloat := n.(*ast.FloatNode)
		if !isInt && (!isFloat || t.Kind() == reflect.Int) {
			return c.errorAt(line(n), "%s: %s", at, n).hint("%s is a number", at)
		}
	case reflect.String:
		if _, ok := n.(ast.ScalarNode); !ok {
			return c.errorAt(line(n), "%s is a text, not a list or mapping", at)
		}
	}
	return nil
}

func (c *Config) checkMapping(n ast.Node, t reflect.Type, at string) error {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	case *ast.NullNode:
		return nil
	default:
		return c.errorAt(line(n), "%s: want keys and values", strings.TrimPrefix(at+" ", " "))
	}
	fields := map[string]reflect.StructField{}
	var accepted []string
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" && key != "-" {
			fields[key] = t.Field(i)
			accepted = append(accepted, key)
		}
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		key := strings.Trim(p.Key.String(), `"'`)
		f, ok := fields[key]
		if !ok {
			return c.unknownKey(line(p.Key), key, at, accepted)
		}
		if seen[key] {
			return c.errorAt(line(p.Key), "%s is given twice", key)
		}
		seen[key] = true
		if _, ok := p.Value.(*ast.NullNode); ok {
			continue
		}
		if err := c.checkNode(p.Value, f.Type, key); err != nil {
			return err
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			v := strings.Trim(p.Value.String(), `"'`)
			if !slices.Contains(strings.Split(enum, ","), v) {
				return c.errorAt(line(p.Value), "%s: %q", key, v).hint("accepted: %s", strings.ReplaceAll(enum, ",", ", "))
			}
		}
	}
	return nil
}

func (c *Config) unknownKey(line int, key, at string, accepted []string) *Error {
	where := ""
	if at != "" {
		where = " in " + at
	}
	err := c.errorAt(line, "unknown key %q%s", key, where)
	if near := nearest(key, accepted, 1); len(near) > 0 {
		return err.hint("did you mean %s? accepted: %s", near[0], strings.Join(accepted, ", "))
	}
	return err.hint("accepted: %s", strings.Join(accepted, ", "))
}

// collectionLines returns the line on which each collection starts.
func collectionLines(body ast.Node) (lines []int) {
	m, ok := body.(*ast.MappingNode)
	if !ok {
		if v, ok := body.(*ast.MappingValueNode); ok {
			m = &ast.MappingNode{Values: []*ast.MappingValueNode{v}}
		} else {
			return nil
		}
	}
	for _, p := range m.Values {
		if seq, ok := p.Value.(*ast.SequenceNode); ok && p.Key.String() == "collections" {
			for _, v := range seq.Values {
				lines = append(lines, line(v))
			}
		}
	}
	return lines
}

func line(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return line(m.Values[0].Key)
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return line(m.Key)
	}
	return n.GetToken().Position.Line
}

// yamlErrorLine and yamlErrorText take the library's error apart. Its own text shows
// the source, which takes forever where a line is long.
func yamlErrorLine(err error) int {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		return e.GetToken().Position.Line
	}
	return 0
}

func yamlErrorText(err error) string {
	var e yaml.Error
	if errors.As(err, &e) {
		return e.GetMessage()
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
