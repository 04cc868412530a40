package site

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A site with a diagram has what draws it, as long as it has one; what draws it
// may run no script but the site's.
func TestDiagrams(t *testing.T) {
	drawing := func(files map[string]string) (names []string) {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasPrefix(name, "kb/mermaid") || strings.HasPrefix(name, "kb/diagram") || strings.HasPrefix(name, "kb/frame") {
				names = append(names, name)
			}
		}
		return names
	}
	out := filepath.Join(t.TempDir(), "out")
	with := vaultOf("a.md", "# A\n", "b.md", "```mermaid\ngraph TD; A-->B\n```\n", "c.md", "![[b]]\n")
	files := made(t, with, out)
	if got := drawing(files); len(got) != 4 {
		t.Fatalf("with a diagram, the site has %v", got)
	}
	for _, name := range []string{"b.html", "c.html"} {
		if !strings.Contains(files[name], `<pre class="mermaid" tabindex="0">graph TD; A--&gt;B`) {
			t.Errorf("%s lacks the source of the diagram:\n%s", name, files[name])
		}
	}
	frame := files["kb/diagram.html"]
	if !strings.Contains(frame, "default-src &#39;none&#39;; script-src &#39;self&#39;; style-src &#39;unsafe-inline&#39;; img-src data:;") {
		t.Errorf("the frame's policy is another:\n%s", frame)
	}
	for _, src := range []string{"mermaid.", "frame."} {
		if !strings.Contains(frame, `<script src="`+src) {
			t.Errorf("the frame does not load %s:\n%s", src, frame)
		}
	}
	if !strings.Contains(files["kb/diagram-licenses.txt"], "dompurify") {
		t.Error("the licences do not name what is bundled")
	}
	if again := drawing(made(t, with, out)); len(again) != 4 {
		t.Errorf("built again, the site has %v", again)
	}
	if without := drawing(made(t, vaultOf("a.md", "# A\n"), out)); len(without) != 0 {
		t.Errorf("without a diagram, the site has %v", without)
	}
}
