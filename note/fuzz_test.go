package note

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"# A\n\n[[b#c|d]] [e](f%20g.md#h \"t\") ![[i]] #j ==k== %%l%% https://m.n ^o\n",
		"---\ntitle: a\ntags: [b, c]\n---\n\n- [ ] d\n  - e ^f\n\n|g|\n|-|\n|[[h\\|i]]|\n",
		"+++\na = 1\n+++\nb[^1]\n\n[^1]: c\n", "a:: b\n\n> q\n\n^c\n", "%%\n\na\n\n%%\n<div>\nx\n</div>\n", "\xff\xfea\x00\n\x00", "\xef\xbb\xbf---\r\na: b\r\n...\r\n",
		"[a]: b\n[a] [c][a] [![d](e)](f) <g@h.i> <x y=\"z\">\n\nSetext\n===\n\n    code\n\n```\nfence\n",
	} {
		f.Add([]byte(s))
	}
	for _, generate := range hostile {
		f.Add([]byte(generate(200)))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		checkNote(t, src)
	})
}

// FuzzFrontmatter also compares the plain reader with the YAML library.
func FuzzFrontmatter(f *testing.F) {
	for _, s := range []string{
		"a: b\nc: [d, 2]\ne:\n  - f\n  - \"g\"\n", "a: 'b''c'\nd: |\n  e\n\n  f\n", "a:\n- b\n- c: d\ne: {f: g}\n", "? a\n: b\n", "a: &x 1\nb: *x\n", "a: [1,\n2]\n", "a: \"b\nc: d\"\n",
		"a: b # c\n# d\n\ne: ~\n", "a : b\n", "a: 1.0\nb: -0\nc: 1e5\n", "a: - b\n", "a:\n  b\nc:\n", "- a\n", "a\n", "%YAML 1.2\n", "a: {{date}}\n", "a: b: c\n", "a: é\nb: \u00a0x\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkNote(t, []byte("---\n"+s+"\n---\nbody"))
		checkNote(t, []byte("+++\n"+s+"\n+++\nbody"))
		comparePlain(t, []byte(s))
	})
}

// comparePlain fails if the plain reader and the library differ on a property
// that both read. Properties are compared one at a time: of several, the library
// takes some for values of those before.
func comparePlain(t *testing.T, s []byte) {
	t.Helper()
	if !utf8.Valid(s) || bytes.Contains(s, []byte("{{")) {
		return
	}
	for len(s) > 0 {
		end := propertyEnd(s)
		source := s[:end]
		s = s[end:]
		f, ok := plainProperty(source, 1)
		fields, p := readAnyYAML(source, 1)
		if !ok || p != nil || f.Key == "" && len(fields) == 0 {
			continue
		}
		if diff := cmp.Diff(fields, []Field{f}); diff != "" {
			t.Errorf("%q: (-library +plain):\n%s", source, diff)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{
		"# A\n\n[[b#c|d]] ![[e.png|3x4]] [f](javascript:g) #h ==i== $j$ $$k$$ ^[l [m](n)] ^o\n", "> [!tip]- *a*\n> b\n> > [!x]\n> > c\n",
		"<table><tr><td>\n\n[a](b)\n\n</td></tr>c<td>", "<p>a<b>\n\n# c\n\n</b><p><ul><li>d<li><ol>e</li>", "a <a href=b>[c](d) <kbd>e</a></kbd> <div><p>f", "<details>\n<summary>a\n\n- <td>b\n\n</details><dl><dd>c<dt>d",
		"[a]: b 'c'\n[a] ![a] <http://d> e@f.g www.h.i\n", "|a|\n|-|\n|<ul><li>b|\n|![[Note]]|\n", "- [?] a <b>\n  - ![[Note]]\n\n[^1]\n[^1]: b[^1]\n", "```a<b\n<c>\n```\n    d\n$$\ne\n$$\n%%f%%\n***\n",
		"<h1>a\n\n# b <h2>\n\n<ruby>a<rt>b<rp>c</ruby><img src=x onerror=y><a name=z></a>[q](#z)",
	} {
		f.Add([]byte(s))
	}
	for _, generate := range hostile {
		f.Add([]byte(generate(200)))
	}
	f.Fuzz(func(t *testing.T, src []byte) { checkRendered(t, src) })
}
