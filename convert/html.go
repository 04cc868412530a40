package convert

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-shiori/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// convertHTML takes the main content of a page: what a reader mode shows, or all
// of the body where that finds little.
func convertHTML(_ context.Context, s *sniffed) ([]Doc, error) {
	root, err := parseHTML(s.text)
	if err != nil {
		return nil, err
	}
	base, _ := url.Parse(s.Base)
	if s.Base == "" {
		base = nil
	}
	d := pageFacts(root)
	scripts := count(root, atom.Script)
	prepare(root)
	heading := oneLine(textOf(find(root, atom.H1)))
	body := find(root, atom.Body)
	content, article := mainContent(root, body, base)
	d.Title = bestTitle(heading, oneLine(d.Title), oneLine(article.Title))
	if len(d.Authors) == 0 && article.Byline != "" {
		d.Authors = []string{article.Byline}
	}
	if d.Created.IsZero() && article.PublishedTime != nil {
		d.Created = *article.PublishedTime
	}
	if len(strings.Fields(textOf(content))) == 0 && scripts > 0 {
		return nil, fmt.Errorf("%w: the page shows nothing without running its scripts", ErrNoText)
	}
	if err := writeHTML(&d, content, base, nil); err != nil {
		return nil, err
	}
	return []Doc{d}, nil
}

func parseHTML(text string) (*html.Node, error) {
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return root, nil
}

// mainContent is what reader mode takes for the article, unless that is so little
// of the page that it must be wrong.
func mainContent(root, body *html.Node, base *url.URL) (*html.Node, readability.Article) {
	const least, share = 140, 4
	parser := readability.NewParser()
	parser.KeepClasses = true // they name the languages of code
	parser.MaxElemsToParse = 200_000
	all := len(strings.TrimSpace(textOf(body)))
	article, err := parser.ParseDocument(root, base)
	if err != nil {
		article = readability.Article{}
	}
	if main := find(body, atom.Main); main != nil && count(body, atom.Main) == 1 {
		body = main
		all = len(strings.TrimSpace(textOf(main)))
	}
	taken := 0
	if article.Node != nil {
		taken = len(strings.TrimSpace(textOf(article.Node)))
	}
	if taken >= least && taken*share >= all {
		return article.Node, article
	}
	return body, article
}

// bestTitle is the first heading where the page's title has it and the site's name
// beside, else what reader mode made of the title, else the title.
func bestTitle(heading, title, article string) string {
	switch {
	case heading != "" && (title == "" || strings.Contains(strings.ToLower(title), strings.ToLower(heading))):
		return heading
	case article != "":
		return article
	}
	return title
}

// pageFacts is what a page's head says of it.
func pageFacts(root *html.Node) (d Doc) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Title:
			if d.Title == "" && (n.Parent == nil || n.Parent.DataAtom == atom.Head) {
				d.Title = textOf(n)
			}
		case atom.Meta:
			d.meta(strings.ToLower(attr(n, "name")+attr(n, "property")), attr(n, "content"))
		}
	}
	return d
}

// meta takes what a meta element says.
func (d *Doc) meta(name, content string) {
	switch name {
	case "author", "article:author", "dc.creator", "citation_author":
		if !strings.Contains(content, "://") {
			d.Authors = append(d.Authors, content)
		}
	case "keywords", "article:tag":
		d.Tags = append(d.Tags, keywords(content)...)
	case "article:published_time", "date", "dc.date", "citation_publication_date":
		if at, ok := parseTime(content); ok && d.Created.IsZero() {
			d.Created = at
		}
	}
}

// keywords are words that describe a document, as tags: short ones, with - for
// spaces.
func keywords(list string) (tags []string) {
	const longest = 40
	for word := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ';' }) {
		tag := strings.ToLower(strings.Join(strings.Fields(strings.Trim(word, "# \t\n\"'")), "-"))
		if tag != "" && len(tag) <= longest {
			tags = append(tags, tag)
		}
	}
	return tags
}

// parseTime reads the forms of times that pages, mail and office files have.
func parseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02", "2006/01/02", "2006-01"} {
		if at, err := time.Parse(layout, s); err == nil && at.Year() > 1000 {
			return at, true
		}
	}
	return time.Time{}, false
}

// textOf is the text below a node, without that of scripts and styles.
func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode && (c.Parent == nil || c.Parent.DataAtom != atom.Script && c.Parent.DataAtom != atom.Style) {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// find returns the first element of a kind.
func find(n *html.Node, a atom.Atom) *html.Node {
	if n == nil {
		return nil
	}
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.DataAtom == a {
			return c
		}
	}
	return nil
}

func count(n *html.Node, a atom.Atom) (found int) {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.DataAtom == a {
			found++
		}
	}
	return found
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func setAttr(n *html.Node, key, value string) {
	for i, a := range n.Attr {
		if a.Key == key {
			n.Attr[i].Val = value
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}

func hasClass(n *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attr(n, "class")) {
		if c == class {
			return true
		}
	}
	return false
}
