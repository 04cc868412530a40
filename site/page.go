package site

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"slices"
	"strings"

	"kb/note"
)

// notePage is what a note's page shows.
type notePage struct {
	shell
	Doc        *Doc
	Heading    template.HTML // the title, as the body has it if it begins with it
	Body       template.HTML
	Outline    []note.HeadingAnchor
	Updated    string
	Minutes    int // to read it
	Status     string
	Superseded *link
	Tags       []link
	Properties []property

	Links         []link
	Related       []link
	Backlinks     []backlink
	MoreBacklinks int
	Previous      *link
	Next          *link
	Change        string
	Cite          string // the note as a citation, but for the commit
	Source        string // the note's Markdown
	Cut           bool   // the note is too long to be shown whole
}

// Bounds of what a page shows beside the note.
const (
	mostBacklinks = 100
	mostLinks     = 40
	mostRelated   = 6
	wordsMinute   = 220
)

// linksOn answers what the notes on one page refer to.
type linksOn struct {
	*builder
	ctx  context.Context
	doc  *Doc
	page string // its name
}

// Target implements Links.
func (l linksOn) Target(from *Doc, x note.Link) Target {
	if x.Target == "" {
		if from == l.doc {
			return Target{Doc: from, URL: ""}
		}
		return l.toDoc(l.graph.numbers[from])
	}
	t, external := l.graph.lookup(from, &x)
	switch {
	case external:
		return Target{URL: x.Target, External: true}
	case t.doc >= 0:
		return l.toDoc(t.doc)
	case t.file >= 0:
		return l.toFile(t.file)
	}
	return Target{}
}

func (l linksOn) toDoc(j int) Target {
	return Target{Doc: l.set.Docs[j], URL: relative(l.page, l.graph.pages[j])}
}

func (l linksOn) toFile(j int) Target {
	f, ok := l.attachments[j]
	if !ok {
		return Target{}
	}
	return Target{URL: relative(l.page, f.name), Width: f.width, Height: f.height}
}

// Text implements Links.
func (l linksOn) Text(d *Doc) ([]byte, error) { return l.text(l.ctx, d) }

// Tag implements Links.
func (l linksOn) Tag(tag string) string {
	name, ok := l.tagPages[strings.ToLower(tag)]
	if !ok {
		return ""
	}
	return relative(l.page, name)
}

// notePage makes the page of doc i, and reports whether it has diagrams.
func (b *builder) notePage(ctx context.Context, i int) (page []byte, diagrams bool, err error) {
	d := b.set.Docs[i]
	name := b.graph.pages[i]
	body, err := b.renderer.Body(d, linksOn{b, ctx, d, name})
	if err != nil {
		return nil, false, err
	}
	p := notePage{
		shell: b.newShell(name, d.Title), Doc: d,
		Outline: outline(d, body.Headings), Updated: d.Updated, Minutes: minutes(d.Note.Words),
		Status: d.Note.Status(), Properties: properties(d.Note),
		Source: path.Base(sourceName(name)), Change: b.change(d), Cite: citation(d),
		Cut: slices.ContainsFunc(d.Note.Problems, func(p note.Problem) bool { return p.Code == "too_large" }),
	}
	p.Heading, p.Body = splitTitle(d, body)
	p.Description, p.Article = d.Note.Summary, true
	p.Home = name == homePage
	p.Crumbs = b.crumbs(name, d)
	p.Language, p.Versions = b.languageOf(d), b.translations(name, i)
	p.Superseded = b.superseded(name, d)
	for _, tag := range d.Tags {
		p.Tags = append(p.Tags, link{(linksOn{b, ctx, d, name}).Tag(tag), "#" + tag})
	}
	p.Links = b.linksTo(name, neighbours(b.graph.out[i]))
	for _, j := range b.related(i) {
		p.Related = append(p.Related, link{relative(name, b.graph.pages[j]), b.set.Docs[j].Title})
	}
	p.Previous, p.Next = b.linkBeside(name, i, -1), b.linkBeside(name, i, 1)
	if p.Backlinks, p.MoreBacklinks, err = b.backlinks(ctx, name, i); err != nil {
		return nil, false, err
	}
	page, err = render("note.html", p)
	return page, body.Mermaid, err
}

// sourceName is where the Markdown of a page is.
func sourceName(page string) string { return strings.TrimSuffix(page, ".html") + ".md" }

func minutes(words int) int {
	if words < wordsMinute {
		return 0
	}
	return (words + wordsMinute/2) / wordsMinute
}

// beginsWithTitle reports whether the body's first heading is the title.
func beginsWithTitle(d *Doc, headings []note.HeadingAnchor) bool {
	return len(headings) > 0 && headings[0].Level == 1 && headings[0].Text == d.Title
}

