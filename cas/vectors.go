package cas

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"kb/note"
)

// hashSize is the length of a Hash.
const hashSize = 32

// Hash names a text that is embedded: its SHA-256.
type Hash [hashSize]byte

func compareHashes(a, b Hash) int { return slices.Compare(a[:], b[:]) }

// Failure says that a text could not be embedded.
type Failure struct {
	Attempts int
	Reason   string
}

// PutChunks stores, in one durable batch, the hashes of the texts that are
// embedded of each blob under recipe r.
func (s *Store) PutChunks(r RecipeID, chunks map[note.ID][]Hash) error {
	facts := make([]Fact, 0, len(chunks))
	for _, id := range slices.SortedFunc(maps.Keys(chunks), compareIDs) {
		body := make([]byte, 0, hashSize*len(chunks[id]))
		for _, h := range chunks[id] {
			body = append(body, h[:]...)
		}
		facts = append(facts, Fact{Chunks.Key(r, id[:]), body})
	}
	return s.Put(facts...)
}

// Chunks returns what PutChunks stored of those of ids that it stored.
func (s *Store) Chunks(ctx context.Context, r RecipeID, ids []note.ID) (map[note.ID][]Hash, error) {
	out := make(map[note.ID][]Hash, len(ids))
	err := s.EachOf(ctx, Chunks, r, ids, func(id note.ID, body []byte) error {
		list, err := decodeChunks(body)
		if err == nil {
			out[id] = list
		}
		return err
	})
	return out, err
}

// EachChunks calls fn with what PutChunks stored under recipe r, ordered by blob,
// until fn fails.
func (s *Store) EachChunks(ctx context.Context, r RecipeID, fn func(note.ID, []Hash) error) error {
	return s.Each(ctx, Chunks, r, func(id string, body []byte) error {
		list, err := decodeChunks(body)
		if err != nil {
			s.event("bad_value", "fact %s: %v", Key{Chunks, r, id}, err)
			return nil
		}
		return fn(note.ID([]byte(id)), list)
	})
}

// PutVectors stores vectors under recipe r, by the hashes of their texts, in one
// durable batch.
func (s *Store) PutVectors(r RecipeID, vectors map[Hash][]float32) error {
	facts := make([]Fact, 0, len(vectors))
	for _, h := range slices.SortedFunc(maps.Keys(vectors), compareHashes) {
		facts = append(facts, Fact{Vectors.Key(r, h[:]), encodeVector(vectors[h])})
	}
	return s.Put(facts...)
}

// Vectors returns those vectors under recipe r that the store has of texts.
func (s *Store) Vectors(ctx context.Context, r RecipeID, texts []Hash) (map[Hash][]float32, error) {
	out := make(map[Hash][]float32, len(texts))
	err := s.some(ctx, Vectors, r, hashStrings(texts), func(id string, body []byte) error {
		v, err := decodeVector(body)
		if err == nil {
			out[Hash([]byte(id))] = v
		}
		return err
	})
	return out, err
}

// EachVector calls fn with every vector under recipe r, ordered by hash, until
// fn fails.
func (s *Store) EachVector(ctx context.Context, r RecipeID, fn func(Hash, []float32) error) error {
	return s.Each(ctx, Vectors, r, func(id string, body []byte) error {
		v, err := decodeVector(body)
		if err != nil {
			s.event("bad_value", "fact %s: %v", Key{Vectors, r, id}, err)
			return nil
		}
		return fn(Hash([]byte(id)), v)
	})
}

// MissingVectors returns those of texts, each once and in their order, that have
// no vector under recipe r.
func (s *Store) MissingVectors(r RecipeID, texts []Hash) ([]Hash, error) {
	ids, err := s.Missing(Vectors, r, hashStrings(texts))
	missing := make([]Hash, len(ids))
	for i, id := range ids {
		missing[i] = Hash([]byte(id))
	}
	return missing, err
}

// PutFailure stores that a text could not be embedded under recipe r.
func (s *Store) PutFailure(r RecipeID, text Hash, f Failure) error {
	body := binary.AppendUvarint(nil, uint64(f.Attempts))
	return s.Put(Fact{Failures.Key(r, text[:]), append(body, f.Reason...)})
}

// Failures returns what PutFailure stored of texts.
func (s *Store) Failures(ctx context.Context, r RecipeID, texts []Hash) (map[Hash]Failure, error) {
	out := map[Hash]Failure{}
	err := s.some(ctx, Failures, r, hashStrings(texts), func(id string, body []byte) error {
		f, err := decodeFailure(body)
		if err == nil {
			out[Hash([]byte(id))] = f
		}
		return err
	})
	return out, err
}

func hashStrings(texts []Hash) []string {
	ids := make([]string, len(texts))
	for i, h := range texts {
		ids[i] = string(h[:])
	}
	return ids
}

func decodeChunks(body []byte) ([]Hash, error) {
	if len(body)%hashSize != 0 {
		return nil, fmt.Errorf("%d bytes of hashes", len(body))
	}
	list := make([]Hash, len(body)/hashSize)
	for i := range list {
		list[i] = Hash(body[i*hashSize:])
	}
	return list, nil
}

func encodeVector(v []float32) []byte {
	body := binary.AppendUvarint(make([]byte, 0, 2+4*len(v)), uint64(len(v)))
	for _, x := range v {
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(x))
	}
	return body
}

func decodeVector(body []byte) ([]float32, error) {
	dim, n := binary.Uvarint(body)
	if n <= 0 || dim > uint64(len(body)) || len(body)-n != 4*int(dim) {
		return nil, errors.New("not a vector")
	}
	v := make([]float32, dim)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[n+4*i:]))
	}
	return v, nil
}

func decodeFailure(body []byte) (Failure, error) {
	attempts, n := binary.Uvarint(body)
	if n <= 0 {
		return Failure{}, errors.New("not a failure")
	}
	return Failure{int(attempts), string(body[n:])}, nil
}
