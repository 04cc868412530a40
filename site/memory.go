package site

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// memory is a Cache that lives as long as its Renderer.
type memory struct{ m sync.Map }

func newMemory() *memory { return &memory{} }

func (c *memory) Get(key string) ([]byte, bool) {
	v, ok := c.m.Load(key)
	if !ok {
		return nil, false
	}
	return v.([]byte), true
}

func (c *memory) Put(key string, value []byte) { c.m.Store(key, value) }

// cacheKey names what is derived by recipe from input.
func cacheKey(recipe, kind string, input []byte) string {
	h := sha256.New()
	h.Write([]byte(recipe + "\x00" + kind + "\x00"))
	h.Write(input)
	return recipe + " " + hex.EncodeToString(h.Sum(nil)[:16])
}
