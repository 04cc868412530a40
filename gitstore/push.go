package gitstore

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
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
	if _, err := r.git(ctx, nil, nil, "push", "--quiet", "--no-verify", "--", remote, ref+":"+ref); err != nil {
		return fmt.Errorf("push %s to %s: %w", ref, remote, err)
	}
	return nil
}
