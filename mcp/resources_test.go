package mcp

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// Notes are read by citation, whole or by heading; unknown ones are not found.
func TestResources(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	commit := vaulttest.Git(t, dir, "rev-parse", "HEAD")
	svc := agent(t, dir)
	name := svc.Config().Collections[0].Name
	s := connect(t, svc, Options{}, nil)
	read := func(uri string) (string, error) {
		r, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return "", err
		}
		if r.Contents[0].URI != uri || r.Contents[0].MIMEType != "text/markdown" {
			t.Errorf("%s: %+v", uri, r.Contents[0])
		}
		return r.Contents[0].Text, nil
	}
	pinned := "kb://" + name + "@" + commit + "/guides/retry.md"
	for uri, want := range map[string]string{
		pinned:                               "# Retry policy\nCalls that fail are repeated.\n\n## Backoff\nWe back off with jitter, see [[limits]].\n",
		pinned + "#backoff":                  "## Backoff\nWe back off with jitter, see [[limits]].\n",
		"kb://" + name + "/guides/limits.md": "# Limits\nA client waits.\n",
	} {
		if got, err := read(uri); err != nil || got != want {
			t.Errorf("%s: %v\n%s", uri, err, got)
		}
	}
	if got, err := read("kb://elsewhere@" + commit + "/README.md"); err != nil || !strings.HasPrefix(got, "# Read me") {
		t.Errorf("of another clone: %v\n%s", err, got)
	}
	vaulttest.Git(t, dir, "rm", "-r", "--quiet", "guides")
	vaulttest.Commit(t, dir, "2024-01-02", "gone")
	if got, err := read(pinned + "#backoff"); err != nil || !strings.HasPrefix(got, "## Backoff") {
		t.Errorf("after deletion: %v\n%s", err, got)
	}
	if got, err := read("kb://digest"); err != nil || !strings.HasPrefix(got, "1 note in") {
		t.Errorf("digest: %v\n%s", err, got)
	}
	for _, uri := range []string{"kb://" + name + "/guides/limits.md", "kb://nope@" + strings.Repeat("0", 40) + "/README.md", "kb://nope/README.md", pinned + "#nope", "file:///etc/passwd"} {
		if got, err := read(uri); err == nil {
			t.Errorf("%s: no error: %s", uri, got)
		}
	}
}

func TestCompletion(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	svc := agent(t, dir)
	name := svc.Config().Collections[0].Name
	s := connect(t, svc, Options{}, nil)
	complete := func(argument, typed string) []string {
		t.Helper()
		r, err := s.Complete(context.Background(), &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: "kb://{collection}@{commit}/{+path}"},
			Argument: sdk.CompleteParamsArgument{Name: argument, Value: typed},
			Context:  &sdk.CompleteContext{Arguments: map[string]string{"collection": name, "commit": "HEAD"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Completion.Values
	}
	commit := vaulttest.Git(t, dir, "rev-parse", "HEAD")
	for _, tt := range []struct {
		argument, typed string
		want            []string
	}{
		{"collection", "", []string{name}},
		{"collection", "zz", []string{}},
		{"commit", commit[:4], []string{commit}},
		{"path", "guides", []string{"guides/limits.md", "guides/retry.md"}},
		{"path", "nope", []string{}},
	} {
		if diff := cmp.Diff(tt.want, complete(tt.argument, tt.typed)); diff != "" {
			t.Errorf("%s %q: %s", tt.argument, tt.typed, diff)
		}
	}
}
