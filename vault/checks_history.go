package vault

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/internal/diff"
	"kb/internal/secrets"
	"kb/note"
)

// mendHistory is what keeps a commit of the draft out of the branch.
const mendHistory = "--strategy squash leaves the draft's commits out, and so does a new draft; revoke it if it is real"

// history looks for secrets in the commits of the draft: merging publishes them
// too, unless it makes one commit of them. What the draft's text still has was
// reported there.
func (c *checker) history(ctx context.Context) error {
	parted, err := c.repo.Diverge(ctx, c.into, c.tip)
	if err != nil {
		return errorf(Internal, "list the draft's commits: %w", err)
	}
	known := map[string]bool{}
	for _, f := range c.found {
		known[f.Message] = f.Check == checkSecret
	}
	for _, id := range parted.Theirs {
		commit, err := c.repo.Commit(id)
		if err != nil {
			return errorf(Internal, "read %s: %w", short(id), err)
		}
		found, err := c.secretsOf(ctx, commit)
		if err != nil {
			return err
		}
		for _, s := range found {
			if what := secretText(s); !known[what] {
				known[what] = true
				c.found = append(c.found, CheckFinding{Line: 1, Check: checkSecret, Mend: mendHistory,
					Message: fmt.Sprintf("commit %s of the draft %s", short(id), what)})
			}
		}
	}
	return nil
}

// secretText says which secret is meant, without showing it.
func secretText(s secrets.Finding) string { return fmt.Sprintf("looks like %s: %s", s.What, s.Hint) }

// secretsOf finds secrets in a commit's message and in the lines that it wrote:
// of a merge, those that no parent has.
func (c *checker) secretsOf(ctx context.Context, commit *gitstore.Commit) ([]secrets.Finding, error) {
	found := secrets.Find([]byte(commit.Message))
	if len(commit.Parents) == 0 {
		return found, nil
	}
	changes, err := c.repo.Diff(ctx, commit.Parents[0], commit.ID, "")
	if err != nil {
		return nil, errorf(Internal, "list what %s changes: %w", short(commit.ID), err)
	}
	for _, change := range changes {
		if change.New.IsZero() {
			continue
		}
		now, err := c.repo.Blob(change.New)
		if err != nil {
			return nil, errorf(Internal, "read %s: %w", change.Path, err)
		}
		before, err := c.textsBefore(commit.Parents[1:], change)
		if err != nil {
			return nil, err
		}
		found = append(found, newSecrets(now, before)...)
	}
	return found, nil
}

// textsBefore are the texts of a file that a commit changed, in its parents.
func (c *checker) textsBefore(others []gitstore.CommitID, change gitstore.Change) (texts [][]byte, err error) {
	ids := []note.ID{change.Old}
	for _, parent := range others {
		if f, missing := c.repo.File(parent, change.Path); missing == nil {
			ids = append(ids, f.Blob)
		}
	}
	for _, id := range ids {
		if id.IsZero() {
			continue
		}
		text, err := c.repo.Blob(id)
		if err != nil {
			return nil, errorf(Internal, "read %s: %w", change.Path, err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// newSecrets are those on lines that no earlier text has.
func newSecrets(now []byte, before [][]byte) (out []secrets.Finding) {
	lines := map[string]bool{}
	for _, text := range before {
		for _, line := range diff.Lines(text) {
			lines[strings.TrimSpace(string(line))] = true
		}
	}
	for _, s := range secrets.Find(now) {
		start := bytes.LastIndexByte(now[:s.Offset], '\n') + 1
		line, _, _ := bytes.Cut(now[start:], []byte("\n"))
		if !lines[strings.TrimSpace(string(line))] {
			out = append(out, s)
		}
	}
	return out
}

// announces reports secrets in what the merge itself says.
func announces(message string) (found []CheckFinding) {
	for _, s := range secrets.Find([]byte(message)) {
		found = append(found, CheckFinding{Line: 1, Check: checkSecret, Mend: "say it without, or make a new draft", Message: "the message of the merge " + secretText(s)})
	}
	return found
}

// foreign reports commits that merging would publish though they are another
// branch's: the draft was started there.
func (p *proposal) foreign(ctx context.Context) (found []CheckFinding, err error) {
	if slices.ContainsFunc(p.edits, func(e *proposedEdit) bool { return e.skip }) {
		return nil, nil // a part of the draft is chosen by notes
	}
	parted, err := p.repo.Diverge(ctx, p.into, p.tip)
	if err != nil {
		return nil, errorf(Internal, "list the draft's commits: %w", err)
	}
	var others []gitstore.CommitID
	for _, id := range parted.Theirs {
		c, err := p.repo.Commit(id)
		if err != nil {
			return nil, errorf(Internal, "read %s: %w", short(id), err)
		}
		if !slices.ContainsFunc(c.Trailers, func(t gitstore.Trailer) bool { return strings.EqualFold(t.Key, "Kb-Draft") }) {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	branches, err := p.repo.Refs("refs/heads/")
	if err != nil {
		return nil, errorf(Internal, "list branches: %w", err)
	}
	for _, b := range branches {
		if b.Err != nil || strings.HasPrefix(b.Name, draftRefs) {
			continue
		}
		n := 0
		for _, id := range others {
			has, err := p.repo.IsAncestor(ctx, id, b.Commit)
			if err != nil {
				return nil, errorf(Internal, "look for %s in %s: %w", short(id), branchName(b.Name), err)
			}
			if has {
				n++
			}
		}
		if n > 0 {
			found = append(found, CheckFinding{Line: 1, Check: checkForeign, Mend: "merge that branch first, or start the draft on the branch that it is for",
				Message: fmt.Sprintf("also publishes %s of %s", plural(n, "commit"), branchName(b.Name))})
		}
	}
	return found, nil
}
