package gitstore

import "sync"

// lru keeps the most recently used values within a number of bytes. The zero
// number of bytes keeps nothing.
type lru[K comparable, V any] struct {
	mu    sync.Mutex
	max   int
	size  int
	items map[K]*lruItem[K, V]
	ring  lruItem[K, V] // of the items: the next is the most recent, the one before the least
}

type lruItem[K comparable, V any] struct {
	before, next *lruItem[K, V]
	key          K
	value        V
	bytes        int
}

// itemBytes is what an item takes beside what its value refers to: some 90 bytes
// of its own, and a slot of a map that is two thirds full.
const itemBytes = 150

func newLRU[K comparable, V any](maxBytes int) *lru[K, V] {
	c := &lru[K, V]{max: maxBytes, items: map[K]*lruItem[K, V]{}}
	c.ring.before, c.ring.next = &c.ring, &c.ring
	return c
}

func (i *lruItem[K, V]) unlink() { i.before.next, i.next.before = i.next, i.before }

// first makes an item the most recent.
func (c *lru[K, V]) first(i *lruItem[K, V]) {
	i.before, i.next = &c.ring, c.ring.next
	i.before.next, i.next.before = i, i
}

func (c *lru[K, V]) get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.items[k]
	if !ok {
		var none V
		return none, false
	}
	i.unlink()
	c.first(i)
	return i.value, true
}

// put adds a value that refers to about so many bytes. One that would push out
// more than a quarter of the others is not kept.
func (c *lru[K, V]) put(k K, v V, bytes int) {
	bytes += itemBytes
	if bytes > c.max/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[k]; ok {
		return
	}
	i := &lruItem[K, V]{key: k, value: v, bytes: bytes}
	c.items[k] = i
	c.first(i)
	for c.size += bytes; c.size > c.max; {
		c.remove(c.ring.before)
	}
}

// drop removes the values whose keys are such.
func (c *lru[K, V]) drop(such func(K) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, i := range c.items {
		if such(k) {
			c.remove(i)
		}
	}
}

func (c *lru[K, V]) remove(i *lruItem[K, V]) {
	i.unlink()
	delete(c.items, i.key)
	c.size -= i.bytes
}
