package vault

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/internal/diff"
	"kb/note"
)

// CheckFinding is one thing that a draft should mend before it is merged.
type CheckFinding struct {
	Collection string `json:"collection,omitempty"`
	Path       string `json:"path"` // of the note in the draft; "" for the draft as a whole
	Line       int    `json:"line"` // in the draft's text
	Check      string `json:"check"`
	Message    string `json:"message"`
	Mend       string `json:"mend"`
}

// The checks, by name. What the draft did not bring is not its fault: in a note
// that it changed, only what is new counts.
const (
	checkProtected   = "protected"         // a path that no draft may touch, or no note
	checkHidden      = "hidden_change"     // a change that no review can show
	checkSize        = "size"              // too large to be read
	checkFrontmatter = "frontmatter"       // does not parse, or lacks what review.required asks for
	checkStub        = "stub"              // says nothing
	checkCharacters  = "hidden_characters" // text that a reader does not see, or sees in another order
	checkMarkers     = "conflict_markers"  // left in the text
	checkSecret      = "secret"            // a key, token or password
	checkSource      = "source"            // not a URL or citation, or not reachable
	checkImport      = "import"            // what kb add and kb sync go by, set by somebody else
	checkTargetName  = "target"            // not a place where the note can go
	checkLink        = "broken_link"       // in what merging would give
	checkEmbed       = "broken_embed"      // likewise
	checkTitle       = "duplicate_title"   // of another note of the collection
	checkForeign     = "foreign_commits"   // of a branch on which the draft was started
	checkDuplicate   = "near_duplicate"    // says what another note says
)

// mostBytes is the size of the largest file that a draft may bring.
const mostBytes = 1 << 20

// checker collects what is wrong with a proposal.
type checker struct {
	*proposal
	found []CheckFinding
}

func (c *checker) report(e *proposedEdit, line int, check, mend, format string, args ...any) {
	c.found = append(c.found, CheckFinding{Collection: e.collection(), Path: e.path, Line: max(line, 1), Check: check,
		Message: fmt.Sprintf(format, args...), Mend: mend})
}

// check looks for what should be mended before the draft is merged: what no merge
// takes first, then by path and line. It reads no network.
func (p *proposal) check(ctx context.Context) ([]CheckFinding, error) {
	key := fmt.Sprintf("%s %s %s %s %s %t", p.sight.key(), p.repo.GitDir(), p.into, p.tip, p.tree, p.squashed)
	found, known := p.v.checkedBefore(key)
	if !known {
		var err error
		if found, err = p.checkAnew(ctx); err != nil {
			return nil, err
		}
		p.v.rememberChecks(key, slices.Clone(found))
	}
	foreign, err := p.foreign(ctx) // which depends on where branches are
	return append(found, foreign...), err
}

// mostChecked is how many drafts' findings are remembered.
const mostChecked = 256

// checkedBefore returns the findings of a draft that was checked already: they
// depend on the commits and the configuration alone.
func (s *shared) checkedBefore(key string) ([]CheckFinding, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, known := s.checked[key]
	return slices.Clone(found), known
}

func (s *shared) rememberChecks(key string, found []CheckFinding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checked == nil || len(s.checked) >= mostChecked {
		s.checked = map[string][]CheckFinding{}
	}
	s.checked[key] = found
}

