package site

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"net/url"
	"sort"
	"strings"
	"unicode"
)

// feeds writes what machines read: an Atom feed of changes, a sitemap, llms.txt.
func (b *builder) feeds(context.Context) error {
	for _, f := range []struct {
		name string
		data func() ([]byte, error)
	}{
		{feedFile, b.feed},
		{mapFile, b.sitemap},
		{llmsFile, b.llms},
		{".nojekyll", func() ([]byte, error) { return nil, nil }},
	} {
		data, err := f.data()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := b.out.put(f.name, "", data); err != nil {
			return err
		}
	}
	return nil
}

// absolute is the URL of a page for readers outside the site: a path if nobody
// said where the site is.
func (b *builder) absolute(page string) string {
	return cmp.Or(b.set.base(), "/") + escapePath(page)
}

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string      `xml:"title"`
	ID      string      `xml:"id"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Title   string   `xml:"title"`
	ID      string   `xml:"id"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Link    atomLink `xml:"link"`
	Summary string   `xml:"summary,omitempty"`
}

const mostInFeed = 50

// feed is the notes that changed last. An entry's id names the note and its
// change, so that a change is news.
func (b *builder) feed() ([]byte, error) {
	f := atomFeed{Title: b.set.Title, ID: b.absolute(""), Updated: "1970-01-01T00:00:00Z",
		Links: []atomLink{{Href: b.absolute("")}, {Rel: "self", Href: b.absolute(feedFile)}}}
	for _, i := range b.newest(mostInFeed) {
		d := b.set.Docs[i]
		e := atomEntry{Title: d.Title, ID: b.absolute(b.graph.pages[i]) + "#" + d.Blob.String()[:12], Updated: d.Updated + "T00:00:00Z",
			Author: d.Author, Link: atomLink{Href: b.absolute(b.graph.pages[i])}, Summary: b.summary(i)}
		if e.Author == "" {
			e.Author = b.set.Title
		}
		f.Entries = append(f.Entries, e)
		f.Updated = max(f.Updated, e.Updated)
	}
	raw, err := xml.MarshalIndent(f, "", " ")
	return append([]byte(xml.Header), append(raw, '\n')...), err
}

// sitemap is written as text: an encoder takes ten times as long.
func (b *builder) sitemap() ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, 128*len(b.set.Docs)))
	out.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	element := func(name, text string) {
		out.WriteString("  <" + name + ">")
		_ = xml.EscapeText(out, []byte(text)) // a buffer takes everything
		out.WriteString("</" + name + ">\n")
	}
	for i, d := range b.set.Docs {
		out.WriteString(" <url>\n")
		element("loc", b.absolute(strings.TrimSuffix(b.graph.pages[i], homePage)))
		if d.Updated != "" {
			element("lastmod", d.Updated)
		}
		out.WriteString(" </url>\n")
	}
	out.WriteString("</urlset>\n")
	return out.Bytes(), nil
}

// llms is the site for language models: each note's Markdown with what it is
// about (llmstxt.org).
func (b *builder) llms() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n\n", line(b.set.Title))
	for _, c := range b.set.Collections {
		if b.folders[place{c.Name, ""}] == "" {
			continue // it has no note here
		}
		fmt.Fprintf(&out, "## %s\n\n", line(c.Name))
		if c.Description != "" {
			fmt.Fprintf(&out, "%s\n\n", line(c.Description))
		}
		for i, d := range b.set.Docs {
			if d.Collection != c.Name {
				continue
			}
			out.WriteString("- [" + brackets.Replace(line(d.Title)) + "](" + b.llmsURL(sourceName(b.graph.pages[i])) + ")")
			if about := b.summary(i); about != "" {
				out.WriteString(": " + line(about))
			}
			out.WriteByte('\n')
		}
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

func (b *builder) llmsURL(page string) string {
	return b.set.base() + escapePath(page)
}

var brackets = strings.NewReplacer("[", "(", "]", ")")

// line is a text in one line.
func line(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) && !strings.Contains(s, "  ") {
		return strings.TrimSpace(s) // as most are
	}
	return strings.Join(strings.Fields(s), " ")
}

// redirects lead from the aliases of notes, and from where notes were, to their
// pages: as pages for any host, and as a file for hosts that know it.
func (b *builder) redirects(context.Context) error {
	to := map[string]string{} // page by the page it takes the place of
	add := func(from string, i int) {
		if _, known := to[from]; !known && !b.names.taken[from] {
			to[from] = b.graph.pages[i]
		}
	}
	for i, d := range b.set.Docs {
		for _, alias := range d.Aliases {
			add(folderName(b.graph.prefix(d.Collection), folderOf(d))+safeName(alias)+".html", i)
		}
	}
	for _, m := range b.set.Moved {
		if i, ok := b.graph.docs[place{m.Collection, m.To}]; ok {
			add(pageName(b.graph.prefix(m.Collection), m.From), i)
		}
	}
	froms := make([]string, 0, len(to))
	for from := range to {
		froms = append(froms, from)
	}
	sort.Strings(froms)
	base := ""
	if u, err := url.Parse(b.set.BaseURL); err == nil {
		base = strings.TrimRight(u.EscapedPath(), "/")
	}
	var rules bytes.Buffer
	for _, from := range froms {
		name := b.names.claim(from, from)
		title := b.docAt(to[from]).Title
		page, err := render("redirect", link{relative(name, to[from]), title})
		if err != nil {
			return err
		}
		if err := b.out.put(name, "", page); err != nil {
			return err
		}
		fmt.Fprintf(&rules, "%s/%s %s/%s 301\n", base, escapePath(name), base, escapePath(to[from]))
	}
	return b.out.put(redirectFile, "", rules.Bytes())
}

// docAt returns the doc whose page has a name, nil if none has.
func (b *builder) docAt(page string) *Doc {
	if b.byPage == nil {
		b.byPage = make(map[string]*Doc, len(b.graph.pages))
		for i, name := range b.graph.pages {
			b.byPage[name] = b.set.Docs[i]
		}
	}
	return b.byPage[page]
}
