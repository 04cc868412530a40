package vault

import (
	"context"
	"errors"
	"path"

	"kb/draft"
	"kb/note"
)

// applyClasses proposes what is suggested, in one commit on a draft.
func (v *Vault) applyClasses(ctx context.Context, p ClassifyParams) (*Classified, error) {
	c, err := v.classified(ctx, &p)
	if err != nil {
		return nil, err
	}
	r := &Classified{}
	d := drafting{vault: v, col: c, draft: p.Draft, title: "File notes", subject: "File notes as their neighbours are"}
	d.edit = func(ctx context.Context, g *ground) ([]fileChange, error) {
		*r = Classified{Notes: []Classification{}, Applied: &Filed{Left: []string{}}, Seen: g.seen()}
		if err := g.classify(ctx, p, r); err != nil {
			return nil, err
		}
		return g.file(ctx, r, p.Move)
	}
	written, err := d.run(ctx)
	if errors.Is(err, draft.ErrNoChange) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	a := r.Applied
	a.Draft, a.Branch, a.Commit, a.Review = written.Draft, written.Branch, written.Commit, written.Review
	return r, nil
}

// classified is the collection whose notes p means; p selects no others then.
func (v *Vault) classified(ctx context.Context, p *ClassifyParams) (*collection, error) {
	name := p.Collection
	if name == "" && len(p.Path) > 0 {
		c, _, _, err := v.editable(ctx, p.Path[0], "")
		if err != nil {
			return nil, err
		}
		name = c.Name
	}
	c, err := v.writable(name)
	if err == nil {
		p.Collection = c.Name
	}
	return c, err
}

// file makes the changes that r suggests. A note that the draft changed already, or
// that cannot be edited, is left as it is.
func (g *ground) file(ctx context.Context, r *Classified, move bool) ([]fileChange, error) {
	moved, texts := map[string]string{}, map[string][]byte{}
	coming := map[string]bool{}
	for k := range r.Notes {
		c := &r.Notes[k]
		now, err := g.filed(c)
		if err != nil {
			r.Applied.leave(c.Path, AsError(err).Message)
			continue
		}
		if now != nil {
			texts[c.Path] = now
		}
		if !move || c.Section == nil {
			continue
		}
		to := path.Join(c.Section.Value, path.Base(c.Path))
		switch err := g.v.checkTarget(g.col, to, true); {
		case err != nil:
			r.Applied.leave(c.Path, AsError(err).Message)
		case g.taken(to) || coming[foldName(to)]:
			r.Applied.leave(c.Path, to+" exists")
		default:
			moved[c.Path], coming[foldName(to)] = to, true
		}
	}
	changes, protected, err := g.move(ctx, moved, texts)
	for _, p := range protected {
		r.Applied.leave(p, "it is protected, so its links stay")
	}
	return changes, err
}

// filed is the text of a note with what is suggested for its frontmatter; nil when
// that is nothing.
func (g *ground) filed(c *Classification) ([]byte, error) {
	if len(c.Tags) == 0 && c.Type == nil && c.Section == nil {
		return nil, nil
	}
	if c.Collection != g.col.Name {
		return nil, errorf(Usage, "it is in collection %s: one draft changes one", c.Collection)
	}
	if _, changed := g.drafted[c.Path]; changed {
		return nil, errorf(Conflict, "the draft changed it already")
	}
	if err := g.v.checkTarget(g.col, c.Path, false); err != nil {
		return nil, err
	}
	id, _ := g.blob(c.Path)
	src, err := g.bytes(id)
	if err != nil {
		return nil, err
	}
	var fields []note.Field
	if c.Type != nil {
		fields = append(fields, note.Field{Key: "type", Value: c.Type.Value})
	}
	n, _ := note.Parse(src)
	if len(c.Tags) > 0 {
		fields = append(fields, tagged(n, c.Tags))
	}
	if len(fields) == 0 {
		return nil, nil
	}
	now, err := note.SetFields(src, fields)
	if err != nil {
		return nil, editError(c.Path, err)
	}
	return now, nil
}

// tagged is the property of n's tags with others added, under the name that the
// note has for it.
func tagged(n *note.Note, more []Verdict) note.Field {
	key := "tags"
	if _, ok := n.Field(key); !ok && len(n.Strings("tag")) > 0 {
		key = "tag"
	}
	tags := n.Strings(key)
	for _, v := range more {
		tags = append(tags, v.Value)
	}
	return note.Field{Key: key, Value: tags}
}

func (f *Filed) leave(path, why string) { f.Left = append(f.Left, path+": "+why) }
