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

// What has an id in raw HTML can be linked to, whatever becomes of its element.
func TestRawIDs(t *testing.T) {
	for src, want := range map[string]string{
		"<a id=\"x\">\n<a id=\"y\"></a>\n":                  "<span id=\"user:x\">\n<span id=\"user:y\"></span>\n</span>",
		"a <a id=\"x\">b [c](d.md)\n":                       `<p>a <span id="user:x">b <a href="d.md">c</a></span></p>`,
		"[b <a id=\"x\">c</a>](d.md)\n":                     `<p><a href="d.md">b <span id="user:x">c</span></a></p>`,
		"[b <a id=\"x\" href=\"e.md\">c](d.md)":             `<p><a href="d.md">b <span id="user:x"></span>c</a></p>`,
		"a <a id=\"x\" name=\"y\">b</a>\n":                  `<p>a <span id="user:x"><span id="user:y"></span>b</span></p>`,
		"a <a href=\"javascript:x\" id=\"x\">b":             `<p>a <span id="user:x" class="broken">b</span></p>`,
		"a <img src=\"\" id=\"x\" alt=\"b\">":               `<p>a <span id="user:x"></span><span class="broken">b</span></p>`,
		"a <input id=\"x\"> b":                              `<p>a <span id="user:x"></span> b</p>`,
		"<script id=\"x\"></script>":                        `<span id="user:x"></span>`,
		"<table><form id=\"x\"><tr><td>a</td></tr></table>": `<table><tbody><tr><td>a</td></tr></tbody></table><span id="user:x"></span>`,
	} {
		n, text := Parse([]byte(src))
		o := testOptions()
		o.Link = func(l Link) Href {
			if strings.HasSuffix(l.Target, ".md") {
				return Href{URL: l.Target}
			}
			return Href{}
		}
		if got, _ := HTML(n, text, o); strings.TrimSpace(string(got)) != want {
			t.Errorf("%q\n got %q\nwant %q", src, got, want)
		}
	}
}
