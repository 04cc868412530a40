package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode turns a JSON object of arguments into a pointer to o's parameter
// struct, with defaults filled in. An argument that does not fit is a usage
// error that says what would. What agents commonly write is understood: one
// string for a list of one, a number or a boolean in quotes.
//
// An agent may not give what only the command line takes: it is an unknown
// argument to it.
func (o *Op) Decode(args json.RawMessage, a Audience) (any, error) {
	if o.Writes && !utf8.Valid(args) {
		return nil, errorf(Usage, "%s: an argument is not UTF-8", o.called()).hint("notes are text in UTF-8")
	}
	out := reflect.New(o.params)
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(args)) > 0 {
		if err := json.Unmarshal(args, &given); err != nil {
			return nil, errorf(Usage, "%s: arguments are not a JSON object: %w", o.called(), err)
		}
	}
	params := o.paramsFor(a)
	for _, p := range params {
		raw, err := take(given, p)
		if err != nil {
			return nil, errorf(Usage, "%s: %w", o.called(), err)
		}
		if raw == nil && p.Default != "" {
			raw = json.RawMessage(p.Default)
			if !json.Valid(raw) {
				raw, _ = json.Marshal(p.Default)
			}
		}
		if raw == nil {
			if p.Required {
				return nil, errorf(Usage, "%s: %s is required", o.called(), p.Name).hint("%s: %s", p.Name, p.Help)
			}
			continue
		}
		if err := p.set(out.Elem().FieldByIndex(p.index), raw); err != nil {
			err.Message = o.called() + ": " + err.Message
			return nil, err
		}
	}
	for name := range given {
		return nil, unknownArgument(o, params, slices.Min(keys(given, name)))
	}
	return out.Interface(), nil
}

// called is the name of o to whoever calls it.
func (o *Op) called() string {
	if o.People {
		return o.Command()
	}
	return o.Name
}

// take removes p's argument from given, under its name or another accepted one.
func take(given map[string]json.RawMessage, p Param) (json.RawMessage, error) {
	var found json.RawMessage
	for _, name := range append([]string{p.Name}, p.Also...) {
		raw, ok := given[name]
		delete(given, name)
		if !ok || string(raw) == "null" {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s and %s are the same argument: give one", p.Name, name)
		}
		found = raw
	}
	return found, nil
}

func keys(m map[string]json.RawMessage, first string) []string {
	names := []string{first}
	for name := range m {
		names = append(names, name)
	}
	return names
}

func unknownArgument(o *Op, params []Param, name string) *Error {
	var accepted []string
	for _, p := range params {
		accepted = append(accepted, p.Name)
	}
	err := errorf(Usage, "%s: unknown argument %q", o.called(), name)
	if near := nearest(name, accepted, 1); len(near) > 0 {
		return err.hint("did you mean %s? accepted: %s", near[0], strings.Join(accepted, ", "))
	}
	if len(accepted) == 0 {
		return err.hint("%s takes no arguments", o.called())
	}
	return err.hint("accepted: %s", strings.Join(accepted, ", "))
}

func (p Param) set(dst reflect.Value, raw json.RawMessage) *Error {
	if dst.Kind() == reflect.Pointer && string(raw) != "null" {
		value := reflect.New(p.Type.Elem())
		p.Type = p.Type.Elem()
		if err := p.set(value.Elem(), raw); err != nil {
			return err
		}
		dst.Set(value)
		return nil
	}
	raw = p.lenient(raw)
	if err := json.Unmarshal(raw, dst.Addr().Interface()); err != nil {
		return errorf(Usage, "%s: %s does not fit", p.Name, clip(string(raw), 60)).
			hint("%s is %s: %s", p.Name, p.kind(), p.Help)
	}
	switch dst.Kind() {
	case reflect.String:
		return p.checkText(dst)
	case reflect.Int, reflect.Float64:
		return p.checkRange(dst)
	}
	return nil
}

// lenient mends the forms of a value that can mean only one thing.
func (p Param) lenient(raw json.RawMessage) json.RawMessage {
	quoted := len(raw) > 0 && raw[0] == '"'
	switch p.Type.Kind() {
	case reflect.Slice:
		if quoted && p.Type.Elem().Kind() == reflect.String {
			return slices.Concat(json.RawMessage("["), raw, json.RawMessage("]"))
		}
	case reflect.Map:
		return p.lenientObject(raw)
	case reflect.Int, reflect.Float64, reflect.Bool:
		var s string
		if quoted && json.Unmarshal(raw, &s) == nil && s != "" {
			return json.RawMessage(s)
		}
	}
	return raw
}

// lenientObject takes an object in quotes for the object, and where texts are
// wanted makes texts of numbers, truth values and lists of texts.
func (p Param) lenientObject(raw json.RawMessage) json.RawMessage {
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil && json.Valid([]byte(quoted)) {
		raw = json.RawMessage(quoted)
	}
	var object map[string]json.RawMessage
	if p.Type.Elem().Kind() != reflect.String || json.Unmarshal(raw, &object) != nil {
		return raw
	}
	for key, value := range object {
		var list []string
		switch {
		case json.Unmarshal(value, &list) == nil && list != nil:
			object[key], _ = json.Marshal("- " + strings.Join(list, "\n- "))
		case len(value) > 0 && strings.ContainsRune("-0123456789tf", rune(value[0])):
			object[key], _ = json.Marshal(string(value))
		}
	}
	out, err := json.Marshal(object)
	if err != nil {
		return raw
	}
	return out
}

func (p Param) checkText(v reflect.Value) *Error {
	s := v.String()
	if p.Required && strings.TrimSpace(s) == "" {
		return errorf(Usage, "%s is empty", p.Name).hint("%s: %s", p.Name, p.Help)
	}
	if len(p.Enum) == 0 || s == "" {
		return nil
	}
	for _, e := range p.Enum {
		if strings.EqualFold(e, s) {
			v.SetString(e)
			return nil
		}
	}
	return errorf(Usage, "%s: %q", p.Name, clip(s, 60)).hint("accepted: %s", strings.Join(p.Enum, ", "))
}

func (p Param) checkRange(v reflect.Value) *Error {
	f := v.Convert(reflect.TypeFor[float64]()).Float()
	low, errLow := strconv.ParseFloat(p.Min, 64)
	high, errHigh := strconv.ParseFloat(p.Max, 64)
	if errLow == nil && f < low || errHigh == nil && f > high {
		return errorf(Usage, "%s: %v", p.Name, v.Interface()).hint("accepted: %s", p.bounds())
	}
	return nil
}

func (p Param) bounds() string {
	switch {
	case p.Min != "" && p.Max != "":
		return p.Min + " to " + p.Max
	case p.Min != "":
		return p.Min + " or more"
	}
	return "at most " + p.Max
}

// kind names the type of p as a person would.
func (p Param) kind() string {
	switch p.Type.Kind() {
	case reflect.Pointer:
		p.Type = p.Type.Elem()
		return p.kind()
	case reflect.Slice:
		return "a list of texts"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Map:
		return "an object"
	}
	return "a text"
}

// clip cuts s for a message.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
