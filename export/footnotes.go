package export

import (
	"regexp"
	"strings"
)

var (
	footnoteDef = regexp.MustCompile(`(?m)^ {0,3}\[\^([^\]\s]+)\]:`)
	fence       = regexp.MustCompile("^ {0,3}(```+|~~~+)")
)

// renameFootnotes puts a prefix before the labels of a text's footnotes, so that
// those of several notes do not meet in one document. Only labels that the text
// defines are touched, and none in fenced code.
func renameFootnotes(text, prefix string) string {
	labels := map[string]bool{}
	for _, m := range footnoteDef.FindAllStringSubmatch(text, -1) {
		labels[m[1]] = true
	}
	if len(labels) == 0 {
		return text
	}
	var pairs []string
	for l := range labels {
		pairs = append(pairs, "[^"+l+"]", "[^"+prefix+"-"+l+"]")
	}
	replace := strings.NewReplacer(pairs...) // no label is a prefix of another with its bracket
	open := ""
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open = m[1]
		case open != "":
			if m != nil && strings.HasPrefix(m[1], open) && strings.TrimSpace(line) == m[1] {
				open = ""
			}
		default:
			lines[i] = replace.Replace(line)
		}
	}
	return strings.Join(lines, "")
}
