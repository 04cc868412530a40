package draft

import (
	"slices"

	"kb/gitstore"
)

// Imported reports whether a commit holds what a person imported, and nothing
// else. The words of a message cannot say so, and what an agent made is none.
func Imported(c *gitstore.Commit) bool {
	return trailer(c, trailerImport) != "" && trailer(c, trailerAgent) == "" && trailer(c, trailerClient) == ""
}

// imported is the trailer of the rest of commits that all are imports, nil if they
// are not.
func imported(own []*gitstore.Commit, name string) []gitstore.Trailer {
	if len(own) == 0 || slices.ContainsFunc(own, func(c *gitstore.Commit) bool { return !Imported(c) }) {
		return nil
	}
	return []gitstore.Trailer{{Key: trailerImport, Value: name}}
}
