package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// gitCall is a call of the git program: without hooks, file system monitor,
// prompts, and locks that it can do without.
type gitCall struct {
	gitDir string
	dir    string // where it runs
	env    []string
	stdin  []byte
	limit  time.Duration
}

// ownVariables say where a repository is. Those of our caller, which may be a hook
// of another repository, are not for the git that we call.
var ownVariables = [...]string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_PREFIX", "GIT_NAMESPACE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE", "GIT_QUARANTINE_PATH",
}

func (c *gitCall) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	safe := []string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.fsync=loose-object",
		"-c", "i18n.commitEncoding=UTF-8", "-c", "protocol.ext.allow=never",
	}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(outerEnv(), "GIT_DIR="+c.gitDir, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1")
	cmd.Env = append(cmd.Env, c.env...)
	cmd.Stdin = bytes.NewReader(c.stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = &gitError{command(args), strings.TrimSpace(stderr.String()), err}
	}
	return string(out), err
}

// gitError is git's refusal of a command.
type gitError struct {
	command string
	stderr  string
	exit    error
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s (%v)", e.command, e.stderr, e.exit) }
func (e *gitError) Unwrap() error { return e.exit }

// command is what git is to do.
func command(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// outerEnv is the environment without what belongs to one repository.
func outerEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(ownVariables[:], name)
	})
}
