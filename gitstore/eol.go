package gitstore

import (
	"bytes"
	"path/filepath"
	"strings"

	"kb/note"
)

// eolMode is what git would do to a file's line ends on the way in.
type eolMode uint8

const (
	eolNone eolMode = iota
	eolText         // CRLF becomes LF
	eolAuto         // the same if it looks like text, unless it was committed with CRLF
)

// eolFact is what is known of a hashed file with regard to line ends. It tells
// whether the hash holds under another mode too.
type eolFact uint8

const (
	eolPlain     eolFact = iota // has no CRLF: the mode does not matter
	eolConverted                // hashed with LF
	eolRaw                      // hashed as it is, with CRLF
	eolBinary                   // hashed as it is, with CRLF; does not look like text
	eolForced                   // hashed with LF though it does not look like text
)

// holds reports whether a cached hash is what mode would give. tracked is the
// committed blob, zero if there is none.
func (f eolFact) holds(mode eolMode, hash, tracked note.ID) bool {
	switch {
	case f == eolPlain:
		return true
	case mode == eolNone:
		return f == eolRaw || f == eolBinary
	case mode == eolText:
		return f == eolConverted || f == eolForced
	case f == eolConverted:
		// A committed blob equal to the converted file has no CRLF.
		return tracked.IsZero() || tracked == hash
	}
	return f == eolBinary || f == eolRaw && tracked == hash
}

// toGit converts a file's bytes as `git add` would, for the modes known here.
func (r *Repo) toGit(src []byte, mode eolMode, tracked note.ID) ([]byte, eolFact) {
	switch {
	case !bytes.Contains(src, crlf):
		return src, eolPlain
	case mode == eolNone:
		return src, eolRaw
	case mode == eolAuto && looksBinary(src):
		return src, eolBinary
	case mode == eolAuto && r.committedCRLF(tracked):
		return src, eolRaw
	}
	fact := eolConverted
	if looksBinary(src) {
		fact = eolForced
	}
	return bytes.ReplaceAll(src, crlf, []byte("\n")), fact
}

var crlf = []byte("\r\n")

// committedCRLF reports whether a blob is text with CRLF, which git then leaves
// alone under text=auto.
func (r *Repo) committedCRLF(id note.ID) bool {
	if id.IsZero() {
		return false
	}
	o, err := r.objectOf(kindBlob, oid(id))
	return err == nil && bytes.Contains(o.data, crlf) && !looksBinary(o.data)
}

// looksBinary applies git's rule: a NUL, a CR without LF, or more than one in
// 128 characters that do not print.
func looksBinary(src []byte) bool {
	printable, other := 0, 0
	for i, c := range src {
		switch {
		case c == 0 || c == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			return true
		case c == '\r' || c == '\n':
		case c == 0x7f || c < ' ' && c != '\b' && c != '\t' && c != 0x1b && c != '\f':
			other++
		default:
			printable++
		}
	}
	if len(src) > 0 && src[len(src)-1] == 0x1a { // DOS end of file
		other--
	}
	return printable>>7 < other
}

// attrRule is a line of a .gitattributes file: what it says about text, eol and
// merge.
type attrRule struct {
	pattern
	text string // "set", "unset", "auto", "unspecified"; "" when not mentioned
	eol  string // "lf", "crlf", "unspecified"; "" when not mentioned

	merge string // "set", "unset", "unspecified", the name of a driver; "" when not mentioned
}

// attributes decide how files are converted. Rules further back bind more.
type attributes struct {
	rules    []attrRule
	info     []attrRule // of info/attributes, which bind most
	autoCRLF bool       // core.autocrlf is true or input
}

func (r *Repo) attributes() attributes {
	a := attributes{autoCRLF: r.config.autoCRLF == "input" || r.config.autoCRLF != "" && isTrue(r.config.autoCRLF)}
	if b, err := readSmall(r.config.attrsFile); err == nil {
		a.rules = parseAttributes("", string(b))
	}
	if b, err := readSmall(filepath.Join(r.commonDir, "info", "attributes")); err == nil {
		a.info = parseAttributes("", string(b))
	}
	return a
}

// with returns the attributes with a directory's own added.
func (a attributes) with(rules []attrRule) attributes {
	a.rules = append(a.rules[:len(a.rules):len(a.rules)], rules...)
	return a
}

// mode decides how a path, from the repository's root, is converted.
func (a *attributes) mode(path string) eolMode {
	var text, eol string
	for _, rules := range [...][]attrRule{a.info, a.rules} {
		for i := len(rules) - 1; i >= 0 && (text == "" || eol == ""); i-- {
			r := &rules[i]
			if (r.text == "" || text != "") && (r.eol == "" || eol != "") || !r.match(path, false) {
				continue
			}
			if text == "" {
				text = r.text
			}
			if eol == "" {
				eol = r.eol
			}
		}
	}
	hasEOL := eol == "lf" || eol == "crlf"
	switch {
	case text == "unset":
		return eolNone
	case text == "auto":
		return eolAuto
	case text == "set" || hasEOL:
		return eolText
	case a.autoCRLF:
		return eolAuto
	}
	return eolNone
}

// mergeDriver returns how a path, from the repository's root, is merged; "" when
// nothing is said.
func (a *attributes) mergeDriver(path string) string {
	for _, rules := range [...][]attrRule{a.info, a.rules} {
		for i := len(rules) - 1; i >= 0; i-- {
			if r := &rules[i]; r.merge != "" && r.match(path, false) {
				return r.merge
			}
		}
	}
	return ""
}

// parseAttributes reads what an attributes file says about text, eol and merge.
// Macros other than binary are not expanded; filters are not run.
func parseAttributes(base, source string) []attrRule {
	var rules []attrRule
	for line := range strings.SplitSeq(strings.TrimPrefix(source, "\ufeff"), "\n") {
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '#' || line[0] == '!' || strings.HasPrefix(line, "[attr]") {
			continue
		}
		text, values := cutPattern(line)
		r := attrRule{pattern: newPattern(base, text)}
		for _, v := range strings.Fields(values) {
			r.set(v)
		}
		if (r.pattern.text != "") && (r.text != "" || r.eol != "" || r.merge != "") {
			rules = append(rules, r)
		}
	}
	return rules
}

// cutPattern splits a line after its pattern, which may be quoted.
func cutPattern(line string) (pat, rest string) {
	if line[0] == '"' {
		if end := strings.IndexByte(line[1:], '"'); end >= 0 {
			return line[1 : 1+end], line[end+2:]
		}
	}
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], line[i:]
	}
	return line, ""
}

func (r *attrRule) set(value string) {
	if driver, ok := strings.CutPrefix(value, "merge="); ok {
		r.merge = driver
		return
	}
	switch value {
	case "text":
		r.text = "set"
	case "-text":
		r.text = "unset"
	case "binary":
		r.text, r.merge = "unset", "unset"
	case "merge":
		r.merge = "set"
	case "-merge":
		r.merge = "unset"
	case "!merge":
		r.merge = "unspecified"
	case "!text":
		r.text = "unspecified"
	case "text=auto":
		r.text = "auto"
	case "eol=lf", "eol=crlf":
		r.eol = value[len("eol="):]
	case "-eol", "!eol":
		r.eol = "unspecified"
	}
}
