package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"kb/gitstore"
	"kb/note"
)

// editKind is one of the changes that a call can ask for.
type editKind struct {
	name      string
	given     func(p *EditParams) bool
	edit      func(ctx context.Context, e *editing, src []byte) ([]fileChange, error)
	subject   func(e *editing) string
	recreates bool // the note need not be there
	single    bool // never of many notes at once
}

// The kinds of edits. Exactly one goes into a call.
var editKinds = []*editKind{
	{
		name:  "replace_section",
		given: func(p *EditParams) bool { return p.ReplaceSection != nil },
		edit: textual(func(e *editing, src []byte) ([]byte, error) {
			return note.ReplaceSection(src, e.Heading, *e.ReplaceSection)
		}),
		subject: func(e *editing) string { return fmt.Sprintf("Edit %s in %s", e.Heading, e.title) },
	},
	{
		name:    "append",
		given:   func(p *EditParams) bool { return p.Append != "" },
		edit:    textual(func(e *editing, src []byte) ([]byte, error) { return note.AppendText(src, e.Append) }),
		subject: func(e *editing) string { return "Add to " + e.title },
	},
	{
		name:    "prepend",
		given:   func(p *EditParams) bool { return p.Prepend != "" },
		edit:    textual(func(e *editing, src []byte) ([]byte, error) { return note.PrependText(src, e.Prepend) }),
		subject: func(e *editing) string { return "Add to " + e.title },
	},
	{
		name:    "replace",
		given:   func(p *EditParams) bool { return p.Replace != "" },
		edit:    textual(func(e *editing, src []byte) ([]byte, error) { return replaceSpan(src, e.Replace, *e.With) }),
		subject: func(e *editing) string { return "Edit " + e.title },
	},
	{
		name:  "set",
		given: func(p *EditParams) bool { return len(p.Set) > 0 },
		edit:  func(ctx context.Context, e *editing, src []byte) ([]fileChange, error) { return e.set(ctx, src) },
		subject: func(e *editing) string {
			return fmt.Sprintf("Set %s of %s", strings.Join(slices.Sorted(maps.Keys(e.Set)), ", "), e.title)
		},
	},
	{
		name:    "rename",
		given:   func(p *EditParams) bool { return p.Rename != "" },
		edit:    func(ctx context.Context, e *editing, src []byte) ([]fileChange, error) { return e.rename(ctx, src) },
		subject: func(e *editing) string { return fmt.Sprintf("Rename %s to %s", e.path, e.Rename) },
		single:  true,
	},
	{
		name:    "delete",
		given:   func(p *EditParams) bool { return p.Delete },
		edit:    func(ctx context.Context, e *editing, _ []byte) ([]fileChange, error) { return e.remove(ctx) },
		subject: func(e *editing) string { return "Delete " + e.path },
	},
	{
		name:      "restore",
		given:     func(p *EditParams) bool { return p.Restore != "" },
		edit:      func(ctx context.Context, e *editing, src []byte) ([]fileChange, error) { return e.restore(ctx, src) },
		subject:   func(e *editing) string { return fmt.Sprintf("Restore %s from %s", e.path, e.Restore) },
		recreates: true,
		single:    true,
	},
	{
		name:    "confirm",
		given:   func(p *EditParams) bool { return p.Confirm },
		edit:    textual(func(e *editing, src []byte) ([]byte, error) { return note.SetFields(src, e.confirmed()) }),
		subject: func(e *editing) string { return "Confirm " + e.title },
	},
	{
		name:    "flag",
		given:   func(p *EditParams) bool { return p.Flag },
		edit:    textual(func(e *editing, src []byte) ([]byte, error) { return note.SetFields(src, e.flagged()) }),
		subject: func(e *editing) string { return "Flag " + e.title },
	},
}

// textual makes an edit of one that changes the text of the note alone.
func textual(change func(e *editing, src []byte) ([]byte, error)) func(context.Context, *editing, []byte) ([]fileChange, error) {
	return func(_ context.Context, e *editing, src []byte) ([]fileChange, error) {
		out, err := change(e, src)
		if err != nil {
			return nil, editError(e.path, err)
		}
		return []fileChange{{path: e.path, now: out}}, nil
	}
}

// replaceSpan is note.ReplaceSpan, but that it also mends frontmatter which does
// not parse, if it does afterwards.
func replaceSpan(src []byte, old, with string) ([]byte, error) {
	out, err := note.ReplaceSpan(src, old, with)
	if !errors.Is(err, note.ErrFrontmatter) || bytes.Count(src, []byte(old)) != 1 {
		return out, err
	}
	if mended := bytes.Replace(src, []byte(old), []byte(with), 1); malformed(src) && !malformed(mended) {
		return mended, nil
	}
	return nil, err
}

func malformed(src []byte) bool {
	n, _ := note.Parse(src)
	return slices.ContainsFunc(n.Problems, func(p note.Problem) bool { return p.Code == "malformed_frontmatter" })
}

// editError makes one of ours of what package note says of an edit.
func editError(p string, err error) error {
	var noHeading *note.NoHeadingError
	var headings *note.AmbiguousHeadingError
	var spans *note.AmbiguousSpanError
	e := errorf(Usage, "%s: %w", p, err)
	switch {
	case errors.As(err, &noHeading):
		e.Code = NotFound
		return e.hint("heading is a heading's text, ## text, its slug, A > B, or ^block")
	case errors.As(err, &headings):
		return e.hint("name one: #slug, or A > B")
	case errors.Is(err, note.ErrNoSpan):
		e.Code = NotFound
		return e.hint("replace is taken literally, white space included, and not in frontmatter; get_document shows the text")
	case errors.As(err, &spans):
		return e.hint("give more of the text around it, so that it stands once")
	case errors.Is(err, note.ErrFrontmatter):
		e.Code = Conflict
		return e.hint("mend the line first: replace takes it exactly as it stands, with gives a sound one")
	case errors.Is(err, note.ErrStructure):
		return e.hint("close every code fence and comment in the text, or replace a larger part")
	}
	return e
}

