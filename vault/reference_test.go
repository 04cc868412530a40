package vault

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The manual's page of commands is what the program says of itself.
func TestReference(t *testing.T) {
	const page = "../docs/reference/commands.md"
	got := Reference()
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what Reference returns; go test ./vault -run TestReference -update rewrites it (-page +program):\n%s", page, diff)
	}
}
