package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Identity returns who commits here, by $GIT_COMMITTER_NAME and
// $GIT_COMMITTER_EMAIL, else by user.name and user.email of the configuration as
// it is now, and the time. If a configuration file includes others, the git
// program is asked, if there is one. The error wraps [ErrNoIdentity].
func (r *Repo) Identity(ctx context.Context) (Signature, error) {
	u, err := r.user()
	if err != nil {
		return Signature{}, fmt.Errorf("find identity: %w", err)
	}
	if u.includes {
		r.askGit(ctx, &u)
	}
	name, email := cmp.Or(os.Getenv("GIT_COMMITTER_NAME"), u.name), cmp.Or(os.Getenv("GIT_COMMITTER_EMAIL"), u.email)
	s := CleanSignature(Signature{name, email, r.now()})
	if s.Name == "" || s.Email == "" {
		return Signature{}, fmt.Errorf("%w: user.name and user.email are not set; `git config --global user.name NAME` and `git config --global user.email ADDRESS` set them", ErrNoIdentity)
	}
	return s, nil
}

// user reads what the configuration says now, but for files that it includes.
func (r *Repo) user() (identity, error) {
	c, err := loadConfig(r.gitDir, r.commonDir)
	if err != nil {
		return identity{}, err
	}
	return c.user, nil
}

// mustSign reports whether commits are to be signed. Where a file that is not
// read here may say so, git is asked.
func (r *Repo) mustSign(ctx context.Context) (bool, error) {
	u, err := r.user()
	if err != nil || !u.includes {
		return u.sign, err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return false, fmt.Errorf("%w: the configuration includes other files, which the git program has to read: %w", ErrSigning, err)
	}
	return r.gitSays(ctx, "commit.gpgSign", "--type=bool") == "true", nil
}

// askGit replaces what git knows better.
func (r *Repo) askGit(ctx context.Context, u *identity) {
	if name := r.gitSays(ctx, "user.name"); name != "" {
		u.name = name
	}
	if email := r.gitSays(ctx, "user.email"); email != "" {
		u.email = email
	}
}

// gitSays asks git for a setting; "" when there is no git or no setting.
func (r *Repo) gitSays(ctx context.Context, key string, options ...string) string {
	args := append([]string{"config"}, options...)
	out, err := r.git(ctx, nil, nil, append(args, "--get", key)...)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(out, "\n")
}

// git runs the git program on this repository.
func (r *Repo) git(ctx context.Context, env []string, stdin []byte, args ...string) (string, error) {
	c := gitCall{gitDir: r.gitDir, dir: r.commonDir, env: env, stdin: stdin, limit: time.Minute}
	return c.run(ctx, args...)
}

// signCommit lets git write the commit, which calls the user's own program to
// sign it.
func (r *Repo) signCommit(ctx context.Context, c *Commit) (CommitID, error) {
	args := []string{"commit-tree", "-S", "-F", "-"}
	for _, p := range c.Parents {
		args = append(args, "-p", p.String())
	}
	env := append(c.Author.env("AUTHOR"), c.Committer.env("COMMITTER")...)
	out, err := r.git(ctx, env, []byte(endLine(c.Message)), append(args, c.Tree.String())...)
	if err == nil {
		var id CommitID
		if id, err = ParseCommitID(strings.TrimSpace(out)); err == nil {
			return id, r.checkSigned(id)
		}
	}
	return CommitID{}, fmt.Errorf("%w: commit.gpgSign is set, which needs the git program and a key: %w", ErrSigning, err)
}

// checkSigned makes sure that git did what it was asked for.
func (r *Repo) checkSigned(id CommitID) error {
	o, err := r.objectOf(kindCommit, oid(id))
	if err == nil && !bytes.Contains(o.data, []byte("\ngpgsig ")) {
		err = fmt.Errorf("%w: git wrote %s without a signature", ErrSigning, id)
	}
	return err
}

// env gives a signature to git.
func (s Signature) env(who string) []string {
	return []string{
		"GIT_" + who + "_NAME=" + s.Name,
		"GIT_" + who + "_EMAIL=" + s.Email,
		fmt.Sprintf("GIT_%s_DATE=@%d %s", who, s.When.Unix(), s.When.Format("-0700")),
	}
}

// Nobody is who commits where there is no identity.
func (r *Repo) Nobody() Signature { return Signature{"kb", "kb@localhost", r.now()} }
