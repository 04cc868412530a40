package vault

import (
	"net/url"
	"strings"
)

// citation is kb://<collection>@<commit>/<path>#<heading-slug>: a passage at a
// commit, for ever. Without a commit it means the default view.
type citation struct {
	Collection string
	Commit     string
	Path       string
	Fragment   string
}

const scheme = "kb://"

// String percent-encodes path and fragment, so that a citation holds no spaces
// and none of the characters that end it in running text.
func (c citation) String() string {
	var b strings.Builder
	b.WriteString(scheme + c.Collection)
	if c.Commit != "" {
		b.WriteString("@" + c.Commit)
	}
	for _, part := range strings.Split(c.Path, "/") {
		b.WriteString("/" + url.PathEscape(part))
	}
	if c.Fragment != "" {
		b.WriteString("#" + url.PathEscape(c.Fragment))
	}
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(b.String())
}

// parseCitation reads what String writes; an unescaped path is understood too.
func parseCitation(s string) (citation, *Error) {
	rest, ok := strings.CutPrefix(s, scheme)
	host, path, slash := strings.Cut(rest, "/")
	if !ok || !slash || path == "" {
		return citation{}, errorf(Usage, "%q is not a citation", clip(s, 200)).hint("a citation is kb://collection@commit/path#heading")
	}
	var c citation
	c.Collection, c.Commit, _ = strings.Cut(host, "@")
	path, fragment, _ := strings.Cut(path, "#")
	c.Path, c.Fragment = unescape(path), unescape(fragment)
	if name, err := url.PathUnescape(c.Commit); err == nil {
		c.Commit = name
	}
	return c, nil
}

func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
