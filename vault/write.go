package vault

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kb/gitstore"
	"kb/note"
)

// WriteParams describes a new note.
type WriteParams struct {
	Title      string            `json:"title" arg:"" required:"" help:"what somebody would search for"`
	Body       string            `json:"body,omitempty" stdin:"" help:"Markdown without frontmatter"`
	Tags       []string          `json:"tags,omitempty" also:"tag" help:"tags"`
	Status     string            `json:"status,omitempty" help:"such as draft or active"`
	Source     string            `json:"source,omitempty" help:"URL or citation"`
	Collection string            `json:"collection,omitempty" help:"needed when several are writable"`
	Directory  string            `json:"directory,omitempty" help:"within the collection"`
	Filename   string            `json:"filename,omitempty" help:"default: date and title"`
	Template   string            `json:"template,omitempty" help:"note, fix, session, decision, research, or the vault's own"`
	Fields     map[string]string `json:"fields,omitempty" help:"texts for the template"`
	Draft      string            `json:"draft,omitempty" help:"draft to add to (default: a new one)"`
	Message    string            `json:"message,omitempty" help:"why, for the reviewer"`
	Key        string            `json:"key,omitempty" help:"makes a retry harmless"`
}

var writeOp = define(Op{
	Name:        "kb_write",
	Title:       "Propose a note",
	Summary:     "Propose a new note, as a draft",
	Description: "Proposes a new note, on a draft branch that a person reviews: nothing is published. search first; kb_edit changes a note. What belongs together goes into one draft.",
	Examples: []string{
		`kb write "Retry policy" --body - --tags howto --directory guides < retry.md`,
		`kb write "TLS handshake fails behind the proxy" --template fix --fields symptom="…" --fields cause="…" --fields resolution="…"`,
	},
	Writes: true,
}, (*Vault).Write)

// Write commits a new note on a draft.
func (v *Vault) Write(ctx context.Context, p WriteParams) (*WriteResult, error) {
	p.Tags = joinTags(p.Tags)
	n, err := p.clean()
	if err != nil {
		return nil, err
	}
	c, err := v.writable(n.Collection)
	if err != nil {
		return nil, err
	}
	if err := v.checkTarget(c, path.Join(n.Directory, "x.md"), true); err != nil {
		return nil, err // before anything is read
	}
	call, err := callHash("kb_write", n)
	if err != nil {
		return nil, err
	}
	d := drafting{vault: v, col: c, draft: n.Draft, title: n.Title, message: n.Message, subject: "Add " + n.Title, source: n.Source, key: n.Key, call: call}
	var on *ground
	d.edit = func(ctx context.Context, g *ground) ([]fileChange, error) {
		on = g
		change, err := n.note(ctx, g)
		return []fileChange{change}, err
	}
	r, err := d.run(ctx)
	if err != nil {
		return nil, err
	}
	return r, v.describeNew(ctx, c, r, on)
}

// describeNew fills in what r says of the note, and which others are like it. The
// note is written: whatever fails here is no reason to say that it is not.
func (v *Vault) describeNew(ctx context.Context, c *collection, r *WriteResult, on *ground) error {
	for _, change := range r.Changes {
		if r.Path != "" || change.Kind == string(gitstore.Removed) {
			continue
		}
		src, err := c.textAt(r.Commit, change.Path)
		if err != nil {
			return err
		}
		n := r.describe(c, change.Path, src)
		if on == nil { // repeated
			continue
		}
		similar, by, err := on.resembling(ctx, change.Path, n, src)
		if err != nil {
			r.Notice = "similar notes were not looked for: " + err.Error()
			continue
		}
		r.Similar, r.Mode, r.Degraded = similar, by.mode, by.degraded
	}
	return nil
}

// note makes the new note's file.
func (p *WriteParams) note(ctx context.Context, g *ground) (fileChange, error) {
	at, ok, err := g.titled(ctx, p.Title)
	if err != nil {
		return fileChange{}, err
	}
	if ok {
		return fileChange{}, errorf(Conflict, "a note titled %q exists: %s", clip(p.Title, 100), at).
			hint("kb_edit changes it; give a new note a title of its own")
	}
	now := g.v.today()
	src, err := p.source(ctx, g, now)
	if err != nil {
		return fileChange{}, err
	}
	name, err := p.place(g, now)
	return fileChange{path: name, now: src}, err
}

