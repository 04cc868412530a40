package access

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var ctx = context.Background()

func newTokens(t *testing.T) *Tokens {
	t.Helper()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return &Tokens{Path: filepath.Join(t.TempDir(), "kb", "tokens.json"), Now: func() time.Time { return now }}
}

func create(t *testing.T, tokens *Tokens, spec TokenSpec) string {
	t.Helper()
	secret, _, err := tokens.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// A token is known while it is active, and what is in the file does not tell it.
func TestTokens(t *testing.T) {
	tokens := newTokens(t)
	secret := create(t, tokens, TokenSpec{Name: "laptop", Scopes: Read | Draft, Author: "Ada <ada@example.org>", Expires: tokens.Now().Add(time.Hour)})
	forever := create(t, tokens, TokenSpec{Name: "bot", Scopes: Read})
	if len(secret) != len(Prefix)+43 || secret == forever {
		t.Errorf("tokens %q and %q", secret, forever)
	}
	raw, err := os.ReadFile(tokens.Path)
	if err != nil || strings.Contains(string(raw), secret) || strings.Contains(string(raw), secret[len(Prefix):]) {
		t.Errorf("the file tells the token: %v %s", err, raw)
	}
	if info, err := os.Stat(tokens.Path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	id, err := tokens.Verify(ctx, secret)
	if err != nil || id.Name != "laptop" || id.Author != "Ada <ada@example.org>" || id.Scopes != Read|Draft || id.ID == "" || !id.Expires.Equal(tokens.Now().Add(time.Hour)) {
		t.Errorf("%+v, %v", id, err)
	}
	start := tokens.Now()
	tokens.Now = func() time.Time { return start.Add(time.Hour) }
	refused(t, tokens, secret, "expired")
	if _, err := tokens.Verify(ctx, forever); err != nil {
		t.Errorf("a token without an end: %v", err)
	}
	tokens.Now = func() time.Time { return start.Add(-time.Hour) } // a clock that goes backwards ends nothing
	if _, err := tokens.Verify(ctx, secret); err != nil {
		t.Error(err)
	}
	if _, err := tokens.Revoke("laptop"); err != nil {
		t.Fatal(err)
	}
	refused(t, tokens, secret, "revoked")
	if _, err := tokens.Revoke("laptop"); !errors.Is(err, ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
	for _, wrong := range []string{"", Prefix, secret[1:], secret + "x", strings.ToUpper(secret), forever[:20] + secret[20:]} {
		refused(t, tokens, wrong, "")
	}
	list, err := tokens.List()
	if err != nil || len(list) != 2 || list[0].State(start) != "revoked" || list[1].State(start) != "active" {
		t.Errorf("%+v, %v", list, err)
	}
}

func refused(t *testing.T, v Verifier, token, why string) {
	t.Helper()
	id, err := v.Verify(ctx, token)
	if id != nil || !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), why) {
		t.Errorf("token %q: %+v, %v; want %q", token, id, err, why)
	}
}

// A running server sees what another process does to the file, and refuses all
// while the file is not as it should be.
func TestTokenFileChanges(t *testing.T) {
	server := newTokens(t)
	other := &Tokens{Path: server.Path, Now: server.Now}
	refused(t, server, "x", "no such file")
	secret := create(t, other, TokenSpec{Name: "a", Scopes: Read})
	if _, err := server.Verify(ctx, secret); err != nil {
		t.Fatal(err)
	}
	second := create(t, other, TokenSpec{Name: "b", Scopes: Read})
	if _, err := server.Verify(ctx, second); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Revoke("a"); err != nil {
		t.Fatal(err)
	}
	refused(t, server, secret, "revoked")
	good, err := os.ReadFile(server.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{", `{"version":2,"tokens":[]}`, `{"version":1,"tokens":[],"extra":1}`} {
		if err := replace(server.Path, []byte(bad)); err != nil {
			t.Fatal(err)
		}
		refused(t, server, second, "")
	}
	if err := replace(server.Path, good); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Verify(ctx, second); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(server.Path, 0o622); err != nil {
		t.Fatal(err)
	}
	fresh := &Tokens{Path: server.Path, Now: server.Now}
	refused(t, fresh, second, "chmod 600")
}

// Many processes make tokens at once: none is lost.
func TestTokensAtOnce(t *testing.T) {
	path := newTokens(t).Path
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			mine := &Tokens{Path: path}
			if _, _, err := mine.Create(TokenSpec{Name: fmt.Sprint("t", i), Scopes: Read}); err != nil {
				t.Error(err)
			}
			if i%2 == 0 {
				if _, err := mine.Revoke(fmt.Sprint("t", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list, err := (&Tokens{Path: path}).List()
	if err != nil || len(list) != 8 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestTokenSpecs(t *testing.T) {
	tokens := newTokens(t)
	create(t, tokens, TokenSpec{Name: "taken", Scopes: Read})
	for _, spec := range []TokenSpec{
		{Name: "taken", Scopes: Read},
		{Name: "", Scopes: Read},
		{Name: " x", Scopes: Read},
		{Name: "a\nb", Scopes: Read},
		{Name: strings.Repeat("x", 65), Scopes: Read},
		{Name: "x"},
		{Name: "x", Scopes: Read, Author: "nobody"},
		{Name: "x", Scopes: Read, Author: "a@b\n<c@d>"},
	} {
		if _, _, err := tokens.Create(spec); err == nil {
			t.Errorf("%+v was accepted", spec)
		}
	}
	if list, err := tokens.List(); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestScopes(t *testing.T) {
	tests := []struct {
		in   string
		want string
	}{
		{"read", "read"}, {"draft", "read draft"}, {"review", "read review"}, {"review,draft,read", "read draft review"},
		{" read , draft", "read draft"}, {"", ""}, {"write", ""}, {"read,", ""}, {"READ", ""},
	}
	for _, tt := range tests {
		got, err := ParseScopes(strings.Split(tt.in, ","))
		if diff := cmp.Diff(tt.want, got.String()); diff != "" || (err != nil) != (tt.want == "") {
			t.Errorf("%q: %v %s", tt.in, err, diff)
		}
	}
}
