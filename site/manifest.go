package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/note"
)

// Manifest is what manifest.json says of a site. It is written last: a site
// whose manifest names other bytes than there are was not finished.
type Manifest struct {
	Generator string            `json:"generator"`
	Commit    string            `json:"commit"`
	BaseURL   string            `json:"base_url,omitempty"` // where the site is served, with a slash at its end
	Recipes   []string          `json:"recipes"`
	Files     map[string]string `json:"files"` // SHA-256 in hexadecimal, by path
}

// manifest is that of the set's site, but for its files.
func (s *Set) manifest() Manifest {
	return Manifest{Commit: s.Commit.ID, BaseURL: s.base(), Recipes: append([]string{Recipe, note.Recipe}, s.Recipes...)}
}

// filesBegin is where the files begin in a manifest as write makes it: they are
// most of it, and reading them as JSON in general takes ten times as long.
const (
	filesBegin  = "\n \"files\": {\n"
	filesEnd    = " }\n}\n"
	filesIndent = "  "
)

// readManifest reads manifest.json, and calls file with each file and its sum.
func readManifest(raw []byte, file func(name, sum string)) (m Manifest, err error) {
	head, files, quick := strings.Cut(string(raw), filesBegin)
	if quick && json.Unmarshal([]byte(head+` "files": {}}`), &m) == nil && readStrings(files, file) == nil {
		return m, nil
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, err
	}
	for name, sum := range m.Files {
		file(name, sum)
	}
	return m, nil
}

// text is manifest.json with the sums of the files of those names, which take the
// place of m.Files.
func (m Manifest) text(names []string, sum func(name string) string) ([]byte, error) {
	head, err := m.head()
	if err != nil {
		return nil, err
	}
	return append(appendStrings(append(head, filesBegin...), filesIndent, names, sum), filesEnd...), nil
}

// head is what stands before the files.
func (m Manifest) head() ([]byte, error) {
	m.Files = map[string]string{}
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return nil, err
	}
	head, ok := bytes.CutSuffix(raw, []byte("\n \"files\": {}\n}"))
	if !ok {
		return nil, fmt.Errorf("manifest: unexpected end of %q", raw)
	}
	return slices.Clip(head), nil
}

// appendStrings appends the members of a JSON object of strings, a line each.
func appendStrings(out []byte, indent string, names []string, value func(name string) string) []byte {
	out = slices.Grow(out, 128*len(names))
	for i, name := range names {
		if i > 0 {
			out = append(out, ",\n"...)
		}
		out = appendQuoted(append(out, indent...), name)
		out = appendQuoted(append(out, ": "...), value(name))
	}
	if len(names) > 0 {
		out = append(out, '\n')
	}
	return out
}

// appendQuoted appends a string as JSON has it.
func appendQuoted(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			raw, _ := json.Marshal(s) // of a string: never an error
			return append(out, raw...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

var errLines = errors.New("not a list of strings, a line each")

// readStrings reads what appendStrings made, up to a closing brace.
func readStrings(s string, fn func(name, value string)) error {
	for line := range strings.Lines(s) {
		line = strings.Trim(line, " ,\n")
		if line == "}" {
			return nil
		}
		name, value, ok := strings.Cut(line, `": "`)
		if !ok || len(name) < 2 || name[0] != '"' || !strings.HasSuffix(value, `"`) {
			return errLines
		}
		name, value = name[1:], value[:len(value)-1]
		if strings.ContainsAny(line, `\`) {
			if json.Unmarshal([]byte(`"`+name+`"`), &name) != nil || json.Unmarshal([]byte(`"`+value+`"`), &value) != nil {
				return errLines
			}
		}
		fn(name, value)
	}
	return errLines
}
