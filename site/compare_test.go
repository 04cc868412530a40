package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page of a draft marks what it inserts and deletes, block by block and item
// by item, and leads to the published page.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	page := func(name, src string) []byte {
		return []byte(made(t, vaultOf("a.md", src), filepath.Join(dir, name))["a.html"])
	}
	before := page("before", "---\nowner: Ada\n---\n# A\n\nKept.\n\n## Old part\n\nGone.\n\n- one\n- two\n\nEnd.\n")
	after := page("after", "---\nowner: Bob\n---\n# A, better\n\nKept.\n\n- one\n- **three**\n\nNew <b>words</b>.\n\nEnd.\n")
	c := Comparison{Draft: "x", List: "/list", Published: "/a.html"}
	got, err := Compare(before, after, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<del class="edit"><h1>A`, `<ins class="edit"><h1 id="a-better">`, `<del class="edit"><details class="properties">`,
		"\n<p>Kept.</p>", `<del class="edit"><h2>Old part`, `<del class="edit"><p>Gone.</p></del>`,
		`<li>one</li>`, `<li><del class="edit">two</del></li>`, `<li><ins class="edit"><strong>three</strong></ins></li>`,
		`<ins class="edit"><p>New <b>words</b>.</p></ins>`, "\n<p>End.</p>",
		`Draft x. 4 blocks inserted, 5 deleted.`, `<a href="/list">All changes</a>`, `<a href="/a.html">As published</a>`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the comparison lacks %s:\n%s", want, got)
		}
	}
	if n := strings.Count(string(got), `<ins `); n != 4 {
		t.Errorf("%d blocks are marked as inserted", n)
	}
	if fresh, err := Compare(nil, after, c); err != nil || strings.Contains(string(fresh), "<ins") || !strings.Contains(string(fresh), "A new note.") {
		t.Errorf("a new note: %v\n%s", err, fresh)
	}
	if same, err := Compare(after, after, c); err != nil || strings.Contains(string(same), `class="edit">`+"<") || !strings.Contains(string(same), "as it was") {
		t.Errorf("an equal page: %v\n%s", err, same)
	}
	if _, err := Compare(nil, []byte("no page"), c); err == nil {
		t.Error("what is no page is compared")
	}
}

func TestPageOf(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	made(t, vaultOf(garden()...), out)
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(out, name)) }
	for path, want := range map[string]string{
		"guides/Retry Policy.md": "guides/retry-policy.html", "README.md": "index.html", "guides/retry policy.md": "", "none.md": "", "../README.md": "",
	} {
		if got := PageOf(read, "notes", path); got != want {
			t.Errorf("page of %s: %q, want %q", path, got, want)
		}
	}
}
