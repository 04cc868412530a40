package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"kb/draft"
	"kb/gitstore"
)

// drafting is a change on its way to a draft.
type drafting struct {
	vault    *Vault
	col      *collection
	draft    string // its name; "" for a new one
	title    string // names a new draft
	subject  string // of the commit, where message says nothing
	message  string
	source   string
	key      string
	call     string    // a hash of the arguments; see callHash
	restores bool      // the text is one that history has
	imports  bool      // the commit holds what a person imported, and nothing else
	moved    [2]string // the paths of a note that edit gave another, before and after

	// edit makes the change. It is called again when another writer was faster.
	edit func(ctx context.Context, g *ground) ([]fileChange, error)

	// before, which may be nil, is asked after edit for changes that a commit of
	// their own makes first; the draft moves past both at once.
	before func() (subject string, changes []fileChange)
}

// fileChange is a note as a change leaves it. Paths are relative to the
// collection.
type fileChange struct {
	path string
	now  []byte // nil: removed
}

// run commits the change, and says what it did.
func (d *drafting) run(ctx context.Context) (*WriteResult, error) {
	written, err := d.commit(ctx)
	if err != nil {
		return nil, err
	}
	r, err := d.vault.result(ctx, d.col, written, d.moved)
	if err == nil && written.Other {
		return nil, otherCall(d.key, r)
	}
	return r, err
}

// callHash tells calls apart: equal for equal arguments of an operation.
func callHash(operation string, params any) (string, error) {
	args, err := json.Marshal(params)
	if err != nil {
		return "", errorf(Internal, "hash the arguments of %s: %w", operation, err)
	}
	sum := sha256.Sum256(append([]byte(operation+"\n"), args...))
	const enough = 16 // bytes
	return hex.EncodeToString(sum[:enough]), nil
}

// otherCall refuses a key that another call has had, whose result is r.
func otherCall(key string, r *WriteResult) error {
	var did []string
	for _, c := range r.Changes {
		did = append(did, c.Path)
	}
	became := ""
	if r.State != string(draft.Open) {
		became = ", which was " + r.State
	}
	return errorf(Conflict, "the key %q was used for another call: draft %s has it%s, for %s", clip(key, 100), r.Draft, became, clip(strings.Join(did, ", "), 200)).
		hint("a key repeats one call, with the same arguments; give each call a key of its own")
}

// commit commits the change.
func (d *drafting) commit(ctx context.Context) (*draft.Written, error) {
	store, tip, err := d.vault.draftStore(d.col.repo)
	if err != nil {
		return nil, err
	}
	author, err := d.vault.author(ctx, d.col.repo)
	if err != nil {
		return nil, err
	}
	c := draft.Change{
		Name:     d.draft,
		Title:    d.title,
		Author:   author,
		Trailers: d.vault.caller.trailers(),
		Key:      d.key,
		Call:     d.call,
		Import:   d.imports,
	}
	c.Subject, c.Body = d.words()
	if d.source != "" {
		c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Kb-Source", Value: d.source})
	}
	c.Edits = func(ctx context.Context, on gitstore.CommitID, fresh bool) ([]gitstore.Edit, error) {
		from := tip
		if fresh {
			from = on
		}
		return d.edits(ctx, on, from)
	}
	if d.before != nil {
		c.Before = func() (string, []gitstore.Edit) {
			subject, changes := d.before()
			return subject, d.col.editsOf(changes)
		}
	}
	written, err := store.Append(ctx, c)
	if err != nil {
		return nil, draftError(err)
	}
	return written, nil
}

// words are the subject and the body of the commit's message.
func (d *drafting) words() (subject, body string) {
	subject, body, _ = strings.Cut(strings.TrimSpace(d.message), "\n")
	if subject == "" {
		subject = d.subject
	}
	const most = 100
	if short := clip(subject, most); short != subject {
		body = subject + "\n" + body
		subject = short
	}
	return oneLine(subject, most+1), strings.TrimSpace(body)
}

// edits makes the change on a commit, and stores the new texts.
func (d *drafting) edits(ctx context.Context, on, from gitstore.CommitID) ([]gitstore.Edit, error) {
	g, err := d.vault.ground(ctx, d.col, on, from)
	if err != nil {
		return nil, err
	}
	changes, err := d.edit(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := d.keepImports(g, changes); err != nil {
		return nil, err
	}
	return d.col.editsOf(changes), nil
}

// editsOf are changes of c's notes as the repository makes them.
func (c *collection) editsOf(changes []fileChange) []gitstore.Edit {
	edits := make([]gitstore.Edit, 0, len(changes))
	for _, x := range changes {
		edits = append(edits, gitstore.Edit{Path: c.full(x.path), Src: x.now, Delete: x.now == nil})
	}
	return edits
}
