package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Push sends a ref to the ref of the same name in a configured remote, by the git
// program with the user's credentials. It never forces, runs no hook, and asks
// nothing on a terminal. The error wraps [ErrNoGit] without the program.
func (r *Repo) Push(ctx context.Context, remote, ref string) error {
	if err := CheckRefName(ref); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return fmt.Errorf("push %s: %w", ref, ErrNoGit)
	}
	known, err := r.git(ctx, nil, nil, "remote")
	if err != nil {
		return fmt.Errorf("push %s: %w", ref, err)
	}
	if names := strings.Fields(known); !slices.Contains(names, remote) {
		return fmt.Errorf("push %s: no remote %q; there are: %s", ref, remote, strings.Join(names, ", "))
	}
	// A remote's path may be relative: to the work tree, as when git is run there.
	push := gitCall{gitDir: r.gitDir, dir: cmp.Or(r.WorkTree(), r.commonDir), limit: time.Hour}
	if _, err := push.run(ctx, "push", "--quiet", "--no-verify", "--", remote, ref+":"+ref); err != nil {
		return fmt.Errorf("push %s to %s: %w", ref, remote, err)
	}
	return nil
}
