package site

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Names of the site's own pages and directories. No note takes them.
const (
	assetDir     = "kb"
	homePage     = "index.html"
	searchPage   = "search.html"
	notFoundPage = "404.html"
	allPage      = "all.html"
	recentPage   = "recent.html"
	graphPage    = "graph.html"
	tagsPage     = "tags.html"
	feedFile     = "feed.xml"
	mapFile      = "sitemap.xml"
	llmsFile     = "llms.txt"
	manifestFile = "manifest.json"
	redirectFile = "_redirects"
)

var ownNames = []string{assetDir, searchPage, notFoundPage, allPage, recentPage, graphPage, tagsPage, feedFile, mapFile,
	llmsFile, manifestFile, redirectFile, "robots.txt", ".nojekyll"}

// namer gives every page a name in the site, which depends on what the page is
// alone as far as possible: another page in the vault changes it only when the
// two would be the same to some file system.
type namer struct {
	taken map[string]bool // folded
}

func newNamer() *namer {
	n := &namer{taken: map[string]bool{}}
	for _, name := range ownNames {
		n.taken[name] = true
	}
	return n
}

// claim returns want, or, when it is taken, want with a hash of key in it.
func (n *namer) claim(want, key string) string {
	if dir, rest, ok := strings.Cut(want, "/"); ok && dir == assetDir {
		want = dir + "-/" + rest // that directory is the site's own
	}
	name := want
	for n.taken[name] {
		dir, file := path.Split(want)
		base, ext, _ := strings.Cut(file, ".")
		sum := sha256.Sum256([]byte(key))
		name, key = dir+base+"-"+hex.EncodeToString(sum[:4])+"."+ext, key+"'"
	}
	n.taken[name] = true
	return name
}

// pageName is the name that a note's page has if nothing else wants it:
// lower case, words joined with hyphens, safe on every file system and in every
// URL. A folder's note, index.md or README.md, becomes the folder's index.html.
func pageName(collection, notePath string) string {
	dir, file := path.Split(notePath)
	stem := strings.TrimSuffix(file, path.Ext(file))
	if isIndex(stem) {
		stem = "index"
	}
	return folderName(collection, dir) + safeName(stem) + ".html"
}

// folderName is the directory of a folder's pages: "" or with a final slash.
func folderName(collection, dir string) string {
	var out strings.Builder
	if collection != "" {
		out.WriteString(folderPart(collection) + "/")
	}
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if part != "" {
			out.WriteString(folderPart(part) + "/")
		}
	}
	return out.String()
}

// folderPart has no dots: no directory is called as a page is.
func folderPart(s string) string { return safeName(strings.ReplaceAll(s, ".", "-")) }

func isIndex(stem string) bool {
	return strings.EqualFold(stem, "index") || strings.EqualFold(stem, "readme")
}

// maxName is how long, in bytes, one component of a name may be.
const maxName = 120

// safeName makes a component of a path fit for URLs and file systems: letters
// and digits of any script in lower case, hyphens for what is between them.
// Nothing left, or a name that Windows keeps for itself, gets a hash.
func safeName(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFC.String(strings.ToLower(s)) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_', r == '.' && b.Len() > 0:
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
	}
	name := strings.TrimRight(b.String(), ".-")
	sum := sha256.Sum256([]byte(s))
	hash := hex.EncodeToString(sum[:4])
	switch {
	case name == "":
		return hash
	case len(name) > maxName:
		return strings.ToValidUTF8(name[:maxName-9], "") + "-" + hash
	case reserved(name):
		stem, rest, dotted := strings.Cut(name, ".")
		if dotted {
			rest = "." + rest
		}
		return stem + "-" + hash + rest
	}
	return name
}

// reserved reports whether Windows has a device of that name.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '0' && stem[3] <= '9'
}

// relative is the URL of one page of the site as a link on another, both given
// by name.
func relative(from, to string) string {
	up := strings.Count(from, "/")
	for up > 0 {
		dir, rest, ok := strings.Cut(to, "/")
		if !ok || !strings.HasPrefix(from, dir+"/") {
			break
		}
		from, to = from[len(dir)+1:], rest
		up--
	}
	out := strings.Repeat("../", up) + escapePath(to)
	if out == "" {
		return "./"
	}
	return out
}

// root leads from a page to the site's root: "" or "../../".
func root(from string) string { return strings.Repeat("../", strings.Count(from, "/")) }

func escapePath(name string) string {
	if isPlain(name) {
		return name
	}
	escaped := (&url.URL{Path: name}).EscapedPath()
	if head, _, _ := strings.Cut(escaped, "/"); strings.Contains(head, ":") {
		return "./" + escaped // else it would be read as a scheme
	}
	return escaped
}

// isPlain reports whether a name is the same in a URL.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '/' && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}
