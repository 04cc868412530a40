package note

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// testOptions resolve links to a few names.
func testOptions() HTMLOptions {
	return HTMLOptions{
		Link: func(l Link) Href {
			switch {
			case hasScheme(l.Target):
				return Href{URL: fullURL(l), Class: "external", External: true}
			case l.Target == "" && l.Fragment == "Callouts":
				return Href{URL: "#" + l.Fragment}
			case l.Target == "Note":
				return Href{URL: "note.html#" + Slug(l.Fragment)}
			case l.Target == "image.png":
				return Href{URL: "image.png", Width: 600, Height: 400}
			case l.Target == "" || strings.HasPrefix(strings.ToLower(l.Target), "gone"):
				return Href{}
			}
			return Href{URL: l.Target}
		},
		Embed: func(l Link) ([]byte, bool) {
			return []byte("<div class=\"embed\"><p>embedded " + Slug(l.Target) + "</p></div>"), l.Target == "Note"
		},
		Tag: func(tag string) string { return "tags/" + tag + ".html" },
		Math: func(tex string, display bool) ([]byte, bool) {
			return []byte("<math><mi>m</mi></math>"), !strings.Contains(tex, "bad")
		},
		Sanitize: func(b []byte) []byte { return b },
	}
}

func fullURL(l Link) string {
	if l.Fragment != "" {
		return l.Target + "#" + l.Fragment
	}
	return l.Target
}

func TestHTMLGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/html/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, text := Parse(src)
		got, _ := HTML(n, text, testOptions())
		golden := strings.TrimSuffix(file, ".md") + ".html"
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
