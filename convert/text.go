package convert

import (
	"context"
	"fmt"
	"io"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// decodeText is bytes as UTF-8. A byte order mark decides; else UTF-8 that is
// valid is that, whatever is stated; else the stated charset, that of a meta
// element, or windows-1252.
func decodeText(b []byte, mediaType string) string {
	if utf8.Valid(b) && !stateful(mediaType) {
		return strings.TrimPrefix(string(b), "\ufeff")
	}
	enc, _, _ := charset.DetermineEncoding(b[:min(len(b), 1024)], mediaType)
	out, err := io.ReadAll(enc.NewDecoder().Reader(strings.NewReader(string(b))))
	if err != nil {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	return strings.TrimPrefix(string(out), "\ufeff")
}

// stateful reports whether the stated charset writes its text with bytes that are
// valid UTF-8 and mean something else.
func stateful(mediaType string) bool {
	_, params, err := mime.ParseMediaType(mediaType)
	name := strings.ToLower(params["charset"])
	return err == nil && (strings.HasPrefix(name, "iso-2022") || strings.HasPrefix(name, "hz-gb") || strings.HasPrefix(name, "utf-16"))
}

// convertMarkdown leaves a Markdown file as it is, with its frontmatter.
func convertMarkdown(_ context.Context, s *sniffed) ([]Doc, error) {
	return []Doc{{Body: s.text}}, nil
}

// convertText makes Markdown that shows text as it is: paragraphs stay, what
// Markdown would take for markup is escaped. Text that is laid out with spaces,
// and source code, are put between fences.
func convertText(_ context.Context, s *sniffed) ([]Doc, error) {
	text := strings.ReplaceAll(s.text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\f", "\n\n")
	if lang, ok := languages[s.ext]; ok {
		return []Doc{{Title: s.Name, Body: fenced(text, lang)}}, nil
	}
	if laidOut(text) {
		return []Doc{{Title: titleOfText(text), Body: fenced(text, "")}}, nil
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(escapeLine(strings.TrimRight(line, " \t\r\n")) + "\n")
	}
	return []Doc{{Title: titleOfText(text), Body: b.String()}}, nil
}

// languages are the source files that are shown as code.
var languages = map[string]string{
	".go": "go", ".py": "python", ".js": "js", ".ts": "ts", ".rs": "rust", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp",
	".java": "java", ".sh": "sh", ".rb": "ruby", ".sql": "sql", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".xml": "xml", ".css": "css", ".log": "",
}

// laidOut reports whether a text means its spaces: a fifth of its lines has runs of
// them inside, or begins with four.
func laidOut(text string) bool {
	lines, spaced := 0, 0
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); line == "" {
			continue
		}
		lines++
		if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.Contains(strings.TrimLeft(line, " "), "   ") {
			spaced++
		}
	}
	return spaced*5 > lines
}

// titleOfText is the first line, if it is short and alone enough to be a title.
func titleOfText(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			if utf8.RuneCountInString(line) <= 80 {
				return line
			}
			return ""
		}
	}
	return ""
}

var listMark = regexp.MustCompile(`^[.)](\s|$)`)

// escapeLine makes Markdown show a line as it is written.
func escapeLine(line string) string {
	body := strings.TrimLeft(line, " \t")
	if body == "" {
		return ""
	}
	body = escapeInline(body)
	switch c := body[0]; {
	case strings.IndexByte(">+-=~|#", c) >= 0:
		body = `\` + body
	case c >= '0' && c <= '9':
		digits := strings.TrimLeft(body, "0123456789")
		if n := len(body) - len(digits); n < 10 && listMark.MatchString(digits) {
			body = body[:n] + `\` + digits
		}
	}
	return body
}

// inlineMarkup is what may be markup within a line, in a vault: a backslash before
// punctuation, emphasis at a word's end, code, links, HTML, formulas, tags, and
// the marks of pairs.
var inlineMarkup = regexp.MustCompile("\\\\[!-/:-@[-`{-~]|[*`$]|\\[\\[|\\[\\^|\\]\\(|<[A-Za-z/!?]|\\b_\\B|\\B_\\b|~~|==|%%")

// escapeInline escapes what is markup anywhere in a line. A URL stays as it is.
func escapeInline(s string) string {
	words := strings.SplitAfter(s, " ")
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "http://"), strings.HasPrefix(w, "https://"):
		case strings.HasPrefix(w, "#") && len(w) > 1 && w[1] != '#':
			words[i] = `\` + escapeWord(w)
		default:
			words[i] = escapeWord(w)
		}
	}
	return strings.Join(words, "")
}

func escapeWord(w string) string {
	if !strings.ContainsAny(w, "\\*`$[]<_~=%") {
		return w
	}
	return inlineMarkup.ReplaceAllStringFunc(w, func(m string) string {
		if m == "](" {
			return `]\(`
		}
		return `\` + m
	})
}

// fenced puts text between fences that it cannot close.
func fenced(text, language string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}
