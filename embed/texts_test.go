package embed

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

func TestTexts(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"title and headings", "---\ntitle: Retries\n---\nIntro.\n" + strings.Repeat("More words here. ", 20) + "\n\n# Setup\n\n## Linux\n\nRun it.\n",
			"Retries\n\nIntro.\n" + strings.TrimSpace(strings.Repeat("More words here. ", 20)) + "|Retries > Setup\n\n# Setup\n\n## Linux\n\nRun it."},
		{"a heading that is the title", "# Retries\n\nBack off.\n", "Retries\n\n# Retries\n\nBack off."},
		{"no title", "Just text.\n", "Just text."},
		{"links and comments", "See [the guide](https://example.org/long/address?q=1), [[retry|that]] <!-- not this --> and %%nor this%% <https://a.example>.\n",
			"See the guide, that  and  https://a.example."},
		{"an embed and a link in brackets", "![[picture.png]] [a [b] c](x.md)\n", "picture.png a [b] c"},
		{"nothing", "---\ntitle: Empty\n---\n", ""},
	} {
		n, text := note.Parse([]byte(c.src))
		if got := strings.Join(Texts(n, text), "|"); got != c.want {
			t.Errorf("%s:\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// Whatever the note, its texts can be made, one a chunk.
func FuzzTexts(f *testing.F) {
	f.Add("# a\n[x](y) <!-- [z](w) --> [[q|<!-- -->]]\n")
	f.Add("![[a]]%%b [c](d) %% <b title='[e](f)'>\n")
	f.Fuzz(func(t *testing.T, src string) {
		n, text := note.Parse([]byte(src))
		if got := Texts(n, text); len(got) != len(n.Chunks) {
			t.Errorf("%d texts of %d chunks", len(got), len(n.Chunks))
		}
	})
}
