package secrets

import (
	"net/url"
	"slices"
	"strings"
)

// inQuery are parameters of URLs that let whoever has them in.
var inQuery = []string{"token", "key", "sig", "signature", "password", "passwd", "pwd", "pass", "secret", "auth", "authorization", "credential", "jwt", "sid", "session", "sessionid"}

// InQuery is the name of the parameter of a query that may be a secret, "" if none
// is: token, key, sig and the like, also as the last word of a name (api_key).
func InQuery(query string) string {
	for _, part := range strings.FieldsFunc(query, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		word := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		last := word[strings.LastIndexByte(word, '-')+1:]
		if slices.Contains(inQuery, last) || slices.Contains([]string{"apikey", "accesstoken", "authtoken"}, word) || strings.HasPrefix(word, "x-amz-") || strings.HasPrefix(word, "x-goog-") {
			return name
		}
	}
	return ""
}
