package vault_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// ask runs an operation with arguments given as JSON.
func ask[R any](t *testing.T, s *vault.Service, op, args string) *R {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(args), &m); err != nil {
		t.Fatal(err)
	}
	return do[R](t, s, op, m)
}

const garden = `
-- guides/retry.md --
---
title: Retry policy
aliases: [Backoff policy]
tags: [howto, net/http]
created: 2024-01-01
updated: 2024-01-01
---
# Retry policy

See [[limits]], [[limits#Quota|quota]] and [md](../README.md). Not [[nowhere]], not [[limits#Nothing]].

## Backoff

Wait **twice** as long each time, but at most 30 seconds. Ask @ada or ada@example.org.
-- guides/limits.md --
# Limits

## Quota

Ten requests a second. Old: [[Backoff policy]]. Code: ` + "`[[ -f x ]]`" + `
-- README.md --
# Home

![[guides/retry]] ![[missing.png]] ![[logo.png]]
-- logo.png --
not really
-- old.md --
---
status: obsolete
superseded_by: "[[retry]]"
---
lonely
-- new.md --
see [[old]]
-- @commit 2024-01-02 first --
-- @rename guides/limits.md guides/quotas.md --
-- @commit 2024-01-03 rename --
`

func TestLinks(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, garden))
	r := ask[vault.LinksResult](t, s, "kb_links", `{"path":"guides/retry.md","at":"HEAD~1"}`)
	var out, in []string
	for _, l := range r.Out {
		out = append(out, l.Path)
	}
	for _, l := range r.In {
		in = append(in, l.Path)
	}
	if diff := cmp.Diff([]string{"guides/limits.md", "README.md"}, out); diff != "" {
		t.Errorf("out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"README.md", "old.md"}, in); diff != "" {
		t.Errorf("in (-want +got):\n%s", diff)
	}
	var broken []string
	for _, b := range r.Broken {
		broken = append(broken, fmt.Sprintf("%s:%d %s", b.Path, b.Line, b.Why))
	}
	want := []string{"nowhere:10 no such note", "limits#Nothing:10 no such heading in the note"}
	if diff := cmp.Diff(want, broken); diff != "" {
		t.Errorf("broken (-want +got):\n%s", diff)
	}
	alias := ask[vault.LinksResult](t, s, "kb_links", `{"path":"guides/limits.md","at":"HEAD~1"}`)
	if len(alias.Broken) != 1 || !strings.Contains(alias.Broken[0].Why, "alias") || alias.Broken[0].Near != "guides/retry.md" {
		t.Errorf("a bare alias: %+v, want it reported with the note it means", alias.Broken)
	}
}

func TestAmbiguousLinks(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, `
-- a/Setup.md --
x
-- b/Setup.md --
see [[Setup]] and [[a/Setup]]
-- c.md --
one

[[setup#h|x]] [y](Setup.md) [[b/Setup]] ![[pic.png]]
-- p/pic.png --
x
-- q/pic.png --
y
-- @commit 2024-01-02 first --
`))
	r := ask[vault.LinksResult](t, s, "kb_links", `{"path":"c.md"}`)
	both := []string{"a/Setup.md", "b/Setup.md"}
	want := []vault.AmbiguousLink{
		{Path: "setup#h", Line: 3, Means: "a/Setup.md", Candidates: both},
		{Path: "Setup.md", Line: 3, Means: "a/Setup.md", Candidates: both},
		{Path: "pic.png", Line: 3, Means: "p/pic.png", Candidates: []string{"p/pic.png", "q/pic.png"}},
	}
	if diff := cmp.Diff(want, r.Ambiguous); diff != "" || r.AmbiguousLinks != 3 {
		t.Errorf("links: %d (-want +got):\n%s", r.AmbiguousLinks, diff)
	}
	if in := ask[vault.LinksResult](t, s, "kb_links", `{"path":"c.md","direction":"in"}`); len(in.Ambiguous) != 0 {
		t.Errorf("links to a note: %v", in.Ambiguous)
	}
	if g := ask[vault.LinksResult](t, s, "kb_links", `{}`); g.AmbiguousLinks != 4 {
		t.Errorf("graph: %d ambiguous links, want 4", g.AmbiguousLinks)
	}
	h := ask[vault.HealthResult](t, s, "kb_health", `{}`).Collections[0]
	var got []string
	for _, x := range h.AmbiguousLinks {
		got = append(got, fmt.Sprintf("%s:%d: %s: %s", x.Path, x.Line, x.Message, x.Mend))
	}
	issues := []string{
		"b/Setup.md:1: Setup could mean any of 2 files: a/Setup.md, b/Setup.md: [[b/Setup]]",
		"c.md:3: setup#h could mean any of 2 files: a/Setup.md, b/Setup.md: [[a/Setup]]",
		"c.md:3: Setup.md could mean any of 2 files: a/Setup.md, b/Setup.md: link to /a/Setup.md",
		"c.md:3: pic.png could mean any of 2 files: p/pic.png, q/pic.png: [[p/pic.png]]",
	}
	if diff := cmp.Diff(issues, got); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
}

