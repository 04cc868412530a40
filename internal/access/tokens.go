package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Prefix begins every token of ours, so that one can be told from other text.
const Prefix = "kbt_"

// Token is what a token file holds of a token: not the token.
//
// Its hash is a plain SHA-256. A slow, salted hash protects words that people
// choose; a token is 256 random bits, which nobody finds by trying, and each
// request is to cost microseconds.
type Token struct {
	ID      string    `json:"id"` // random; never used again
	Name    string    `json:"name"`
	Hash    string    `json:"hash"` // of the token, hexadecimal
	Scopes  []string  `json:"scopes"`
	Author  string    `json:"author,omitempty"` // "Name <address>" of what its holder writes
	Sees    string    `json:"sees,omitempty"`   // which notes its holder sees; "" is the usual
	User    string    `json:"user,omitempty"`   // whose private notes they see, if they see any
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// State is what a token is good for: "active", "expired" or "revoked".
func (t Token) State(now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "expired"
	}
	return "active"
}

// Tokens are the tokens in a file.
type Tokens struct {
	Path string
	Now  func() time.Time // may be nil

	mu   sync.Mutex
	read os.FileInfo // what was read last; nil: nothing
	held []Token
}

// TokenSpec says what a new token is for.
type TokenSpec struct {
	Name    string
	Scopes  Scopes
	Author  string
	Sees    string
	User    string
	Expires time.Time // zero: never
}

// Errors of a token file that its user can mend.
var (
	ErrExists   = errors.New("there is an active token of that name")
	ErrNotFound = errors.New("there is no active token of that name")
)

func (t *Tokens) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}

// Create adds a token and returns it: the only time that it is seen.
func (t *Tokens) Create(spec TokenSpec) (secret string, made Token, err error) {
	if err := spec.check(); err != nil {
		return "", made, err
	}
	secret = Prefix + random(32)
	made = Token{
		ID: random(9), Name: spec.Name, Hash: hash(secret), Scopes: spec.Scopes.Names(), Author: spec.Author, Sees: spec.Sees, User: spec.User,
		Created: t.now().UTC().Truncate(time.Second), Expires: spec.Expires.UTC().Truncate(time.Second),
	}
	err = t.change(func(held []Token) ([]Token, error) {
		if t.active(held, spec.Name) >= 0 {
			return nil, ErrExists
		}
		return append(held, made), nil
	})
	return secret, made, err
}

// Revoke ends a token. It stays in the file, so that logs which name it can be read.
func (t *Tokens) Revoke(name string) (Token, error) {
	var ended Token
	err := t.change(func(held []Token) ([]Token, error) {
		i := t.active(held, name)
		if i < 0 {
			return nil, ErrNotFound
		}
		held[i].Revoked = t.now().UTC().Truncate(time.Second)
		ended = held[i]
		return held, nil
	})
	return ended, err
}

// List returns every token, in the order in which they were made. A file that is
// not there has none.
func (t *Tokens) List() ([]Token, error) {
	held, err := readTokens(t.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return []Token{}, nil
	}
	return held, err
}

// Check reports what is wrong with the file, if anything is.
func (t *Tokens) Check() error {
	_, err := t.current()
	return err
}

// Verify implements [Verifier]. It sees changes of the file at once; while the
// file cannot be read, no token is valid.
func (t *Tokens) Verify(_ context.Context, token string) (*Identity, error) {
	held, err := t.current()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	sum := []byte(hash(token))
	found := -1
	for i := range held { // all of them, however soon one fits
		if subtle.ConstantTimeCompare([]byte(held[i].Hash), sum) == 1 {
			found = i
		}
	}
	if found < 0 {
		return nil, fmt.Errorf("%w: not in the token file", ErrInvalid)
	}
	is := held[found]
	if state := is.State(t.now()); state != "active" {
		return nil, fmt.Errorf("%w: %s is %s", ErrInvalid, is.Name, state)
	}
	scopes, err := ParseScopes(is.Scopes)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, is.Name, err)
	}
	return &Identity{ID: is.ID, Name: is.Name, Author: is.Author, Scopes: scopes, Sees: is.Sees, User: is.User, Expires: is.Expires}, nil
}

// current returns what the file holds now.
func (t *Tokens) current() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	info, err := os.Stat(t.Path)
	if err == nil && t.read != nil && os.SameFile(info, t.read) && info.ModTime().Equal(t.read.ModTime()) && info.Size() == t.read.Size() {
		return t.held, nil
	}
	t.read, t.held = nil, nil
	if err != nil {
		return nil, err
	}
	held, err := readTokens(t.Path)
	if err != nil {
		return nil, err
	}
	t.read, t.held = info, held
	return held, nil
}

// active is where the active token of a name is in held; -1 when there is none.
func (t *Tokens) active(held []Token, name string) int {
	now := t.now()
	return slices.IndexFunc(held, func(h Token) bool { return h.Name == name && h.State(now) == "active" })
}

func (s TokenSpec) check() error {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	if n := len(s.Name); n == 0 || n > 64 || strings.ContainsFunc(s.Name, bad) || strings.TrimSpace(s.Name) != s.Name {
		return fmt.Errorf("name %q: 1 to 64 printable characters", s.Name)
	}
	if s.Scopes == 0 {
		return errors.New("no scope is given")
	}
	if s.Author == "" {
		return nil
	}
	if a, err := mail.ParseAddress(s.Author); err != nil || a.Name == "" {
		return fmt.Errorf("author %q: NAME <ADDRESS>", s.Author)
	}
	return nil
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// random is text made of n random bytes.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