// set changes properties. A title that another note has is refused, as for a new
// note.
func (e *editing) set(ctx context.Context, src []byte) ([]fileChange, error) {
	if title, ok := e.Set["title"].(string); ok {
		at, taken, err := e.titled(ctx, title)
		if err != nil {
			return nil, err
		}
		if taken && at != e.path {
			return nil, errorf(Conflict, "a note titled %q exists: %s", clip(title, 100), at).hint("give each note a title of its own")
		}
	}
	return textual(func(e *editing, src []byte) ([]byte, error) { return note.SetFields(src, setFields(e.Set, src)) })(ctx, e, src)
}

// setFields are the properties to set, in a fixed order. A date that the note did
// not have is written as a date.
func setFields(set map[string]any, src []byte) (fields []note.Field) {
	n, _ := note.Parse(src)
	for _, key := range slices.Sorted(maps.Keys(set)) {
		value := set[key]
		if f, ok := value.(float64); ok && f == float64(int64(f)) {
			value = int64(f)
		}
		if s, ok := value.(string); ok && dateForm.MatchString(s) {
			if _, had := n.Field(key); !had {
				if day, err := time.Parse(time.DateOnly, s); err == nil {
					value = day
				}
			}
		}
		fields = append(fields, note.Field{Key: key, Value: value})
	}
	return fields
}

// The properties of confirm and flag.
const (
	keyConfirmed       = "confirmed"
	keyConfirmedReason = "confirmed_reason"
	keyFlagged         = "flagged"
	keyFlaggedReason   = "flagged_reason"
)

func (e *editing) confirmed() []note.Field {
	fields := []note.Field{{Key: keyFlagged}, {Key: keyFlaggedReason}, {Key: keyConfirmed, Value: dateValue(e.v.today())}, {Key: keyConfirmedReason}}
	if e.Reason != "" {
		fields[3].Value = e.Reason
	}
	return fields
}

func (e *editing) flagged() []note.Field {
	return []note.Field{{Key: keyFlagged, Value: dateValue(e.v.today())}, {Key: keyFlaggedReason, Value: e.Reason}}
}

// remove deletes the note, and says who will miss it.
func (e *editing) remove(ctx context.Context) ([]fileChange, error) {
	e.to = ""
	g, err := e.graph(ctx)
	if err != nil {
		return nil, err
	}
	if i, ok := e.docAt(e.col.Name, e.path); ok {
		from := map[int]bool{}
		for _, edge := range g.in(i) {
			from[edge.doc] = true
		}
		if n := len(from); n > 0 {
			e.notice = plural(n, "note") + " linked to it: kb_links lists them"
		}
	}
	return []fileChange{{path: e.path}}, nil
}

// sees reports whether the caller sees those bytes at the note's path.
func (e *editing) sees(ctx context.Context, blob note.ID) (bool, error) {
	s, err := e.v.sight(ctx)
	if err != nil {
		return false, err
	}
	return s.past(ctx, e.col, e.path, blob)
}

// restore brings back the text that the note had. What it says of its import stays:
// that is what its source said last, whatever the note says now.
func (e *editing) restore(ctx context.Context, src []byte) ([]fileChange, error) {
	b, err := e.v.resolveIn(e.col.repo, e.Restore)
	if errors.Is(err, gitstore.ErrNoRevision) || errors.Is(err, gitstore.ErrAmbiguous) {
		return nil, noRevision(e.Restore, err)
	}
	if err != nil {
		return nil, errorf(Internal, "resolve %s: %w", e.Restore, err)
	}
	f, err := e.col.repo.File(b.commit, e.col.full(e.path))
	seen := false
	if err == nil {
		if seen, err = e.sees(ctx, f.Blob); err != nil {
			return nil, err
		}
	}
	if !seen {
		return nil, errorf(NotFound, "%s had no %s", e.Restore, e.path).hint("kb_history lists the versions of a note")
	}
	old, err := e.ground.bytes(f.Blob)
	if err != nil {
		return nil, err
	}
	if src == nil {
		err = e.v.checkTarget(e.col, e.path, true)
	} else {
		old, err = keepRecord(old, src)
	}
	return []fileChange{{path: e.path, now: old}}, err
}

// rename moves the note, and mends the links of the whole collection.
func (e *editing) rename(ctx context.Context, src []byte) ([]fileChange, error) {
	to, err := e.newPath()
	if err != nil {
		return nil, err
	}
	e.to = to
	changes, left, err := e.ground.move(ctx, map[string]string{e.path: to}, map[string][]byte{e.path: src})
	if len(left) > 0 {
		e.notice = "protected, so their links stay as they are: " + strings.Join(left, ", ")
	}
	return changes, err
}

// newPath is where the note goes.
func (e *editing) newPath() (string, error) {
	to := strings.TrimPrefix(e.Rename, e.col.Name+":")
	if strings.HasSuffix(to, "/") {
		to = path.Join(to, path.Base(e.path))
	}
	if !e.col.holds(to) && e.col.holds(to+".md") {
		to += ".md"
	}
	if err := e.v.checkTarget(e.col, to, true); err != nil {
		return "", err
	}
	switch {
	case to == e.path:
		return "", errorf(Usage, "%s has that path", e.path)
	case e.taken(to) && gitstore.FoldPath(to) != gitstore.FoldPath(e.path):
		return "", errorf(Conflict, "%s exists", to).hint("take another path, or delete that note in the draft first")
	}
	return to, nil
}
