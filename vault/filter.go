package vault

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kb/note"
)

// Selection narrows an operation to some notes of the view. It never changes how the
// others are counted: scores are the same with and without it.
type Selection struct {
	Collection   string   `json:"collection,omitempty" help:"only this collection"`
	Scope        []string `json:"scope,omitempty" help:"only these sections or path prefixes"`
	Tag          []string `json:"tag,omitempty" help:"with all these tags or sub-tags"`
	Status       string   `json:"status,omitempty" help:"only this status"`
	Where        []string `json:"where,omitempty" help:"field=value, !=, <, >, ~ (contains)"`
	CreatedAfter string   `json:"created_after,omitempty" help:"created on this date or later"`
	UpdatedAfter string   `json:"updated_after,omitempty" help:"changed on this date or later"`
}

// Filter is a [Selection] with the conditions that only lists need.
type Filter struct {
	Selection
	CreatedBefore string `json:"created_before,omitempty" help:"only notes created before this date"`
	HasSources    *bool  `json:"has_sources,omitempty" help:"only notes with (or without) a source"`
}

// test decides about one doc.
type test func(i int) bool

// keep compiles f for the docs of w; nil when every doc passes.
func (f Filter) keep(ctx context.Context, w *view) (test, error) {
	tests, err := f.pathTests(w)
	if err != nil {
		return nil, err
	}
	more, err := f.cardTests(ctx, w)
	if err != nil {
		return nil, err
	}
	if tests = append(tests, more...); len(tests) == 0 {
		return nil, nil
	}
	return func(i int) bool {
		for _, t := range tests {
			if !t(i) {
				return false
			}
		}
		return true
	}, nil
}

// pathTests need nothing but the doc's place.
func (f Filter) pathTests(w *view) (tests []test, err error) {
	if f.Collection != "" {
		c, err := w.v.collection(f.Collection)
		if err != nil {
			return nil, err
		}
		tests = append(tests, func(i int) bool { return w.docs[i].col == c })
	}
	var prefixes []string
	for _, s := range f.Scope {
		prefixes = append(prefixes, strings.Trim(s, "/"))
	}
	if len(prefixes) > 0 {
		tests = append(tests, func(i int) bool { return w.docs[i].within(prefixes) })
	}
	return tests, nil
}

// within reports whether d stands in one of the sections or path prefixes,
// which may begin with "collection:". The prefix "" means the notes at the root.
func (d doc) within(prefixes []string) bool {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(p, d.col.Name+":"); ok {
			p = strings.Trim(rest, "/")
			if p == "" {
				return true
			}
		}
		rest, ok := strings.CutPrefix(d.path, p)
		switch {
		case p == "":
			ok = section(d.path) == ""
		case ok:
			ok = rest == "" || rest[0] == '/'
		}
		if ok {
			return true
		}
	}
	return false
}

// cardTests need the note's own facts.
func (f Filter) cardTests(ctx context.Context, w *view) (tests []test, err error) {
	where, err := parseWhere(f.Where)
	if err != nil {
		return nil, err
	}
	created, err1 := parseDay("created_after", f.CreatedAfter)
	before, err2 := parseDay("created_before", f.CreatedBefore)
	updated, err3 := parseDay("updated_after", f.UpdatedAfter)
	if err := firstError(err1, err2, err3); err != nil {
		return nil, err
	}
	dates := created != "" || before != "" || updated != ""
	if !dates && len(f.Tag) == 0 && f.Status == "" && len(where) == 0 && f.HasSources == nil {
		return nil, nil
	}
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	for _, tag := range f.Tag {
		tests = append(tests, func(i int) bool { return cards[i].hasTag(tag) })
	}
	if f.Status != "" {
		tests = append(tests, func(i int) bool { return strings.EqualFold(cards[i].status, f.Status) })
	}
	if f.HasSources != nil {
		tests = append(tests, func(i int) bool { return cards[i].hasSources() == *f.HasSources })
	}
	if !dates && !slices.ContainsFunc(where, condition.dated) {
		dated := func(i int, c *card) dated { return dated{created: c.created, updated: c.updated} }
		return append(tests, whereTests(w, cards, where, dated)...), nil
	}
	date, err := w.datesOf(ctx)
	if err != nil {
		return nil, err
	}
	tests = append(tests, whereTests(w, cards, where, date)...)
	if dates {
		tests = append(tests, func(i int) bool {
			d := date(i, cards[i])
			return (created == "" || d.created >= created) && (before == "" || d.created != "" && d.created < before) &&
				(updated == "" || d.updated >= updated)
		})
	}
	return tests, nil
}

