package gitstore

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// setting is one key of a configuration file. Section and key are in lower
// case. A key without a value has "", as one with an empty value.
type setting struct {
	section, sub, key, value string
}

// name is "section.key" for a setting without a subsection, else "".
func (s *setting) name() string {
	if s.sub != "" {
		return ""
	}
	return s.section + "." + s.key
}

// parseSettings reads a git configuration file. The settings of one key are in
// the order in which they stand. Includes are settings like any other. What git
// reads but never writes itself may be refused: two settings on a line, and
// the old [section.sub].
func parseSettings(text []byte) (list []setting, err error) {
	defer func() {
		if p := recover(); p != nil {
			list, err = nil, fmt.Errorf("%v", p)
		}
	}()
	file := config.New()
	if err := config.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).Decode(file); err != nil {
		return nil, err
	}
	for _, section := range file.Sections {
		name := strings.ToLower(section.Name)
		list = addOptions(list, name, "", section.Options)
		for _, sub := range section.Subsections {
			list = addOptions(list, name, sub.Name, sub.Options)
		}
	}
	return list, nil
}

func addOptions(list []setting, section, sub string, options config.Options) []setting {
	for _, o := range options {
		list = append(list, setting{section, sub, strings.ToLower(o.Key), o.Value})
	}
	return list
}
