package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Fault is something wrong with a site.
type Fault struct {
	Page    string `json:"page"`          // the file that has it
	Ref     string `json:"ref,omitempty"` // the reference, as it is written; "" when the file itself is at fault
	Message string `json:"message"`
}

// Checked is what a check looked at and found.
type Checked struct {
	Pages  int
	Refs   int     // references within the site
	Faults []Fault // by page, in the order of the page
}

// Check follows every reference of every page of the site in dir that stays in
// the site - links, anchors, pictures, styles, scripts, redirects - and compares
// every file with the manifest. Whole addresses stay in it below the one that it was
// built for. It returns [ErrNotOurs] for what is no site of ours. References to other
// hosts are not looked at, but a page that would load something from one is at fault.
func Check(dir string) (*Checked, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	c := &checker{root: root, anchors: map[string]map[string]bool{}}
	raw, err := root.ReadFile(manifestFile)
	if err == nil {
		err = json.Unmarshal(raw, &c.manifest)
	}
	if err != nil || c.manifest.Generator != generator {
		return nil, fmt.Errorf("%w: %s", ErrNotOurs, dir)
	}
	if c.base, err = url.Parse(c.manifest.BaseURL); err != nil {
		return nil, fmt.Errorf("%s: base_url: %w", manifestFile, err)
	}
	if err := c.files(); err != nil {
		return nil, err
	}
	for _, name := range c.pages {
		for _, r := range c.refs[name] {
			c.follow(name, r)
		}
	}
	if err := c.rules(); err != nil {
		return nil, err
	}
	c.found.Pages = len(c.pages)
	slices.SortStableFunc(c.found.Faults, func(a, b Fault) int { return strings.Compare(a.Page, b.Page) })
	return &c.found, nil
}

type checker struct {
	root     *os.Root
	manifest Manifest
	base     *url.URL        // where the site is served; empty when unknown
	folders  map[string]bool // at the top
	pages    []string
	refs     map[string][]reference
	anchors  map[string]map[string]bool // ids, by page
	found    Checked
}

// reference is an attribute that names something.
type reference struct {
	value  string
	loaded bool // the page shows or runs it, rather than leading to it
}

func (c *checker) fault(page, ref, format string, args ...any) {
	c.found.Faults = append(c.found.Faults, Fault{page, ref, fmt.Sprintf(format, args...)})
}

// files compares what is there with the manifest, and reads the pages.
func (c *checker) files() error {
	c.refs, c.folders = map[string][]reference{}, map[string]bool{}
	if _, err := c.root.Stat(unfinished); err == nil {
		c.fault(unfinished, "", "the last build did not finish: build again")
	}
	names := make([]string, 0, len(c.manifest.Files))
	for name := range c.manifest.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if folder, _, deeper := strings.Cut(name, "/"); deeper {
			c.folders[folder] = true
		}
		data, err := c.root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			c.fault(name, "", "the manifest names it, and it is missing")
			continue
		}
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != c.manifest.Files[name] {
			c.fault(name, "", "it has changed since it was built")
		}
		if path.Ext(name) == ".html" {
			c.pages = append(c.pages, name)
			c.read(name, data)
		}
	}
	return nil
}

// read collects a page's ids and references.
func (c *checker) read(name string, data []byte) {
	ids := map[string]bool{}
	c.anchors[name] = ids
	z := html.NewTokenizer(bytes.NewReader(data))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				c.fault(name, "", "not HTML: %v", err)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			c.refs[name] = append(c.refs[name], tagRefs(t, ids)...)
		}
	}
}

