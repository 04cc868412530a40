package note

// ChunksOf returns the chunks of a note of which text was parsed, as they would be
// with other sizes.
func (n *Note) ChunksOf(text []byte, tiny, target, most int) []Chunk {
	return n.chunks(text, chunkSizes{tiny, target, most})
}