func TestHealth(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, garden))
	r := ask[vault.HealthResult](t, s, "kb_health", `{"at":"HEAD","min_words":3}`)
	h := r.Collections[0]
	paths := func(list []vault.Issue) (out []string) {
		for _, x := range list {
			out = append(out, fmt.Sprintf("%s:%d", x.Path, x.Line))
		}
		return out
	}
	for _, tt := range []struct {
		name string
		got  []vault.Issue
		want []string
	}{
		{"broken_links", h.BrokenLinks, []string{"guides/quotas.md:5", "guides/retry.md:10", "guides/retry.md:10", "guides/retry.md:10", "guides/retry.md:10"}},
		{"broken_embeds", h.BrokenEmbeds, []string{"README.md:3"}},
		{"obsolete_links", h.ObsoleteLinks, []string{"new.md:1"}},
		{"stubs", h.Stubs, []string{"new.md:1", "old.md:1"}},
		{"no_tags", h.NoTags, []string{"README.md:1", "guides/quotas.md:1", "new.md:1", "old.md:1"}},
	} {
		if diff := cmp.Diff(tt.want, paths(tt.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if r.Checked != 5 {
		t.Errorf("checked %d notes, want 5", r.Checked)
	}
	// What the rename broke is all that is new.
	r = ask[vault.HealthResult](t, s, "kb_health", `{"at":"HEAD","against":"HEAD~1","fail_on":"new"}`)
	if got := paths(r.Collections[0].BrokenLinks); len(got) != 3 || r.ExitCode() != vault.Failed {
		t.Errorf("new since: %v, exit code %q; want the three links to the renamed note and a failure", got, r.ExitCode())
	}
}

func TestHistory(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, garden))
	r := ask[vault.HistoryResult](t, s, "kb_history", `{"path":"guides/quotas.md"}`)
	if len(r.Versions) != 2 || r.Versions[0].Subject != "rename" || r.Versions[1].Path != "guides/limits.md" {
		t.Errorf("versions %+v, want the rename and the note under its old path", r.Versions)
	}
	gone := ask[vault.HistoryResult](t, s, "kb_history", `{"path":"guides/limits.md"}`)
	if len(gone.Versions) == 0 || gone.Versions[len(gone.Versions)-1].Blob == "" {
		t.Errorf("a note that is gone has versions %+v", gone.Versions)
	}
	d := ask[vault.HistoryResult](t, s, "kb_history", `{"from":"HEAD~1","to":"HEAD"}`)
	if len(d.Renamed) != 1 || d.Renamed[0].Was != "guides/limits.md" || len(d.Broken) != 3 || len(d.Added)+len(d.Removed)+len(d.Changed) != 0 {
		t.Errorf("diff %+v", d)
	}
}