// tagRefs returns the references of a tag, and notes its id.
func tagRefs(t html.Token, ids map[string]bool) (out []reference) {
	attr := map[string]string{}
	for _, a := range t.Attr {
		attr[a.Key] = a.Val
	}
	if id := attr["id"]; id != "" {
		ids[id] = true
	}
	if src, ok := attr["src"]; ok {
		out = append(out, reference{src, true})
	}
	if href, ok := attr["href"]; ok {
		loaded := t.Data == "link" && (attr["rel"] == "stylesheet" || attr["rel"] == "icon")
		if t.Data != "link" || loaded || attr["rel"] == "alternate" || attr["rel"] == "canonical" {
			out = append(out, reference{href, loaded})
		}
	}
	if to, ok := strings.CutPrefix(attr["content"], "0; url="); ok && attr["http-equiv"] == "refresh" {
		out = append(out, reference{to, false})
	}
	return out
}

// follow checks one reference.
func (c *checker) follow(page string, r reference) {
	u, err := url.Parse(r.value)
	if err != nil && (strings.HasPrefix(r.value, "http:") || strings.HasPrefix(r.value, "https:")) && !r.loaded {
		return // an example of an address; nothing of the site
	}
	if err != nil {
		c.fault(page, r.value, "not a URL")
		return
	}
	to, ok := c.within(page, u)
	if !ok {
		if r.loaded && (u.Scheme != "" || u.Host != "") && u.Scheme != "data" {
			c.fault(page, r.value, "loaded from another host")
		}
		return
	}
	c.found.Refs++
	if strings.HasPrefix(to, "../") {
		c.fault(page, r.value, "it leads out of the site")
		return
	}
	if _, ok := c.manifest.Files[to]; !ok && to != manifestFile {
		c.fault(page, r.value, "no file %s in the site", to)
		return
	}
	if u.Fragment != "" && c.anchors[to] != nil && !c.anchors[to][u.Fragment] {
		c.fault(page, r.value, "no such place in %s", to)
	}
}

// within is the file of the site that a reference of a page names. Not ok: it is an
// address elsewhere, or one from the host's root of a site that may be anywhere.
func (c *checker) within(page string, u *url.URL) (file string, ok bool) {
	switch {
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		whole := c.base.ResolveReference(u)
		below, inside := strings.CutPrefix(path.Clean("/"+whole.Path)+"/", c.base.Path)
		if c.base.Host == "" || whole.Scheme != c.base.Scheme || !strings.EqualFold(whole.Host, c.base.Host) || !inside {
			return "", false
		}
		return c.served(strings.TrimSuffix(below, "/"))
	case u.Path == "":
		return page, true
	case strings.HasSuffix(u.Path, "/") || u.Path == ".":
		return path.Join(path.Dir(page), u.Path, homePage), true
	}
	return path.Join(path.Dir(page), u.Path), true
}

// served is the file that hosts show at a path below the site's address, where .html and
// index.html may be left out. Not ok: the site has none, nor such a folder; other
// sites may be served below the address, too.
func (c *checker) served(at string) (file string, ok bool) {
	for _, name := range []string{at, path.Join(at, homePage), at + ".html"} {
		if _, ok := c.manifest.Files[name]; ok || name == manifestFile {
			return name, true
		}
	}
	folder, _, deeper := strings.Cut(at, "/")
	return at, deeper && c.folders[folder] || !deeper && path.Ext(at) != ""
}

// rules checks the redirects for hosts that know them.
func (c *checker) rules() error {
	raw, err := c.root.ReadFile(redirectFile)
	if err != nil {
		return nil // then files has said so
	}
	for rule := range strings.Lines(string(raw)) {
		f := strings.Fields(rule)
		if len(f) != 3 {
			c.fault(redirectFile, strings.TrimSpace(rule), "not a rule: from, to, status")
			continue
		}
		to, err := url.PathUnescape(f[1])
		if err != nil || !c.endsInFile(to) {
			c.fault(redirectFile, f[1], "no such file in the site")
		}
	}
	return nil
}

// endsInFile reports whether a path, below wherever the site is served, is one of
// a file of it.
func (c *checker) endsInFile(p string) bool {
	for rest := strings.TrimPrefix(p, "/"); ; {
		if _, ok := c.manifest.Files[rest]; ok {
			return true
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return false
		}
		rest = after
	}
}
