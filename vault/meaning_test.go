package vault_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

const carNotes = `
-- kb.yaml --
model: tiny
collections: [{name: notes, path: .}]
-- cars/engine.md --
# The engine

The automobile needs petrol.
-- cars/wheel.md --
# Wheels

An automobile has four of them.
-- pets/dog.md --
# Dogs

A hound barks.
-- pets/cat.md --
# Cats

A kitten sleeps. So does the hound.
-- tax.md --
# Duty

The levy is due in spring.
-- @commit 2024-01-01 notes --
`

var carModel = []string{"automobile car vehicle", "hound dog", "kitten cat", "levy tax duty"}

// meaningVault is a vault with a model, and the cache that holds it.
func meaningVault(t *testing.T, archive string) (s *vault.Service, dir, cache string) {
	t.Helper()
	dir, cache = vaulttest.Repo(t, archive), t.TempDir()
	vaulttest.Model(t, filepath.Join(cache, "models", "tiny"), 1, carModel...)
	return vaulttest.ServiceIn(t, dir, cache, vault.Person), dir, cache
}

func hitPaths(r *vault.SearchResult) string {
	var out []string
	for _, h := range r.Results {
		out = append(out, strings.TrimSuffix(h.Path, ".md"))
	}
	return strings.Join(out, " ")
}

func search(t testing.TB, s *vault.Service, query string, args ...any) *vault.SearchResult {
	t.Helper()
	all := map[string]any{"query": query}
	for i := 0; i < len(args); i += 2 {
		all[args[i].(string)] = args[i+1]
	}
	return do[vault.SearchResult](t, s, "search", all)
}

func reindex(t testing.TB, s *vault.Service) *vault.Reindexed {
	t.Helper()
	return do[vault.Reindexed](t, s, "reindex", nil)
}

func TestHybridNeedsEveryVector(t *testing.T) {
	s, dir, _ := meaningVault(t, carNotes)
	r := search(t, s, "car")
	if r.Mode != "text" || !strings.Contains(r.Degraded, "kb reindex") || r.Index.Vectors != 0 || r.Index.State != "embedding" {
		t.Errorf("before: mode %s, %q, %+v", r.Mode, r.Degraded, r.Index)
	}
	if n := reindex(t, s).Embedded; n != 5 {
		t.Errorf("%d texts were embedded, want 5", n)
	}
	if n := reindex(t, s).Embedded; n != 0 {
		t.Errorf("%d texts were embedded again", n)
	}
	r = search(t, s, "vehicle")
	if r.Mode != "hybrid" || r.Degraded != "" || r.Index.Vectors != 1 || r.Index.State != "ready" {
		t.Errorf("after: mode %s, %q, %+v", r.Mode, r.Degraded, r.Index)
	}
	if got := hitPaths(r); !strings.HasPrefix(got, "cars/engine cars/wheel") && !strings.HasPrefix(got, "cars/wheel cars/engine") {
		t.Errorf("a vehicle is: %s", got)
	}
	for _, mode := range []string{"text", "fts5", "literal"} {
		if r := search(t, s, "vehicle", "mode", mode); len(r.Results) != 0 || r.Degraded != "" {
			t.Errorf("mode %s: %s, %q", mode, hitPaths(r), r.Degraded)
		}
	}
	// A note being written is embedded with the query.
	vaulttest.Write(t, dir, "new.md", "# Garage\n\nIt is for the automobile.\n")
	if r := search(t, s, "vehicle"); r.Mode != "hybrid" || !strings.Contains(hitPaths(r), "new") {
		t.Errorf("with a new note: mode %s, %q: %s", r.Mode, r.Degraded, hitPaths(r))
	}
	// Many are not.
	for i := range 12 {
		vaulttest.Write(t, dir, fmt.Sprintf("many/%d.md", i), fmt.Sprintf("# Note %d\n\nOf many.\n", i))
	}
	if r := search(t, s, "car"); r.Mode != "text" || !strings.Contains(r.Degraded, "33 % of the notes") || r.Index.Vectors >= 0.5 {
		t.Errorf("with many new notes: mode %s, %q, %+v", r.Mode, r.Degraded, r.Index)
	}
}

