package note

import (
	"archive/tar"
	"bytes"
	"cmp"
	"io"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkOnly fails if out differs from src outside src[start:end].
func checkOnly(t *testing.T, what string, src, out []byte, start, end int) {
	t.Helper()
	if len(out) < start+len(src)-end || !bytes.Equal(src[:start], out[:start]) || !bytes.HasSuffix(out, src[end:]) {
		t.Errorf("%s: bytes outside [%d,%d) changed:\n%q\n%q", what, start, end, src[:min(len(src), 2000)], out[:min(len(out), 2000)])
	}
}

// storedOffset returns where in src the line of an offset of its decoded text
// starts, found by counting lines.
func storedOffset(src []byte, line int) int {
	start, _ := Lines(src, line, 0)
	return start
}

// sampleNotes calls fn for every note of kepano, and every n-th of rust-rfcs
// and of the common pages of tldr.
func sampleNotes(t *testing.T, n int, fn func(path string, src []byte)) {
	each := func(files map[string][]byte, n int) {
		for i, p := range slices.Sorted(maps.Keys(files)) {
			if isNote(p) && i%n == 0 {
				fn(p, files[p])
			}
		}
	}
	each(vaultFiles(t, "kepano-obsidian.bundle"), 1)
	each(vaultFiles(t, "rust-rfcs.bundle"), n)
	each(tldrFiles(t), 10*n)
}

// tldrFiles returns the common pages of the tldr archive.
func tldrFiles(t *testing.T) map[string][]byte {
	t.Helper()
	if files := vaults["tldr"]; files != nil {
		return files
	}
	archive := filepath.Join(sharedData(t), "tldr.git.tar.gz")
	dir := t.TempDir()
	if out, err := exec.Command("tar", "xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	out, err := exec.Command("git", "--git-dir", filepath.Join(dir, "tldr.git"), "archive", "HEAD", "pages/common").Output()
	if err != nil {
		t.Fatalf("git archive: %v", err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := r.Next()
		if err == io.EOF {
			vaults["tldr"] = files
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if files[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestEveryPropertyOfVaults(t *testing.T) {
	edits := 0
	sampleNotes(t, 50, func(p string, src []byte) {
		n, _ := Parse(src)
		if err := n.readable(); err != nil {
			t.Errorf("%s: %v", p, err)
			return
		}
		for i, f := range n.Fields {
			start, end := storedOffset(src, f.Line), storedOffset(src, LineAt(src, n.Body))
			if i+1 < len(n.Fields) {
				end = storedOffset(src, n.Fields[i+1].Line)
			}
			for _, v := range []any{"10:30 # no", []string{"a", "no", "[[b]]"}, 1.5, nil} {
				out, err := SetFields(src, []Field{{Key: f.Key, Value: v}})
				if err != nil {
					t.Fatalf("%s: set %s: %v", p, f.Key, err)
				}
				edits++
				checkOnly(t, p+" "+f.Key, src, out, start, end)
			}
		}
		out, err := SetFields(src, []Field{{Key: "kb-new", Value: "yes"}})
		if err != nil {
			t.Fatalf("%s: add: %v", p, err)
		}
		checkOnly(t, p+": new property", src, out, 0, n.Body)
		if again, err := SetFields(out, []Field{{Key: "KB-new", Value: nil}}); err != nil || n.Body > 0 && !bytes.Equal(again, src) {
			t.Errorf("%s: adding and removing a property gives %q, %v", p, again, err)
		}
	})
	if edits < 1000 {
		t.Errorf("%d edits of properties", edits)
	}
}

func TestEverySectionOfVaults(t *testing.T) {
	const added = "New text, `$&`.\n\n```\n# no heading\n```\n\n### A new section\n\n- item"
	edits := 0
	sampleNotes(t, 50, func(p string, src []byte) {
		n, _ := Parse(src)
		for i, h := range n.Headings {
			out, err := ReplaceSection(src, cmp.Or(strings.TrimSuffix("#"+h.Slug, "#"), h.Text), added)
			if err != nil {
				t.Errorf("%s: replace #%s: %v", p, h.Slug, err)
				continue
			}
			edits++
			start, end := storedOffset(src, h.Line+1), len(src)
			for _, later := range n.Headings[i+1:] {
				if later.Level <= h.Level {
					end = storedOffset(src, later.Line)
					break
				}
			}
			checkOnly(t, p+"#"+h.Slug, src, out, start, end)
			after, text := Parse(out)
			if after.Headings[i].Text != h.Text || after.Headings[i+1].Text != "A new section" || len(after.Links) < linksOutside(n, h) || !strings.Contains(string(text)+"\n", "\n"+added+"\n") {
				t.Errorf("%s#%s: the new section reads %q", p, h.Slug, text)
			}
		}
	})
	if edits < 200 {
		t.Errorf("%d sections replaced", edits)
	}
}

// linksOutside counts the links that are not below heading h.
func linksOutside(n *Note, h Heading) (count int) {
	for _, l := range n.Links {
		if l.Line <= h.Line || l.Start >= h.End {
			count++
		}
	}
	return count
}

func TestTextAtBothEndsOfVaults(t *testing.T) {
	notes := 0
	sampleNotes(t, 50, func(p string, src []byte) {
		notes++
		n, _ := Parse(src)
		out, err := AppendText(src, "## Added\n\nlast")
		if err != nil || !bytes.HasPrefix(out, src) {
			t.Errorf("%s: append: %q, %v", p, out, err)
		}
		if a, _ := Parse(out); len(a.Headings) != len(n.Headings)+1 {
			t.Errorf("%s: append: %d headings, had %d", p, len(a.Headings), len(n.Headings))
		}
		if out, err = PrependText(src, "first\n"); err != nil {
			t.Errorf("%s: prepend: %v", p, err)
		}
		if a, _ := Parse(out); len(a.Headings) != len(n.Headings) || a.Body != n.Body {
			t.Errorf("%s: prepend: %d headings, had %d", p, len(a.Headings), len(n.Headings))
		}
	})
	if notes < 100 {
		t.Errorf("%d notes", notes)
	}
}

// A linkedVault is a vault with its notes parsed.
type linkedVault struct {
	files map[string][]byte
	notes map[string]*Note
	paths []string
	links int // that led somewhere, and were followed after a rename
	moved int // that were rewritten
}

func linkVault(files map[string][]byte) *linkedVault {
	v := &linkedVault{files: files, notes: map[string]*Note{}, paths: slices.Sorted(maps.Keys(files))}
	for p, src := range files {
		if isNote(p) {
			v.notes[p], _ = Parse(src)
		}
	}
	return v
}

// rename fails if after the moves a link leads elsewhere than it did, or if a
// byte outside the links that led to what moved, or of what moved, changed.
func (v *linkedVault) rename(t *testing.T, moved map[string]string) {
	t.Helper()
	r, err := NewRenamer(v.paths, moved)
	if err != nil {
		t.Fatal(err)
	}
	to := func(p string) string {
		if moved[p] != "" {
			return moved[p]
		}
		return p
	}
	var paths []string
	for _, p := range v.paths {
		paths = append(paths, to(p))
	}
	before, after := NewResolver(v.paths), NewResolver(paths)
	for p, n := range v.notes {
		out, changed := v.files[p], 0
		if affected := r.Affects(p, n.Links); affected || len(p)%50 == 0 {
			out, changed, err = r.RenameLinks(p, v.files[p])
		}
		if err != nil {
			t.Errorf("%v: %s: %v", moved, p, err)
			continue
		}
		now := n
		if changed > 0 {
			now, _ = Parse(out)
		}
		v.moved += changed
		if r.Affects(p, n.Links) != (changed > 0) || len(now.Links) != len(n.Links) {
			t.Errorf("%v: %s: %d links changed of %d, now %d", moved, p, changed, len(n.Links), len(now.Links))
			continue
		}
		for i, l := range n.Links {
			was, is := before.Resolve(p, l), after.Resolve(to(p), now.Links[i])
			if was.Path == "" {
				continue
			}
			v.links++
			if is.Path != to(was.Path) || is.Fragment != was.Fragment {
				t.Errorf("%v: %s:%d: %q led to %s, %q leads to %s", moved, p, l.Line, l.Target, was.Path, now.Links[i].Target, is.Path)
			}
		}
	}
}

func TestRenameEveryNoteOfKepano(t *testing.T) {
	v := linkVault(vaultFiles(t, "kepano-obsidian.bundle"))
	for _, p := range v.paths {
		dir, name := path.Split(p)
		ext := path.Ext(name)
		stem := strings.TrimSuffix(name, ext)
		v.rename(t, map[string]string{p: dir + stem + " (new) 50% & it's, ü" + ext})
		v.rename(t, map[string]string{p: "Elsewhere/deep er/" + name})
		v.rename(t, map[string]string{p: "Elsewhere/Renamed" + ext})
		v.rename(t, map[string]string{p: dir + "sub/Books" + ext}) // a name that another has
	}
	all := map[string]string{}
	for _, p := range v.paths {
		all[p] = "All/" + p
	}
	v.rename(t, all)
	if v.links < 50_000 || v.moved < 500 {
		t.Errorf("%d links followed, %d rewritten", v.links, v.moved)
	}
}

func TestRenameNotesOfOtherVaults(t *testing.T) {
	v := linkVault(vaultFiles(t, "rust-rfcs.bundle"))
	for i, p := range v.paths {
		if isNote(p) && i%20 == 0 {
			v.rename(t, map[string]string{p: "moved/" + path.Base(p), "README.md": "docs/README.md"})
		}
	}
	tldr := linkVault(tldrFiles(t))
	for _, p := range tldr.paths[:3] {
		tldr.rename(t, map[string]string{p: "x/" + path.Base(p)})
	}
	if v.links < 10_000 || v.moved < 30 {
		t.Errorf("%d links followed, %d rewritten", v.links, v.moved)
	}
}
