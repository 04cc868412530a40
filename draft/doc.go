// Package draft knows what a draft is: a branch on which an agent's changes wait
// for a person. It makes drafts, adds to them, merges and rejects them. It knows
// nothing of Markdown.
//
// # In git's terms
//
// An open draft NAME is the branch refs/heads/drafts/NAME. Its own commits are
// those that the base branch lacks. Each is an ordinary commit: the author is who
// wrote, the committer is the user, and its trailers say more:
//
//	Kb-Draft: NAME       the draft
//	Kb-Agent: NAME       the agent that wrote
//	Kb-Client: NAME      the program that it runs in
//	Kb-Source: URL       what it used
//	Kb-Import: NAME      the draft, of a commit that holds what was imported, and nothing else
//	Kb-Key: KEY          what makes a repeated call harmless
//	Kb-Call: HASH        of that call's arguments: another call with the key is no repetition
//	Co-authored-by: …    who else
//
// A merge is a commit with the base and the draft's tip as parents, a squash or a
// merge in part one with the base alone; trailers Kb-Draft and Reviewed-by. What
// is left of a draft that was merged in part is one commit on top of that.
//
// A draft that ended leaves:
//
//	refs/kb/kept/NAME      its tip, so that citations of it stay valid
//	refs/kb/rejected/NAME  the same, if it was rejected
//	refs/kb/closed/NAME    how it ended: a commit on top of the tip, with the same tree
//
// The closing commit's author is who decided, and its message says why. Its
// trailers are Kb-Draft, Kb-State (merged, rejected; open when it was reopened),
// Kb-Base (where the draft left the base branch), and for a merge Kb-Into,
// Kb-Merge and Reviewed-by. A later draft of a name that has ended leaves
// NAME@2, NAME@3 and so on. Whoever fetches refs/kb/* has all of this.
//
// Drafts of others are what was fetched to refs/remotes/REMOTE/drafts/NAME; here
// they are called REMOTE/NAME.
//
// # What moves
//
// [Store.Append] moves nothing but the draft's branch, and never a branch that is
// checked out. Every operation happens wholly or not at all, whatever dies on the
// way, and may be repeated.
package draft
