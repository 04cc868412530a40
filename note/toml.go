package note

import (
	"errors"
	"fmt"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// readTOML reads a TOML document. Dates become text.
func readTOML(inner []byte, line int) (fields []Field, problems []Problem) {
	if p := outsize(inner, line); p != nil {
		return nil, []Problem{*p}
	}
	values := map[string]any{}
	if err := toml.Unmarshal(inner, &values); err != nil {
		return nil, []Problem{*tomlProblem(err, line)}
	}
	for _, k := range tomlKeys(inner) {
		if v, ok := values[k.name]; ok {
			fields = append(fields, Field{Key: k.name, Value: tomlValue(v), Line: line + LineAt(inner, k.offset) - 1})
			delete(values, k.name)
		}
	}
	return fields, nil
}

func tomlProblem(err error, line int) *Problem {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, _ := decode.Position()
		line += row - 1
	}
	return malformed(line, "frontmatter is not valid TOML: %v", err)
}

type tomlKey struct {
	name   string
	offset int
}

// tomlKeys returns the first part of each key and table name, in source order.
func tomlKeys(inner []byte) (keys []tomlKey) {
	var p unstable.Parser
	p.Reset(inner)
	inTable := false
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			inTable = true
		} else if inTable {
			continue
		}
		if k := e.Key(); k.Next() {
			keys = append(keys, tomlKey{string(k.Node().Data), int(k.Node().Raw.Offset)})
		}
	}
	return keys
}

func tomlValue(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = tomlValue(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = tomlValue(v[k])
		}
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer: // the library's local dates and times
		return v.String()
	}
	return v
}