// What a query names and no hit does is said, as it was written.
func TestMissingEntities(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, garden))
	for query, want := range map[string]string{
		"ask @ada":                          "",
		"ask @eve":                          "eve,@eve",
		"backoff ada@example.org":           "",
		"backoff eve@example.org":           "eve,eve@example.org",
		"backoff #howto":                    "",
		"backoff #nohow":                    "nohow,#nohow",
		"backoff https://www.example.org/a": "www,example.org/a",
		"backoff `@media`":                  "media",
	} {
		r := do[vault.SearchResult](t, s, "search", map[string]any{"query": query, "mode": "text"})
		if got := strings.Join(r.MissingTerms, ","); got != want {
			t.Errorf("%s: missing %q, want %q", query, got, want)
		}
	}
}

func TestEntities(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, garden))
	r := ask[vault.EntitiesResult](t, s, "kb_entities", `{}`)
	var got []string
	for _, e := range r.Entities {
		got = append(got, e.Kind+" "+e.Name)
	}
	want := []string{"email ada@example.org", "mention ada", "tag howto", "tag net/http"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	hits := ask[vault.SearchResult](t, s, "search", `{"query":"limits home wait","entity":["@ada"]}`)
	if hits.Total != 1 || hits.Results[0].Path != "guides/retry.md" {
		t.Errorf("search with an entity: %+v", hits.Results)
	}
	plain := ask[vault.SearchResult](t, s, "search", `{"query":"limits home wait","mode":"text"}`)
	raised := ask[vault.SearchResult](t, s, "search", `{"query":"limits home wait","mode":"text","boost_entity":["nobody","@ada"],"explain":true}`)
	if raised.Total != plain.Total || plain.Total < 2 {
		t.Fatalf("%d hits with a boosted entity, %d without", raised.Total, plain.Total)
	}
	was := map[string]float64{}
	for _, h := range plain.Results {
		was[h.Path] = h.Score
	}
	for _, h := range raised.Results {
		if named := h.Path == "guides/retry.md"; (h.Score > was[h.Path]) != named || (h.Explain.Boost == 0.5) != named {
			t.Errorf("%s scores %v with a boosted entity, %v without (%+v)", h.Path, h.Score, was[h.Path], h.Explain)
		}
	}
}

func TestVerify(t *testing.T) {
	dir := vaulttest.Repo(t, garden)
	s := vaulttest.Service(t, dir)
	commit := vaulttest.Git(t, dir, "rev-parse", "HEAD~1")
	cite := "kb://" + s.Config().Collections[0].Name + "@" + commit
	for _, tt := range []struct{ text, want string }{
		{`"at most 30 seconds" (` + cite + "/guides/retry.md#backoff)", "stands stands"},
		{`"Wait twice as long … 30 seconds" ` + cite + "/guides/retry.md#backoff", "stands stands"},
		{`"at most 31 seconds" ` + cite + "/guides/retry.md#backoff", "stands nowhere"},
		{`"Ten requests a second" ` + cite + "/guides/limits.md#quota", "stands stands"}, // renamed since
		{`"Ten requests a second" ` + cite + "/guides/retry.md", "stands moved"},
		{"> Ten requests a second\n\n" + cite + "/guides/limits.md", "stands stands"},
		{`"at most 30 seconds"`, "stands"},
		{cite + "/guides/retry.md#gone", "moved"},
		{cite + "/gone.md", "nowhere"},
		{`no quote, "two words"`, ""},
		{"read kb://digest, then `kb://conventions`", ""},
	} {
		args, _ := json.Marshal(map[string]string{"text": tt.text})
		r := ask[vault.Verified](t, s, "kb_verify", string(args))
		var got []string
		for _, c := range r.Citations {
			got = append(got, c.Status)
		}
		for _, q := range r.Quotes {
			got = append(got, q.Status)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("verify %q: %v, want %s", tt.text, got, tt.want)
		}
		if ok := !strings.Contains(tt.want, "moved") && !strings.Contains(tt.want, "nowhere"); r.OK != ok {
			t.Errorf("verify %q: ok %v, want %v", tt.text, r.OK, ok)
		}
	}
}