// place finds the path: the file name that was asked for, which must be free, or
// one of date and title that is.
func (p *WriteParams) place(g *ground, now time.Time) (string, error) {
	if p.Filename != "" {
		name := path.Join(p.Directory, p.Filename)
		if err := g.v.checkTarget(g.col, name, true); err != nil {
			return "", err
		}
		if g.taken(name) {
			return "", errorf(Conflict, "%s exists", name).hint("kb_edit changes it; without filename a free name is found")
		}
		return name, nil
	}
	stem := path.Join(p.Directory, now.Format(time.DateOnly)+"-"+note.FileSlug(p.Title))
	name := stem + ".md"
	for n := 2; g.taken(name); n++ {
		name = fmt.Sprintf("%s-%d.md", stem, n)
	}
	return name, g.v.checkTarget(g.col, name, true)
}

// source is the new note's text.
func (p *WriteParams) source(ctx context.Context, g *ground, now time.Time) ([]byte, error) {
	day := now.Format(time.DateOnly)
	body := trimBlank(p.Body) + "\n"
	var more []note.Field
	if p.Template != "" {
		t, err := g.v.template(ctx, g.col, g.on, p.Template)
		if err != nil {
			return nil, err
		}
		usual := map[string]string{"title": p.Title, "body": p.Body, "date": day, "source": p.Source}
		if more, body, err = t.render(usual, p.Fields); err != nil {
			return nil, err
		}
	}
	head, err := p.frontmatter(now, more)
	if err != nil {
		return nil, err
	}
	src := slices.Concat(head, []byte("\n"+body))
	return src, p.verify(src)
}

// frontmatter has the usual properties first, then those of a template. What the
// caller gives wins over the template's; tags are joined.
func (p *WriteParams) frontmatter(now time.Time, more []note.Field) ([]byte, error) {
	of := map[string]any{"title": p.Title, "tags": p.Tags, "created": dateValue(now), "updated": dateValue(now), "status": p.Status, "source": p.Source}
	var rest []note.Field
	for _, f := range more {
		given, usual := of[f.Key]
		texts := (&note.Note{Fields: more}).Strings(f.Key)
		switch {
		case f.Key == "tags":
			of["tags"] = joinTags(texts, p.Tags)
		case usual && given == "":
			of[f.Key] = strings.Join(texts, ", ")
		case !usual:
			value, err := plainValue(f)
			if err != nil {
				return nil, err
			}
			rest = append(rest, note.Field{Key: f.Key, Value: value})
		}
	}
	var fields []note.Field
	for _, key := range []string{"title", "tags", "created", "updated", "status", "source"} {
		if list, ok := of[key].([]string); ok && len(list) > 0 || !ok && of[key] != "" {
			fields = append(fields, note.Field{Key: key, Value: of[key]})
		}
	}
	head, err := note.NewFrontmatter(append(fields, rest...))
	if err != nil {
		return nil, errorf(Usage, "frontmatter: %w", err)
	}
	return head, nil
}

// verify reads the note as everybody will, to be sure that it says what was
// meant.
func (p *WriteParams) verify(src []byte) error {
	n, _ := note.Parse(src)
	if len(n.Problems) > 0 || n.Title != p.Title {
		why := "its title would read " + clip(n.Title, 100)
		if len(n.Problems) > 0 {
			why = n.Problems[0].Message
		}
		return errorf(Usage, "this would be no sound note: %s", why)
	}
	return nil
}

// plainValue is a template's property as it is written.
func plainValue(f note.Field) (any, error) {
	switch x := f.Value.(type) {
	case string, bool, float64, nil:
		return x, nil
	case int64:
		return int(x), nil
	case []any:
		return (&note.Note{Fields: []note.Field{f}}).Strings(f.Key), nil
	}
	return nil, errorf(Usage, "the template's property %s is nested", f.Key).hint("texts, numbers, dates and lists of texts are copied")
}

// joinTags puts tags together, each once. A tag has neither comma nor '#': "a, #b"
// is two.
func joinTags(lists ...[]string) []string {
	out := []string{}
	for _, list := range lists {
		for tag := range strings.SplitSeq(strings.Join(list, ","), ",") {
			tag = strings.TrimLeft(strings.TrimSpace(tag), "#")
			if tag != "" && !slices.ContainsFunc(out, func(t string) bool { return strings.EqualFold(t, tag) }) {
				out = append(out, tag)
			}
		}
	}
	return out
}

// dateValue is the day of a time as a property's value.
func dateValue(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
