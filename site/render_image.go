package site

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif"  // sizes of GIF,
	_ "image/jpeg" // JPEG
	_ "image/png"  // and PNG
	"regexp"
	"strconv"
	"strings"
)

// maxImageSide bounds what is believed of an image's size.
const maxImageSide = 1 << 15

// imageSize returns the size of an image in pixels, zeros if its format or size
// is not known. It reads the header only.
func imageSize(data []byte) (width, height int) {
	switch {
	case len(data) >= 30 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		width, height = webpSize(data)
	case isSVG(data):
		width, height = svgSize(data)
	default:
		if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			width, height = c.Width, c.Height
		}
	}
	if width <= 0 || height <= 0 || width > maxImageSide || height > maxImageSide {
		return 0, 0
	}
	return width, height
}

// webpSize reads the header of one of WebP's three formats.
func webpSize(data []byte) (width, height int) {
	le := binary.LittleEndian
	switch string(data[12:16]) {
	case "VP8 ":
		return int(le.Uint16(data[26:]) & 0x3fff), int(le.Uint16(data[28:]) & 0x3fff)
	case "VP8L":
		bits := le.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return int(le.Uint32(data[23:])>>8) + 1, int(le.Uint32(data[26:])>>8) + 1
	}
	return 0, 0
}

var (
	svgTag       = regexp.MustCompile(`<(?:[a-z]+:)?svg\b[^>]*>`)
	svgAttribute = regexp.MustCompile(`\s(width|height|viewBox)\s*=\s*["']([^"']*)["']`)
)

func svgHead(data []byte) []byte { return data[:min(len(data), 4<<10)] }

func isSVG(data []byte) bool {
	head := bytes.TrimLeft(svgHead(data), "\ufeff \t\r\n")
	return bytes.HasPrefix(head, []byte("<")) && svgTag.Match(head)
}

// svgSize reads width and height of a drawing, or else the sides of its view
// box.
func svgSize(data []byte) (width, height int) {
	var box []string
	for _, m := range svgAttribute.FindAllSubmatch(svgTag.Find(svgHead(data)), -1) {
		switch value := string(m[2]); string(m[1]) {
		case "width":
			width = svgPixels(value)
		case "height":
			height = svgPixels(value)
		default:
			box = strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' })
		}
	}
	if len(box) == 4 && (width == 0 || height == 0) {
		return svgPixels(box[2]), svgPixels(box[3])
	}
	return width, height
}

func svgPixels(s string) int {
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "px"), 64)
	if err != nil || !(f >= 0 && f <= maxImageSide) {
		return 0
	}
	return int(f + 0.5)
}