func TestSimilar(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, garden))
	r := ask[vault.SearchResult](t, s, "kb_similar", `{"path":"guides/quotas.md"}`)
	for _, h := range r.Results {
		if h.Path == "guides/quotas.md" {
			t.Errorf("a note is similar to itself: %+v", r.Results)
		}
	}
}

// The same commit exports the same bytes, and nothing that is not committed.
func TestExport(t *testing.T) {
	dir := vaulttest.Repo(t, garden)
	vaulttest.Write(t, dir, "secret.md", "not committed")
	s := vaulttest.Service(t, dir)
	one := ask[vault.ExportResult](t, s, "kb_export", `{}`)
	two := ask[vault.ExportResult](t, vaulttest.Service(t, dir), "kb_export", `{}`)
	if one.Content != two.Content || one.Documents != 5 {
		t.Errorf("two exports of %d and %d notes differ", one.Documents, two.Documents)
	}
	if strings.Contains(one.Content, "not committed") {
		t.Error("an uncommitted note was exported")
	}
	part := ask[vault.ExportResult](t, s, "kb_export", `{"max_documents":2}`)
	rest := ask[vault.ExportResult](t, s, "kb_export", fmt.Sprintf(`{"cursor":%q}`, part.Next))
	if !part.Truncated || part.Documents+rest.Documents != 5 {
		t.Errorf("in two parts: %d and %d notes", part.Documents, rest.Documents)
	}
}

// Dates of every note agree with git's own log.
func TestHistoryAgainstGit(t *testing.T) {
	bundle := vaulttest.Shared(t, "data/vaults/kepano-obsidian.bundle")
	dir := t.TempDir()
	if out, err := exec.Command("git", "clone", "-q", bundle, dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	s := vaulttest.Service(t, dir)
	r := ask[vault.HistoryResult](t, s, "kb_history", `{"path":"Categories/Meetings.md","limit":500}`)
	log := vaulttest.Git(t, dir, "log", "--follow", "--format=%H", "--", "Categories/Meetings.md")
	var got []string
	for _, v := range r.Versions {
		got = append(got, v.Commit)
	}
	if diff := cmp.Diff(strings.Fields(log), got); diff != "" {
		t.Errorf("versions (-git +kb):\n%s", diff)
	}
}

// An agent cannot reach a private note through any operation that takes a path
// or lists notes, at any commit, and not its former name either.
func TestPrivateNotes(t *testing.T) {
	dir := vaulttest.Repo(t, `
-- kb.yaml --
collections: [{name: v, path: .}]
visibility: {private: ["Journal"]}
-- journal/secret.md --
# Confession

zanzibar, see [[open]]
-- open.md --
# Open

links to [[secret]]
-- @commit 2024-01-01 one --
-- @rename journal/secret.md moved.md --
-- @commit 2024-01-02 two --
`)
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Agent)
	for _, at := range []string{"HEAD", "HEAD~1"} {
		for _, c := range []struct{ op, args string }{
			{"search", `{"query":"zanzibar","at":"HEAD~1"}`},
			{"search", `{"query":"zanzibar","mode":"literal","at":"HEAD~1"}`},
			{"kb_links", `{"at":"HEAD~1"}`},
			{"kb_context", `{"path":["open.md"],"at":"HEAD~1"}`},
			{"kb_export", `{"at":"HEAD~1"}`},
			{"kb_history", `{"path":"journal/secret.md","at":"` + at + `"}`},
			{"kb_history", `{"path":"moved.md","at":"HEAD"}`},
			{"kb_digest", `{"at":"HEAD~1"}`},
			{"kb_query", `{"at":"HEAD~1"}`},
			{"kb_health", `{"at":"HEAD~1"}`},
			{"get_document", `{"path":"journal/secret.md","at":"HEAD~1"}`},
		} {
			op, _ := vault.FindOp(c.op)
			r, err := s.Do(t.Context(), op, json.RawMessage(c.args), nil)
			raw, _ := json.Marshal(r)
			for _, word := range []string{"Confession", "journal/secret.md\"", "journal/"} {
				if strings.Contains(string(raw), word) {
					t.Errorf("%s %s tells of %s: %s", c.op, c.args, word, raw)
				}
			}
			if err != nil && strings.Contains(err.Error(), "Confession") {
				t.Errorf("%s %s: %v", c.op, c.args, err)
			}
		}
	}
}