func whereTests(w *view, cards []*card, where []condition, date func(int, *card) dated) (tests []test) {
	for _, c := range where {
		tests = append(tests, func(i int) bool { return c.holds(w.values(i, cards[i], c.key, date)) })
	}
	return tests
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// parseDay checks a date argument and returns it as YYYY-MM-DD.
func parseDay(name, s string) (string, error) {
	if s == "" {
		return "", nil
	}
	t, ok := note.ParseDate(s)
	if !ok {
		return "", errorf(Usage, "%s: %q is not a date", name, clip(s, 40)).hint("a date is 2026-01-31")
	}
	return t.UTC().Format(time.DateOnly), nil
}

// hasTag reports whether c has the tag or one below it, whatever its case.
func (c *card) hasTag(tag string) bool {
	want := strings.ToLower(strings.TrimPrefix(tag, "#"))
	for _, t := range c.tags {
		t = strings.ToLower(t)
		if t == want || strings.HasPrefix(t, want+"/") {
			return true
		}
	}
	return false
}

func (c *card) hasSources() bool {
	return len(c.field("sources")) > 0 || len(c.field("source")) > 0
}

// condition is one parsed where argument.
type condition struct {
	key, op, value string
}

var whereForm = regexp.MustCompile(`^\s*([\p{L}\p{N}_.:\- ]+?)\s*(!=|<=|>=|=|<|>|~)\s*(.*?)\s*$`)

func parseWhere(args []string) (conds []condition, err error) {
	for _, a := range args {
		m := whereForm.FindStringSubmatch(a)
		if m == nil || strings.IndexAny(m[3], "=<>~") == 0 {
			return nil, errorf(Usage, "where: %q", clip(a, 80)).
				hint("a condition is field=value, field!=value, field<value, field>value or field~part; a value that begins with such a sign stands in quotes")
		}
		value := strings.Trim(m[3], `"'`)
		if m[2] != "~" {
			value = linkText(value)
		}
		conds = append(conds, condition{m[1], m[2], value})
	}
	return conds, nil
}

// dated reports whether c asks for a date that history may supply.
func (c condition) dated() bool { return c.key == "created" || c.key == "updated" }

// values are what a note has under a key: its frontmatter, or what kb knows of
// every note.
func (w *view) values(i int, c *card, key string, date func(int, *card) dated) []string {
	switch key {
	case "path":
		return []string{w.docs[i].path}
	case "section":
		return []string{section(w.docs[i].path)}
	case "collection":
		return []string{w.docs[i].col.Name}
	case "title":
		return []string{w.titleOf(i, c)}
	case "tags", "tag":
		return c.tags
	case "words":
		return []string{strconv.Itoa(c.words)}
	case "created":
		return nonEmpty([]string{date(i, c).created})
	case "updated":
		return nonEmpty([]string{date(i, c).updated})
	}
	return c.field(key)
}

// readings are what a condition compares of values. A wikilink is what it says to
// a reader, as in a status, or the note that it names; ~ finds its brackets, too.
func (c condition) readings(values []string) []string {
	all := make([]string, 0, len(values))
	for _, v := range values {
		text := linkText(v)
		if text == v {
			all = append(all, v)
			continue
		}
		if all = append(all, text); c.op == "~" {
			all = append(all, v)
		}
		if target, _, named := strings.Cut(strings.TrimPrefix(v, "[["), "|"); named {
			all = append(all, target)
		}
	}
	return all
}

// holds compares; a list holds when one of its values does, and != when none
// equals. An empty value with = or != asks whether the field is there at all.
func (c condition) holds(values []string) bool {
	values = c.readings(values)
	if c.op == "!=" {
		if c.value == "" {
			return len(values) > 0
		}
		return !slices.ContainsFunc(values, func(v string) bool { return compareValues(v, c.value) == 0 })
	}
	if c.op == "=" && c.value == "" {
		return len(values) == 0
	}
	return slices.ContainsFunc(values, func(v string) bool {
		if c.op == "~" {
			return strings.Contains(strings.ToLower(v), strings.ToLower(c.value))
		}
		n := compareValues(v, c.value)
		return n == 0 && strings.Contains(c.op, "=") || n < 0 && c.op[0] == '<' || n > 0 && c.op[0] == '>'
	})
}

// parseNumber reads a finite number: "nan" and "inf" are words.
func parseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// compareValues orders two frontmatter values: as numbers or as dates when both
// are, else as text without regard to case.
func compareValues(a, b string) int {
	if x, ok := parseNumber(a); ok {
		if y, ok := parseNumber(b); ok {
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		}
	}
	if x, ok := note.ParseDate(a); ok {
		if y, ok := note.ParseDate(b); ok {
			return x.Compare(y)
		}
	}
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}