func TestVectorModes(t *testing.T) {
	s, _, _ := meaningVault(t, carNotes)
	reindex(t, s)
	r := search(t, s, "dog", "mode", "semantic", "explain", true)
	if r.Mode != "vector" || r.Results[0].Path != "pets/dog.md" || *r.Results[0].Explain.Cosine != r.Results[0].Score {
		t.Errorf("mode %s: %s, %+v", r.Mode, hitPaths(r), r.Results[0].Explain)
	}
	h := search(t, s, "dog", "explain", true).Results[0]
	x := h.Explain
	if got := x.Words/x.BestWords + x.Weight**x.Cosine; math.Abs(got-h.Score) > 1e-6 || h.Path != "pets/dog.md" {
		t.Errorf("%s scores %v, explained as %v: %+v", h.Path, h.Score, got, x)
	}
	if got := hitPaths(search(t, s, "dog -kitten", "mode", "vector")); strings.Contains(got, "cat") {
		t.Errorf("without kittens: %s", got)
	}
	whole, narrow := search(t, s, "dog"), search(t, s, "dog", "scope", []string{"cars", "pets"})
	for _, n := range narrow.Results {
		i := slices.IndexFunc(whole.Results, func(w vault.Hit) bool { return w.Path == n.Path })
		if i < 0 || whole.Results[i].Score != n.Score || !strings.Contains(n.Path, "/") {
			t.Errorf("narrowed: %s %v", n.Path, n.Score)
		}
	}
	best := whole.Results[0].Score
	if r := search(t, s, "dog", "min_score", best); len(r.Results) != 1 || r.Total != 1 {
		t.Errorf("at least %v: %s", best, hitPaths(r))
	}
	if r := search(t, s, "vehicle", "max_results", 2, "diversity", 1); strings.HasPrefix(hitPaths(r), "cars/engine cars/wheel") {
		t.Errorf("diverse: %s", hitPaths(r))
	}
	first := search(t, s, "dog car", "max_results", 2)
	rest := search(t, s, "dog car", "max_results", 2, "cursor", first.Next)
	if all := hitPaths(search(t, s, "dog car")); !strings.HasPrefix(all, hitPaths(first)+" "+hitPaths(rest)) {
		t.Errorf("pages %s, %s of %s", hitPaths(first), hitPaths(rest), all)
	}
}

func TestSimilarByMeaning(t *testing.T) {
	s, _, _ := meaningVault(t, carNotes)
	r := do[vault.SearchResult](t, s, "kb_similar", map[string]any{"path": "cars/wheel.md"})
	if r.Mode != "text" || r.Degraded == "" {
		t.Errorf("without vectors: %s, %q", r.Mode, r.Degraded)
	}
	reindex(t, s)
	r = do[vault.SearchResult](t, s, "kb_similar", map[string]any{"path": "cars/wheel.md"})
	if r.Mode != "vector" || r.Degraded != "" || r.Results[0].Path != "cars/engine.md" {
		t.Errorf("%s: %s", r.Mode, hitPaths(r))
	}
}

func TestStatsOfVectors(t *testing.T) {
	s, _, cache := meaningVault(t, carNotes)
	st := do[vault.Stats](t, s, "kb_stats", nil)
	if !st.Capabilities.Vectors || st.Capabilities.Model != "tiny" || st.Index.Vectors != 0 {
		t.Errorf("before: %+v, %+v", st.Capabilities, st.Index)
	}
	reindex(t, s)
	doctor := do[vault.Findings](t, s, "kb_doctor", nil)
	if !slices.ContainsFunc(doctor.Findings, func(f vault.Finding) bool {
		return f.Code == "model" && f.Message == "embedding model tiny: 100.0 % of the notes have vectors"
	}) {
		t.Errorf("doctor: %+v", doctor)
	}
	st = do[vault.Stats](t, s, "kb_stats", nil)
	if st.Index.Vectors != 1 || !slices.ContainsFunc(st.Recipes, func(r string) bool { return strings.HasPrefix(r, "vector/1 static/1 ") }) {
		t.Errorf("after: %+v, %v", st.Index, st.Recipes)
	}
	if raw, _ := json.Marshal(st); strings.Contains(string(raw), cache) {
		t.Errorf("a path of the machine: %s", raw)
	}
}

