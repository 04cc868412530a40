package httpd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"kb/internal/access"
)

// Access says who may call, and what.
type Access struct {
	Verifier access.Verifier
	Needs    func(method, name string) access.Scopes // what a message takes: its method, and its params.name
	URL      string                                  // under which clients know the server, such as https://kb.example.org; "" is what they ask for
	Issuers  []string                                // where a client gets a token
}

// metadataPath is where clients look for what RFC 9728 tells them.
const metadataPath = "/.well-known/oauth-protected-resource"

// identify tells who asks, or answers why that is not known. Without Access
// everybody is nobody in particular.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if inQuery(r) {
		http.Error(w, "a token in the address ends up in logs: it belongs in the header Authorization", http.StatusBadRequest)
		return r, false
	}
	if s.o.Access == nil {
		return r, true
	}
	token, ok := bearer(r)
	if !ok {
		s.refuse(w, r, http.StatusUnauthorized, "", access.Read)
		return r, false
	}
	id, err := s.o.Access.Verifier.Verify(r.Context(), token)
	switch {
	case errors.Is(err, access.ErrInvalid):
		s.o.Log("http: %v", err)
		s.refuse(w, r, http.StatusUnauthorized, "invalid_token", access.Read)
		return r, false
	case err != nil:
		s.o.Log("http: %v", err)
		http.Error(w, "the token cannot be checked now", http.StatusServiceUnavailable)
		return r, false
	}
	r = r.WithContext(access.With(r.Context(), id))
	if !id.Scopes.Has(access.Read) {
		s.refuse(w, r, http.StatusForbidden, "insufficient_scope", access.Read)
		return r, false
	}
	return r, true
}

// allowed answers a request that asks for more than its token's scopes allow.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request, calls []call) bool {
	id := access.From(r.Context())
	if id == nil || s.o.Access == nil || s.o.Access.Needs == nil {
		return true
	}
	var needs access.Scopes
	for _, c := range calls {
		needs |= s.o.Access.Needs(c.Method, c.Params.Name)
	}
	if id.Scopes.Has(needs) {
		return true
	}
	s.refuse(w, r, http.StatusForbidden, "insufficient_scope", needs|id.Scopes)
	return false
}

// bearer is the token that a request carries.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "bearer") && token != "" && !strings.ContainsAny(token, " \t,")
}

// inQuery reports whether the address of a request has a token in it.
func inQuery(r *http.Request) bool {
	for name, values := range r.URL.Query() {
		switch strings.ToLower(name) {
		case "access_token", "token", "api_key", "apikey", "authorization", "bearer":
			return true
		}
		for _, v := range values {
			if strings.Contains(v, access.Prefix) {
				return true
			}
		}
	}
	return strings.Contains(r.URL.RawQuery, access.Prefix)
}

// refuse answers as RFC 6750 says, and where the server describes itself.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, code string, scope access.Scopes) {
	challenge := []string{}
	if code != "" {
		challenge = append(challenge, fmt.Sprintf("error=%q", code))
	}
	challenge = append(challenge, fmt.Sprintf("scope=%q", scope), fmt.Sprintf("resource_metadata=%q", s.metadataURL(r)))
	w.Header().Set("WWW-Authenticate", "Bearer "+strings.Join(challenge, ", "))
	text := "a token is needed"
	switch code {
	case "invalid_token":
		text = "the token is not valid, or not any more"
	case "insufficient_scope":
		text = "the token lacks a scope: this takes " + scope.String()
	}
	http.Error(w, text, status)
}

// resource is the URL of /mcp as clients know it.
func (s *Server) resource(r *http.Request) *url.URL {
	if s.o.Access.URL != "" {
		if u, err := url.Parse(s.o.Access.URL); err == nil {
			return u.JoinPath("mcp")
		}
	}
	u := &url.URL{Scheme: "http", Host: r.Host, Path: "/mcp"} // the host is one of the server's
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u
}

func (s *Server) metadataURL(r *http.Request) string {
	u := s.resource(r)
	u.Path = metadataPath + u.Path
	return u.String()
}

// metadata describes the server to clients that look for a token. It is public.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	if s.o.Access == nil {
		http.NotFound(w, r)
		return
	}
	resource := s.resource(r)
	if rest := strings.TrimPrefix(r.URL.Path, metadataPath); rest != "" && rest != "/mcp" && rest != resource.Path {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct {
		Resource string   `json:"resource"`
		Issuers  []string `json:"authorization_servers,omitempty"`
		Scopes   []string `json:"scopes_supported"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{resource.String(), s.o.Access.Issuers, access.ScopeNames(), []string{"header"}, "kb"})
}
