package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/cas"
	"kb/gitstore"
	"kb/note"
)

// claim is what a note says about who may see it: a fact of its bytes. A nil
// *claim is that of a note that says nothing, as most do.
type claim struct {
	Level    Visibility `json:"level,omitempty"`    // "" when it names none
	Owners   []string   `json:"owners,omitempty"`   // whose it is, when it is private
	Withheld bool       `json:"withheld,omitempty"` // it is not to be on a site

	unread bool // the note could not be read
}

// readClaim reads what a note says. A word that is no visibility, two words, and
// properties that mention the key and are not read as naming it, mean private:
// nobody is shown a note by mistake. An owner that cannot be read is nobody.
func readClaim(src []byte) *claim {
	n, text := note.Head(src), headText(src)
	c := &claim{Level: wordsLevel(n), Withheld: withheld(n, text)}
	for _, p := range n.Problems {
		if p.Code == "duplicate_key" && strings.Contains(strings.ToLower(p.Message), "visibility") {
			c.Level = Private
		}
	}
	for _, f := range n.Fields {
		if strings.EqualFold(f.Key, "owner") {
			c.Owners = append(c.Owners, ownersIn(f)...)
		}
	}
	if head := unreadHead(n, text); head != "" {
		c.Level = Private
		if strings.Contains(head, "owner") {
			c.Owners = append(c.Owners, "")
		}
	}
	if c.Level == "" && len(c.Owners) == 0 && !c.Withheld {
		return nil
	}
	return c
}

// ownersIn are the owners that a property names: "", which is nobody, where it
// says something else.
func ownersIn(f note.Field) []string {
	names := (&note.Note{Fields: []note.Field{f}}).Texts(f.Key)
	list, isList := f.Value.([]any)
	if len(names) == 0 && f.Value != nil && (!isList || len(list) > 0) {
		return []string{""}
	}
	return names
}

// wordsLevel is the strictest visibility that the properties name.
func wordsLevel(n *note.Note) (level Visibility) {
	for _, f := range n.Fields {
		if !strings.EqualFold(f.Key, "visibility") || f.Value == nil {
			continue
		}
		words := (&note.Note{Fields: []note.Field{f}}).Texts(f.Key)
		if len(words) == 0 {
			level = Private // a mapping
		}
		for _, word := range words {
			if strings.TrimSpace(word) == "" {
				continue // an empty property of a template
			}
			said, err := ParseVisibility(word)
			if err != nil {
				said = Private
			}
			level = said.stricter(level)
		}
	}
	return level
}

// claimRecipe derives claims.
const claimRecipe = "claim/4 " + note.Recipe

// claims returns what the blobs of docs say. What is not known is read and kept.
func (v *Vault) claims(ctx context.Context, docs []doc) (map[note.ID]*claim, error) {
	ids := make([]note.ID, len(docs))
	for i, d := range docs {
		ids[i] = d.blob
	}
	found := v.store.claims(ctx, ids)
	missing := map[*repo][]doc{}
	for _, d := range docs {
		if _, ok := found[d.blob]; !ok {
			found[d.blob] = nil
			missing[d.col.repo] = append(missing[d.col.repo], d)
		}
	}
	for r, docs := range missing {
		fresh, err := readClaims(ctx, r, docs)
		if err != nil {
			return nil, err
		}
		for id, c := range fresh {
			found[id] = c
		}
		if err := v.store.unlessFull(v.store.keepClaims(fresh)); err != nil {
			return nil, errorf(Internal, "keep who may see notes: %w", err)
		}
	}
	return found, nil
}

// readClaims reads blobs of one repository. Of one that cannot be read nobody
// knows what it says: it is private, this time.
func readClaims(ctx context.Context, r *repo, docs []doc) (map[note.ID]*claim, error) {
	found := make(map[note.ID]*claim, len(docs))
	var committed []note.ID
	for _, d := range docs {
		if !d.uncommitted {
			committed = append(committed, d.blob)
			continue
		}
		src, err := d.bytes()
		if errors.Is(err, gitstore.ErrChanged) {
			return nil, err // the view is out of date
		}
		found[d.blob] = claimOf(src, err)
	}
	err := r.Blobs(ctx, committed, func(id note.ID, src []byte, err error) error {
		found[id] = claimOf(src, err)
		return nil
	})
	if err != nil {
		return nil, errorf(Internal, "read who may see notes: %w", err)
	}
	return found, nil
}

func claimOf(src []byte, err error) *claim {
	if err != nil {
		return &claim{Level: Private, Withheld: true, unread: true}
	}
	return readClaim(src)
}

// claims returns what is kept of blobs.
func (s *Store) claims(ctx context.Context, ids []note.ID) map[note.ID]*claim {
	found := make(map[note.ID]*claim, len(ids))
	var others []note.ID
	s.mu.Lock()
	for _, id := range ids {
		if c, ok := s.said[id]; ok {
			found[id] = c
		} else {
			others = append(others, id)
		}
	}
	s.mu.Unlock()
	if s.facts == nil || len(others) == 0 {
		return found
	}
	r, err := s.facts.Recipe(claimRecipe)
	if err != nil {
		s.log("read %s: %v", claimRecipe, err)
		return found
	}
	kept := make(map[note.ID]*claim, len(others))
	err = s.facts.EachOf(ctx, cas.Claims, r, others, func(id note.ID, body []byte) error {
		var c *claim
		if len(body) > 0 {
			c = &claim{}
			if err := json.Unmarshal(body, c); err != nil {
				return err
			}
		}
		found[id], kept[id] = c, c
		return nil
	})
	if err != nil {
		s.log("read %s: %v", claimRecipe, err)
	}
	s.remember(kept)
	return found
}

// remember holds claims in memory.
func (s *Store) remember(claims map[note.ID]*claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.said)+len(claims) > cachedCards {
		clear(s.said)
	}
	for id, c := range claims {
		s.said[id] = c
	}
}

// keepClaims stores what was read of blobs.
func (s *Store) keepClaims(claims map[note.ID]*claim) error {
	known := make(map[note.ID]*claim, len(claims))
	for id, c := range claims {
		if c == nil || !c.unread {
			known[id] = c
		}
	}
	s.remember(known)
	if s.facts == nil || len(known) == 0 {
		return nil
	}
	r, err := s.facts.Recipe(claimRecipe)
	if err != nil {
		return err
	}
	facts := make([]cas.Fact, 0, len(known))
	for id, c := range known {
		var value []byte
		if c != nil {
			if value, err = json.Marshal(c); err != nil {
				return fmt.Errorf("encode claim of %s: %w", id, err)
			}
		}
		facts = append(facts, cas.Fact{Key: cas.Claims.Key(r, id[:]), Value: value})
	}
	for batch := range slices.Chunk(facts, 1000) {
		if err := s.facts.Put(batch...); err != nil {
			return err
		}
	}
	return nil
}
