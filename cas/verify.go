package cas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/dgraph-io/badger/v4"
)

// Fault is something wrong with a store. Opening a store whose tables are
// damaged mends it; a damaged fact is mended when it is written again.
type Fault struct {
	Key     string `json:"key"` // of the fact, or "" when it is the database
	Message string `json:"message"`
}

// Verify reads everything and returns what is wrong: a table whose checksum does not
// match, a key that is none of [Keys], a value that fails its checksum or
// cannot be decoded, a recipe without a name.
func (s *Store) Verify(ctx context.Context) ([]Fault, error) {
	faults := []Fault{}
	fault := func(key string, err error) { faults = append(faults, Fault{key, err.Error()}) }
	err := s.view(func(txn *badger.Txn) error {
		if err := s.verifyTables(); err != nil {
			fault("", err)
		}
		return scanPrefix(ctx, txn, nil, func(item *badger.Item) error {
			if err := s.verifyEntry(txn, item); err != nil {
				fault(describe(item.Key()), err)
			}
			return nil
		})
	})
	if errors.Is(err, errDamaged) {
		fault("", err)
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("verify store %s: %w", s.dir, err)
	}
	return faults, err
}

// verifyTables checks the tables of the open store. A compaction may take one
// away in the meantime, so one that is not there is looked for again.
func (s *Store) verifyTables() (err error) {
	for range 5 {
		err = checkTables(badgerOptions(s.dir, s.log))
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (s *Store) verifyEntry(txn *badger.Txn, item *badger.Item) error {
	switch k := item.Key(); {
	case string(k) == string(schemaKey):
		return nil
	case k[0] == recipePrefix[0]:
		return item.Value(func(v []byte) error {
			_, err := parseRecipe(k, v)
			return err
		})
	case k[0] == piecePrefix[0]:
		_, _, err := parsePieceKey(k) // its bytes are verified with the fact they are of
		return err
	default:
		return s.verifyFact(txn, item)
	}
}

func (s *Store) verifyFact(txn *badger.Txn, item *badger.Item) error {
	key, err := parseKey(item.Key())
	if err != nil {
		return err
	}
	if s.recipeName(key.Recipe) == "" {
		return errors.New("its recipe has no name")
	}
	_, body, err := s.itemBody(txn, key, item)
	if err != nil {
		return err
	}
	switch key.Kind {
	case Notes:
		_, err = decodeNote(string(body))
	case Chunks:
		_, err = decodeChunks(body)
	case Vectors:
		_, err = decodeVector(body)
	case Failures:
		_, err = decodeFailure(body)
	}
	return err
}

func describe(key []byte) string {
	if k, err := parseKey(key); err == nil {
		return k.String()
	}
	return fmt.Sprintf("%q", key)
}
