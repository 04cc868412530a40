package vault

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/note"
)

// EditParams describes a change of a note, or of all that a tag or conditions
// select.
type EditParams struct {
	Path           string         `json:"path,omitempty" arg:"" help:"path, title, alias or citation"`
	Base           string         `json:"base,omitempty" help:"blob or commit you read"`
	ReplaceSection *string        `json:"replace_section,omitempty" stdin:"" help:"new text under heading"`
	Heading        string         `json:"heading,omitempty" help:"text, slug, A > B or ^block"`
	Append         string         `json:"append,omitempty" stdin:"" help:"text for the end"`
	Prepend        string         `json:"prepend,omitempty" stdin:"" help:"text for the top"`
	Replace        string         `json:"replace,omitempty" help:"exact text, standing once"`
	With           *string        `json:"with,omitempty" stdin:"" help:"its new text"`
	Set            map[string]any `json:"set,omitempty" help:"frontmatter; null removes a key"`
	Rename         string         `json:"rename,omitempty" help:"new path; links follow"`
	Delete         bool           `json:"delete,omitempty" help:"remove the note"`
	Restore        string         `json:"restore,omitempty" help:"revision to bring back"`
	Confirm        bool           `json:"confirm,omitempty" help:"it still holds"`
	Flag           bool           `json:"flag,omitempty" help:"it needs work"`
	Reason         string         `json:"reason,omitempty" help:"why"`
	Tag            []string       `json:"tag,omitempty" help:"instead of path: notes with these tags"`
	Where          []string       `json:"where,omitempty" help:"likewise"`
	Collection     string         `json:"collection,omitempty" help:"for tag and where"`
	Draft          string         `json:"draft,omitempty" help:"draft to add to (default: a new one)"`
	Message        string         `json:"message,omitempty" help:"why, for the reviewer"`
	Key            string         `json:"key,omitempty" help:"makes a retry harmless"`
}

var editOp = define(Op{
	Name:        "kb_edit",
	Title:       "Propose an edit",
	Summary:     "Propose a change of a note, as a draft",
	Description: "Proposes one change of a note, on a draft branch that a person reviews. Give exactly one of replace_section, append, prepend, replace, set, rename, delete, restore, confirm, flag; all else in the note stays byte for byte. base (the blob you read) refuses a stale edit.",
	Examples: []string{
		`kb edit guides/retry.md --replace-section - --heading Backoff < new.md`,
		`kb edit guides/retry.md --replace "3 times" --with "5 times" --base 4c1d2ab`,
		`kb edit guides/retry.md --set status=active --set owner=null`,
		`kb edit old-name.md --rename guides/new-name.md`,
		`kb edit --tag api/v1 --set status=obsolete --draft retire-v1`,
	},
	Writes: true,
}, (*Vault).Edit)

// Edit commits a change of one or several notes on a draft.
func (v *Vault) Edit(ctx context.Context, p EditParams) (*WriteResult, error) {
	op, err := p.clean()
	if err != nil {
		return nil, err
	}
	call, err := callHash("kb_edit", p)
	if err != nil {
		return nil, err
	}
	if len(p.Tag)+len(p.Where) > 0 {
		return v.editMany(ctx, &p, op, call)
	}
	e, err := v.editing(ctx, &p)
	if err != nil {
		return nil, err
	}
	d := drafting{vault: v, col: e.col, draft: p.Draft, title: e.title, message: p.Message, subject: op.subject(e), key: p.Key, call: call, restores: op.name == "restore"}
	d.edit = func(ctx context.Context, g *ground) ([]fileChange, error) {
		e.ground = g
		changes, err := e.one(ctx, op)
		d.moved = [2]string{e.path, e.to}
		return changes, err
	}
	r, err := d.run(ctx)
	if err != nil {
		return nil, e.withUncommitted(err)
	}
	r.Notice = strings.Join(nonEmpty([]string{e.uncommitted, e.notice}), "; ")
	return r, e.describe(r)
}

// editing is a change of one note on its way.
type editing struct {
	*EditParams
	*ground
	col         *collection
	path        string // of the note
	title       string // for a person
	to          string // where the change leaves it; "" when it is gone
	pinned      string // the commit of the citation that named it
	uncommitted string // what the user has not committed of it; see dirty
	notice      string
}

