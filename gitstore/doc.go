// Package gitstore reads and writes a git repository: commits, trees, blobs,
// refs, and the work tree as if it were a tree. It knows nothing of Markdown. It
// never writes HEAD, the index, the configuration or a file of the work tree,
// but where [RefUpdate].Checkout asks the git program to do so.
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
// include.path and includeIf are not followed, but where they could say who
// commits, and whether commits are signed, the git program is asked.
//
// # Writing
//
// Objects are written first, each durable when its call returns; then
// [Repo.UpdateRef] moves a ref if it is still where the caller saw it. A process
// that dies on the way leaves objects that nothing names, and no lock. A [Batch]
// makes objects durable together and moves several refs as one; it also survives
// a garbage collection that takes what is new for left over. The git program is
// needed to sign, to push, and to update work trees whose branch moves.
//
// # Untrusted repositories
//
// Every object is checked against its hash, every size is bounded before it is
// allocated, and names that could leave a directory or hide in one (see
// [CheckPath]) are left out of every listing, with a [Problem] that says so, and
// never written. Symbolic links and submodules are left out likewise, and never
// followed. Damage is an error, never a shorter answer.
//
// # What is go-git's, and what is not
//
// go-git reads pack indexes and configuration, applies deltas, and encodes
// commits. The rest is our own, each for a reason:
//
//   - opening: go-git refuses common extensions, and misses alternates and linked work trees
//   - pack entries: its resolver overflows the stack on a cycle of deltas and does not bound what they make;
//     it lists packs once, and not those of git maintenance
//   - lookup in an index: its own takes a lock and remembers every answer
//   - tree walks and diffs: its walker takes any error for the end of the tree
//   - refs: its compare-and-swap loses commits against git and leaves empty refs when killed
//   - dates and logs: its log takes seconds for one path
//   - work tree, ignore rules and attributes: it differs from git in many of them
//   - merges: it has none
package gitstore
