package draft

import (
	"slices"

	"kb/gitstore"
)

// Imports reports whether a commit was made by an import, whoever asked for it.
// Neither the words of a message nor what an agent says of itself make one.
func Imports(c *gitstore.Commit) bool { return trailer(c, trailerImport) != "" }

// Imported reports whether a commit holds what a person imported, and nothing
// else. The words of a message cannot say so, and what an agent made is none.
func Imported(c *gitstore.Commit) bool {
	return Imports(c) && !ByAgent(c)
}

// NameIn is the name of the draft that a commit was made for, "" of one that was
// made with git.
func NameIn(c *gitstore.Commit) string { return trailer(c, trailerDraft) }

// ByAgent reports whether a commit says that an agent made it.
func ByAgent(c *gitstore.Commit) bool {
	return trailer(c, trailerAgent) != "" || trailer(c, trailerClient) != ""
}

// imported is the trailer of the rest of commits that all are imports, nil if they
// are not.
func imported(own []*gitstore.Commit, name string) []gitstore.Trailer {
	if len(own) == 0 || slices.ContainsFunc(own, func(c *gitstore.Commit) bool { return !Imported(c) }) {
		return nil
	}
	return []gitstore.Trailer{{Key: trailerImport, Value: name}}
}
