package convert

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// sniffed is an input with what its first look tells.
type sniffed struct {
	Input
	ext   string // of the name, lower case, with its dot
	media string // the stated type, without parameters
	seen  string // the type that the bytes look like
	zip   *zip.Reader
	text  string // the decoded text, "" when the bytes are none
}

// sniff looks at the bytes. An archive is opened, text is decoded.
func sniff(in Input) (*sniffed, error) {
	s := &sniffed{Input: in, ext: strings.ToLower(path.Ext(in.Name))}
	s.media, _, _ = mime.ParseMediaType(in.MediaType)
	s.seen, _, _ = strings.Cut(http.DetectContentType(in.Data), ";")
	if len(bytes.TrimSpace(in.Data)) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrNoText)
	}
	if bytes.HasPrefix(in.Data, []byte("PK\x03\x04")) {
		r, err := zip.NewReader(bytes.NewReader(in.Data), int64(len(in.Data)))
		if err != nil {
			return nil, fmt.Errorf("%w: the archive cannot be read: %w", ErrDamaged, err)
		}
		if len(r.File) > maxEntries {
			return nil, fmt.Errorf("%w: the archive has %d entries", ErrTooLarge, len(r.File))
		}
		s.zip = r
		return s, nil
	}
	if bytes.HasPrefix(in.Data, []byte("%PDF-")) || !looksLikeText(in.Data) {
		return s, nil
	}
	s.text = decodeText(in.Data, in.MediaType)
	return s, nil
}

// looksLikeText reports whether bytes are text in some encoding: UTF-16 with its
// mark, or without the control characters that no text has.
func looksLikeText(b []byte) bool {
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return true
	}
	if utf8.Valid(b) {
		return bytes.IndexByte(b, 0) < 0
	}
	odd := 0
	for _, c := range b {
		if c == 0 {
			return false
		}
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b {
			odd++
		}
	}
	return odd*1000 <= len(b)
}

// describe says what was seen, for who is told that it is not converted.
func (s *sniffed) describe() string {
	b := s.Data
	switch {
	case bytes.HasPrefix(b, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return "an old Office file, or an encrypted one: save it as .docx without a password"
	case s.zip != nil:
		return fmt.Sprintf("a zip archive of %d files", len(s.zip.File))
	case s.seen != "application/octet-stream" && s.text == "":
		return "bytes of the type " + s.seen
	case s.text == "":
		return "binary data"
	}
	return "text of an unknown kind"
}

// has reports whether an archive has an entry.
func (s *sniffed) has(name string) bool {
	if s.zip == nil {
		return false
	}
	for _, f := range s.zip.File {
		if f.Name == name {
			return true
		}
	}
	return false
}

func isPDF(s *sniffed) bool  { return bytes.HasPrefix(s.Data, []byte("%PDF-")) }
func isDOCX(s *sniffed) bool { return s.has("word/document.xml") }
func isODT(s *sniffed) bool {
	return s.has("content.xml") && strings.HasPrefix(s.entryText("mimetype", 100), "application/vnd.oasis.opendocument.text")
}
func isEPUB(s *sniffed) bool { return s.has("META-INF/container.xml") }

// stated reports whether the name's ending or the server says a type.
func (s *sniffed) stated(exts string, media ...string) bool {
	for _, m := range media {
		if s.media == m {
			return true
		}
	}
	return s.ext != "" && strings.Contains(exts+" ", s.ext+" ")
}

func isHTML(s *sniffed) bool {
	if s.text == "" {
		return false
	}
	// What the bytes begin with counts more than what is stated, unless that is
	// Markdown, which may begin with HTML.
	if s.stated(".md .markdown .mdown .qmd .rmd", "text/markdown") {
		return false
	}
	return s.seen == "text/html" || s.stated(".html .htm .xhtml .xht", "text/html", "application/xhtml+xml")
}

func isMarkdown(s *sniffed) bool {
	return s.text != "" && s.stated(".md .markdown .mdown .mkd .qmd .rmd", "text/markdown", "text/x-markdown")
}

func isCSV(s *sniffed) bool {
	return s.text != "" && s.stated(".csv .tsv", "text/csv", "text/tab-separated-values")
}

func isText(s *sniffed) bool { return s.text != "" }
