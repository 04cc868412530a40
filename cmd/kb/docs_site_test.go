package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"kb/internal/vaulttest"
)

// What the manual has workflows do builds a site that passes its check, with
// and without a word on where it is served.
func TestWorkflowsOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/publish.md")
	if err != nil {
		t.Fatal(err)
	}
	var workflows []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if lines := regexp.MustCompile(`\./kb .*`).FindAllString(block[1], -1); lines != nil {
			workflows = append(workflows, strings.ReplaceAll(strings.Join(lines, " && "), "./kb", "kb"))
		}
	}
	if len(workflows) != 2 {
		t.Fatalf("workflows: %q", workflows)
	}
	for _, base := range []string{"", "base_url: https://example.org/notes/"} {
		for _, workflow := range workflows {
			p := newProgram(t, vaulttest.Repo(t, `
-- kb.yaml --
site: {title: Notes, `+base+`}
-- README.md --
# Home
[[Retry]], https://example.org/notes/guides/retry.html
-- guides/retry.md --
---
tags: [howto]
---
# Retry
-- @commit 2024-01-01 first --
`))
			cmd := exec.Command("sh", "-c", workflow)
			cmd.Dir, cmd.Env = p.dir, p.env
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"ok":true`) {
				t.Errorf("%s, of a site with %q: %v\n%s", workflow, base, err, out)
			}
		}
	}
}
