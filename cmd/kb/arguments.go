package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"kb/vault"
)

// argumentOf makes of a flag's value what the operation takes.
func argumentOf(p vault.Param, value any) (any, error) {
	switch x := value.(type) {
	case *string:
		if p.File {
			return filepath.Abs(*x) // the owner may run elsewhere
		}
		return *x, checkUTF8(p, *x)
	case []string:
		if p.Type.Kind() == reflect.String {
			return strings.Join(x, " "), checkUTF8(p, x...)
		}
		return x, checkUTF8(p, x...)
	case map[string]string:
		return object(p, x)
	}
	return value, nil
}

// object makes an object of KEY=VALUE pairs. Where values may be of any type,
// one that is JSON is what it says: 5, true, null, ["a"].
func object(p vault.Param, pairs map[string]string) (any, error) {
	out := map[string]any{}
	for key, text := range pairs {
		if err := checkUTF8(p, key, text); err != nil {
			return nil, err
		}
		out[key] = text
		if p.Type.Elem().Kind() == reflect.Interface && json.Valid([]byte(text)) {
			out[key] = json.RawMessage(text)
		}
	}
	return out, nil
}

func checkUTF8(p vault.Param, texts ...string) error {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return &vault.Error{Code: vault.Usage, Message: flagName(p) + " is not UTF-8"}
		}
	}
	return nil
}

// mostStdin is how much is read from standard input: more than any note may have.
const mostStdin = 15 << 20

// arguments are those of a command line, with "-" as what stands on standard
// input where a parameter takes that.
func (c *cli) arguments(cmd *opCommand) (json.RawMessage, error) {
	raw, err := cmd.arguments()
	if err != nil {
		return nil, err
	}
	args := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, err
	}
	from := ""
	for _, p := range cmd.params {
		if !p.Stdin || string(args[p.Name]) != `"-"` {
			continue
		}
		if from != "" {
			return nil, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("%s and %s are both -", from, flagName(p)), Hint: "standard input is read once"}
		}
		from = flagName(p)
		text, err := c.stdin(p)
		if err != nil {
			return nil, err
		}
		if args[p.Name], err = json.Marshal(text); err != nil {
			return nil, err
		}
	}
	if from == "" {
		return raw, nil
	}
	return json.Marshal(args)
}

func (c *cli) stdin(p vault.Param) (string, error) {
	text, err := io.ReadAll(io.LimitReader(c.in, mostStdin+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", err)
	case len(text) > mostStdin:
		return "", &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("%s has more than %d MB", flagName(p), mostStdin>>20), Hint: "a note is one subject: split it"}
	}
	return string(text), checkUTF8(p, string(text))
}