// What was embedded at one path, commit or work tree is never embedded again.
func TestNothingIsEmbeddedTwice(t *testing.T) {
	s, dir, cache := meaningVault(t, carNotes)
	reindex(t, s)
	vaulttest.Git(t, dir, "mv", "tax.md", "renamed.md")
	vaulttest.Commit(t, dir, "2024-01-02", "rename")
	vaulttest.Git(t, dir, "checkout", "--quiet", "-b", "other")
	vaulttest.Write(t, dir, "pets/dog.md", "# Dogs\n\nA hound barks loudly.\n")
	vaulttest.Commit(t, dir, "2024-01-03", "edit")
	if n := reindex(t, s).Embedded; n != 1 {
		t.Errorf("an edit: %d texts embedded, want 1", n)
	}
	vaulttest.Git(t, dir, "revert", "--no-edit", "HEAD")
	second := filepath.Join(t.TempDir(), "second")
	for name, step := range map[string]func(){
		"rename and revert": func() {},
		"branch switch":     func() { vaulttest.Git(t, dir, "checkout", "--quiet", "main") },
	} {
		step()
		if n := reindex(t, s).Embedded; n != 0 {
			t.Errorf("%s: %d texts embedded", name, n)
		}
		if r := search(t, s, "vehicle"); r.Mode != "hybrid" {
			t.Errorf("%s: mode %s, %q", name, r.Mode, r.Degraded)
		}
	}
	vaulttest.Git(t, dir, "worktree", "add", "--quiet", second, "other")
	if n := reindex(t, vaulttest.ServiceIn(t, second, cache, vault.Person)).Embedded; n != 0 {
		t.Errorf("second work tree: %d texts embedded", n)
	}
}

// Another model answers by words until it has embedded everything, and the
// vectors of the first wait until they are collected.
func TestModelsDoNotMix(t *testing.T) {
	dir, cache := vaulttest.Repo(t, carNotes), t.TempDir()
	one, two := filepath.Join(cache, "models", "one"), filepath.Join(cache, "models", "two")
	vaulttest.Model(t, one, 1, carModel...)
	vaulttest.Model(t, two, 2, append(slices.Clone(carModel), "barks sleeps")...)
	with := func(model string) *vault.Service {
		vaulttest.Write(t, dir, "kb.yaml", "model: "+model+"\ncollections: [{name: notes, path: .}]\n")
		return vaulttest.ServiceIn(t, dir, cache, vault.Person)
	}
	first := with("one")
	reindex(t, first)
	want := search(t, first, "vehicle hound")
	second := with("two")
	if r := search(t, second, "vehicle hound"); r.Mode != "text" || !strings.Contains(r.Degraded, "not embedded yet") {
		t.Errorf("another model: mode %s, %q", r.Mode, r.Degraded)
	}
	if n := reindex(t, second).Embedded; n != 5 {
		t.Errorf("another model: %d texts embedded", n)
	}
	other := search(t, second, "vehicle hound")
	if other.Mode != "hybrid" || cmp.Equal(want.Results, other.Results) {
		t.Errorf("another model: mode %s, and the same scores", other.Mode)
	}
	if d := cmp.Diff(want, search(t, with("one"), "vehicle hound")); d != "" {
		t.Errorf("the first again: %s", d)
	}
	// Its files change: it is another.
	vaulttest.Model(t, one, 3, carModel...)
	if r := search(t, with("one"), "vehicle hound"); r.Mode != "text" {
		t.Errorf("an exchanged model: mode %s", r.Mode)
	}
}

func TestModelTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		spoil  func(t *testing.T, model string)
		want   string
	}{
		"not installed": {"model: other-model", nil, "no embedding model is installed (kb model pull other-model)"},
		"none":          {"model: none", nil, "the configuration names no embedding model"},
		"no directory":  {"model: ./nowhere", nil, "there is no embedding model in nowhere"},
		"truncated": {"model: tiny", func(t *testing.T, model string) {
			if err := os.Truncate(filepath.Join(model, "model.safetensors"), 100); err != nil {
				t.Fatal(err)
			}
		}, "the embedding model tiny cannot be used"},
		"empty": {"model: tiny", func(t *testing.T, model string) {
			if err := os.RemoveAll(model); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(model, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "the embedding model tiny cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, cache := vaulttest.Repo(t, carNotes), t.TempDir()
			model := filepath.Join(cache, "models", "tiny")
			vaulttest.Model(t, model, 1, carModel...)
			if c.spoil != nil {
				c.spoil(t, model)
			}
			vaulttest.Write(t, dir, "kb.yaml", c.config+"\ncollections: [{name: notes, path: .}]\n")
			s := vaulttest.ServiceIn(t, dir, cache, vault.Person)
			reindexed := reindex(t, s)
			r := search(t, s, "hound")
			if r.Mode != "text" || len(r.Results) != 2 || !strings.HasPrefix(r.Degraded, c.want) || strings.Contains(r.Degraded, cache) {
				t.Errorf("mode %s, %q: %s", r.Mode, r.Degraded, hitPaths(r))
			}
			if !strings.HasPrefix(reindexed.Degraded, c.want) {
				t.Errorf("reindex: %q", reindexed.Degraded)
			}
			r, err := try[vault.SearchResult](s, "search", map[string]any{"query": "hound", "mode": "vector"})
			if err != nil || r.Mode != "text" {
				t.Errorf("mode vector falls back: %v", err)
			}
		})
	}
	dir, cache := vaulttest.Repo(t, carNotes), t.TempDir()
	vaulttest.Write(t, dir, "kb.yaml", "search: {fallback: false}\ncollections: [{name: notes, path: .}]\n")
	s := vaulttest.ServiceIn(t, dir, cache, vault.Person)
	if _, err := try[vault.SearchResult](s, "search", map[string]any{"query": "hound", "mode": "vector"}); vault.AsError(err).Code != vault.NotFound {
		t.Errorf("without fallback: %v", err)
	}
}

func TestNewestNotesAreEmbeddedFirst(t *testing.T) {
	dir := vaulttest.Repo(t, "-- a.md --\none\n-- @commit 2024-01-01 first --\n-- c.md --\nthree\n-- d.md --\nfour\n"+
		"-- @commit 2024-01-02 second --\n-- b.md --\ntwo\n-- @commit 2024-01-03 third --\n-- e.md --\nfive\n")
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(cfg, vault.ReadOnlyStore(t.TempDir(), nil, t.Logf), vault.Person)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	got, err := v.NewestFirst(t.Context())
	if d := cmp.Diff([]string{"e.md", "b.md", "c.md", "d.md", "a.md"}, got); d != "" || err != nil {
		t.Errorf("%v, %s", err, d)
	}
}

// GC drops the vectors of models that are not in use and of texts that no live
// note has.
func TestGCDropsVectors(t *testing.T) {
	dir, cache := vaulttest.Repo(t, carNotes), t.TempDir()
	for i, name := range []string{"one", "two"} {
		vaulttest.Model(t, filepath.Join(cache, "models", name), i, carModel...)
		vaulttest.Write(t, dir, "kb.yaml", "model: "+name+"\ncollections: [{name: notes, path: .}]\n")
		reindex(t, vaulttest.ServiceIn(t, dir, cache, vault.Person))
	}
	vaulttest.Write(t, dir, "tax.md", "# Duty\n\nThe levy is due in autumn.\n")
	s := vaulttest.ServiceIn(t, dir, cache, vault.Person)
	reindex(t, s)
	vaulttest.Git(t, dir, "checkout", "--quiet", "tax.md")
	defer vault.CollectAtOnce()()
	r := do[vault.GCResult](t, s, "kb_gc", nil)
	if r.Dropped["v"] != 6 || r.Dropped["k"] != 1 {
		t.Errorf("dropped %v, want the 5 vectors of one, and the vector and the list of a text that is gone", r.Dropped)
	}
	if r := search(t, s, "vehicle"); r.Mode != "hybrid" {
		t.Errorf("afterwards: mode %s, %q", r.Mode, r.Degraded)
	}
	if n := reindex(t, s).Embedded; n != 0 {
		t.Errorf("afterwards %d texts are embedded", n)
	}
}

