package gitstore

import (
	"container/list"
	"sync"
)

// lru keeps the most recently used values within a number of bytes. The zero
// number of bytes keeps nothing.
type lru[K comparable, V any] struct {
	mu    sync.Mutex
	max   int
	size  int
	items map[K]*list.Element
	order list.List // most recent first
}

type lruItem[K comparable, V any] struct {
	key   K
	value V
	bytes int
}

func newLRU[K comparable, V any](maxBytes int) *lru[K, V] {
	return &lru[K, V]{max: maxBytes, items: map[K]*list.Element{}}
}

func (c *lru[K, V]) get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[k]
	if !ok {
		var none V
		return none, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*lruItem[K, V]).value, true
}

// put adds a value of about so many bytes. One that would push out more than a
// quarter of the others is not kept.
func (c *lru[K, V]) put(k K, v V, bytes int) {
	bytes += 100 // what map and list cost
	if bytes > c.max/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[k]; ok {
		return
	}
	c.items[k] = c.order.PushFront(&lruItem[K, V]{k, v, bytes})
	for c.size += bytes; c.size > c.max; {
		last := c.order.Remove(c.order.Back()).(*lruItem[K, V])
		delete(c.items, last.key)
		c.size -= last.bytes
	}
}
