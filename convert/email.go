package convert

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
)

var mailHeader = regexp.MustCompile(`(?i)^(From|Received|Return-Path|Delivered-To|Message-ID|Date|Subject|To|MIME-Version|X-[A-Za-z0-9-]+|DKIM-Signature|Content-Type): `)

// isEmail reports whether bytes are a message: by name, or by what they begin with.
func isEmail(s *sniffed) bool {
	if s.stated(".eml", "message/rfc822") {
		return true
	}
	head, _, _ := strings.Cut(s.text, "\n\n")
	if before, _, ok := strings.Cut(s.text, "\r\n\r\n"); ok && len(before) < len(head) {
		head = before
	}
	return s.ext == "" && mailHeader.MatchString(s.text) && strings.Contains(head, "\nFrom: ") && strings.Contains(head, "\nDate: ")
}

// convertEmail takes a message's text: the HTML of one that has no other. Files
// that came with it are named, pictures kept.
func convertEmail(_ context.Context, s *sniffed) ([]Doc, error) {
	m, err := mail.ReadMessage(bytes.NewReader(s.Data))
	if err != nil {
		return nil, fmt.Errorf("%w: the message: %w", ErrDamaged, err)
	}
	words := &mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
	header := func(key string) string {
		text, err := words.DecodeHeader(m.Header.Get(key))
		if err != nil {
			text = m.Header.Get(key)
		}
		return oneLine(text)
	}
	d := Doc{Title: header("Subject")}
	if from := header("From"); from != "" {
		d.Authors = []string{from}
		if a, err := (&mail.AddressParser{WordDecoder: words}).Parse(m.Header.Get("From")); err == nil && a.Name != "" {
			d.Authors = []string{a.Name}
		}
	}
	if at, err := m.Header.Date(); err == nil {
		d.Created = at
	}
	w := &mailReader{htmlWriter: htmlWriter{doc: &d}, inline: map[string][]byte{}}
	if err := w.part(part{m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), "", ""}, m.Body, 0); err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, key := range []string{"From", "To", "Cc", "Date"} {
		if v := header(key); v != "" {
			fmt.Fprintf(&b, "- %s: %s\n", key, escapeInline(strings.NewReplacer("<", "(", ">", ")").Replace(v)))
		}
	}
	b.WriteString("\n")
	if err := w.text(&d); err != nil {
		return nil, err
	}
	if d.Body = b.String() + d.Body; len(w.files) > 0 {
		d.Body += "\n\nAttached: " + escapeInline(strings.Join(w.files, ", ")) + "\n"
	}
	return []Doc{d}, nil
}

// mailReader collects the parts of a message.
type mailReader struct {
	htmlWriter
	plain, html string
	inline      map[string][]byte // pictures, by content id
	files       []string
	encrypted   bool
	parts       int
}

// part is what a message says of one of its parts.
type part struct{ contentType, encoding, disposition, id string }

const (
	deepestPart = 10
	mostParts   = 200
)

// part reads a part, and those in it.
func (w *mailReader) part(p part, body io.Reader, depth int) error {
	kind, params, err := mime.ParseMediaType(p.contentType)
	if err != nil {
		kind = "text/plain"
	}
	if w.parts++; depth > deepestPart || w.parts > mostParts {
		return fmt.Errorf("%w: the message has too many parts", ErrTooLarge)
	}
	switch {
	case kind == "multipart/encrypted", strings.HasSuffix(kind, "pkcs7-mime"):
		w.encrypted = true
		return nil
	case strings.HasPrefix(kind, "multipart/"):
		return w.multi(multipart.NewReader(body, params["boundary"]), depth)
	}
	_, says, _ := mime.ParseMediaType(p.disposition)
	name := says["filename"]
	if name == "" {
		name = params["name"]
	}
	data, err := io.ReadAll(io.LimitReader(decodeTransfer(p.encoding, body), MaxInput))
	if err != nil && len(data) == 0 {
		return fmt.Errorf("%w: a part of the message: %w", ErrDamaged, err)
	}
	attached := strings.HasPrefix(p.disposition, "attachment")
	switch {
	case kind == "text/plain" && !attached && w.plain == "":
		w.plain = decodeText(data, p.contentType)
	case kind == "text/html" && !attached && w.html == "":
		w.html = decodeText(data, p.contentType)
	case strings.HasPrefix(kind, "image/") && p.id != "":
		w.inline[strings.Trim(p.id, "<>")] = data
	case name != "":
		w.files = append(w.files, oneLine(name[strings.LastIndexAny(name, `/\`)+1:]))
	}
	return nil
}

func (w *mailReader) multi(r *multipart.Reader, depth int) error {
	for {
		p, err := r.NextRawPart()
		if err != nil {
			return nil // the end, or a message that is cut off: what came counts
		}
		inner := part{p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p.Header.Get("Content-Disposition"), p.Header.Get("Content-Id")}
		if err := w.part(inner, p, depth+1); err != nil {
			return err
		}
	}
}

func decodeTransfer(encoding string, r io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, r)
	case "quoted-printable":
		return quotedprintable.NewReader(r)
	}
	return r
}

// text makes the body of the best part.
func (w *mailReader) text(d *Doc) error {
	switch {
	case strings.TrimSpace(w.plain) != "":
		var b strings.Builder
		for line := range strings.Lines(w.plain) {
			b.WriteString(mailLine(strings.TrimRight(line, " \t\r\n")) + "\n")
		}
		d.Body = b.String()
	case w.html != "":
		root, err := parseHTML(w.html)
		if err != nil {
			return err
		}
		prepare(root)
		return writeHTML(d, root, nil, func(src string) []byte {
			id, ok := strings.CutPrefix(src, "cid:")
			if !ok {
				return nil
			}
			return w.inline[id]
		})
	case w.encrypted:
		return fmt.Errorf("%w: the message", ErrEncrypted)
	}
	return nil
}

// mailLine writes a line of plain text; what it quotes stays a quote.
func mailLine(line string) string {
	quotes := ""
	for strings.HasPrefix(line, ">") {
		quotes += ">"
		line = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
	}
	if quotes == "" {
		return escapeLine(line)
	}
	return quotes + " " + escapeLine(line)
}