func (p *proposal) checkAnew(ctx context.Context) ([]CheckFinding, error) {
	c := &checker{proposal: p, found: []CheckFinding{}}
	if err := c.twins(ctx); err != nil {
		return nil, err
	}
	hidden, err := c.hides(ctx)
	if err != nil {
		return nil, err
	}
	if hidden != "" {
		c.found = append(c.found, CheckFinding{Line: 1, Check: checkHidden, Message: hidden, Mend: "look at it with git, or reject the draft"})
	}
	for _, e := range p.edits {
		if c.path(e); e.now == nil {
			continue
		}
		if len(e.now) > mostBytes {
			c.report(e, 1, checkSize, "split it", "%d KB: a draft's files have at most %d", len(e.now)>>10, mostBytes>>10)
			continue
		}
		c.text(e)
		if e.note != nil {
			c.properties(ctx, e)
			c.target(e)
			c.stub(e)
		}
	}
	if !p.squashed {
		if err := c.history(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.records(ctx); err != nil {
		return nil, err
	}
	if err := c.inContext(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.found, func(a, b CheckFinding) int {
		if a.unmergeable() != b.unmergeable() {
			return map[bool]int{true: -1, false: 1}[a.unmergeable()]
		}
		return cmp.Or(strings.Compare(a.Collection, b.Collection), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Check, b.Check))
	})
	return c.found, nil
}

// path checks where a file is, and was.
func (c *checker) path(e *proposedEdit) {
	if e.col == nil {
		c.report(e, 1, checkProtected, "drafts change the notes of a collection; anything else goes through git", "%s is outside every collection", e.path)
		return
	}
	if !e.col.Writable {
		c.report(e, 1, checkProtected, "writable: true in "+ConfigName+" lets drafts change it", "collection %s is read-only", e.col.Name)
	}
	for _, p := range slices.Compact([]string{e.former(), e.path}) {
		if why := c.v.protection(e.col, p); why != "" {
			c.report(e, 1, checkProtected, "leave it out of the draft", "%s is protected: %s", p, why)
		}
	}
	if e.kind == gitstore.Added || e.was != "" {
		if err := gitstore.CheckPath(e.path, true); err != nil {
			c.report(e, 1, checkProtected, "give it a name that every file system can hold", "%s", err)
		}
	}
}

// text checks the lines that the draft wrote.
func (c *checker) text(e *proposedEdit) {
	if e.binary() {
		return
	}
	added := e.addedLines()
	number := 0
	for _, line := range diff.Lines(e.now) {
		number++
		if !added[number] {
			continue
		}
		if r, bad := hiddenRune(string(line)); bad {
			c.report(e, number, checkCharacters, "remove the character", "%s", describeRune(r))
		}
		if isMarker(line) {
			c.report(e, number, checkMarkers, "decide, and remove the marker", "a conflict marker: %s", clip(strings.TrimSpace(string(line)), 40))
		}
	}
	c.secrets(e, added)
}

// isMarker reports whether a line is one that merges leave in a text that they
// could not decide.
func isMarker(line []byte) bool {
	for _, m := range []string{"<<<<<<< ", ">>>>>>> ", "||||||| "} {
		if bytes.HasPrefix(line, []byte(m)) {
			return true
		}
	}
	return false
}

// properties checks the frontmatter.
func (c *checker) properties(ctx context.Context, e *proposedEdit) {
	for _, p := range e.note.Problems {
		if e.previous != nil && hasProblem(e.previous, p.Code) {
			continue
		}
		switch p.Code {
		case "malformed_frontmatter", "duplicate_key":
			c.report(e, p.Line, checkFrontmatter, mendNote[p.Code], "%s", p.Message)
		case "invalid_utf8", "binary":
			c.report(e, p.Line, checkCharacters, "save it as UTF-8", "%s", p.Message)
		}
	}
	malformed := hasProblem(e.note, "malformed_frontmatter")
	for _, key := range c.v.cfg.Review.Required {
		if malformed {
			break // what it has is not known
		}
		if why := lacks(e.note, key); why != "" && (e.previous == nil || lacks(e.previous, key) == "") {
			line, has := fieldLine(e.note, key)
			mend := "add " + key + ": to the frontmatter"
			if has {
				mend = "a date is 2026-01-31"
			}
			c.report(e, line, checkFrontmatter, mend, "%s", why)
		}
	}
	c.sources(ctx, e)
}

func hasProblem(n *note.Note, code string) bool {
	return slices.ContainsFunc(n.Problems, func(p note.Problem) bool { return p.Code == code })
}

// lacks says why a note does not have a property that the vault requires, "" when
// it has.
func lacks(n *note.Note, key string) string {
	switch key {
	case "title":
		if n.Title == "" {
			return "no title"
		}
		return ""
	case "tags":
		if len(n.Tags) == 0 {
			return "no tags"
		}
		return ""
	case "created", "updated":
		value := n.Created()
		if key == "updated" {
			value = n.Updated()
		}
		if _, ok := note.ParseDate(value); !ok && value != "" {
			return fmt.Sprintf("%s is not a date: %s", key, clip(value, 40))
		} else if !ok {
			return "no " + key
		}
		return ""
	}
	if len(n.Strings(key)) == 0 {
		return "no " + key
	}
	return ""
}

func (c *checker) target(e *proposedEdit) {
	if e.misplaced != nil {
		line, _ := fieldLine(e.note, "target")
		c.report(e, line, checkTargetName, "target: a path within the collection that is free, such as guides/retry.md", "target: %s", e.misplaced)
	}
}

func fieldLine(n *note.Note, key string) (int, bool) {
	for _, f := range n.Fields {
		if strings.EqualFold(f.Key, key) {
			return f.Line, true
		}
	}
	return 1, false
}

func (c *checker) stub(e *proposedEdit) {
	least := c.v.cfg.Review.MinWords
	if e.note.Words < least && (e.previous == nil || e.previous.Words >= least) {
		c.report(e, 1, checkStub, "write it, or leave it out", "only %s", plural(e.note.Words, "word"))
	}
}
