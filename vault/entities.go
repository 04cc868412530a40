package vault

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"kb/index"
	"kb/note"
)

// EntitiesParams asks what the notes name.
type EntitiesParams struct {
	Name       string `json:"name,omitempty" arg:"" help:"only entities whose name holds this; alone, also where"`
	Kind       string `json:"kind,omitempty" help:"url, email, hashtag, mention, tag, or field"`
	Collection string `json:"collection,omitempty" help:"only this collection"`
	MaxResults int    `json:"max_results,omitempty" also:"limit" default:"50" min:"1" max:"1000" help:"entities"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"4000" min:"100" help:"budget"`
	Cursor     string `json:"cursor,omitempty" help:"next of an answer"`
	atParam
}

// EntitiesResult is what the notes name, most frequent first.
type EntitiesResult struct {
	Total     int      `json:"total"`
	Entities  []Entity `json:"entities"`
	Truncated bool     `json:"truncated,omitempty"`
	Next      string   `json:"next,omitempty"`
	Seen
}

// Entity is something that notes name: Count times, in Documents.
type Entity struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Count     int      `json:"count"`
	Documents []string `json:"documents"` // the first few

	DocumentCount int `json:"document_count"`
}

var entitiesOp = define(Op{
	Name:        "kb_entities",
	Title:       "List what notes name",
	Summary:     "List addresses, people, tags and other things that notes name",
	Description: "URLs, mail addresses, @mentions, #hashtags, tags and the items of the property entities, with the notes that name them. search takes entity to require one.",
	Examples:    []string{"kb entities --kind url", "kb entities rust-lang.org"},
}, (*Vault).Entities)

var entityKinds = []string{note.EntityURL, note.EntityEmail, note.EntityHashtag, note.EntityMention, "tag", note.EntityField}

// Entities lists what the notes of the view name.
func (v *Vault) Entities(ctx context.Context, p EntitiesParams) (*EntitiesResult, error) {
	w, offset, err := v.readFrom(ctx, p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	cols, err := v.collections(p.Collection)
	if err != nil {
		return nil, err
	}
	if kind := strings.ToLower(p.Kind); kind != "" && !slices.Contains(entityKinds, kind) {
		return nil, errorf(Usage, "kind: %q", clip(p.Kind, 40)).hint("kinds: %s", strings.Join(entityKinds, ", "))
	}
	if _, err := w.allCards(ctx); err != nil {
		return nil, err
	}
	all := w.countEntities(cols, strings.ToLower(p.Kind), strings.ToLower(strings.TrimLeft(p.Name, "#@")))
	r := &EntitiesResult{Total: len(all), Entities: all, Seen: w.seen()}
	const mostDocs = 10
	for i, e := range all {
		all[i].DocumentCount = len(e.Documents)
		all[i].Documents = e.Documents[:min(len(e.Documents), mostDocs)]
	}
	next := page([]pile{pileOf(&r.Entities, func(e Entity) int { return 15 + Tokens(e.Name) + 8*len(e.Documents) })}, offset, p.MaxTokens)
	r.Truncated = next > 0
	if len(r.Entities) > p.MaxResults {
		r.Entities = r.Entities[:p.MaxResults]
		next = offset + p.MaxResults
	}
	if next > 0 {
		r.Next = w.cursor(next)
	}
	return r, nil
}

// entitiesOf are what a note names: what its text does, and its tags.
func (c *card) entitiesOf() []note.Entity {
	out := slices.Clone(c.entities)
	for _, t := range c.tags {
		out = append(out, note.Entity{Kind: "tag", Name: strings.ToLower(t), Count: 1})
	}
	return out
}

func (w *view) countEntities(cols []*collection, kind, name string) []Entity {
	found := map[[2]string]*Entity{}
	for i, d := range w.docs {
		if !slices.Contains(cols, d.col) {
			continue
		}
		for _, e := range w.cards[i].entitiesOf() {
			if kind != "" && e.Kind != kind || !strings.Contains(strings.ToLower(e.Name), name) {
				continue
			}
			key := [2]string{e.Kind, e.Name}
			if found[key] == nil {
				found[key] = &Entity{Name: e.Name, Kind: e.Kind}
			}
			found[key].Count += e.Count
			found[key].Documents = append(found[key].Documents, w.name(i))
		}
	}
	out := make([]Entity, 0, len(found))
	for _, e := range found {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b Entity) int {
		return cmp.Or(cmp.Compare(len(b.Documents), len(a.Documents)), cmp.Compare(b.Count, a.Count),
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}

// hasEntity reports whether the note names e, whole or, for an address, a part
// of its site.
func (c *card) hasEntity(e string) bool {
	want := strings.ToLower(strings.TrimLeft(e, "#@"))
	return slices.ContainsFunc(c.entitiesOf(), func(x note.Entity) bool {
		name := strings.ToLower(x.Name)
		return name == want || x.Kind == note.EntityURL && strings.HasPrefix(name, want+"/")
	})
}

// naming tests whether a note names one of names; nil without any.
func (w *view) naming(ctx context.Context, names []string) (test, error) {
	if len(names) == 0 {
		return nil, nil
	}
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	return func(i int) bool { return slices.ContainsFunc(names, cards[i].hasEntity) }, nil
}

// addMissingEntities adds to the words that were found nowhere the addresses,
// people and hashtags that a query names and none of its hits does.
func (w *view) addMissingEntities(ctx context.Context, missing []string, query string, hits []index.Hit) ([]string, error) {
	named, _ := note.Parse([]byte(query))
	if len(named.Entities) == 0 {
		return missing, nil
	}
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range named.Entities {
		has := func(h index.Hit) bool { return cards[h.Member].hasEntity(e.Name) }
		if name := entitySigns[e.Kind] + e.Name; !slices.ContainsFunc(hits, has) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// entitySigns are what entities are written with.
var entitySigns = map[string]string{note.EntityHashtag: "#", note.EntityMention: "@"}

// Text writes a table.
func (r *EntitiesResult) Text(t *Text) {
	var rows [][]string
	for _, e := range r.Entities {
		rows = append(rows, []string{t.Dim(e.Kind), t.Accent(e.Name), plural(e.DocumentCount, "note"), t.Dim(clip(strings.Join(e.Documents, ", "), 60))})
	}
	t.Table(rows)
	t.Printf("%s\n", t.Dim(plural(r.Total, "name")+" · "+r.Seen.text()))
	t.more(r.Next)
}
