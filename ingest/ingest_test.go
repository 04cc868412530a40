package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kb/internal/fetch"
	"kb/vault"
)

// files makes a directory of files.
func files(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("Text of "+name+".\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := files(t, "a.txt", "b c.md", "no.exe", ".hidden.txt", "deep/d.html", "deep/.git/e.txt", "deep/er/f.PDF")
	if err := os.Symlink(filepath.Join(dir, "a.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		o    FindOptions
		want []string
	}{
		{"a directory", []string{dir}, FindOptions{Root: dir}, []string{"file:a.txt", "file:b%20c.md"}},
		{"all below", []string{dir}, FindOptions{Root: dir, Recursive: true}, []string{"file:a.txt", "file:b%20c.md", "file:deep/d.html", "file:deep/er/f.PDF"}},
		{"endings", []string{dir}, FindOptions{Root: dir, Recursive: true, Extensions: []string{".pdf", "HTML"}}, []string{"file:deep/d.html", "file:deep/er/f.PDF"}},
		{"one file twice", []string{filepath.Join(dir, "a.txt"), filepath.Join(dir, "deep", "..", "a.txt")}, FindOptions{Root: dir}, []string{"file:a.txt"}},
		{"a file that no directory would give", []string{filepath.Join(dir, "no.exe")}, FindOptions{Root: dir}, []string{"file:no.exe"}},
		{"outside the repository", []string{filepath.Join(dir, "a.txt")}, FindOptions{Root: filepath.Join(dir, "deep"), Home: dir}, []string{"file:~/a.txt"}},
		{"outside the home", []string{filepath.Join(dir, "b c.md")}, FindOptions{Home: filepath.Join(dir, "deep")}, []string{outside(dir) + "b%20c.md"}},
		{"URLs", []string{"HTTPS://Example.ORG:443#top", "https://example.org/", "http://example.org:80/a?b=c"}, FindOptions{}, []string{"https://example.org/", "http://example.org/a?b=c"}},
		{"standard input", []string{"-"}, FindOptions{}, []string{""}},
	}
	for _, tt := range tests {
		got, err := Find(tt.args, tt.o)
		var ids []string
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		if diff := cmp.Diff(tt.want, ids); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	dir := files(t, "only.exe", "below/a.txt")
	for _, arg := range []string{dir, filepath.Join(dir, "missing.txt"), "ftp://example.org/x", "https:///x", "https://user:secret@example.org/", "javascript://x", os.DevNull} {
		if got, err := Find([]string{arg}, FindOptions{}); !errors.Is(err, ErrNone) {
			t.Errorf("%s: got %v, %v; want a refusal", arg, got, err)
		}
	}
}

// What no file or page can be is the call's fault, and secrets stand in no note.
func TestFindSaysWhatIsWrong(t *testing.T) {
	for _, arg := range []string{
		"ftp://example.org/x", "javascript:alert(1)", "data:text/html,x", "https://user:secret@example.org/", os.DevNull,
		"https://example.org/?access_token=s", "https://example.org/?a=b&KEY=s", "https://example.org/?a;api_key=s", "https://example.org/?X-Amz-Date=s", "https://example.org/?%74oken=s", "https://example.org/?sig=s#top",
	} {
		_, err := Find([]string{arg}, FindOptions{})
		var wrong *ArgumentError
		if !errors.As(err, &wrong) || wrong.Hint == "" || strings.Contains(wrong.Message, "=s") {
			t.Errorf("%s: got %v", arg, err)
		}
	}
	for _, arg := range []string{"https://example.org/?keyword=a&page=2&design=b"} {
		if _, err := Find([]string{arg}, FindOptions{}); err != nil {
			t.Errorf("%s: got %v", arg, err)
		}
	}
}

// shelf is a vault that only counts.
type shelf struct {
	known   []vault.NoteSource
	batches [][]vault.Import
	merged  []string
	fail    error
}

func (s *shelf) Sources(context.Context, vault.SourcesParams) (*vault.Sources, error) {
	return &vault.Sources{Sources: s.known}, nil
}

func (s *shelf) Add(_ context.Context, p vault.AddParams) (*vault.Added, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	s.batches = append(s.batches, p.Notes)
	r := &vault.Added{Draft: p.Draft}
	for _, n := range p.Notes {
		r.Added = append(r.Added, vault.AddedNote{Source: n.Source, Path: n.Title + ".md", Pending: true})
	}
	return r, nil
}

func (s *shelf) Merge(_ context.Context, p vault.ReviewMergeParams) (*vault.ReviewMerged, error) {
	s.merged = append(s.merged, p.Only...)
	return &vault.ReviewMerged{Commit: "c"}, nil
}

// Documents come in the order of their sources, in batches that a call can carry.
func TestRunInBatches(t *testing.T) {
	var names []string
	for i := range 2*batchNotes + 5 {
		names = append(names, fmt.Sprintf("%03d.txt", i))
	}
	dir := files(t, names...)
	sources, err := Find([]string{dir}, FindOptions{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	v := &shelf{}
	a := &Adder{Vault: v, Reader: &Reader{}, Options: Options{Merge: true}}
	r, err := a.Run(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, b := range v.batches {
		sizes = append(sizes, len(b))
	}
	if diff := cmp.Diff([]int{batchNotes, batchNotes, 5}, sizes); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	for i, n := range r.Added {
		if n.Source != "file:"+names[i] {
			t.Fatalf("document %d is %s, want %s", i, n.Source, names[i])
		}
	}
	if len(v.merged) != len(names) || r.Merged != "c" {
		t.Errorf("%d notes merged, want %d", len(v.merged), len(names))
	}
}

func TestRunSplitsByBytes(t *testing.T) {
	dir := files(t, "a.go", "b.go")
	for _, name := range []string{"a.go", "b.go"} {
		big := strings.Repeat(name+" a line of text\n", 15_000)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(big), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := Find([]string{dir}, FindOptions{Root: dir, Extensions: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	v := &shelf{}
	if _, err := (&Adder{Vault: v, Reader: &Reader{}, Options: Options{KeepOriginal: true}}).Run(t.Context(), append(sources, sources...)); err != nil {
		t.Fatal(err)
	}
	if len(v.batches) != 2 || len(v.batches[0]) != 2 {
		t.Errorf("%d batches, the first of %d", len(v.batches), len(v.batches[0]))
	}
	if n := v.batches[0][0]; len(n.Files) != 1 || !strings.HasPrefix(n.Original, "originals/a-") || !strings.HasSuffix(n.Original, ".go") {
		t.Errorf("the original is %q of %d files", n.Original, len(n.Files))
	}
}

// A run ends with its context, or where the vault fails, and leaves nothing running.
func TestRunEnds(t *testing.T) {
	dir := files(t, "a.txt", "b.txt")
	sources, err := Find([]string{dir}, FindOptions{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Adder{Vault: &shelf{}, Reader: &Reader{}}).Run(ctx, sources); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	broken := errors.New("broken")
	if _, err := (&Adder{Vault: &shelf{fail: broken}, Reader: &Reader{}}).Run(t.Context(), sources); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// What is gone is said, and its note stays.
func TestGone(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	dir := files(t, "here.txt", "chats.json")
	known := []vault.NoteSource{{Source: web.URL + "/a", Path: "a.md"}, {Source: "file:here.txt"}, {Source: "file:chats.json#c-1"}, {Source: "file:lost%20one.txt", Path: "lost.md"}, {Source: "file:other/x.txt"}, {Source: "file:~/x.txt"}, {Source: "file:///x.txt"}}
	a := &Adder{Vault: &shelf{known: known}, Reader: &Reader{Web: &fetch.Client{AllowPrivate: true}}}
	s, err := FromURL(web.URL + "/a")
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Run(t.Context(), []Source{s})
	if err != nil || len(r.Missing) != 1 || r.Missing[0].Path != "a.md" || len(r.Failed) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	gone := a.Gone(dir, "file:")
	var got []string
	for _, n := range gone {
		got = append(got, n.Source)
	}
	if diff := cmp.Diff([]string{"file:lost%20one.txt", "file:other/x.txt"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadFile(t *testing.T) {
	dir := files(t, "a.txt")
	now := time.Date(2025, 3, 4, 5, 6, 7, 8, time.UTC)
	r := &Reader{Now: func() time.Time { return now }}
	got, err := r.Read(t.Context(), Source{ID: "file:a.txt", File: filepath.Join(dir, "a.txt"), Name: "a.txt"}, Known{})
	if err != nil || len(got.Docs) != 1 || got.Docs[0].Body != "Text of a.txt.\n" || !got.Fetched.Equal(now.Truncate(time.Second)) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := r.Read(t.Context(), Source{File: filepath.Join(dir, "b.txt")}, Known{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := r.Read(t.Context(), Source{URL: "https://example.org/"}, Known{}); !errors.Is(err, fetch.ErrOffline) {
		t.Errorf("a URL without a client: %v", err)
	}
}

// Notes do not tell where files outside the repository and the home are, and those
// that go are missed all the same.
func TestOutside(t *testing.T) {
	dir := files(t, "deep/b.txt")
	s, err := Find([]string{filepath.Join(dir, "deep", "b.txt")}, FindOptions{})
	if err != nil || strings.Contains(s[0].ID, filepath.Base(dir)) || strings.Contains(s[0].ID, "deep") || !strings.HasSuffix(s[0].ID, "/b.txt") {
		t.Fatalf("got %+v, %v", s, err)
	}
	a := &Adder{known: map[string]vault.NoteSource{s[0].ID: {Path: "b.md"}}}
	id := FindOptions{}.FileID(dir)
	if got := a.Gone(dir, id); len(got) != 0 {
		t.Errorf("got %+v of what is there", got)
	}
	if err := os.Remove(s[0].File); err != nil {
		t.Fatal(err)
	}
	if got := a.Gone(dir, id); len(got) != 1 || got[0].Path != "b.md" {
		t.Errorf("got %+v of what is gone", got)
	}
}
