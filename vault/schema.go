package vault

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Schema is the part of JSON Schema 2020-12 that the operations need. It has no
// unions: several hosts refuse them.
type Schema struct {
	Type                 string             `json:"type,omitempty"`
	Description          string             `json:"description,omitempty"`
	Properties           map[string]*Schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	Items                *Schema            `json:"items,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Default              json.RawMessage    `json:"default,omitempty"`
	Maximum              *float64           `json:"maximum,omitempty"`
	AdditionalProperties *bool              `json:"additionalProperties,omitempty"`
}

// InputSchema describes the arguments of o, as far as a model needs to know to
// write a call: what it gets wrong, Decode tells it.
func (o *Op) InputSchema() *Schema {
	closed := false
	s := &Schema{Type: "object", Properties: map[string]*Schema{}, AdditionalProperties: &closed}
	for _, p := range o.paramsFor(Agent) {
		s.Properties[p.Name] = p.schema()
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

func (p Param) schema() *Schema {
	s := typeSchema(p.Type)
	s.Description, s.Enum = p.Help, p.Enum
	if p.Default != "" {
		s.Default = json.RawMessage(p.Default)
		if p.Type.Kind() == reflect.String {
			s.Default, _ = json.Marshal(p.Default)
		}
	}
	s.Maximum = bound(p.Max)
	return s
}

func bound(s string) *float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil
	}
	return &f
}

// OutputSchema names the fields at the root of o's result, but for those tagged
// schema:"-", which few readers need; what is below them is an object or a list
// of objects.
func (o *Op) OutputSchema() *Schema {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}}
	for _, f := range reflect.VisibleFields(o.result) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" || f.Tag.Get("schema") == "-" {
			continue
		}
		s.Properties[name] = typeSchema(f.Type)
	}
	return s
}

func typeSchema(t reflect.Type) *Schema {
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.Slice, reflect.Array:
		return &Schema{Type: "array", Items: typeSchema(t.Elem())}
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &Schema{Type: "integer"}
	case reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Interface:
		return &Schema{}
	}
	return &Schema{Type: "object"}
}
