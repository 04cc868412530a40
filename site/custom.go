package site

import (
	"bytes"
	"html/template"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// custom takes in what the vault adds to pages.
func (b *builder) custom() (err error) {
	c, clean := b.set.Custom, newPolicy()
	b.site.Head = cleanHead(c.Head)
	b.site.AfterTitle, b.site.Footer = template.HTML(clean(c.AfterTitle)), template.HTML(clean(c.Footer))
	if len(bytes.TrimSpace(c.Style)) > 0 {
		b.site.Custom, err = b.putHashed("custom.css", c.Style)
	}
	return err
}

// headLinks are the relations of a page that load nothing.
var headLinks = []string{"author", "license", "me", "help", "privacy-policy"}

// cleanHead keeps what says something of the page: meta elements with a name or a
// property, and links that nothing is loaded for.
func cleanHead(fragment []byte) template.HTML {
	var out strings.Builder
	z := html.NewTokenizer(bytes.NewReader(fragment))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return template.HTML(out.String())
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		if t := z.Token(); saysOnly(t) {
			t.Type = html.StartTagToken
			t.Attr = slices.DeleteFunc(t.Attr, func(a html.Attribute) bool {
				return !slices.Contains([]string{"name", "property", "content", "rel", "href", "title", "hreflang"}, a.Key)
			})
			out.WriteString(t.String() + "\n")
		}
	}
}

func saysOnly(t html.Token) bool {
	attr := map[string]string{}
	for _, a := range t.Attr {
		attr[a.Key] = a.Val
	}
	switch t.DataAtom {
	case atom.Meta:
		return attr["name"]+attr["property"] != "" && !strings.EqualFold(attr["name"], "referrer") && !strings.EqualFold(attr["name"], "viewport")
	case atom.Link:
		return slices.Contains(headLinks, strings.ToLower(attr["rel"])) && (strings.HasPrefix(attr["href"], "https://") || strings.HasPrefix(attr["href"], "http://"))
	}
	return false
}
