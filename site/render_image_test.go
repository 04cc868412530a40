package site

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"testing"
)

func TestImageSize(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	webp := func(s string) string {
		data, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, tt := range []struct {
		name, data    string
		width, height int
	}{
		{"png", b.String(), 7, 5},
		{"cut", b.String()[:12], 0, 0},
		{"webp", webp("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"), 1, 1},
		{"lossless webp", webp("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="), 1, 1},
		{"extended webp", "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x3f\x01\x00\xef\x00\x00", 320, 240},
		{"svg", `<?xml version="1.0"?><svg xmlns="x" width="30px" height="20.4">`, 30, 20},
		{"view box", `<svg viewBox="0 0 64 32" width="100%">`, 64, 32},
		{"nothing", "", 0, 0},
		{"huge svg", `<svg width="1e30" height="5">`, 0, 0},
		{"html", "<p>", 0, 0},
	} {
		if w, h := imageSize([]byte(tt.data)); w != tt.width || h != tt.height {
			t.Errorf("%s: %dx%d, want %dx%d", tt.name, w, h, tt.width, tt.height)
		}
	}
}