// An agent's call does not wait for vectors: they are made in the background.
func TestBackground(t *testing.T) {
	dir, cache := vaulttest.Repo(t, carNotes), t.TempDir()
	vaulttest.Model(t, filepath.Join(cache, "models", "tiny"), 1, carModel...)
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	s, err := vault.NewService(cfg, vault.Agent, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	s.EmbedInBackground()
	if n := reindex(t, s).Embedded; n != 0 {
		t.Errorf("an agent waited for %d texts", n)
	}
	person, err := vault.NewService(cfg, vault.Person, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	reindex(t, person) // waits for what is being embedded
	if r := search(t, s, "vehicle"); r.Mode != "hybrid" {
		t.Errorf("mode %s, %q", r.Mode, r.Degraded)
	}
	for i := range 40 {
		vaulttest.Write(t, dir, fmt.Sprintf("many/%d.md", i), fmt.Sprintf("# Note %d\n\nOf many.\n", i))
	}
	r := search(t, s, "vehicle")
	if r.Mode == "text" && !strings.Contains(r.Degraded, "the rest will be") {
		t.Errorf("%q", r.Degraded)
	}
	if err := person.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil { // in the middle of it
		t.Error(err)
	}
	again := vaulttest.ServiceIn(t, dir, cache, vault.Person)
	reindex(t, again)
	if r := search(t, again, "vehicle"); r.Mode != "hybrid" {
		t.Errorf("afterwards: mode %s, %q", r.Mode, r.Degraded)
	}
}

func TestEvalOfModes(t *testing.T) {
	cache, dir := t.TempDir(), t.TempDir()
	vaulttest.Model(t, filepath.Join(cache, "models", "tiny"), 1, carModel...)
	vaulttest.Write(t, dir, "corpus.jsonl", `{"_id":"a","title":"","text":"The automobile is red."}
{"_id":"b","title":"","text":"The hound is red."}
`)
	vaulttest.Write(t, dir, "queries.jsonl", `{"_id":"1","text":"vehicle"}`+"\n")
	vaulttest.Write(t, dir, "qrels.tsv", "q\td\ts\n1\ta\t1\n")
	cfg, err := vault.CorpusVault(context.Background(), dir, cache, "en", "tiny")
	if err != nil {
		t.Fatal(err)
	}
	s, err := vault.NewService(cfg, vault.Person, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	r := do[vault.EvalResult](t, s, "kb_eval", map[string]any{"queries": dir, "corpus": true, "mode": "text, vector,hybrid"})
	var got []string
	for _, m := range r.Modes {
		got = append(got, fmt.Sprintf("%s %v", m.Mode, m.NDCG10))
	}
	if d := cmp.Diff([]string{"text 0", "vector 1", "hybrid 1"}, got); d != "" {
		t.Error(d)
	}
	if _, err := try[vault.EvalResult](s, "kb_eval", map[string]any{"queries": dir, "mode": "magic"}); vault.AsError(err).Code != vault.Usage {
		t.Errorf("a mode that is none: %v", err)
	}
}

// The answer of a view is the same whatever else was embedded, in whatever order.
func TestHybridIsExact(t *testing.T) {
	s, dir, cache := meaningVault(t, carNotes)
	reindex(t, s)
	for i := range 30 {
		vaulttest.Write(t, dir, fmt.Sprintf("more/%d.md", i), fmt.Sprintf("# Note %d\n\nA vehicle, a kitten and tax number %d.\n", i, i))
	}
	vaulttest.Commit(t, dir, "2024-01-02", "more")
	reindex(t, s)
	fresh := t.TempDir()
	if err := os.CopyFS(filepath.Join(fresh, "models"), os.DirFS(filepath.Join(cache, "models"))); err != nil {
		t.Fatal(err)
	}
	other := vaulttest.ServiceIn(t, dir, fresh, vault.Person)
	do[vault.Reindexed](t, other, "reindex", map[string]any{"at": "HEAD~1"})
	for _, q := range []string{"vehicle", "kitten tax", "hound -levy", `"the automobile"`, "nothing of the kind"} {
		for _, mode := range []string{"hybrid", "vector"} {
			args := []any{"at", "HEAD~1", "mode", mode, "explain", true, "diversity", 0.3}
			got, want := search(t, s, q, args...), search(t, other, q, args...)
			if d := cmp.Diff(want, got); d != "" || got.Mode != mode {
				t.Errorf("%s by %s: %s", q, got.Mode, d)
			}
		}
	}
}
