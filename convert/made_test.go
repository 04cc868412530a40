package convert

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// archiveOf makes a zip file of one entry.
func archiveOf(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// text is a page's content that draws a text in lines of sixty letters.
func text(s string) string {
	var b strings.Builder
	b.WriteString("BT /F1 10 Tf 12 TL 72 720 Td ")
	for len(s) > 60 {
		fmt.Fprintf(&b, "(%s) Tj T* ", s[:60])
		s = s[60:]
	}
	fmt.Fprintf(&b, "(%s) Tj ET", s)
	return b.String()
}

// pdfOf makes a PDF of pages that share their content.
func pdfOf(pages int, content string) []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write([]byte(content)) // to memory
	_ = z.Close()
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String())}
	var kids []string
	for range pages {
		objects = append(objects, "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 4 0 R >>")
		kids = append(kids, fmt.Sprintf("%d 0 R", len(objects)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", pages, strings.Join(kids, " "))
	var b, xref strings.Builder
	b.WriteString("%PDF-1.4\n")
	fmt.Fprintf(&xref, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, o := range objects {
		fmt.Fprintf(&xref, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	return fmt.Appendf(nil, "%s%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", b.String(), xref.String(), len(objects)+1, b.Len())
}

// nestedMail makes a message of parts within parts.
func nestedMail(depth int) []byte {
	body := "Content-Type: text/plain\r\n\r\ntext\r\n"
	for i := range depth {
		body = fmt.Sprintf("Content-Type: multipart/mixed; boundary=\"b%d\"\r\n\r\n--b%d\r\n%s\r\n--b%d--\r\n", i, i, body, i)
	}
	return []byte("From: a@example.org\r\nDate: Tue, 04 Mar 2025 10:00:00 +0000\r\n" + body)
}
