package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// Who subscribed to a note as it is now is told when it reads differently, and of
// nothing else.
func TestSubscribe(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	updated := make(chan string, 1000)
	session := connect(t, agent(t, dir), Options{}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) {
			updated <- req.Params.URI
		},
	})
	ctx := context.Background()
	sections, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "list_sections"})
	if err != nil {
		t.Fatal(err)
	}
	head := sections.StructuredContent.(map[string]any)
	collection := head["collections"].([]any)[0].(map[string]any)["name"].(string)
	now := func(path string) string { return "kb://" + collection + "/" + path }
	pinned := "kb://" + collection + "@" + head["commit"].(string) + "/guides/limits.md"
	for _, uri := range []string{now("guides/limits.md"), now("README.md"), now("new.md"), "kb://digest", pinned, "test://other"} {
		if err := session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	// A subscription begins when the server has heard of it: a change is repeated
	// until it is told.
	told := map[string]bool{}
	for _, path := range []string{"guides/limits.md", "new.md"} {
		tick := time.NewTicker(20 * time.Millisecond)
		for n := 0; !told[now(path)]; n++ {
			select {
			case uri := <-updated:
				told[uri] = true
			case <-tick.C:
				text := fmt.Sprintf("# Limits\nNumber %d.\n", n)
				if err := replaceFile(dir, path, text); err != nil {
					t.Fatal(err)
				}
			}
		}
		tick.Stop()
	}
	if told[now("README.md")] || told[pinned] || told["test://other"] {
		t.Errorf("told of %v", told)
	}
}

// replaceFile writes a file at once, so that no half of it is seen.
func replaceFile(dir, path, text string) error {
	temp := filepath.Join(dir, ".git", "new")
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, filepath.FromSlash(path)))
}

// With the last subscription the watch ends, also where its session just went.
func TestSubscriptionsEnd(t *testing.T) {
	server, err := New(agent(t, vaulttest.Repo(t, notes)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := newSubscriptions(server)
	x.known[nil] = true // no session to wait for
	ctx := context.Background()
	for _, uri := range []string{"kb://digest", "kb://conventions"} {
		if err := x.subscribe(ctx, &sdk.SubscribeRequest{Params: &sdk.SubscribeParams{URI: uri}}); err != nil {
			t.Fatal(err)
		}
	}
	if x.stop == nil || len(x.by) != 2 {
		t.Fatalf("no watch of %v", x.by)
	}
	if err := x.unsubscribe(ctx, &sdk.UnsubscribeRequest{Params: &sdk.UnsubscribeParams{URI: "kb://digest"}}); err != nil || x.stop == nil {
		t.Errorf("the watch ended: %v", err)
	}
	x.forget(nil)
	if x.stop != nil || len(x.by) != 0 {
		t.Errorf("%v is still watched", x.by)
	}
	x.known[nil] = true
	for i := range mostSubscriptions + 1 {
		err = x.subscribe(ctx, &sdk.SubscribeRequest{Params: &sdk.SubscribeParams{URI: fmt.Sprint("test://", i)}})
	}
	if err == nil {
		t.Error("any number of resources is watched")
	}
	x.forget(nil)
}
