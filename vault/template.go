package vault

import (
	"context"
	"embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/note"
)

// shipped are the templates that a vault has which brings none of that name.
//
//go:embed templates/*.md
var shipped embed.FS

// templateDir is where a vault keeps templates, below a collection or the root
// of its repository.
const templateDir = ".kb/templates"

// template is a note to be filled in. In its body and in the texts of its
// properties {{name}} stands for a text that must be given, {{name?}} for one that may
// be. What is filled in is never read for such names, nor for anything else.
type template struct {
	name   string
	fields []note.Field
	body   string
}

var (
	templateName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	placeholder  = regexp.MustCompile(`\{\{\s*([A-Za-z][A-Za-z0-9_-]*)(\?)?\s*\}\}`)
)

// template finds the template of a name as it was at a commit of c's
// repository: the collection's own, else the repository's, else the shipped.
func (v *Vault) template(ctx context.Context, c *collection, at gitstore.CommitID, name string) (*template, error) {
	found, err := c.templates(ctx, at)
	if err != nil {
		return nil, err
	}
	if !templateName.MatchString(name) || found[name] == nil {
		names := slices.Sorted(maps.Keys(found))
		return nil, errorf(NotFound, "no template %q", clip(name, 60)).hint("templates: %s", strings.Join(names, ", "))
	}
	src, err := found[name]()
	if err != nil {
		return nil, errorf(Internal, "read template %s: %w", name, err)
	}
	return readTemplate(name, src)
}

func readTemplate(name string, src []byte) (*template, error) {
	n, text := note.Parse(src)
	for _, p := range n.Problems {
		if p.Code == "malformed_frontmatter" || n.Binary {
			return nil, errorf(Usage, "template %s: line %d: %s", name, p.Line, p.Message).hint("mend %s/%s.md", templateDir, name)
		}
	}
	return &template{name, n.Fields, string(text[n.Body:])}, nil
}

// templates lists what reads each template that is to be had.
func (c *collection) templates(ctx context.Context, at gitstore.CommitID) (map[string]func() ([]byte, error), error) {
	found := map[string]func() ([]byte, error){}
	own, err := shipped.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	for _, e := range own {
		found[fileTitle(e.Name())] = func() ([]byte, error) { return shipped.ReadFile("templates/" + e.Name()) }
	}
	for _, dir := range []string{templateDir, path.Join(c.dir, templateDir)} {
		files, _, err := c.repo.Files(ctx, at, dir)
		if err != nil {
			return nil, errorf(Internal, "list templates: %w", err)
		}
		for _, f := range files {
			if name, ok := strings.CutSuffix(f.Path, ".md"); ok && templateName.MatchString(name) {
				found[name] = func() ([]byte, error) { return c.repo.Blob(f.Blob) }
			}
		}
	}
	return found, nil
}

// render fills in t. What every note has - title, body, date, source - goes
// without being asked for; given is the rest, which is to be exactly what t wants.
// A body that t has no place for ends the note.
func (t *template) render(usual, given map[string]string) (fields []note.Field, body string, err error) {
	wanted := t.wanted()
	var missing, unknown []string
	for name, required := range wanted {
		if _, ok := usual[name]; !ok && required && strings.TrimSpace(given[name]) == "" {
			missing = append(missing, name)
		}
	}
	for name := range given {
		if _, ok := usual[name]; ok || !has(wanted, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(missing)
	slices.Sort(unknown)
	switch {
	case len(unknown) > 0:
		return nil, "", errorf(Usage, "template %s has no field %s", t.name, clip(strings.Join(unknown, ", "), 200)).hint("%s", t.usage(usual))
	case len(missing) > 0:
		return nil, "", errorf(Usage, "template %s lacks %s", t.name, strings.Join(missing, ", ")).hint("%s", t.usage(usual))
	}
	fill := func(s string) string {
		return placeholder.ReplaceAllStringFunc(s, func(m string) string {
			name := placeholder.FindStringSubmatch(m)[1]
			if text, ok := usual[name]; ok {
				return trimBlank(text)
			}
			return trimBlank(given[name])
		})
	}
	for _, f := range t.fields {
		f.Value = fillValue(f.Value, fill)
		fields = append(fields, f)
	}
	body = fill(without(t.body, func(name string) bool { return !has(usual, name) && trimBlank(given[name]) == "" }))
	if !has(wanted, "body") && trimBlank(usual["body"]) != "" {
		body = strings.TrimRight(body, "\n") + "\n\n" + trimBlank(usual["body"])
	}
	return fields, trimBlank(body) + "\n", nil
}

// optional is a line that is a placeholder which may stay empty, with the heading
// that it stands under.
var optional = regexp.MustCompile(`(?m)(^##+ [^\n]*\n\s*)?^\{\{\s*([A-Za-z][A-Za-z0-9_-]*)\?\s*\}\}[ \t]*(\n\s*|\z)`)

// without leaves out the optional lines whose text is not given.
func without(body string, empty func(name string) bool) string {
	return optional.ReplaceAllStringFunc(body, func(m string) string {
		if empty(optional.FindStringSubmatch(m)[2]) {
			return ""
		}
		return m
	})
}

// trimBlank removes blank lines before a text and white space after it.
func trimBlank(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

// wanted lists the names in t, and whether each must be given.
func (t *template) wanted() map[string]bool {
	wanted := map[string]bool{}
	add := func(s string) string {
		for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
			wanted[m[1]] = wanted[m[1]] || m[2] == ""
		}
		return s
	}
	add(t.body)
	for _, f := range t.fields {
		fillValue(f.Value, add)
	}
	return wanted
}

// usage says which fields t takes.
func (t *template) usage(usual map[string]string) string {
	var names []string
	wanted := t.wanted()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if has(usual, name) {
			continue
		}
		if !wanted[name] {
			name += " (optional)"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "it takes no fields"
	}
	return "fields: " + strings.Join(names, ", ")
}

func has[V any](m map[string]V, key string) bool {
	_, ok := m[key]
	return ok
}

// fillValue applies fill to the texts of a property.
func fillValue(value any, fill func(string) string) any {
	switch x := value.(type) {
	case string:
		return fill(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = fillValue(x[i], fill)
		}
		return out
	}
	return value
}
