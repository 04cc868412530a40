package note

import (
	"maps"
	"slices"
	"testing"
)

func TestHTMLHostile(t *testing.T) {
	for name, generate := range hostile {
		t.Run(name, func(t *testing.T) {
			checkRendered(t, []byte(generate(4_000)))
			checkRendered(t, []byte("text\n\n- "+generate(1_000)+"\n\ntext"))
		})
	}
}

func BenchmarkHTMLHostile(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		b.Run(name, func(b *testing.B) {
			n, text := Parse([]byte(hostile[name](1 << 20)))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				HTML(n, text, testOptions())
			}
		})
	}
}

// At these lengths time that grows with the square of the text is minutes.
func TestHTMLHostileLong(t *testing.T) {
	for _, name := range []string{"quotes", "brackets nested", "raw nested", "raw ids", "raw lines", "emphasis nested", "images nested", "inline footnotes nested", "footnotes then refs", "same headings"} {
		t.Run(name, func(t *testing.T) {
			n, text := Parse([]byte(hostile[name](100_000)))
			if out, _ := HTML(n, text, testOptions()); len(out) == 0 || len(out) > 50*len(text) {
				t.Errorf("%d bytes of %d", len(out), len(text))
			}
		})
	}
}
