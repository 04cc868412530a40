package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// WriteCommit stores a commit, of which it takes Tree, Parents, Author,
// Committer and Message. It is signed, by the git program, if the configuration
// asks for that, and refused with [ErrSigning] if that cannot be done. No hook
// runs, and no ref moves.
func (r *Repo) WriteCommit(ctx context.Context, c *Commit) (CommitID, error) {
	b := r.Batch()
	id, err := b.WriteCommit(ctx, c)
	if err == nil {
		err = b.Flush()
	}
	return id, err
}

// check refuses what would make a commit that git fsck does not like.
func (c *Commit) check(read func(kind, oid) ([]byte, error)) error {
	for _, s := range [...]Signature{c.Author, c.Committer} {
		if err := s.check(); err != nil {
			return err
		}
	}
	if strings.ContainsRune(c.Message, 0) || !utf8.ValidString(c.Message) {
		return errors.New("the message is not text")
	}
	if _, err := read(kindTree, oid(c.Tree)); err != nil {
		return err
	}
	for _, p := range c.Parents {
		if _, err := read(kindCommit, oid(p)); err != nil {
			return err
		}
	}
	return nil
}

// check refuses names that git could not read back.
func (s Signature) check() error {
	if s.Name == "" || s.Email == "" {
		return fmt.Errorf("%w: a name and an e-mail address are needed", ErrNoIdentity)
	}
	for _, v := range [...]string{s.Name, s.Email} {
		if !utf8.ValidString(v) || strings.ContainsFunc(v, func(c rune) bool { return unicode.IsControl(c) || c == '<' || c == '>' }) || cleanIdent(v) != v {
			return fmt.Errorf("%w: %q cannot stand in a commit", ErrNoIdentity, v)
		}
	}
	if sec := s.When.Unix(); sec < 0 || sec > maxTime {
		return fmt.Errorf("date %s cannot stand in a commit", s.When)
	}
	return nil
}

// CleanSignature returns s with what cannot stand in a commit taken out of its
// name and address, as git does; nothing may be left.
func CleanSignature(s Signature) Signature {
	s.Name, s.Email = cleanIdent(s.Name), cleanIdent(s.Email)
	return s
}

func cleanIdent(v string) string {
	v = strings.Map(func(c rune) rune {
		if c == '<' || c == '>' || unicode.IsControl(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(v, "\uFFFD"))
	return strings.Trim(v, " .,:;\\\"'") // git trims these
}

func encodeCommit(c *Commit) ([]byte, error) {
	commit := gitobject.Commit{
		TreeHash:  plumbing.Hash(c.Tree),
		Author:    gitobject.Signature(c.Author),
		Committer: gitobject.Signature(c.Committer),
		Message:   endLine(c.Message),
	}
	for _, p := range c.Parents {
		commit.ParentHashes = append(commit.ParentHashes, plumbing.Hash(p))
	}
	return encode(&commit)
}

func endLine(message string) string {
	if message == "" || strings.HasSuffix(message, "\n") {
		return message
	}
	return message + "\n"
}

// CommitMessage puts a message together: a subject, which becomes one line, a
// body, which may be empty, and trailers. Commit reads the trailers back in the
// same form: their values become one line, and those with an unfit key or an
// empty value are left out. What looks like a trailer at the end of the body does
// not become one.
func CommitMessage(subject, body string, list []Trailer) string {
	var b strings.Builder
	b.WriteString(oneLine(subject))
	if body = strings.TrimSpace(plainText(body)); body != "" {
		b.WriteString("\n\n" + body)
	}
	b.WriteByte('\n')
	separator := "\n"
	for _, t := range list {
		if value := oneLine(t.Value); value != "" && isTrailerKey(t.Key) {
			b.WriteString(separator + t.Key + ": " + value + "\n")
			separator = ""
		}
	}
	if separator != "" && trailers(b.String()) != nil {
		b.WriteString("\n--\n") // a last paragraph that is none
	}
	return b.String()
}

// plainText takes out what a message cannot hold.
func plainText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(plainText(s)), " ") }
