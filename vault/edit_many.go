package vault

import (
	"context"
	"fmt"
	"strings"
)

// mostEdited is how many notes one call may change.
const mostEdited = 1000

// editMany commits the same change of every note that tags and conditions
// select, in one commit.
func (v *Vault) editMany(ctx context.Context, p *EditParams, op *editKind, call string) (*WriteResult, error) {
	c, err := v.writable(p.Collection)
	if err != nil {
		return nil, err
	}
	selected := strings.Join(append(append([]string{}, p.Tag...), p.Where...), " ")
	about := &editing{EditParams: p, col: c, path: "notes of " + selected, title: "notes of " + selected}
	d := drafting{vault: v, col: c, draft: p.Draft, title: op.subject(about), message: p.Message, subject: op.subject(about), key: p.Key, call: call}
	notice := ""
	d.edit = func(ctx context.Context, g *ground) ([]fileChange, error) {
		paths, err := g.selected(ctx, p)
		if err != nil {
			return nil, err
		}
		var changes []fileChange
		changes, notice, err = g.editAll(ctx, p, op, paths)
		return changes, err
	}
	r, err := d.run(ctx)
	if err == nil {
		r.Notice = notice
	}
	return r, err
}

// selected lists the notes, as the draft has them.
func (g *ground) selected(ctx context.Context, p *EditParams) ([]string, error) {
	w, err := g.v.readBases(ctx, []base{{repo: g.col.repo, commit: g.on}})
	if err != nil {
		return nil, err
	}
	keep, err := Filter{Selection: Selection{Collection: g.col.Name, Tag: p.Tag, Where: p.Where}}.keep(ctx, w)
	if err != nil {
		return nil, err
	}
	var paths []string
	for i, d := range w.docs {
		if keep(i) {
			paths = append(paths, d.path)
		}
	}
	switch {
	case len(paths) == 0:
		return nil, errorf(NotFound, "no note of %s is selected", g.col.Name).hint("kb_query with the same tag and where lists what is")
	case len(paths) > mostEdited:
		return nil, errorf(Usage, "%s are selected: at most %s go into one commit", plural(len(paths), "note"), thousands(mostEdited)).
			hint("narrow it: where path~guides/")
	}
	return paths, nil
}

// editAll makes the change in each note. Those without what is to change there
// stay as they are, if others have it.
func (g *ground) editAll(ctx context.Context, p *EditParams, op *editKind, paths []string) (changes []fileChange, notice string, err error) {
	var skipped error
	left := 0
	for _, at := range paths {
		if err := g.v.checkTarget(g.col, at, false); err != nil {
			skipped, left = err, left+1
			continue
		}
		e := &editing{EditParams: p, ground: g, col: g.col, path: at, title: fileTitle(at)}
		one, err := e.one(ctx, op)
		if err != nil && AsError(err).Code == NotFound {
			skipped, left = err, left+1
			continue
		}
		if err != nil {
			return nil, "", err
		}
		changes = append(changes, one...)
	}
	if len(changes) == 0 {
		return nil, "", skipped
	}
	if left > 0 {
		notice = fmt.Sprintf("%s left as they are: %v", plural(left, "note"), skipped)
	}
	return changes, notice, nil
}