// What only a draft has is not reviewed, by whatever name it is asked for.
func TestTrust(t *testing.T) {
	dir := vaulttest.Repo(t, garden)
	vaulttest.Git(t, dir, "checkout", "-q", "-b", "drafts/x")
	vaulttest.Write(t, dir, "zork.md", "zork")
	draft := vaulttest.Commit(t, dir, "2024-01-04", "draft")
	vaulttest.Git(t, dir, "checkout", "-q", "main")
	s := vaulttest.Service(t, dir)
	for at, want := range map[string]string{draft: "draft", "drafts/x": "draft", draft[:9]: "draft"} {
		r := ask[vault.SearchResult](t, s, "search", fmt.Sprintf(`{"query":"zork","at":%q}`, at))
		if len(r.Results) != 1 || r.Results[0].Trust != want {
			t.Errorf("at %s: %+v, want one hit of trust %s", at, r.Results, want)
		}
	}
	for _, at := range []string{"HEAD", "HEAD~1", "main", "worktree"} {
		r := ask[vault.SearchResult](t, s, "search", fmt.Sprintf(`{"query":"retry","at":%q}`, at))
		if len(r.Results) == 0 || r.Results[0].Trust != "reviewed" {
			t.Errorf("at %s: %+v, want reviewed", at, r.Results)
		}
	}
}

// A draft of one repository is not reviewed because another has published one of
// the same name.
func TestTrustOfSeveralRepositories(t *testing.T) {
	merged, open := vaulttest.Repo(t, garden), vaulttest.Repo(t, garden)
	for _, dir := range []string{merged, open} {
		vaulttest.Git(t, dir, "checkout", "-q", "-b", "drafts/x")
		vaulttest.Write(t, dir, "zork.md", "zork")
		vaulttest.Commit(t, dir, "2024-01-04", "draft")
		vaulttest.Git(t, dir, "checkout", "-q", "main")
	}
	vaulttest.Git(t, merged, "merge", "-q", "--ff-only", "drafts/x")
	home := t.TempDir()
	vaulttest.Write(t, home, "kb.yaml", fmt.Sprintf("collections:\n  - {name: a, path: %q}\n  - {name: b, path: %q}\n", merged, open))
	s := vaulttest.Service(t, home)
	for at, want := range map[string]string{"drafts/x": "draft", "main": "reviewed"} {
		r := ask[vault.SearchResult](t, s, "search", fmt.Sprintf(`{"query":"zork OR retry","at":%q}`, at))
		if len(r.Results) == 0 || r.Results[0].Trust != want {
			t.Errorf("at %s: %+v, want trust %s", at, r.Results, want)
		}
	}
}

// Reading on by next gives every byte of a note, also within one long line.
func TestReadingOn(t *testing.T) {
	body := strings.Repeat("äword ", 4000) + "\n\n" + strings.Repeat("line of text\n", 300) + "end"
	dir := vaulttest.Repo(t, "-- long.md --\n"+body+"\n-- @commit 2024-01-01 one --\n")
	s := vaulttest.Service(t, dir)
	var got strings.Builder
	for next, n := "1-", 0; next != ""; n++ {
		if n > 500 {
			t.Fatal("reading on does not end")
		}
		d := ask[vault.Document](t, s, "get_document", fmt.Sprintf(`{"path":"long.md","max_tokens":300,"lines":%q}`, next))
		got.WriteString(d.Content)
		next = d.Next
	}
	if got.String() != body+"\n" {
		t.Errorf("read %d bytes on, want %d", got.Len(), len(body)+1)
	}
}
