// Package access says who may do what over a network: scopes, the tokens that
// carry them, and the identity that a token stands for. It knows nothing of
// vaults, and of HTTP only what a bearer token is.
package access

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Scopes are what a caller may do. Whoever may do anything may read.
type Scopes uint8

// The scopes.
const (
	Read   Scopes = 1 << iota
	Draft         // propose changes, as drafts
	Review        // merge and reject drafts of others
)

var scopeNames = []string{"read", "draft", "review"}

// ScopeNames lists every scope.
func ScopeNames() []string { return append([]string{}, scopeNames...) }

// ParseScopes reads names of scopes. Unknown ones are an error.
func ParseScopes(names []string) (Scopes, error) {
	var all Scopes
	for _, name := range names {
		s := parseScope(strings.TrimSpace(name))
		if s == 0 {
			return 0, fmt.Errorf("scope %q: accepted are %s", name, strings.Join(scopeNames, ", "))
		}
		all |= s
	}
	if all == 0 {
		return 0, fmt.Errorf("no scope: accepted are %s", strings.Join(scopeNames, ", "))
	}
	return all | Read, nil
}

func parseScope(name string) Scopes {
	for i, known := range scopeNames {
		if name == known {
			return 1 << i
		}
	}
	return 0
}

// Has reports whether s includes all of need.
func (s Scopes) Has(need Scopes) bool { return s&need == need }

// Names lists the scopes in s.
func (s Scopes) Names() []string {
	names := []string{}
	for i, name := range scopeNames {
		if s.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// String lists the scopes as OAuth does: "read draft".
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }

// Identity is who calls.
type Identity struct {
	ID      string    // of the token or of who an issuer vouches for; it is never reused
	Name    string    // for people and for logs
	Author  string    // "Name <address>" of what they write
	Scopes  Scopes    // what they may do
	Sees    string    // which notes they see, in the server's own words; "" is the usual
	User    string    // whose private notes they see, if they see any
	Expires time.Time // zero: never
}

// ErrInvalid: the token is not one of ours, or not any more. Why is for the
// operator's log, not for the caller.
var ErrInvalid = errors.New("invalid token")

// Verifier tells whom a bearer token stands for, or fails with ErrInvalid.
type Verifier interface {
	Verify(ctx context.Context, token string) (*Identity, error)
}

// Verifiers asks several in turn.
type Verifiers []Verifier

// Verify returns the first answer that is not ErrInvalid.
func (vs Verifiers) Verify(ctx context.Context, token string) (*Identity, error) {
	failed := ErrInvalid
	for _, v := range vs {
		id, err := v.Verify(ctx, token)
		if err == nil {
			return id, nil
		}
		failed = err
	}
	return nil, failed
}

type contextKey struct{}

// With returns ctx for the work of a caller.
func With(ctx context.Context, id *Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// From returns who ctx works for; nil is nobody in particular.
func From(ctx context.Context) *Identity {
	id, _ := ctx.Value(contextKey{}).(*Identity)
	return id
}
