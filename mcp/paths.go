package mcp

import (
	"path"
	"regexp"
	"strings"
)

var absolute = regexp.MustCompile(`(^|[\s"'(=\[<])((?:/|[A-Za-z]:[\\/])[^\s"'()\[\]<>:]*[\\/][^\s"'()\[\]<>:]+)`)

// withoutPaths replaces absolute paths by their last part: where things lie on
// the machine is not the agent's business.
func withoutPaths(s string) string {
	return absolute.ReplaceAllStringFunc(s, func(m string) string {
		g := absolute.FindStringSubmatch(m)
		return g[1] + "…/" + path.Base(strings.ReplaceAll(g[2], `\`, "/"))
	})
}
