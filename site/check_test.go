package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A site that was just built has no fault; one that was tampered with does.
func TestCheck(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Build(context.Background(), vaultOf(garden()...), Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	r, err := Check(out)
	if err != nil || len(r.Faults) > 0 || r.Pages < 10 || r.Refs < 50 {
		t.Fatalf("%+v, %v", r, err)
	}
	change := func(name, from, to string) {
		t.Helper()
		file := filepath.Join(out, name)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(raw), from, to, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	change("guides/retry-policy.html", "limits.html#quota", "limits.html#qouta")
	change("all.html", `href="guides/limits.html"`, `href="guides/limit.html"`)
	change("recent.html", `<main`, `<img src="https://example.org/x.png"><main`)
	if err := os.Remove(filepath.Join(out, "guides/limits.md")); err != nil {
		t.Fatal(err)
	}
	if r, err = Check(out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Faults {
		got = append(got, f.Page+" "+f.Ref+": "+f.Message)
	}
	for _, want := range []string{
		"guides/retry-policy.html limits.html#qouta: no such place in guides/limits.html",
		"all.html guides/limit.html: no file guides/limit.html in the site",
		"recent.html https://example.org/x.png: loaded from another host",
		"guides/limits.md : the manifest names it, and it is missing",
		"all.html : it has changed since it was built",
	} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("no %q among\n%s", want, strings.Join(got, "\n"))
		}
	}
	if _, err := Check(t.TempDir()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("an empty directory: %v", err)
	}
}

// Of a site that knows where it is served, whole addresses below that are followed:
// its page for what is not found has no others. What is served beside it is not.
func TestCheckWhole(t *testing.T) {
	for _, base := range []string{"https://example.org/notes/kb", "https://Example.org/", "https://example.org/ä b/"} {
		at := strings.TrimSuffix(base, "/") + "/"
		set := vaultOf(append(garden(), "links.md", strings.ReplaceAll(`# Links
[1](<BASEguides/limits.html#quota>) [2](<BASEguides/>) [3](<BASEguides/limits>) [4](<BASEguides/limits.md>) [5](<BASE>) [6](<BASEanother/site.html>) [7](<BASEanother/>) [8](<BASEanother>)
[9](https://example.com/guides/gone.html) [10](http://example.org/notes/kb/guides/gone.html)
`, "BASE", at))...)
		set.BaseURL = base
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Build(context.Background(), set, Options{Out: out}); err != nil {
			t.Fatal(err)
		}
		if r, err := Check(out); err != nil || len(r.Faults) > 0 {
			t.Errorf("%s: %+v, %v", base, r, err)
		}
		file := filepath.Join(out, "404.html")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		more := strings.ReplaceAll(`<a href="BASEguides/gone.html"></a><a href="BASEgone.html"></a><a href="BASEguides/limits#qouta"></a><img src="BASEgone.png">`, "BASE", at)
		if err := os.WriteFile(file, append(raw, more...), 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := Check(out); err != nil || len(r.Faults) != 5 { // and that the page changed
			t.Errorf("%s: %+v, %v", base, r, err)
		}
	}
}
