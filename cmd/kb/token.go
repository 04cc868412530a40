package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kb/internal/access"
	"kb/vault"
)

// tokenCmd is `kb token`: the tokens with which agents come over HTTP.
type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token, and show it once."`
	List   tokenListCmd   `cmd:"" help:"List tokens: scopes, until when, and for whom."`
	Revoke tokenRevokeCmd `cmd:"" help:"End a token, at once."`
}

// tokenFlags say where tokens are kept.
type tokenFlags struct {
	TokenFile string `help:"Where tokens are kept (default tokens.json in kb's directory of the user's configuration)." placeholder:"FILE"`
}

func (f tokenFlags) open() (*access.Tokens, error) {
	if f.TokenFile != "" {
		return &access.Tokens{Path: f.TokenFile}, nil
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, &vault.Error{Code: vault.Usage, Message: err.Error(), Hint: "--token-file names one"}
		}
		dir = filepath.Join(home, ".config")
	}
	return &access.Tokens{Path: filepath.Join(dir, "kb", "tokens.json")}, nil
}

type tokenCreateCmd struct {
	tokenFlags
	Name    string           `arg:"" help:"What the token is called, in lists and logs."`
	Scopes  []string         `help:"What its holder may do: read, draft, review (default ${default})." default:"read" placeholder:"SCOPE,…"`
	Expires string           `help:"For how long it is good: 90d, 12h, a date, or never (default ${default})." default:"90d" placeholder:"TIME"`
	Sees    vault.Visibility `name:"visibility" help:"How far its holder sees: public, team or private (default: as the server says)." placeholder:"WHICH"`
	User    string           `help:"Whose private notes its holder sees with --visibility private, beside those that are nobody's." placeholder:"NAME"`
	Author  string           `help:"Who its holder is, in the notes that it proposes (default: the token's name)." placeholder:"'NAME <ADDRESS>'"`
}

// tokenMade is a token on the only occasion on which it is seen.
type tokenMade struct {
	Token string `json:"token"`
	tokenInfo
}

// Run makes a token.
func (t tokenCreateCmd) Run(c *cli) error {
	scopes, err := access.ParseScopes(t.Scopes)
	if err != nil {
		return tokenError(err)
	}
	expires, err := parseExpiry(t.Expires, time.Now())
	if err != nil {
		return err
	}
	tokens, err := t.open()
	if err != nil {
		return err
	}
	secret, made, err := tokens.Create(access.TokenSpec{Name: t.Name, Scopes: scopes, Author: t.Author, Sees: string(t.Sees), User: t.User, Expires: expires})
	if err != nil {
		return tokenError(err)
	}
	return c.print(nil, &tokenMade{secret, infoOf(made)})
}

// Text shows the token alone on its line.
func (m *tokenMade) Text(t *vault.Text) {
	t.Printf("%s\n%s\n", m.Token, t.Dim("Authorization: Bearer "+"… - it is not shown again"))
	m.tokenInfo.row(t)
}

// tokenInfo is a token as it is listed.
type tokenInfo struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"`
	State   string   `json:"state"`
	Scopes  []string `json:"scopes"`
	Author  string   `json:"author,omitempty"`
	Sees    string   `json:"visibility,omitempty"`
	User    string   `json:"user,omitempty"`
	Created string   `json:"created"`
	Expires string   `json:"expires,omitempty"`
}

func infoOf(t access.Token) tokenInfo {
	i := tokenInfo{Name: t.Name, ID: t.ID, State: t.State(time.Now()), Scopes: t.Scopes, Author: t.Author, Sees: t.Sees, User: t.User, Created: t.Created.Format(time.RFC3339)}
	if !t.Expires.IsZero() {
		i.Expires = t.Expires.Format(time.RFC3339)
	}
	return i
}

func (i tokenInfo) row(t *vault.Text) {
	until := "never ends"
	if i.Expires != "" {
		until = "until " + i.Expires
	}
	t.Printf("%s %s %s\n", t.Strong(i.Name), t.Accent(i.State), t.Dim(strings.Join(nonBlank(strings.Join(i.Scopes, ","), until, i.Sees, i.User, i.Author), "  ")))
}

// nonBlank leaves out what is "".
func nonBlank(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

type tokenListCmd struct{ tokenFlags }

type tokenList struct {
	Tokens []tokenInfo `json:"tokens"`
}

// Run lists the tokens, those that ended too.
func (l tokenListCmd) Run(c *cli) error {
	tokens, err := l.open()
	if err != nil {
		return err
	}
	all, err := tokens.List()
	if err != nil {
		return tokenError(err)
	}
	r := &tokenList{Tokens: []tokenInfo{}}
	for _, t := range all {
		r.Tokens = append(r.Tokens, infoOf(t))
	}
	return c.print(nil, r)
}

// Text implements [vault.Texter].
func (l *tokenList) Text(t *vault.Text) {
	for _, i := range l.Tokens {
		i.row(t)
	}
	if len(l.Tokens) == 0 {
		t.Printf("%s\n", t.Dim("no tokens: kb token create NAME makes one"))
	}
}

type tokenRevokeCmd struct {
	tokenFlags
	Name string `arg:"" help:"The token."`
}

// Run ends a token.
func (r tokenRevokeCmd) Run(c *cli) error {
	tokens, err := r.open()
	if err != nil {
		return err
	}
	ended, err := tokens.Revoke(r.Name)
	if err != nil {
		return tokenError(err)
	}
	info := infoOf(ended)
	return c.print(nil, &tokenList{[]tokenInfo{info}})
}

// tokenError is an error of the token file, for people.
func tokenError(err error) error {
	e := &vault.Error{Code: vault.Usage, Message: err.Error()}
	switch {
	case errors.Is(err, access.ErrExists):
		e.Code, e.Hint = vault.Conflict, "kb token revoke ends it, or give this one another name"
	case errors.Is(err, access.ErrNotFound):
		e.Code, e.Hint = vault.NotFound, "kb token list shows the tokens"
	case errors.As(err, new(*fs.PathError)), errors.As(err, new(*os.LinkError)):
		e.Code = vault.Internal
	}
	return e
}

var days = regexp.MustCompile(`^(\d{1,5})d$`)

// parseExpiry reads when a token ends: after a time, at a date, or never.
func parseExpiry(s string, now time.Time) (time.Time, error) {
	var end time.Time
	if m := days.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		end = now.AddDate(0, 0, n)
	} else if d, err := time.ParseDuration(s); err == nil {
		end = now.Add(d)
	} else if day, err := time.Parse(time.DateOnly, s); err == nil {
		end = day.AddDate(0, 0, 1) // the end of that day
	} else if s == "never" {
		return end, nil
	}
	if !end.After(now) {
		return end, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("expires: %q", s), Hint: "90d, 12h, a date to come such as 2027-01-31, or never"}
	}
	return end, nil
}
