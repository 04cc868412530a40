package vault

import (
	"strings"
	"testing"
)

// Whatever stands in a file is a recipe that can be run, or an error that names the
// file.
func FuzzRecipe(f *testing.F) {
	for _, s := range []string{
		"sources: [{url: https://example.org/feed.xml}]\nschedule: daily\ntags: [a]\ndirectory: news\n", "sources:\n  - command: [papers, --since, yesterday]\n    format: jsonl\n    timeout: 10m\n",
		"sources: []", "sources: [{}]", "sources: {url: x}", "sources: [[]]", "sources: &a [*a]", "a: &a {<<: *a}", "sources: [{url: 'https://u:p@h/'}]", "sources: [{command: ['']}]", "sources: [{command: [../x]}]",
		"directory: ../x\nsources: [{url: https://h/}]", "template: {}\nsources: [{url: https://h/}]", "? sources", "---\n---\n", "- a", "sources: !!binary x", "sources: [{command: [x], timeout: 1e9h}]", "collection: [", "tags: x\nsources: [{url: https://h/}]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		const file = ".kb/recipes/x.yaml"
		r, _, err := readRecipe(file, src)
		if err != nil {
			if e := AsError(err); e.Code != Usage || !strings.HasPrefix(e.Message, file) {
				t.Errorf("%q: %+v", src, err)
			}
			return
		}
		for _, s := range r.Sources {
			if why, _ := s.problem(); why != "" || (s.URL == "") == (len(s.Command) == 0) || s.MaxTime() <= 0 || s.MaxTime() > mostRecipeTimeout {
				t.Errorf("%q: %+v is taken: %s", src, s, why)
			}
		}
		if len(r.Sources) == 0 || strings.HasPrefix(r.Directory, "..") {
			t.Errorf("%q: %+v is taken", src, r)
		}
	})
}
