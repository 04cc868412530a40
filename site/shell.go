package site

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are the pages. A page's template includes head and foot.
var templates = template.Must(template.New("").ParseFS(templateFiles, "templates/*.html"))

// policy is what pages may load: what is of the site, and nothing else. Styles
// and scripts are files.
const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'self';img-src 'self' data:;object-src 'none';base-uri 'none';form-action 'self'">`

// siteData is what every page says of the site. It depends on the program and
// the configuration, not on the notes: else one new note would change every page.
type siteData struct {
	Title, Language            string
	Policy                     template.HTML
	Style, Script, Early, Icon string // names of assets
	Custom                     string // likewise; "" for none
	Head, AfterTitle, Footer   template.HTML
}

// shell is what every page has.
type shell struct {
	Site        *siteData
	Name        string // of the page
	Root        string
	Title       string
	Description string
	Canonical   string
	Home        bool
	Article     bool
	Crumbs      []link
	Language    string // of what the page says
	Versions    []translation
}

// link is a place to go to. One without a URL is text.
type link struct {
	URL, Text string
}

// property is a row of a note's frontmatter.
type property struct {
	Key    string
	Values []link
}

// backlink is a link from another page with what stands around it there.
type backlink struct {
	link
	Context *linkContext
}

// linkContext is a sentence with a link in it, as plain text.
type linkContext struct{ Before, Link, After string }

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// newShell is the shell of a page of the site.
func (b *builder) newShell(name, title string) shell {
	s := shell{Site: b.site, Name: name, Root: root(name), Title: title, Language: b.site.Language}
	if b.set.BaseURL != "" {
		s.Canonical = b.set.base() + escapePath(strings.TrimSuffix(name, "index.html"))
	}
	return s
}

// Whole is the whole address of a page that this one links to, where it is known
// where the site is; else the link.
func (s shell) Whole(link string) string {
	base, err := url.Parse(s.Canonical)
	if err != nil || s.Canonical == "" {
		return link
	}
	to, err := base.Parse(link)
	if err != nil {
		return link
	}
	return to.String()
}