// splitTitle takes the title's heading from the beginning of a body, or makes one.
func splitTitle(d *Doc, body *Body) (heading, rest template.HTML) {
	const end = "</h1>"
	if i := bytes.Index(body.HTML, []byte(end)); beginsWithTitle(d, body.Headings) && i > 0 && bytes.HasPrefix(body.HTML, []byte("<h1")) {
		return template.HTML(body.HTML[:i+len(end)]), template.HTML(bytes.TrimLeft(body.HTML[i+len(end):], "\n"))
	}
	return template.HTML("<h1>" + template.HTMLEscapeString(d.Title) + end), template.HTML(body.HTML)
}

// outline is the headings worth listing: of the levels 2 to 4, and those of level
// 1 but the title. A single heading is no outline.
func outline(d *Doc, headings []note.HeadingAnchor) []note.HeadingAnchor {
	if beginsWithTitle(d, headings) {
		headings = headings[1:]
	}
	out := slices.DeleteFunc(slices.Clone(headings), func(h note.HeadingAnchor) bool { return h.Level > 4 || h.Text == "" })
	if len(out) < 2 {
		return nil
	}
	return out
}

// properties are the rows of frontmatter that the page does not show elsewhere.
func properties(n *note.Note) (out []property) {
	shown := []string{"title", "tags", "tag", "aliases", "alias", "status", "publish", "draft", "updated", "modified", "last_modified", "superseded_by", "cssclasses", "cssclass", "lang", "translationkey"}
	for _, f := range n.Fields {
		if slices.Contains(shown, strings.ToLower(f.Key)) {
			continue
		}
		p := property{Key: f.Key}
		for _, v := range n.Strings(f.Key) {
			p.Values = append(p.Values, valueLink(v))
		}
		if len(p.Values) > 0 {
			out = append(out, p)
		}
	}
	return out
}

func valueLink(v string) link {
	if u, err := url.Parse(v); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return link{URL: u.String(), Text: v}
	}
	return link{Text: v}
}

// change says who last changed the note, and when.
func (b *builder) change(d *Doc) string {
	if d.Commit == "" {
		return ""
	}
	return fmt.Sprintf("%s by %s in %s", d.Updated, d.Author, d.Commit[:min(8, len(d.Commit))])
}

// citation names the note for kb, with a place for the commit after the @.
func citation(d *Doc) string { return "kb://" + d.Collection + "@/" + escapePath(d.Path) }

// superseded links to the note that took the place of d.
func (b *builder) superseded(page string, d *Doc) *link {
	if !d.Note.Obsolete() {
		return nil
	}
	name := d.Note.Superseded()
	l := note.Link{Kind: note.WikiLink, Target: strings.Trim(name, "[]")}
	if j, ok := b.graph.docOf(d, l); ok && l.Target != "" {
		return &link{relative(page, b.graph.pages[j]), b.set.Docs[j].Title}
	}
	return &link{}
}

// crumbs lead down to the folder of d from the home page, which each page has a link
// to at its top.
func (b *builder) crumbs(page string, d *Doc) (out []link) {
	if page == homePage {
		return nil
	}
	if b.graph.prefix(d.Collection) != "" {
		out = append(out, link{relative(page, b.folders[place{d.Collection, ""}]), d.Collection})
	}
	dir := ""
	for part := range strings.SplitSeq(strings.Trim(folderOf(d), "/"), "/") {
		if part == "" {
			continue
		}
		dir += part + "/"
		out = append(out, link{relative(page, b.folders[place{d.Collection, dir}]), part})
	}
	if isFolderNote(d) && len(out) > 0 {
		return out[:len(out)-1]
	}
	return out
}

func (b *builder) linksTo(page string, docs []int) (out []link) {
	for _, j := range docs[:min(len(docs), mostLinks)] {
		out = append(out, link{relative(page, b.graph.pages[j]), b.set.Docs[j].Title})
	}
	return out
}

// related are the docs that are about the same as doc i, but those that the page
// links to anyhow.
func (b *builder) related(i int) (out []int) {
	known := neighbours(b.graph.out[i])
	for _, d := range b.set.Docs[i].Related {
		if j, ok := b.graph.numbers[d]; ok && !slices.Contains(known, j) {
			out = append(out, j)
		}
	}
	return out[:min(len(out), mostRelated)]
}

// backlinks are the notes that link to doc i, each with its first sentence that
// does.
func (b *builder) backlinks(ctx context.Context, page string, i int) (out []backlink, more int, err error) {
	seen := map[int]bool{}
	for _, e := range b.graph.in[i] {
		if seen[e.doc] {
			continue
		}
		seen[e.doc] = true
		if len(out) == mostBacklinks {
			more++
			continue
		}
		from := b.set.Docs[e.doc]
		text, err := b.text(ctx, from)
		if err != nil {
			return nil, 0, err
		}
		l := link{relative(page, b.graph.pages[e.doc]), from.Title}
		out = append(out, backlink{l, around(from.Note, text, &from.Note.Links[e.nth])})
	}
	return out, more, nil
}
