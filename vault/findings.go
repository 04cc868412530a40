package vault

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kb/cas"
	"kb/embed"
	"kb/internal/journal"
)

// Findings is what a diagnosis found. OK is whether there is nothing to mend.
type Findings struct {
	OK       bool         `json:"ok"`
	Findings []Finding    `json:"findings"`
	Keys     []cas.KeyDoc `json:"keys,omitempty"`
	Logs     []string     `json:"logs,omitempty"` // lines of JSON
}

// Finding is one thing to mend, or to know when Info is set.
type Finding struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Info    bool   `json:"info,omitempty"`
}

func (f *Findings) bad(code, hint, format string, args ...any) {
	f.OK = false
	f.Findings = append(f.Findings, Finding{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (f *Findings) info(code, hint, format string, args ...any) {
	f.Findings = append(f.Findings, Finding{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint, Info: true})
}

// Text writes a line for each finding.
func (f *Findings) Text(t *Text) {
	for _, x := range f.Findings {
		mark := styled{"✗ ", "33"}
		if x.Info {
			mark = styled{"· ", "2"}
		}
		t.flowAfter(mark, styled{"  ", ""}, []styled{{x.Message, ""}})
		if x.Hint != "" {
			t.hanging("  ", "  ", []styled{{x.Hint, "2"}})
		}
	}
	for _, k := range f.Keys {
		t.Printf("%-14s %-28s %s\n", k.Key, k.Value, k.Meaning)
	}
	for _, line := range f.Logs {
		t.hanging("", "  ", []styled{{line, ""}})
	}
	if f.OK {
		t.Printf("%s\n", t.Strong("everything is in order"))
	}
}

// ExitCode is Failed when something is to be mended.
func (f *Findings) ExitCode() Code {
	if f.OK {
		return ""
	}
	return Failed
}

// Undiagnosed is the diagnosis where the vault cannot even be opened.
func Undiagnosed(err error) *Findings {
	e := AsError(err)
	f := &Findings{Findings: []Finding{}}
	f.bad(string(e.Code), e.Hint, "%s", e.Message)
	return f
}

// DoctorParams asks for a diagnosis.
type DoctorParams struct {
	Logs int `json:"logs,omitempty" min:"0" max:"10000" help:"also show so many of the last lines of the log of kb mcp and kb serve"`
}

var doctorOp = define(Op{
	Name:     "kb_doctor",
	Summary:  "Find what is broken and say how to mend it",
	Examples: []string{"kb doctor", "kb doctor --logs 50"},
	People:   true,
}, (*Vault).Doctor)

// Doctor looks at everything an answer depends on: the repositories, the
// configuration, the notes, the derived data. It changes nothing.
func (v *Vault) Doctor(ctx context.Context, p DoctorParams) (*Findings, error) {
	f := &Findings{OK: true, Findings: []Finding{}}
	var err error
	if f.Logs, err = journal.Tail(filepath.Join(v.store.dir, logName), p.Logs); err != nil {
		f.bad("log", "remove it: it is made anew", "%v", err)
	}
	f.info("config", "", "configuration: %s", v.configName())
	w, err := v.read(ctx, "")
	if err != nil {
		f.bad("view", AsError(err).Hint, "%s", err)
		return f, nil
	}
	v.doctorRepositories(f, w)
	v.doctorNotes(ctx, f, w)
	v.doctorPrompts(ctx, f)
	v.doctorStore(ctx, f)
	v.doctorModel(ctx, f, w)
	return f, nil
}

// doctorModel says whether search by meaning works. Text search needs no model.
func (v *Vault) doctorModel(ctx context.Context, f *Findings, w *view) {
	x, why := v.store.embedders.index(v.cfg)
	if x == nil {
		f.info("model", "text search needs none", "search by meaning is off: %s", why)
		return
	}
	c, err := w.covered(ctx, x)
	if err != nil {
		f.bad("vectors", "kb reindex makes them again", "%v", err)
		return
	}
	f.info("model", "", "embedding model %s: %.1f %% of the notes have vectors", filepath.Base(v.cfg.Model), 100*c.coverage.Part())
	if failed := x.Failed(ctx); failed > 0 {
		f.info("not_embedded", "they are found by words", "the model fails on %s", plural(failed, "text"))
	}
}

func (v *Vault) configName() string {
	if v.cfg.File == "" {
		return "none: the repository is the vault (kb init writes one)"
	}
	return v.cfg.File
}

func (v *Vault) doctorRepositories(f *Findings, w *view) {
	for _, b := range w.bases {
		if b.commit.IsZero() {
			f.bad("unborn", "git add . && git commit -m 'first notes'", "%s has no commit yet", b.repo.GitDir())
		}
		doctorClone(f, b.repo)
	}
	for _, c := range v.cols {
		n := 0
		for _, d := range w.docs {
			if d.col == c {
				n++
			}
		}
		if n == 0 && len(w.bases) > 0 && !w.bases[0].commit.IsZero() {
			f.bad("empty_collection", "check path, include and exclude in "+ConfigName, "collection %s has no notes", c.Name)
		} else {
			f.info("collection", "", "collection %s: %s", c.Name, plural(n, "note"))
		}
	}
}

// doctorClone says what a repository does not have by intention.
func doctorClone(f *Findings, r *repo) {
	if r.Partial() {
		f.info("partial_clone", "git fetch --refetch --no-filter brings what was left out",
			"%s is a partial clone: commits whose notes were left out are read without these", r.GitDir())
	}
	switch shallow, err := r.Shallow(); {
	case err != nil:
		f.bad("shallow", "", "%v", err)
	case shallow:
		f.info("shallow_clone", "git fetch --unshallow brings the rest",
			"%s is a shallow clone: dates and histories begin where it was cut", r.GitDir())
	}
}

// doctorNotes reports what was passed over and what could not be read whole.
func (v *Vault) doctorNotes(ctx context.Context, f *Findings, w *view) {
	const most = 20
	for i, p := range w.problems {
		if i == most {
			f.info("skipped", "", "and %d more that were passed over", len(w.problems)-most)
			break
		}
		f.info("skipped_"+p.Code, "", "%s was passed over: %s", p.Path, p.Message)
	}
	cards, err := w.allCards(ctx)
	if err != nil {
		f.bad("notes", AsError(err).Hint, "%s", err)
		return
	}
	shown := 0
	for i, c := range cards {
		for _, p := range c.problems {
			if shown++; shown <= most {
				f.bad(p.Code, mendNote[p.Code], "%s:%d: %s", w.docs[i].path, max(p.Line, 1), p.Message)
			}
		}
	}
	if shown > most {
		f.bad("notes", "", "and %d more problems in notes", shown-most)
	}
}

// mendNote says how a person mends a problem of a note.
var mendNote = map[string]string{
	"malformed_frontmatter": "mend the YAML between the --- lines",
	"binary":                "remove it from the vault, or exclude it in " + ConfigName,
	"too_large":             "split the note",
	"invalid_utf8":          "save the note as UTF-8",
	"duplicate_key":         "keep one of the two lines",
	"unreadable":            "git fsck; for a partial clone, git fetch --refetch --no-filter",
}

func (v *Vault) doctorStore(ctx context.Context, f *Findings) {
	s := v.store
	if s.facts == nil && isFull(s.why) {
		f.bad("cache_full", fullHint, "nothing derived is kept: %v", s.why)
		return
	}
	if s.facts == nil {
		f.bad("cache_read_only", "make it writable, or give kb another --cache-dir", "%s cannot be written: nothing derived is kept", s.dir)
		return
	}
	if err := probe(s.dir); err != nil {
		f.bad("cache_full", fullHint, "%v", err)
	}
	for _, e := range s.facts.Events() {
		f.info("store_"+e.Code, "nothing to do: derived data mends itself", "%s", e.Message)
	}
	x, err := s.index(v.cfg.Language)
	if err != nil {
		f.bad("index", AsError(err).Hint, "%s", err)
		return
	}
	for _, fault := range x.Faults() {
		f.info("damaged_segment", "nothing to do: its notes are indexed again at the next read", "text segment %s: %v", fault.Segment, fault.Err)
	}
	n, err := s.diskBytes()
	if err == nil {
		f.info("cache", "kb gc drops what no ref reaches", "derived data: %s in %s", megabytes(n), s.dir)
	}
}

// probe writes a small file, to find out whether anything can be written.
func probe(dir string) error {
	name := filepath.Join(dir, ".probe")
	defer os.Remove(name)
	return os.WriteFile(name, []byte(strings.Repeat("x", 4096)), 0o600)
}

// CheckParams asks for a check of the derived data.
type CheckParams struct {
	Keys bool `json:"keys,omitempty" help:"also list every key the store can hold"`
}

var checkOp = define(Op{
	Name:     "kb_check",
	Summary:  "Check every byte of the derived data",
	Examples: []string{"kb check", "kb check --keys"},
	People:   true,
}, (*Vault).Check)

// Check reads the whole store, every segment and every file of vectors, and
// compares checksums. Damage that opening the store has mended is told once.
func (v *Vault) Check(ctx context.Context, p CheckParams) (*Findings, error) {
	f := &Findings{OK: true, Findings: []Finding{}}
	if p.Keys {
		f.Keys = cas.Keys()
	}
	const mend = "kb reindex --force derives it again"
	if v.store.facts != nil {
		v.store.tellDamage(f)
		faults, err := v.store.facts.Verify(ctx)
		if err != nil {
			return nil, err
		}
		for _, x := range faults {
			f.bad("damaged_fact", mend, "%s: %s", x.Key, x.Message)
		}
	} else {
		f.info("store_unread", "kb doctor says why", "facts were not checked: they are not read while nothing can be written")
	}
	x, err := v.store.index(v.cfg.Language)
	if err != nil {
		return nil, err
	}
	for _, fault := range x.Verify() {
		f.bad("damaged_segment", mend, "%s: %v", fault.Segment, fault.Err)
	}
	for _, fault := range embed.Verify(v.store.vectorDir()) {
		f.bad("damaged_vectors", mend, "%s: %v", fault.File, fault.Err)
	}
	return f, nil
}

// tellDamage tells of damage that was found when the store was opened, unless
// that has been told.
func (s *Store) tellDamage(f *Findings) {
	for _, e := range s.facts.Events() {
		if e.Code == "damaged" && !s.damageTold.Swap(true) {
			f.bad("damaged_store", "nothing to do: what was lost is derived again when it is needed, or by kb reindex", "%s", e.Message)
		}
	}
}
