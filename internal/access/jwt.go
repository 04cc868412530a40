package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

// Issuer says whose JSON web tokens are accepted.
type Issuer struct {
	URL      string // as in the claim iss
	Audience string // what aud must name: this server
	Keys     string // the issuer's JWK set: a file, or an https URL
	Log      func(format string, args ...any)
}

// algorithms that a token may be signed with: those in which the verifier's key
// is no secret. A token's own word on how to check it counts for nothing beyond them.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// clockSkew is by how much an issuer's clock may differ from this one.
const clockSkew = 30 * time.Second

type jwtVerifier struct {
	issuer string
	keys   keyfunc.Keyfunc
	parser *jwt.Parser
}

// NewJWT makes a verifier of an issuer's tokens. Keys at a URL are fetched now,
// and from time to time until ctx ends; nothing else is asked of other machines.
func NewJWT(ctx context.Context, i Issuer) (Verifier, error) {
	if i.URL == "" || i.Audience == "" || i.Keys == "" {
		return nil, errors.New("issuer, audience and keys belong together")
	}
	keys, err := i.loadKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("keys of %s: %w", i.URL, err)
	}
	return &jwtVerifier{issuer: i.URL, keys: keys, parser: jwt.NewParser(
		jwt.WithValidMethods(algorithms), jwt.WithIssuer(i.URL), jwt.WithAudience(i.Audience),
		jwt.WithExpirationRequired(), jwt.WithLeeway(clockSkew))}, nil
}

func (i Issuer) loadKeys(ctx context.Context) (keyfunc.Keyfunc, error) {
	if !strings.Contains(i.Keys, "://") {
		raw, err := os.ReadFile(i.Keys)
		if err != nil {
			return nil, err
		}
		return keyfunc.NewJWKSetJSON(bytes.TrimSpace(raw))
	}
	if err := checkKeysURL(i.Keys); err != nil {
		return nil, err
	}
	report := func(string) func(context.Context, error) {
		return func(_ context.Context, err error) { i.Log("keys of %s: %v", i.URL, err) }
	}
	late := false
	return keyfunc.NewDefaultOverrideCtx(ctx, []string{i.Keys}, keyfunc.Override{
		Client:                    &http.Client{Timeout: 10 * time.Second},
		NoErrorReturnFirstHTTPReq: &late,
		RefreshErrorHandlerFunc:   report,
		// A token that names an unknown key has them fetched again, seldom; no other request waits for its turn.
		RateLimitWaitMax: time.Nanosecond,
	})
}

// checkKeysURL refuses a URL whose answer somebody between could change.
func checkKeysURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return err
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s: keys come from an https URL or from a file", s)
}

// claims are those of a token that count here. Issuers write scopes in either of
// two ways.
type claims struct {
	jwt.RegisteredClaims
	Scope string    `json:"scope"`
	Scp   stringSet `json:"scp"`
	Name  string    `json:"name"`
	Email string    `json:"email"`
}

// stringSet is a list of words, or one text of them.
type stringSet []string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *stringSet) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*s = strings.Fields(text)
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(s))
}

// Verify implements [Verifier].
func (v *jwtVerifier) Verify(ctx context.Context, token string) (*Identity, error) {
	var c claims
	if _, err := v.parser.ParseWithClaims(token, &c, v.keys.KeyfuncCtx(ctx)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if c.Subject == "" {
		return nil, fmt.Errorf("%w: it names no subject", ErrInvalid)
	}
	var scopes Scopes
	for _, word := range append(strings.Fields(c.Scope), c.Scp...) {
		scopes |= parseScope(strings.TrimPrefix(word, "kb:"))
	}
	if scopes != 0 {
		scopes |= Read
	}
	sum := sha256.Sum256([]byte(v.issuer + "\x00" + c.Subject))
	return &Identity{
		ID:      "jwt-" + base64.RawURLEncoding.EncodeToString(sum[:12]),
		Name:    c.Subject,
		Author:  c.author(),
		Scopes:  scopes,
		Expires: c.ExpiresAt.Add(clockSkew),
	}, nil
}

// author is who a token's holder is, as a commit names people; "" when it does not
// say.
func (c *claims) author() string {
	name := c.Name
	if name == "" {
		name = c.Subject
	}
	if _, err := mail.ParseAddress(c.Email); err != nil {
		return name
	}
	return (&mail.Address{Name: name, Address: c.Email}).String()
}
