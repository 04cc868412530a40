// Package gitstore reads a git repository: commits, trees, blobs, refs, and
// the work tree as if it were a tree. It knows nothing of Markdown, and it
// writes nothing: not a ref, not the index, not a file.
//
// A [Repo] may be used by any number of goroutines. What moves is looked up
// again at every call (refs, HEAD, the list of packs after a miss); what is
// named by a hash never moves and is cached. So a Repo may live as long as the
// process while git commits, fetches and repacks beside it.
//
// # What it opens
//
// Work trees from any sub-directory, linked work trees, bare repositories,
// submodules, --separate-git-dir, shallow and partial clones, alternates,
// sparse checkouts. SHA-256 and reftable repositories and unknown extensions
// are refused with [ErrUnsupported]. Replace refs, grafts, commit-graph and
// multi-pack-index files are not read; nothing depends on them.
// Configuration is read from the repository and the user's global file;
// include.path and includeIf are not followed.
//
// # Untrusted repositories
//
// Every object is checked against its hash, every size is bounded before it is
// allocated, and names that could leave a directory or hide in one (see
// [CheckPath]) are left out of every listing, with a [Problem] that says so.
// Symbolic links and submodules are left out likewise, and never followed.
// Damage is an error, never a shorter answer.
//
// The formats are read by code of this package alone: packs with positioned
// reads, so that any number of goroutines share them, and with a bound on every
// size and chain before memory is taken.
package gitstore
