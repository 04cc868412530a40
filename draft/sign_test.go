package draft

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"kb/gitstore"
)

// Drafts and merges are signed as git is told to sign, with the user's own program.
func TestSigned(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	keys := t.TempDir()
	key := filepath.Join(keys, "key")
	git(t, d, "config", "commit.gpgSign", "true")
	git(t, d, "config", "gpg.format", "ssh")
	git(t, d, "config", "user.signingKey", key+".pub")
	git(t, d, "config", "gpg.ssh.allowedSignersFile", filepath.Join(keys, "signers"))
	before := refs(t, d, "")
	if _, err := s.Append(ctx, put("x", map[string]string{"b.md": "b\n"})); !errors.Is(err, gitstore.ErrSigning) || refs(t, d, "") != before {
		t.Errorf("without a key: %v", err)
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("no ssh-keygen to sign with")
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	write(t, keys, "signers", "ada@example.org "+read(t, keys, "key.pub"))
	w := mustAppend(t, s, put("x", map[string]string{"b.md": "b\n", "c.md": "c\n"}))
	m := mustMerge(t, s, MergeRequest{Name: "x", Only: []string{"b.md"}})
	git(t, d, "verify-commit", w.Commit.String(), m.Commit.String(), m.Rest.String(), "refs/kb/closed/x")
	m = mustMerge(t, s, MergeRequest{Name: "x"})
	git(t, d, "verify-commit", m.Commit.String())
	fsck(t, d)
}
