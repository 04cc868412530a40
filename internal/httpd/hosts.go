package httpd

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// hosts are the names under which a server may be asked. A page elsewhere can
// have its own name lead to this machine; then its requests carry that name.
type hosts map[string]bool

func newHosts(allowed []string) hosts {
	h := hosts{}
	for _, name := range allowed {
		h[strings.ToLower(strings.TrimSpace(name))] = true
	}
	return h
}

// guard refuses requests under a name that is not the server's, and those that a
// page of another origin makes, whatever their method and path.
func (h hosts) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !h.allows(r):
			http.Error(w, "forbidden: this host name is not allowed (--allow-host)", http.StatusForbidden)
		case !h.sameOrigin(r):
			http.Error(w, "forbidden: a page of another origin asks", http.StatusForbidden)
		default:
			w.Header().Set("X-Content-Type-Options", "nosniff")
			next.ServeHTTP(w, r)
		}
	})
}

// allows reports whether a request is under a name of the server: a loopback one,
// the very address that it came to, or one of those that are allowed.
func (h hosts) allows(r *http.Request) bool {
	name := hostname(r.Host)
	if h[strings.ToLower(r.Host)] || h[name] || isLoopback(name) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	ip, here := net.ParseIP(name), net.ParseIP(hostname(local.String()))
	return ip != nil && ip.Equal(here)
}

// sameOrigin reports whether a request is not made by a page, or by one of this
// server or of a host that is allowed.
func (h hosts) sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return false
	}
	if len(r.Header.Values("Origin")) == 0 {
		return true
	}
	u, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(r.Header.Values("Origin")) > 1 {
		return false
	}
	return strings.EqualFold(u.Host, r.Host) || h[strings.ToLower(u.Host)]
}

// hostname is a host without its port, in lower case.
func hostname(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.ToLower(name)
}

// isLoopback reports whether name is this machine's for itself.
func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// IsLoopback reports whether an address to listen at, as host:port, is one that
// only this machine reaches.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}
