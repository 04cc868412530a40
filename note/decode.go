package note

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrBinary is returned by [Decode] for bytes that are no text.
var ErrBinary = errors.New("binary data")

var (
	bomUTF8  = []byte("\xef\xbb\xbf")
	bomUTF16 = [...]struct {
		bom   string
		order binary.ByteOrder
	}{{"\xff\xfe", binary.LittleEndian}, {"\xfe\xff", binary.BigEndian}}
)

// Decode returns src as UTF-8 without a byte order mark and with "\n" for
// every "\r\n". UTF-16 is recognised by its byte order mark; bytes that are not
// UTF-8 become U+FFFD. Bytes with a NUL are [ErrBinary]. Decode returns src
// itself when nothing changes, which is so for everything it returns.
func Decode(src []byte) (text []byte, err error) {
	text, _, err = decode(src)
	return text, err
}

// decode is Decode; bad is the offset in text of the first replaced byte, or -1.
func decode(src []byte) (text []byte, bad int, err error) {
	text = src
	for _, enc := range bomUTF16 {
		if bytes.HasPrefix(src, []byte(enc.bom)) {
			text = decodeUTF16(src[len(enc.bom):], enc.order)
		}
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, -1, ErrBinary
	}
	for bytes.HasPrefix(text, bomUTF8) {
		text = text[len(bomUTF8):]
	}
	text = unixLines(text)
	if utf8.Valid(text) {
		return text, -1, nil
	}
	bad = firstInvalid(text)
	return bytes.ToValidUTF8(text, []byte("\uFFFD")), bad, nil
}

func decodeUTF16(src []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(src)/2)
	for i := range units {
		units[i] = order.Uint16(src[2*i:])
	}
	text := make([]byte, 0, len(src))
	for _, r := range utf16.Decode(units) {
		text = utf8.AppendRune(text, r)
	}
	if len(src)%2 != 0 {
		text = utf8.AppendRune(text, utf8.RuneError)
	}
	return text
}

// unixLines drops the carriage returns before a line feed. A lone carriage
// return stays: git and editors see no line end in it.
func unixLines(text []byte) []byte {
	if !bytes.Contains(text, []byte("\r\n")) {
		return text
	}
	out := make([]byte, 0, len(text))
	for {
		i := bytes.Index(text, []byte("\r\n"))
		if i < 0 {
			return append(out, text...)
		}
		out = append(append(out, bytes.TrimRight(text[:i], "\r")...), '\n')
		text = text[i+2:]
	}
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
