package site

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// listPage is a page of links in groups.
type listPage struct {
	shell
	Lead   string
	Groups []listGroup
}

type listGroup struct {
	Title string
	Flow  bool // set as running text
	Items []listItem
}

type listItem struct {
	link
	Count string
	Date  string
	About string
}

// nameFolders gives every folder a page: its note's, or one that lists it.
func (b *builder) nameFolders() {
	b.folders = map[place]string{}
	for i, d := range b.set.Docs {
		if isFolderNote(d) {
			if at := (place{d.Collection, folderOf(d)}); b.folders[at] == "" && path.Base(b.graph.pages[i]) == homePage {
				b.folders[at] = b.graph.pages[i]
			}
		}
	}
	for _, d := range b.set.Docs {
		for dir := folderOf(d); ; dir = parent(dir) {
			at := place{d.Collection, dir}
			if b.folders[at] == "" {
				b.folders[at] = b.names.claim(folderName(b.graph.prefix(d.Collection), dir)+homePage, d.Collection+":"+dir)
			}
			if dir == "" {
				break
			}
		}
	}
}

// parent is the directory above one: "" above "a/".
func parent(dir string) string {
	up, _ := path.Split(strings.TrimSuffix(dir, "/"))
	return up
}

// nameTags gives every tag a page, also those that stand above a nested one.
func (b *builder) nameTags() {
	b.tagPages = map[string]string{}
	tags := map[string]bool{}
	for _, d := range b.set.Docs {
		for _, t := range d.Tags {
			for t = strings.ToLower(t); t != ""; t = strings.TrimSuffix(parent(t), "/") {
				tags[t] = true
			}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(tags)) {
		b.tagPages[t] = b.names.claim("tags/"+safeName(strings.ReplaceAll(t, "/", "-"))+".html", "#"+t)
	}
}

// lists makes the pages that are not notes.
func (b *builder) lists(ctx context.Context) error {
	for _, step := range []func() error{b.folderPages, b.tagList, b.tagPagesAll, b.allNotes, b.recent, b.searchAnd404, b.graphPage} {
		if err := step(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// putList makes a page of links, unless it is there with all that it shows.
func (b *builder) putList(name string, p listPage) error {
	k := keyer{}
	k.put(b.siteKey, p.Name, p.Root, p.shell.Title, p.Lead)
	k.number(boolInt(p.Home))
	k.links(p.Crumbs...)
	for _, g := range p.Groups {
		k.put(g.Title)
		k.number(boolInt(g.Flow))
		k.number(len(g.Items))
		for i := range g.Items {
			it := &g.Items[i]
			k.put(it.URL, it.Text, it.Count, it.Date, it.About)
		}
	}
	key := k.sum()
	if b.out.keep(name, key) {
		return nil
	}
	page, err := render("list.html", p)
	if err != nil {
		return err
	}
	return b.out.put(name, key, page)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (b *builder) item(page string, i int) listItem {
	d := b.set.Docs[i]
	return listItem{link: link{relative(page, b.graph.pages[i]), d.Title}}
}

// folderPages makes a page for each folder that has no note of its own, and the
// home page likewise.
func (b *builder) folderPages() error {
	below := countBelow(b.set.Docs)
	for _, at := range slices.SortedFunc(maps.Keys(b.folders), place.compare) {
		name := b.folders[at]
		if b.isNote(name) {
			continue
		}
		if err := b.putList(name, b.folderPage(name, at, b.inFolder[at], below[at])); err != nil {
			return err
		}
	}
	return b.home()
}

// home makes the home page, if it is not a note's or a folder's.
func (b *builder) home() error {
	if b.folderAt(homePage) || b.isNote(homePage) {
		return nil
	}
	return b.putList(homePage, b.homeList())
}

// countBelow counts the docs in each folder of a folder, those below it included.
func countBelow(docs []*Doc) map[place]map[string]int {
	below := map[place]map[string]int{}
	for _, d := range docs {
		dir := folderOf(d)
		for ; dir != ""; dir = parent(dir) {
			up := place{d.Collection, parent(dir)}
			if below[up] == nil {
				below[up] = map[string]int{}
			}
			below[up][dir]++
		}
	}
	return below
}

// summary is what doc i is about.
func (b *builder) summary(i int) string {
	if n := b.set.Docs[i].Note; n != nil {
		return n.Summary
	}
	return b.kept.docs[i].summary
}

func (b *builder) isNote(page string) bool { return b.docAt(page) != nil }

func (b *builder) folderAt(page string) bool {
	for _, name := range b.folders {
		if name == page {
			return true
		}
	}
	return false
}

func (b *builder) folderPage(name string, at place, docs []int, below map[string]int) listPage {
	title := path.Base("/" + strings.TrimSuffix(at.path, "/"))
	if at.path == "" {
		title = cmp.Or(b.graph.prefix(at.collection), b.set.Title)
	}
	p := listPage{shell: b.newShell(name, title), Lead: b.describe(at)}
	p.Home = name == homePage
	p.Crumbs = b.folderCrumbs(name, at)
	var folders, notes listGroup
	for _, dir := range slices.SortedFunc(maps.Keys(below), natural) {
		folders.Items = append(folders.Items, listItem{
			link:  link{relative(name, b.folders[place{at.collection, dir}]), path.Base(dir)},
			Count: plural(below[dir], "note"), About: b.describe(place{at.collection, dir}),
		})
	}
	for _, i := range docs {
		it := b.item(name, i)
		it.About, it.Date = b.summary(i), b.set.Docs[i].Updated
		notes.Items = append(notes.Items, it)
	}
	if len(folders.Items) > 0 && len(notes.Items) > 0 {
		folders.Title, notes.Title = "Folders", "Notes"
	}
	for _, g := range []listGroup{folders, notes} {
		if len(g.Items) > 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	return p
}

func (b *builder) folderCrumbs(name string, at place) (out []link) {
	if name == homePage {
		return nil
	}
	for dir := at.path; dir != ""; {
		dir = parent(dir)
		text := path.Base(dir)
		if dir == "" {
			text = b.graph.prefix(at.collection)
		}
		if text != "" {
			out = append(out, link{relative(name, b.folders[place{at.collection, dir}]), text})
		}
	}
	slices.Reverse(out)
	return out
}

// describe is what the configuration says of a folder.
func (b *builder) describe(at place) string {
	for _, c := range b.set.Collections {
		if c.Name != at.collection {
			continue
		}
		if at.path == "" {
			return c.Description
		}
		return c.Sections[strings.TrimSuffix(at.path, "/")]
	}
	return ""
}

// homeList is the home page of a vault of several collections, or of an empty one.
func (b *builder) homeList() listPage {
	p := listPage{shell: b.newShell(homePage, b.set.Title)}
	p.Home = true
	var g listGroup
	for _, c := range b.set.Collections {
		name := b.folders[place{c.Name, ""}]
		if name == "" {
			continue
		}
		n := 0
		for _, d := range b.set.Docs {
			if d.Collection == c.Name {
				n++
			}
		}
		g.Items = append(g.Items, listItem{link: link{relative(homePage, name), c.Name}, Count: plural(n, "note"), About: c.Description})
	}
	if len(g.Items) == 0 {
		p.Lead = "There are no notes yet."
		return p
	}
	p.Groups = []listGroup{g, b.recentGroup(homePage, 10)}
	return p
}

// tagDocs lists the docs of each tag, those of nested tags included.
func (b *builder) tagDocs() map[string][]int {
	out := map[string][]int{}
	for i, d := range b.set.Docs {
		for _, t := range tagsOf(d) {
			out[t] = append(out[t], i)
		}
	}
	return out
}

// tagsOf are the tags of a doc as pages have them, with those that they stand below.
func tagsOf(d *Doc) (out []string) {
	for _, t := range d.Tags {
		for t = strings.ToLower(t); t != "" && !slices.Contains(out, t); t = strings.TrimSuffix(parent(t), "/") {
			out = append(out, t)
		}
	}
	return out
}

func (b *builder) tagList() error {
	docs := b.tagDocs()
	p := listPage{shell: b.newShell(tagsPage, "Tags"), Lead: plural(len(docs), "tag")}
	g := listGroup{Flow: true}
	for _, t := range slices.Sorted(maps.Keys(docs)) {
		g.Items = append(g.Items, listItem{link: link{relative(tagsPage, b.tagPages[t]), "#" + t}, Count: fmt.Sprint(len(docs[t]))})
	}
	p.Groups = []listGroup{g}
	return b.putList(tagsPage, p)
}

func (b *builder) tagPagesAll() error {
	docs := b.tagDocs()
	for _, t := range slices.Sorted(maps.Keys(docs)) {
		if err := b.tagPage(t, docs[t]); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) tagPage(tag string, docs []int) error {
	name := b.tagPages[tag]
	p := listPage{shell: b.newShell(name, "#"+tag), Lead: plural(len(docs), "note")}
	p.Crumbs = []link{{relative(name, tagsPage), "Tags"}}
	var g listGroup
	for _, i := range docs {
		it := b.item(name, i)
		it.About, it.Date = b.summary(i), b.set.Docs[i].Updated
		g.Items = append(g.Items, it)
	}
	p.Groups = []listGroup{g}
	return b.putList(name, p)
}

// allNotesPage is how many notes a page of all notes has, when there are more than
// twice as many.
const allNotesPage = 500

// allNotes is every note from A to Z: what a reader without scripts has instead of
// search. Many notes are on several pages, which all.html lists.
func (b *builder) allNotes() error {
	order := b.byTitle()
	p := listPage{shell: b.newShell(allPage, "All notes"), Lead: plural(len(order), "note")}
	if len(order) <= 2*allNotesPage {
		p.Groups = b.byInitial(allPage, order)
		return b.putList(allPage, p)
	}
	var g listGroup
	for part := range slices.Chunk(order, allNotesPage) {
		n := fmt.Sprint(len(g.Items) + 1)
		name := b.names.claim("all/"+n+".html", "all:"+n)
		first, last := b.set.Docs[part[0]].Title, b.set.Docs[part[len(part)-1]].Title
		g.Items = append(g.Items, listItem{link: link{relative(allPage, name), firstPart(first, reach/2) + " – " + firstPart(last, reach/2)}, Count: plural(len(part), "note")})
		one := listPage{shell: b.newShell(name, "All notes, page "+n), Groups: b.byInitial(name, part)}
		one.Crumbs = []link{{relative(name, allPage), "All notes"}}
		if err := b.putList(name, one); err != nil {
			return err
		}
	}
	p.Groups = []listGroup{g}
	return b.putList(allPage, p)
}

// byTitle lists the docs in the order of their titles in the site's language.
func (b *builder) byTitle() []int {
	order := make([]int, len(b.set.Docs))
	tag, _ := language.Parse(b.set.Language)
	keys := make([][]byte, len(order))
	c, buf := collate.New(tag, collate.IgnoreCase), &collate.Buffer{}
	for i, d := range b.set.Docs {
		order[i], keys[i] = i, c.KeyFromString(buf, d.Title)
	}
	slices.SortStableFunc(order, func(x, y int) int { return slices.Compare(keys[x], keys[y]) })
	return order
}

// byInitial groups docs by the letters that their titles begin with.
func (b *builder) byInitial(page string, docs []int) (groups []listGroup) {
	for _, i := range docs {
		initial := initialOf(b.set.Docs[i].Title)
		if n := len(groups); n == 0 || groups[n-1].Title != initial {
			groups = append(groups, listGroup{Title: initial})
		}
		g := &groups[len(groups)-1]
		g.Items = append(g.Items, b.item(page, i))
	}
	return groups
}

// initialOf is the letter under which a title is listed.
func initialOf(title string) string {
	r, _ := utf8.DecodeRuneInString(title)
	if !unicode.IsLetter(r) {
		return "#"
	}
	return string(unicode.ToUpper(r))
}

const mostRecent = 100

func (b *builder) recent() error {
	p := listPage{shell: b.newShell(recentPage, "Recent changes"), Groups: []listGroup{b.recentGroup(recentPage, mostRecent)}}
	p.Groups[0].Title = ""
	return b.putList(recentPage, p)
}

func (b *builder) recentGroup(page string, most int) listGroup {
	g := listGroup{Title: "Recent changes"}
	for _, i := range b.newest(most) {
		it := b.item(page, i)
		it.Date, it.About = b.set.Docs[i].Updated, b.summary(i)
		g.Items = append(g.Items, it)
	}
	return g
}

// newest lists the docs that changed last, those without a date not at all.
func (b *builder) newest(most int) []int {
	days := map[string]int{}
	for _, d := range b.set.Docs {
		days[d.Updated]++
	}
	delete(days, "")
	oldest, enough := "", 0 // of those that are listed
	for _, day := range slices.Backward(slices.Sorted(maps.Keys(days))) {
		if oldest, enough = day, enough+days[day]; enough >= most {
			break
		}
	}
	var order []int
	for i, d := range b.set.Docs {
		if d.Updated != "" && d.Updated >= oldest {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return strings.Compare(b.set.Docs[y].Updated, b.set.Docs[x].Updated) })
	return order[:min(len(order), most)]
}

func (b *builder) searchAnd404() error {
	page, err := render("search.html", b.newShell(searchPage, "Search"))
	if err != nil {
		return err
	}
	if err := b.out.put(searchPage, "", page); err != nil {
		return err
	}
	missing := listPage{shell: b.newShell(notFoundPage, "Not found"), Lead: "There is no page at this address. Search for it, or begin at the home page."}
	if b.set.BaseURL != "" {
		missing.Root = b.set.base() // it is shown at any depth
	}
	missing.Groups = []listGroup{{Items: []listItem{{link: link{missing.Root + homePage, "Home"}}, {link: link{missing.Root + allPage, "All notes"}}}}}
	return b.putList(notFoundPage, missing)
}

// graphPageData is the page with the graph of all notes.
type graphPageData struct {
	shell
	Lead  string
	Data  string
	Items []listItem
}

const mostLinked = 50

func (b *builder) graphPage() error {
	var order []int
	edges, count := 0, make([]int, len(b.set.Docs))
	for i := range b.set.Docs {
		edges += len(neighbours(b.graph.out[i]))
		if count[i] = len(neighbours(b.graph.in[i])); count[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return count[y] - count[x] })
	p := graphPageData{shell: b.newShell(graphPage, "Graph"), Data: b.graphFile,
		Lead: fmt.Sprintf("%s and %s among them.", plural(len(b.set.Docs), "note"), plural(edges, "link"))}
	for _, i := range order[:min(len(order), mostLinked)] {
		it := b.item(graphPage, i)
		it.Count = fmt.Sprint(count[i])
		p.Items = append(p.Items, it)
	}
	page, err := render("graph.html", p)
	if err != nil {
		return err
	}
	return b.out.put(graphPage, "", page)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
