package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"kb/vault"
)

// Synced says what became of sources that were asked again. Every source that was
// asked is unchanged, failed, or has its notes in Added and Updated.
type Synced struct {
	Checked   int               `json:"checked"` // sources that were asked
	Unchanged int               `json:"unchanged"`
	Fresh     int               `json:"fresh"` // sources that were asked not long ago, and not in this run
	Added     []vault.AddedNote `json:"added"` // new entries of feeds
	Updated   []vault.AddedNote `json:"updated"`
	Failed    []SyncFailed      `json:"failed"`
	Skipped   []SyncSkipped     `json:"skipped"`
	Draft     string            `json:"draft"`
	Branch    string            `json:"branch,omitempty"`
	Commit    string            `json:"commit,omitempty"` // "" when nothing was written
	Review    string            `json:"review,omitempty"`
	DryRun    bool              `json:"dry_run,omitempty"`
}

// SyncFailed is a source that could not be refreshed. Its note stays.
type SyncFailed struct {
	Path    string `json:"path"`
	URL     string `json:"url"`
	Class   string `json:"class"`
	Message string `json:"message"`
}

// SyncSkipped is a source that was due and was not asked, or whose document was not
// taken.
type SyncSkipped struct {
	Path   string `json:"path"`
	URL    string `json:"url"`
	Reason string `json:"reason"`
}

func newSynced(draft string, dry bool) *Synced {
	return &Synced{Added: []vault.AddedNote{}, Updated: []vault.AddedNote{}, Failed: []SyncFailed{}, Skipped: []SyncSkipped{}, Draft: draft, DryRun: dry}
}

// join takes what became of a batch.
func (r *Synced) join(a *vault.Added) {
	r.Added = append(r.Added, a.Added...)
	r.Updated = append(r.Updated, a.Updated...)
	for _, n := range a.Failed {
		r.Failed = append(r.Failed, SyncFailed{Path: n.Path, URL: n.Source, Class: ClassRejected, Message: n.Reason})
	}
	for _, n := range a.Skipped {
		r.Skipped = append(r.Skipped, SyncSkipped{Path: n.Path, URL: n.Source, Reason: n.Reason})
	}
	r.Branch, r.Commit, r.Review = cmp.Or(a.Branch, r.Branch), cmp.Or(a.Commit, r.Commit), cmp.Or(a.Review, r.Review)
}

// sort makes the result that of the sources, whichever host was faster.
func (r *Synced) sort() {
	bySource := func(a, b vault.AddedNote) int { return cmp.Compare(a.Source, b.Source) }
	slices.SortFunc(r.Added, bySource)
	slices.SortFunc(r.Updated, bySource)
	slices.SortFunc(r.Failed, func(a, b SyncFailed) int { return cmp.Compare(a.URL, b.URL) })
	slices.SortFunc(r.Skipped, func(a, b SyncSkipped) int { return cmp.Compare(a.URL, b.URL) })
}

// ExitCode is Internal where a source failed: the others are done.
func (r *Synced) ExitCode() vault.Code {
	if len(r.Failed) > 0 {
		return vault.Internal
	}
	return ""
}

// Text says what was done.
func (r *Synced) Text(t *vault.Text) {
	for _, n := range r.Added {
		t.Printf("new %s %s\n", t.Accent(n.Path), t.Plain(n.Title))
	}
	for _, n := range r.Updated {
		t.Printf("updated %s %s\n", t.Accent(n.Path), t.Plain(n.Title))
		if n.Reason != "" {
			t.Printf("  %s\n", t.Warn(n.Reason))
		}
	}
	for _, x := range r.Failed {
		t.Printf("failed %s %s\n  %s\n", t.Accent(x.Path), t.Plain(x.URL), t.Warn(x.Class+": "+x.Message))
	}
	why := map[string]int{}
	for _, x := range r.Skipped {
		why[x.Reason]++
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		t.Printf("skipped %d: %s\n", why[reason], t.Plain(reason))
	}
	would := ""
	if r.DryRun {
		would = "would be "
	}
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%d asked: %d unchanged, %d %supdated, %d %snew, %d failed; %d skipped, %d asked not long ago",
		r.Checked, r.Unchanged, len(r.Updated), would, len(r.Added), would, len(r.Failed), len(r.Skipped), r.Fresh)))
	if r.Commit != "" {
		t.Printf("%s %s %s\n", t.Strong("draft "+r.Draft), t.Dim("review:"), r.Review)
	}
}

// mostTold bounds the failures that a commit names.
const mostTold = 50

// digest is the message of the batch's commit: what changed, what failed since the
// commit before, and how far the run is.
func (s *Syncer) digest() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Sync %d changed documents\n\n", len(s.batch))
	if len(s.batch) == 1 {
		b.Reset()
		b.WriteString("Sync 1 changed document\n\n")
	}
	fmt.Fprintf(&b, "Asked so far: %d of %d; %d unchanged, %d failed.\n\n", s.asked, s.total, s.result.Unchanged, len(s.result.Failed))
	for _, n := range s.batch {
		if at, known := s.notes[n.Source]; known {
			fmt.Fprintf(&b, "- %s: %s\n", inMessage(at), inMessage(n.Source))
		} else {
			fmt.Fprintf(&b, "- new: %s\n", inMessage(n.Source))
		}
	}
	untold := s.result.Failed[s.told:]
	s.told = len(s.result.Failed)
	for _, x := range untold[:min(len(untold), mostTold)] {
		fmt.Fprintf(&b, "- failed (%s): %s: %s: %s\n", x.Class, inMessage(x.Path), inMessage(x.URL), inMessage(x.Message))
	}
	if more := len(untold) - mostTold; more > 0 {
		fmt.Fprintf(&b, "- %d more failed\n", more)
	}
	return b.String()
}

// inMessage is text of elsewhere, on one line.
func inMessage(s string) string {
	const most = 300
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}
