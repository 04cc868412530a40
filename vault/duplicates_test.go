package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// twice says one thing in two ways, with no four words in a row in common, among
// notes about other things.
func twice() string {
	groups := map[string]string{"automobile": "car", "petrol": "fuel", "engine": "motor", "broken": "faulty"}
	one := strings.Repeat("automobile petrol engine broken ", 8)
	var other []string
	for i, w := range strings.Fields(one) {
		if i%3 == 0 {
			w = groups[w]
		}
		other = append(other, w)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- kb.yaml --\nmodel: tiny\ncollections: [{name: notes, path: ., writable: true}]\n-- one.md --\n# First\n\n%s\n-- two.md --\n# Second\n\n%s\n",
		one, strings.Join(other, " "))
	for i, words := range []string{"hound kitten", "levy spring", "hound levy", "kitten spring", "zebra levy", "hound zebra"} {
		fmt.Fprintf(&b, "-- other%d.md --\n# Other %d\n\n%s\n", i, i, strings.Repeat(words+" ", 15))
	}
	b.WriteString("-- @commit 2024-01-01 notes --\n")
	return b.String()
}

var twiceModel = []string{"automobile car", "petrol fuel", "engine motor", "broken faulty", "hound", "kitten", "levy", "spring", "zebra"}

func twiceVault(t *testing.T) *vault.Service {
	dir, cache := vaulttest.Repo(t, twice()), t.TempDir()
	vaulttest.Model(t, cache+"/models/tiny", 1, twiceModel...)
	return vaulttest.ServiceIn(t, dir, cache, vault.Person)
}

func nearDuplicates(t *testing.T, s *vault.Service) (r *vault.HealthResult, found string) {
	t.Helper()
	r = do[vault.HealthResult](t, s, "kb_health", map[string]any{"min_words": 1})
	for _, i := range r.Collections[0].NearDuplicates {
		found += i.Path + " " + i.Message + "\n"
	}
	return r, found
}

func TestDuplicatesByMeaning(t *testing.T) {
	s := twiceVault(t)
	if r, found := nearDuplicates(t, s); r.Mode != "text" || !strings.HasSuffix(r.Degraded, "compared by words") || found != "" {
		t.Errorf("without vectors: %s, %q:\n%s", r.Mode, r.Degraded, found)
	}
	reindex(t, s)
	const want = "two.md means nearly the same as one.md\n"
	if r, found := nearDuplicates(t, s); r.Mode != "hybrid" || r.Degraded != "" || found != want {
		t.Errorf("%s, %q:\n%s", r.Mode, r.Degraded, found)
	}
	// Among too many notes, words must give the pair a chance.
	defer vault.CompareByWordsFirst()()
	if r, found := nearDuplicates(t, s); r.Mode != "hybrid" || found != "" {
		t.Errorf("of many notes: %s:\n%s", r.Mode, found)
	}
}

func TestSimilarToWhatIsWritten(t *testing.T) {
	s := twiceVault(t)
	write := func(title string) *vault.WriteResult {
		return do[vault.WriteResult](t, s, "kb_write", map[string]any{"title": title, "draft": title,
			"body": strings.Repeat("motor faulty car fuel, ", 8)})
	}
	if r := write("unknown"); r.Mode != "text" || r.Degraded == "" || len(r.Similar) != 0 {
		t.Errorf("without vectors: %s, %q, %v", r.Mode, r.Degraded, r.Similar)
	}
	reindex(t, s)
	r := write("known")
	if r.Mode != "hybrid" || r.Degraded != "" || len(r.Similar) != 2 || r.Similar[0].Path != "two.md" || r.Similar[1].Path != "one.md" {
		t.Errorf("%s, %q, %v", r.Mode, r.Degraded, r.Similar)
	}
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "## Part %d\n\n%s\n\n", i, strings.Repeat(fmt.Sprintf("motor %d car ", i), 100))
	}
	r = do[vault.WriteResult](t, s, "kb_write", map[string]any{"title": "Long", "draft": "long", "body": long.String()})
	if r.Mode != "text" || !strings.Contains(r.Degraded, "long") {
		t.Errorf("a long note: %s, %q", r.Mode, r.Degraded)
	}
}
