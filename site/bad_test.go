package site

import (
	"fmt"
	"strings"
	"testing"

	"kb/note"
)

// Notes that are too long, have too many tags, names that some system does not
// take, or lead in circles, make a site without a fault.
func TestBadInput(t *testing.T) {
	var tags strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&tags, "t%d, ", i)
	}
	line := strings.Repeat("A walrus, ", 200) + "\n\n"
	long := "# Long\n\n" + strings.Repeat(line, note.MaxText/len(line)+2)
	out := t.TempDir() + "/site"
	files := made(t, vaultOf(
		"README.md", "# Home\n", "long.md", long, "tags.md", "---\ntags: ["+tags.String()+"]\n---\n# Tags\n", "Case.md", "# One\n", "case.md", "# Two\n", "a b.md", "# Three\n", "a-b.md", "# Four\n",
		"CON.md", "# Con\n", "COM1/aux.md", "# Aux\n", "nul.txt.md", "# Nul\n", "q?x*:y.md", "# Question\n", "end .md", "# End\n",
		"missing.md", "![[nowhere.png]] ![x](gone/y.jpg) [[none]]\n", "e1.md", "One ![[e2]]\n", "e2.md", "Two ![[e1]] ![[e2]]\n",
	), out)
	seen := map[string]string{}
	for name := range files {
		low := strings.ToLower(name)
		if seen[low] != "" {
			t.Errorf("%s and %s are one to some systems", name, seen[low])
		}
		seen[low] = name
		for part := range strings.SplitSeq(low, "/") {
			stem, _, _ := strings.Cut(part, ".")
			if strings.ContainsAny(part, `<>:"|?*\`) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || stem == "con" || stem == "aux" || stem == "nul" || stem == "com1" {
				t.Errorf("Windows does not take %s", name)
			}
		}
	}
	if !strings.Contains(files["long.html"], "too long to be shown whole") || files["long.md"] == "" {
		t.Error("it is not said that a note is too long")
	}
	if strings.Count(files["missing.html"], `class="broken`) != 3 {
		t.Errorf("what is missing is not marked:\n%s", files["missing.html"])
	}
	if !strings.Contains(files["e1.html"], "Two") {
		t.Errorf("e1 does not show what it embeds:\n%s", files["e1.html"])
	}
	checked, err := Check(out)
	if err != nil || len(checked.Faults) > 0 {
		t.Errorf("%v, %+v", err, checked.Faults)
	}
}
