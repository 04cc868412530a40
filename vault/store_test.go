package vault

import (
	"context"
	"fmt"
	"testing"

	"kb/note"
)

// However many versions of its notes a small vault has had, it keeps few cards;
// the notes of a large one all have theirs.
func TestCardsKept(t *testing.T) {
	s := ReadOnlyStore(t.TempDir(), nil, t.Logf)
	fetched := 0
	fetch := func(_ context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
		fetched += len(ids)
		for _, id := range ids {
			if err := fn(id, fmt.Appendf(nil, "# %s\n", id), nil); err != nil {
				return err
			}
		}
		return nil
	}
	ask := func(first, n int) {
		t.Helper()
		ids := make([]note.ID, n)
		for i := range ids {
			ids[i] = note.Hash(fmt.Append(nil, first+i))
		}
		if cards, err := s.cards(t.Context(), "en", ids, fetch); err != nil || len(cards) != n {
			t.Fatalf("%d cards of %d, %v", len(cards), n, err)
		}
	}
	for i := range 300 {
		ask(10*i, 10)
	}
	if most := fewCards + 2*10; len(s.brief) > most {
		t.Errorf("%d cards of 10 notes are kept, more than %d", len(s.brief), most)
	}
	const large = 5000
	ask(0, large)
	ask(100_000, 10) // of another view
	fetched = 0
	if ask(0, large); fetched > 0 {
		t.Errorf("%d of %d notes were read again", fetched, large)
	}
}