// one makes the change.
func (e *editing) one(ctx context.Context, op *editKind) ([]fileChange, error) {
	e.notice, e.to = "", e.path
	id, ok := e.blob(e.path)
	if !ok && !op.recreates {
		return nil, errorf(NotFound, "the draft has no %s any more", e.path).hint("kb_drafts shows what it did with it")
	}
	var src []byte
	if ok {
		var err error
		if src, err = e.ground.bytes(id); err != nil {
			return nil, err
		}
		if err := e.checkBase(id); err != nil {
			return nil, err
		}
	}
	return op.edit(ctx, e, src)
}

// checkBase refuses an edit of another text than the one that was read.
func (e *editing) checkBase(now note.ID) error {
	base := strings.TrimSpace(e.Base)
	if base == "" {
		base = e.pinned
	}
	const fewest = 7
	if base == "" || len(base) >= fewest && strings.HasPrefix(now.String(), strings.ToLower(base)) {
		return nil
	}
	commit, err := e.col.repo.Resolve(base)
	if err == nil {
		f, err := e.col.repo.File(commit, e.col.full(e.path))
		if err == nil && f.Blob == now {
			return nil
		}
	} else if id, idErr := note.ParseID(base); idErr != nil || !e.known(id) {
		return errorf(NotFound, "base %s is no blob or commit of the repository", clip(base, 60)).
			hint("blob and commit are in every answer that shows a note")
	}
	at := citation{Collection: e.col.Name, Commit: e.on.String(), Path: e.path}
	return errorf(Stale, "%s is not what was read: it changed", e.path).hint("read it as it is and edit that: %s, base %s", at, now)
}

// known reports whether a blob is one that may have been read: of the
// repository, or of the work tree.
func (e *editing) known(id note.ID) bool {
	if _, err := e.col.repo.Blob(id); err == nil {
		return true
	}
	return e.isOnDisk(id)
}

// describe fills in what r says of the note, unless it is gone.
func (e *editing) describe(r *WriteResult) error {
	r.Path, r.Title = e.path, e.title
	for _, change := range r.Changes {
		if change.Path == e.path && change.Kind != string(gitstore.Removed) || change.Path == e.to || change.From == e.path {
			src, err := e.col.textAt(r.Commit, change.Path)
			if err == nil {
				r.describe(e.col, change.Path, src)
			}
			return err
		}
	}
	return nil
}

// editing finds the note that is to change.
func (v *Vault) editing(ctx context.Context, p *EditParams) (*editing, error) {
	if p.Path == "" {
		return nil, errorf(Usage, "no note is named").hint("path names one; tag or where select several")
	}
	e := &editing{EditParams: p}
	var err error
	if p.Restore != "" {
		e.col, e.path, err = v.restorable(ctx, p)
	} else {
		e.col, e.path, e.pinned, err = v.editable(ctx, p.Path, p.Draft)
	}
	if at := v.protectedApart(p.Path); at != nil && err != nil && AsError(err).Code == NotFound {
		return nil, at
	}
	if err != nil {
		return nil, err
	}
	if !e.col.Writable {
		_, err := v.writable(e.col.Name)
		return nil, err
	}
	if err := v.checkTarget(e.col, e.path, false); err != nil {
		return nil, err
	}
	src, err := v.standing(ctx, e.col, e.path, p.Draft)
	if err != nil {
		return nil, err
	}
	if src == nil && p.Restore == "" {
		return nil, errorf(NotFound, "no note %q in %s", clip(e.path, 200), e.col.Name).hint("restore brings a note back that is gone")
	}
	n, _ := note.Parse(src)
	e.title = n.TitleAt(e.path)
	return e, v.dirty(e)
}

// editable finds a note in the branch that drafts start from, or in the draft.
func (v *Vault) editable(ctx context.Context, name, draftName string) (c *collection, p, pinned string, err error) {
	if strings.HasPrefix(name, scheme) {
		cited, bad := parseCitation(name)
		if bad != nil {
			return nil, "", "", bad
		}
		c, err := v.collection(cited.Collection)
		return c, cited.Path, cited.Commit, err
	}
	bases, err := v.draftBases()
	if err != nil {
		return nil, "", "", err
	}
	w, err := v.readBases(ctx, bases)
	if err != nil {
		return nil, "", "", err
	}
	i, err := w.findDoc(ctx, name)
	if err == nil {
		return w.docs[i].col, w.docs[i].path, "", nil
	}
	if draftName == "" || AsError(err).Code != NotFound {
		return nil, "", "", err
	}
	drafted, derr := v.read(ctx, "drafts/"+draftName)
	if derr != nil {
		return nil, "", "", err
	}
	if i, err = drafted.findDoc(ctx, name); err != nil {
		return nil, "", "", err
	}
	return drafted.docs[i].col, drafted.docs[i].path, "", nil
}

