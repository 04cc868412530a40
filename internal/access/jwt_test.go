package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	issuerURL = "https://id.example.org"
	audience  = "https://kb.example.org/mcp"
)

// provider signs tokens.
type provider struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	jwks []byte
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	jwks, err := json.Marshal(map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "kid": "one", "use": "sig", "alg": "ES256", "x": b64(point[1:33]), "y": b64(point[33:]),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return &provider{t, key, jwks}
}

// token signs claims; changed ones replace what a good token says, nil leaves one out.
func (p *provider) token(method jwt.SigningMethod, key any, changed map[string]any) string {
	p.t.Helper()
	c := jwt.MapClaims{
		"iss": issuerURL, "aud": audience, "sub": "ada", "exp": time.Now().Add(time.Hour).Unix(),
		"scope": "openid kb:draft", "name": "Ada", "email": "ada@example.org",
	}
	for k, v := range changed {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	token := jwt.NewWithClaims(method, c)
	token.Header["kid"] = "one"
	s, err := token.SignedString(key)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *provider) good(changed map[string]any) string {
	return p.token(jwt.SigningMethodES256, p.key, changed)
}

func (p *provider) verifier(keys string) Verifier {
	p.t.Helper()
	v, err := NewJWT(p.t.Context(), Issuer{URL: issuerURL, Audience: audience, Keys: keys, Log: p.t.Logf})
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *provider) file() string {
	name := filepath.Join(p.t.TempDir(), "jwks.json")
	if err := os.WriteFile(name, p.jwks, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return name
}

func TestJWT(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(p.file())
	id, err := v.Verify(ctx, p.good(nil))
	if err != nil || id.Name != "ada" || id.Author != `"Ada" <ada@example.org>` || id.Scopes != Read|Draft || !strings.HasPrefix(id.ID, "jwt-") {
		t.Fatalf("%+v, %v", id, err)
	}
	scopes := []struct {
		claims map[string]any
		want   Scopes
	}{
		{map[string]any{"scope": "read"}, Read},
		{map[string]any{"scope": nil, "scp": []string{"kb:review", "x"}}, Read | Review},
		{map[string]any{"scope": nil, "scp": "draft review"}, Read | Draft | Review},
		{map[string]any{"scope": "reader xdraft kb:kb:draft"}, 0},
		{map[string]any{"scope": nil}, 0},
	}
	for _, tt := range scopes {
		id, err := v.Verify(ctx, p.good(tt.claims))
		if err != nil || id.Scopes != tt.want {
			t.Errorf("%v: %+v, %v", tt.claims, id, err)
		}
	}
}

func TestJWTRefused(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(p.file())
	other := newProvider(t)
	public, err := p.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Hour
	tests := map[string]string{
		"another key":                other.good(nil),
		"another issuer":             p.good(map[string]any{"iss": "https://evil.example"}),
		"no issuer":                  p.good(map[string]any{"iss": nil}),
		"another audience":           p.good(map[string]any{"aud": "https://other.example/mcp"}),
		"no audience":                p.good(map[string]any{"aud": nil}),
		"expired":                    p.good(map[string]any{"exp": time.Now().Add(-hour).Unix()}),
		"no expiry":                  p.good(map[string]any{"exp": nil}),
		"not yet":                    p.good(map[string]any{"nbf": time.Now().Add(hour).Unix()}),
		"no subject":                 p.good(map[string]any{"sub": nil}),
		"not signed":                 p.token(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"signed with the public key": p.token(jwt.SigningMethodHS256, public, nil),
		"cut":                        strings.TrimRight(p.good(nil), "AQgw")[:100],
		"no token":                   "a.b.c",
		"empty":                      "",
		"ours":                       Prefix + random(32),
	}
	for name, token := range tests {
		t.Run(name, func(t *testing.T) { refused(t, v, token, "") })
	}
}

// Keys at a URL are fetched at the start. Tokens that name unknown keys have
// them fetched again seldom, and no request waits for that.
func TestJWTKeysByURL(t *testing.T) {
	p := newProvider(t)
	var fetched atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		w.Write(p.jwks)
	}))
	defer server.Close()
	v := p.verifier(server.URL)
	if _, err := v.Verify(ctx, p.good(nil)); err != nil {
		t.Fatal(err)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"sub": "x"})
	for i := range 20 {
		token.Header["kid"] = strings.Repeat("k", i+1)
		s, err := token.SignedString(p.key)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, v, s, "")
	}
	if n := fetched.Load(); n > 2 {
		t.Errorf("keys were fetched %d times", n)
	}
}

func TestIssuers(t *testing.T) {
	p := newProvider(t)
	for _, i := range []Issuer{
		{URL: issuerURL, Audience: audience},
		{URL: issuerURL, Keys: p.file()},
		{Audience: audience, Keys: p.file()},
		{URL: issuerURL, Audience: audience, Keys: "http://keys.example/jwks.json"},
		{URL: issuerURL, Audience: audience, Keys: "file:///etc/passwd"},
		{URL: issuerURL, Audience: audience, Keys: filepath.Join(t.TempDir(), "nowhere")},
	} {
		i.Log = t.Logf
		if _, err := NewJWT(t.Context(), i); err == nil {
			t.Errorf("%+v was accepted", i)
		}
	}
}
