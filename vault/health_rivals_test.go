package vault_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// Two notes that claim one thing are reported, with what they say otherwise of it;
// lists, old notes, and values that many have are not.
func TestHealthRivals(t *testing.T) {
	var many strings.Builder
	for _, name := range []string{"p", "q", "r", "s"} {
		many.WriteString("-- many/" + name + ".md --\n---\nurl: https://example.org/list\n---\n# " + name + "\n")
	}
	s := vaulttest.Service(t, vaulttest.Repo(t, `
-- a.md --
---
isbn: 978-0-13-110362-7
author: Kernighan
year: 1988
title: Book
---
-- b.md --
---
title: The book
ISBN: "978 0131103627"
author: kernighan
year: 1978
---
-- c.md --
---
doi: https://doi.org/10.1000/XYZ
uid: 7
---
-- d.md --
---
doi: 10.1000/xyz
uid: 8
---
-- e.md --
---
uid: 7
status: superseded
---
-- f.md --
---
uid: [7, 9]
id: ""
---
-- g.md --
---
id: ""
permalink: /x/
---
-- h.md --
---
permalink: /x
---
`+many.String()+"-- @commit 2024-01-02T10:00:00Z first --\n"))
	r := ask[vault.HealthResult](t, s, "kb_health", `{"max_tokens":100000}`)
	got := map[string]string{}
	for _, x := range r.Collections[0].Conflicting {
		got[x.Path] = x.Message
		if x.Line < 2 || !strings.HasPrefix(x.Mend, "give one its own ") {
			t.Errorf("%+v", x)
		}
	}
	want := map[string]string{
		"b.md": "isbn 978 0131103627 also belongs to a.md, which says otherwise in year",
		"d.md": "doi 10.1000/xyz also belongs to c.md",
		"h.md": "permalink /x also belongs to g.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conflicting (-want +got):\n%s", diff)
	}
}