// standing returns the text of a note in the draft, if that has it, else in the
// branch that drafts start from; nil if neither has, or not for v's caller.
func (v *Vault) standing(ctx context.Context, c *collection, p, draftName string) ([]byte, error) {
	store, tip, err := v.draftStore(c.repo)
	if err != nil {
		return nil, err
	}
	s, err := v.sight(ctx)
	if err != nil {
		return nil, err
	}
	places := []gitstore.CommitID{tip}
	if d, err := store.Find(ctx, draftName); draftName != "" && err == nil {
		places = []gitstore.CommitID{d.Tip, tip}
	}
	for _, at := range places {
		f, err := c.repo.File(at, c.full(p))
		if err != nil {
			continue
		}
		if seen, err := s.note(ctx, c, p, f.Blob); err != nil || !seen {
			return nil, err
		}
		return c.repo.Blob(f.Blob)
	}
	return nil, nil
}

// draftBases are the commits that drafts start from, where there are such.
func (v *Vault) draftBases() (bases []base, failed error) {
	for _, r := range v.repos {
		if _, tip, err := v.draftBase(r); err == nil {
			bases = append(bases, base{repo: r, commit: tip})
		} else {
			failed = err
		}
	}
	if len(bases) > 0 {
		failed = nil
	}
	return bases, failed
}

// restorable is the place of a note that need not be there any more.
func (v *Vault) restorable(ctx context.Context, p *EditParams) (*collection, string, error) {
	if c, at, _, err := v.editable(ctx, p.Path, p.Draft); err == nil {
		return c, at, nil
	}
	name, col := p.Path, p.Collection
	if cited, bad := parseCitation(name); bad == nil {
		name, col = cited.Path, cited.Collection
	} else if head, rest, ok := strings.Cut(name, ":"); ok && slices.ContainsFunc(v.cols, func(c *collection) bool { return c.Name == head }) {
		name, col = rest, head
	}
	c, err := v.writable(col)
	return c, name, err
}

// withUncommitted adds to an error what may explain it.
func (e *editing) withUncommitted(err error) error {
	if e.uncommitted == "" {
		return err
	}
	failed := AsError(err)
	hint := strings.Join(nonEmpty([]string{failed.Hint, e.uncommitted}), "; ")
	return &Error{Code: failed.Code, Message: failed.Message, Hint: hint, cause: err}
}

// dirty finds out whether the user's work tree has another text of the note than
// the branch that drafts start from. A draft starts from what is committed.
func (v *Vault) dirty(e *editing) error {
	ref, tip, err := v.draftBase(e.col.repo)
	if err != nil {
		return err
	}
	if branch, _, err := e.col.repo.Head(); err != nil || branch != ref || e.col.repo.WorkTree() == "" {
		return nil
	}
	f, err := e.col.repo.File(tip, e.col.full(e.path))
	if err != nil || e.isOnDisk(f.Blob) {
		return nil
	}
	e.uncommitted = fmt.Sprintf("the user's file %s differs from what is committed, which is what a draft changes: have it committed first if it matters here", e.path)
	if id, err := note.ParseID(strings.TrimSpace(e.Base)); err == nil && e.isOnDisk(id) {
		at := citation{Collection: e.col.Name, Commit: tip.String(), Path: e.path}
		return errorf(Stale, "what was read of %s is not committed: a draft cannot change it", e.path).
			hint("commit it first, or edit what is committed: %s, base %s", at, f.Blob)
	}
	return nil
}

// isOnDisk reports whether the work tree has the note with those bytes.
func (e *editing) isOnDisk(id note.ID) bool {
	_, err := e.col.repo.ReadWorktree(e.col.full(e.path), id)
	return err == nil
}
