package vault

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"kb/note"
)

// The properties of a note that was made of a source. The hash is that of the text
// as it was imported: a note whose text has it was not edited since.
const (
	fieldSource   = "source"
	fieldFrom     = "imported_from" // instead of source, in a Markdown file that names a source of its own
	fieldType     = "source_type"
	fieldHash     = "source_hash"
	fieldFetched  = "fetched"
	fieldETag     = "etag"
	fieldModified = "last_modified"
	fieldOriginal = "original" // the file that the note was made of, beside it
)

// untagged is the tag of a note whose document has none: reviews ask for one.
const untagged = "imported"

// imported is a document's text, read as a note.
type imported struct {
	head []byte // its own frontmatter, nil for none
	body []byte // in the form in which it is compared
	hash string
	note *note.Note
}

// parse reads a document's text.
func (n *Import) parse() (*imported, error) {
	parsed, text := note.Parse([]byte(n.Body))
	if parsed.Binary {
		return nil, errorf(Usage, "it is no text")
	}
	for _, p := range parsed.Problems {
		if p.Code == "malformed_frontmatter" {
			return nil, errorf(Usage, "its frontmatter: line %d: %s", p.Line, p.Message)
		}
	}
	x := &imported{note: parsed, body: canonicalBody(text[parsed.Body:])}
	if len(bytes.TrimSpace(x.body)) == 0 {
		return nil, errorf(Usage, "there is no text in it")
	}
	if parsed.Body > 0 {
		x.head = text[:parsed.Body]
	}
	x.hash = bodyHash(x.body)
	return x, nil
}

// TextHash is the source_hash that a note of the document has; "" for one that
// [Vault.Add] refuses.
func (n *Import) TextHash() string {
	x, err := n.parse()
	if err != nil {
		return ""
	}
	return x.hash
}

// canonicalBody is a note's text in the form in which imports are compared:
// without the blank lines around it.
func canonicalBody(body []byte) []byte {
	return append(bytes.TrimRight(bytes.TrimLeft(body, "\r\n"), " \t\r\n"), '\n')
}

// bodyHash names an imported text.
func bodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// splitNote parts a note into its frontmatter and its text.
func splitNote(src []byte) (head, body []byte, n *note.Note) {
	n, text := note.Parse(src)
	return text[:n.Body], canonicalBody(text[n.Body:]), n
}

// render makes the new note's text.
func (a *adding) render(n *Import, x *imported, title string) ([]byte, error) {
	fields := append(a.described(n, x, title), bookkeeping(n, x)...)
	if x.head != nil {
		src, err := note.SetFields(slices.Concat(x.head, []byte("\n"), x.body), fields)
		if err != nil {
			return nil, errorf(Usage, "its frontmatter: %w", err)
		}
		return src, nil
	}
	head, err := note.NewFrontmatter(slices.DeleteFunc(fields, func(f note.Field) bool { return f.Value == nil }))
	if err != nil {
		return nil, errorf(Usage, "frontmatter: %w", err)
	}
	return slices.Concat(head, []byte("\n"), x.body), nil
}

// importedTexts are what a template can have of a document.
func importedTexts(title, body, date, source string) map[string]string {
	return map[string]string{"title": title, "body": body, "date": date, "source": source}
}

// dress puts a new note into the call's template: its properties, as far as the
// document has none, and the text around the document's.
func (a *adding) dress(n *Import, x *imported, title string, src []byte) ([]byte, error) {
	head, _, now := splitNote(src)
	more, text, err := a.template.render(importedTexts(title, string(x.body), a.now.Format(time.DateOnly), n.Source), nil)
	if err != nil {
		return nil, err
	}
	var fields []note.Field
	for _, f := range more {
		_, has := now.Field(f.Key)
		switch {
		case f.Key == "tags":
			fields = append(fields, note.Field{Key: "tags", Value: joinTags((&note.Note{Fields: more}).Strings("tags"), now.Strings("tags"))})
		case !has && !slices.Contains(append(importFields, fieldSource, fieldOriginal), strings.ToLower(f.Key)):
			value, err := plainValue(f)
			if err != nil {
				return nil, err
			}
			fields = append(fields, note.Field{Key: f.Key, Value: value})
		}
	}
	dressed, err := note.SetFields(slices.Concat(head, []byte("\n"), []byte(text)), fields)
	if err != nil {
		return nil, errorf(Usage, "template %s: %w", a.template.name, err)
	}
	return dressed, nil
}

// described are the properties that people see, as far as the document does not
// have them.
func (a *adding) described(n *Import, x *imported, title string) (fields []note.Field) {
	created := dateValue(a.now)
	if at, err := time.Parse(time.DateOnly, n.Created); err == nil {
		created = at
	}
	tags := joinTags(x.note.Strings("tags"), n.Tags, a.p.Tags)
	if len(tags) == 0 {
		tags = []string{untagged}
	}
	add := func(key string, value any) {
		if _, has := x.note.Field(key); !has {
			fields = append(fields, note.Field{Key: key, Value: value})
		}
	}
	add("title", title)
	if own := x.note.Title; own != "" && own != title {
		fields = append(slices.DeleteFunc(fields, func(f note.Field) bool { return f.Key == "title" }), note.Field{Key: "title", Value: title})
	}
	add("created", created)
	if len(n.Authors) > 0 {
		add("authors", n.Authors)
	}
	if _, has := x.note.Field("tags"); !has || len(a.p.Tags) > 0 {
		fields = append(fields, note.Field{Key: "tags", Value: tags})
	}
	return fields
}

// bookkeeping are the properties by which a source is known and asked again. Those
// without a value are removed.
func bookkeeping(n *Import, x *imported) []note.Field {
	orNil := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	from := fieldSource
	if own, has := x.note.Field(fieldSource); has && own != n.Source {
		from = fieldFrom
	}
	return []note.Field{
		{Key: from, Value: orNil(n.Source)},
		{Key: fieldType, Value: orNil(n.Type)},
		{Key: fieldHash, Value: x.hash},
		{Key: fieldFetched, Value: orNil(n.Fetched)},
		{Key: fieldETag, Value: orNil(n.ETag)},
		{Key: fieldModified, Value: orNil(strings.TrimSpace(n.LastModified))},
		{Key: fieldOriginal, Value: orNil(n.Original)},
	}
}
