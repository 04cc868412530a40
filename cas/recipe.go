package cas

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/dgraph-io/badger/v4"
)

// RecipeID is the number that stands for a recipe in keys. It means something
// in one store only, and 0 is none.
type RecipeID uint16

// RecipeInfo tells what a store holds of one recipe.
type RecipeInfo struct {
	ID    RecipeID     `json:"id"`
	Name  string       `json:"name"`
	Facts map[Kind]int `json:"facts"`
}

// Recipe returns the number of a recipe, which is allocated durably at the
// first call with that name and never changes or is given to another.
func (s *Store) Recipe(name string) (RecipeID, error) {
	if name == "" {
		return 0, errors.New("recipe without a name")
	}
	if id, ok := s.recipeNumber(name); ok {
		return id, nil
	}
	var id RecipeID
	err := s.withDB(func(db *badger.DB) (err error) {
		s.write.Lock()
		defer s.write.Unlock()
		id, err = s.allocate(db, name)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("store recipe %q: %w", name, err)
	}
	return id, nil
}

// allocate gives name a number, unless another call just did. The caller
// holds s.write.
func (s *Store) allocate(db *badger.DB, name string) (RecipeID, error) {
	if id, ok := s.recipeNumber(name); ok {
		return id, nil
	}
	var last RecipeID
	for id := range s.names { // only a holder of s.write changes it
		last = max(last, id)
	}
	if last == math.MaxUint16 {
		return 0, errors.New("no number is left")
	}
	id := last + 1
	key := recipeKey(id)
	err := s.commitLocked(db, len(name), func(b *badger.WriteBatch) error {
		return b.Set(key, seal("", key, s.now(), whole, []byte(name)))
	})
	if err != nil {
		return 0, err
	}
	s.recipeMu.Lock()
	defer s.recipeMu.Unlock()
	s.names[id], s.numbers[name] = name, id
	return id, nil
}

func (s *Store) recipeNumber(name string) (RecipeID, bool) {
	s.recipeMu.RLock()
	defer s.recipeMu.RUnlock()
	id, ok := s.numbers[name]
	return id, ok
}

// Recipes lists every recipe, by number, with the facts that are there of it.
func (s *Store) Recipes() ([]RecipeInfo, error) {
	s.recipeMu.RLock()
	infos := make([]RecipeInfo, 0, len(s.names))
	for id, name := range s.names {
		infos = append(infos, RecipeInfo{id, name, map[Kind]int{}})
	}
	s.recipeMu.RUnlock()
	sort.Slice(infos, func(i, j int) bool { return infos[i].ID < infos[j].ID })

	err := s.withDB(func(db *badger.DB) error {
		return db.View(func(txn *badger.Txn) error {
			for _, info := range infos {
				for _, l := range facts {
					if n := countKeys(txn, kindPrefix(l.kind, info.ID)); n > 0 {
						info.Facts[l.kind] = n
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("count facts: %w", err)
	}
	return infos, nil
}

func countKeys(txn *badger.Txn, prefix []byte) int {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	n := 0
	for it.Rewind(); it.Valid(); it.Next() {
		n++
	}
	return n
}

// recipeName returns what r stands for; "" is for a number never given.
func (s *Store) recipeName(r RecipeID) string {
	s.recipeMu.RLock()
	defer s.recipeMu.RUnlock()
	return s.names[r]
}

// loadSchema compares the store's version with ours, and writes ours into an
// empty one. One that is empty although it had tables has lost its manifest.
func (s *Store) loadSchema(hadTables bool) error {
	var version uint64
	empty := false
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(schemaKey)
		if errors.Is(err, badger.ErrKeyNotFound) {
			empty = countKeys(txn, nil) == 0
			return nil
		}
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			version, _ = binary.Uvarint(v)
			return nil
		})
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: schema: %w", errDamaged, err)
	case empty && !hadTables:
		return s.db.Update(func(txn *badger.Txn) error {
			return txn.Set(schemaKey, binary.AppendUvarint(nil, Schema))
		})
	case version == 0:
		return fmt.Errorf("%w: no schema", errDamaged)
	case version > Schema:
		return fmt.Errorf("%w: schema %d, ours is %d", ErrNewer, version, Schema)
	case version < Schema:
		return errOlder
	}
	return nil
}

func (s *Store) loadRecipes() error {
	s.names, s.numbers = map[RecipeID]string{}, map[string]RecipeID{}
	return s.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = recipePrefix
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			err := it.Item().Value(func(v []byte) error {
				r, err := parseRecipe(it.Item().Key(), v)
				s.names[r.ID], s.numbers[r.Name] = r.Name, r.ID
				return err
			})
			if err != nil {
				return fmt.Errorf("%w: %w", errDamaged, err)
			}
		}
		return nil
	})
}

func parseRecipe(key, v []byte) (RecipeInfo, error) {
	id, err := parseRecipeKey(key)
	if err != nil {
		return RecipeInfo{}, err
	}
	_, _, name, err := unseal("", key, v)
	if err != nil {
		return RecipeInfo{}, fmt.Errorf("recipe %d: %w", id, err)
	}
	return RecipeInfo{ID: id, Name: string(name)}, nil
}
