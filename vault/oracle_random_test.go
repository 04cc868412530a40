package vault_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"strings"
	"testing"

	"kb/note"
)

// The resolver agrees with the oracle on vaults full of names that are nearly the
// same.
func TestResolverIsTheOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		files := map[string]string{}
		for range 3 + r.IntN(9) {
			files[randomPath(r)] = ""
		}
		o := newOracle(files)
		resolver := note.NewResolver(o.paths)
		for range 40 {
			from := o.paths[r.IntN(len(o.paths))]
			checkResolved(t, o, resolver, from, randomLink(r, o.paths))
		}
	}
}

func checkResolved(t *testing.T, o *oracle, resolver *note.Resolver, from, text string) {
	t.Helper()
	n, _ := note.Parse([]byte(text))
	links := oracleLinks(text)
	if len(n.Links) != len(links) {
		t.Fatalf("%q: links %+v, the oracle's %+v", text, n.Links, links)
	}
	for i, l := range links {
		got := resolver.Resolve(from, n.Links[i])
		want, ok := o.find(from, l)
		outside := !l.wiki && strings.HasPrefix(path.Join(path.Dir(from), l.target)+"/", "../") && !strings.HasPrefix(l.target, "/")
		if got.Path != want || (got.Path != "" || got.Folder || outside) != ok {
			t.Errorf("%s in %s of %q leads to %+v, the oracle says %q %v", text, from, o.paths, got, want, ok)
		}
	}
}

var randomNames = []string{"a", "b", "A", "n x", "é", "c.d", "README"}

func randomPath(r *rand.Rand) string {
	p := randomNames[r.IntN(len(randomNames))] + []string{".md", ".md", ".md", ".markdown", ".png"}[r.IntN(5)]
	for range r.IntN(3) {
		p = path.Join(randomNames[r.IntN(4)], p)
	}
	return p
}

// randomLink links to one of the paths, more or less.
func randomLink(r *rand.Rand, paths []string) string {
	target := paths[r.IntN(len(paths))]
	if r.IntN(4) == 0 {
		target = randomPath(r)
	}
	if r.IntN(2) == 0 {
		target = strings.TrimSuffix(strings.TrimSuffix(target, ".md"), ".markdown")
	}
	parts := strings.Split(target, "/")
	target = strings.Join(parts[r.IntN(len(parts)):], "/")
	target = []string{"", "", "", "./", "../", "/", "../../"}[r.IntN(7)] + target
	if r.IntN(3) == 0 {
		target = strings.ToUpper(target)
	}
	if r.IntN(12) == 0 {
		return fmt.Sprintf("[x](<%s>)", path.Join("a/..", path.Dir(target))+[]string{"", "/"}[r.IntN(2)])
	}
	encoded := strings.ReplaceAll(url.PathEscape(target), "%2F", "/")
	forms := []string{"[[%s]]", "[[%s|text]]", "[[%s#h]]", "![[%s]]", "[x](<%s>)", "[x](<%s#h>)"}
	if i := r.IntN(len(forms) + 2); i < len(forms) {
		return fmt.Sprintf(forms[i], target)
	}
	return fmt.Sprintf([]string{"[x](%s)", "![x](%s?raw=1 'title')"}[r.IntN(2)], encoded)
}
