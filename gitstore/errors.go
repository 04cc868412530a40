package gitstore

import "errors"

// What callers decide on. Errors of this package wrap one of these where it
// applies, and say what failed on what.
var (
	ErrNotRepository = errors.New("not a git repository")
	ErrUnsupported   = errors.New("unsupported repository")
	ErrNoWorkTree    = errors.New("repository has no work tree")
	ErrUnborn        = errors.New("branch has no commit yet")
	ErrNoRevision    = errors.New("unknown revision")
	ErrAmbiguous     = errors.New("ambiguous revision")
	ErrNotFound      = errors.New("object not found")
	ErrMissing       = missing{} // an object that others name; it is an ErrNotFound
	ErrTooLarge      = errors.New("too large")
	ErrCorrupt       = errors.New("corrupt object")
	ErrChanged       = errors.New("file has changed")
	ErrUnsafePath    = errors.New("unsafe path")
	ErrPathConflict  = errors.New("path conflict")     // with another path of the same tree
	ErrBadRef        = errors.New("invalid ref")       // its name, or what it is
	ErrRefConflict   = errors.New("ref name conflict") // refs/heads/a beside refs/heads/a/b
	ErrMoved         = errors.New("ref has moved")     // it is not what the caller took it for
	ErrLocked        = errors.New("ref is locked")     // by another process, for longer than we wait
	ErrNoIdentity    = errors.New("no identity")       // nobody to commit as
	ErrSigning       = errors.New("commit not signed") // though the configuration asks for it
	ErrNoGit         = errors.New("the git program is needed and not installed")
	ErrUnrelated     = errors.New("no common ancestor")
)

type missing struct{}

func (missing) Error() string        { return ErrNotFound.Error() }
func (missing) Is(target error) bool { return target == ErrNotFound }

// Problem codes: why something is missing from a listing.
const (
	ProblemSymlink    = "symlink"          // a symbolic link
	ProblemSubmodule  = "submodule"        // a commit of another repository
	ProblemUnsafePath = "unsafe_path"      // a name that [CheckPath] refuses
	ProblemDuplicate  = "duplicate"        // a name that the same tree already has
	ProblemTooDeep    = "too_deep"         // more than [MaxDepth] directories deep
	ProblemTooLarge   = "too_large"        // more than [MaxBlob] bytes; work tree only
	ProblemUnreadable = "unreadable"       // a file or directory that cannot be read; work tree only
	ProblemRepository = "other_repository" // a directory that is a repository of its own; work tree only
	ProblemSparse     = "sparse_index"     // files that a sparse checkout leaves out; work tree only
)

// Problem tells what a listing left out, and why.
type Problem struct {
	Path    string // relative to the listed directory; may hold any bytes
	Code    string // one of the Problem constants
	Message string
}

// Limits against hostile repositories. Exceeding one is [ErrTooLarge], or a
// [Problem] where the rest of the answer stands without the part.
const (
	MaxBlob    = 64 << 20 // bytes of one object
	MaxDepth   = 64       // components of a path
	maxEntries = 2 << 20  // entries of one listing, the same tree counted at each place
)
