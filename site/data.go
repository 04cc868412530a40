package site

import (
	"context"
	"encoding/json"
	"math"
	"path"
	"strings"
)

// maxNavDocs is up to how many notes the navigation lists notes, not only
// folders: beyond, it would be a large part of what a reader loads.
const maxNavDocs = 2000

// navShard is up to how many bytes of what is in a folder stand in the navigation
// itself; more is loaded when a reader opens the folder, or is in it.
const navShard = 4 << 10

// navNode is a folder or note in the navigation.
type navNode struct {
	Title string     `json:"t"`
	Page  string     `json:"p,omitempty"`
	Count int        `json:"n,omitempty"` // notes in a folder and below
	Items []*navNode `json:"i,omitempty"`
	File  string     `json:"f,omitempty"` // has the items

	name string // of the file or directory: what it is ordered by
}

// data makes what pages load beside themselves: the navigation, and the one file
// of a fixed name, which names the others and the site's commit. So pages do not
// change when those do.
func (b *builder) data(context.Context) error {
	var err error
	if b.navFile, err = b.putNavigation(b.navigation()); err != nil {
		return err
	}
	if b.graphFile, err = b.graphData(); err != nil {
		return err
	}
	return b.siteIndex()
}

// siteIndex writes the file that names the others.
func (b *builder) siteIndex() error {
	index, err := script("site", map[string]any{
		"title": b.set.Title, "commit": b.set.Commit.ID, "date": b.set.Commit.Date, "nav": b.navFile, "search": b.searchFile, "graph": b.graphFile,
	})
	if err != nil {
		return err
	}
	return b.out.put(siteScript, "", append([]byte("var kb=window.kb||(window.kb={});kb.site=kb.site||function(s){kb.at=s};\n"), index...))
}

// putNavigation writes nodes of the navigation, and what is in large folders of
// theirs, and returns the name of their file.
func (b *builder) putNavigation(nodes []*navNode) (string, error) {
	if err := b.putFolders(nodes); err != nil {
		return "", err
	}
	raw, err := script("nav", nodes)
	if err != nil {
		return "", err
	}
	return b.putHashed("nav.js", raw)
}

func (b *builder) putFolders(nodes []*navNode) error {
	for _, n := range nodes {
		if err := b.putFolders(n.Items); err != nil {
			return err
		}
		raw, err := json.Marshal(n.Items)
		if err != nil {
			return err
		}
		if len(raw) <= navShard {
			continue
		}
		if n.File, err = b.putNavigation(n.Items); err != nil {
			return err
		}
		n.Items = nil
	}
	return nil
}

// navigation is the tree of folders, with notes unless there are too many.
func (b *builder) navigation() []*navNode {
	root := &navNode{}
	folders := map[place]*navNode{}
	var folder func(at place) *navNode
	folder = func(at place) *navNode {
		if n := folders[at]; n != nil {
			return n
		}
		n := &navNode{Title: path.Base("/" + strings.TrimSuffix(at.path, "/")), Page: b.folders[at]}
		n.name = n.Title
		up := root
		switch {
		case at.path != "":
			up = folder(place{at.collection, parent(at.path)})
		case b.graph.prefix(at.collection) == "":
			folders[at] = root
			return root
		default:
			n.Title = at.collection
		}
		up.Items = append(up.Items, n)
		folders[at] = n
		return n
	}
	for i, d := range b.set.Docs {
		at := place{d.Collection, folderOf(d)}
		n := folder(at)
		for dir := at.path; ; dir = parent(dir) {
			folders[place{d.Collection, dir}].Count++
			if dir == "" {
				break
			}
		}
		if b.folders[at] != b.graph.pages[i] && len(b.set.Docs) <= maxNavDocs {
			n.Items = append(n.Items, &navNode{Title: d.Title, Page: b.graph.pages[i], name: path.Base(d.Path)})
		}
	}
	root.arrange()
	return root.Items
}

// graphOf is the graph of all notes as the client draws it: positions are laid
// out here, so that the reader's machine only draws.
type graphOf struct {
	Titles []string `json:"t"`
	Pages  []string `json:"p"`
	Groups []int    `json:"g"` // the folder, numbered
	X      []int    `json:"x"`
	Y      []int    `json:"y"`
	From   []int    `json:"f"` // edges
	To     []int    `json:"o"`
}

// graphKey is the name in the build file under which it says what the graph was
// made of, and what its file is called.
const graphKey = "#graph"

// graphData writes the graph, unless it is there, and returns its file's name.
func (b *builder) graphData() (string, error) {
	g := b.graphOfDocs()
	k := keyer{}
	k.put(Recipe)
	k.number(len(g.Titles))
	for i, title := range g.Titles {
		k.put(title, g.Pages[i])
		k.number(g.Groups[i])
	}
	for e, from := range g.From {
		k.number(from)
		k.number(g.To[e])
	}
	key := k.sum()
	if was, name, _ := strings.Cut(b.out.keyOf(graphKey), " "); was == key && b.out.keep(name, inName) {
		b.out.note(graphKey, key+" "+name)
		return name, nil
	}
	g.X, g.Y = layout(len(g.Titles), g.Groups, g.From, g.To)
	raw, err := script("graph", g)
	if err != nil {
		return "", err
	}
	name, err := b.putHashed("graph.js", raw)
	b.out.note(graphKey, key+" "+name)
	return name, err
}

func (b *builder) graphOfDocs() *graphOf {
	g := &graphOf{Titles: []string{}, Pages: []string{}, Groups: []int{}, X: []int{}, Y: []int{}, From: []int{}, To: []int{}}
	groups := map[place]int{}
	for i, d := range b.set.Docs {
		key := place{d.Collection, firstFolder(d)}
		if _, ok := groups[key]; !ok {
			groups[key] = len(groups)
		}
		g.Titles, g.Pages, g.Groups = append(g.Titles, d.Title), append(g.Pages, b.graph.pages[i]), append(g.Groups, groups[key])
		for _, j := range neighbours(b.graph.out[i]) {
			g.From, g.To = append(g.From, i), append(g.To, j)
		}
	}
	return g
}

func firstFolder(d *Doc) string {
	first, _, ok := strings.Cut(d.Path, "/")
	if !ok {
		return ""
	}
	return first
}

// layout places the nodes of a graph in the plane, deterministically: each begins
// on a spiral, its group together, and moves towards the middle of those it is
// linked with and away from what is too near, for a number of rounds that falls
// with the size. Units are pixels at scale 1.
func layout(n int, groups, from, to []int) (xs, ys []int) {
	x, y := make([]float64, n), make([]float64, n)
	const gap = 28.0
	for rank, i := range byGroup(n, groups) {
		r := gap * math.Sqrt(float64(rank)+0.5)
		angle := float64(rank) * math.Pi * (3 - math.Sqrt(5))
		x[i], y[i] = math.Round(r*math.Cos(angle)), math.Round(r*math.Sin(angle))
	}
	rounds := 60
	if n > 3000 {
		rounds = 20
	}
	for range rounds {
		pull(x, y, from, to)
		push(x, y, gap)
	}
	xs, ys = make([]int, n), make([]int, n)
	for i := range x {
		xs[i], ys[i] = int(math.Round(x[i])), int(math.Round(y[i]))
	}
	return xs, ys
}

// byGroup lists the nodes so that those of a group stand together.
func byGroup(n int, groups []int) []int {
	count := make([]int, n+1)
	for _, g := range groups {
		count[g+1]++
	}
	for g := 1; g <= n; g++ {
		count[g] += count[g-1]
	}
	out := make([]int, n)
	for i, g := range groups {
		out[count[g]] = i
		count[g]++
	}
	return out
}

// pull moves each node towards the mean of its neighbours.
func pull(x, y []float64, from, to []int) {
	sx, sy, k := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for e := range from {
		a, b := from[e], to[e]
		sx[a], sy[a], k[a] = sx[a]+x[b], sy[a]+y[b], k[a]+1
		sx[b], sy[b], k[b] = sx[b]+x[a], sy[b]+y[a], k[b]+1
	}
	for i := range x {
		if k[i] > 0 {
			x[i] = float64(0.8*x[i]) + float64(0.2*(sx[i]/k[i]))
			y[i] = float64(0.8*y[i]) + float64(0.2*(sy[i]/k[i]))
		}
	}
}

// push moves nodes apart that are nearer than gap, looking only at those in the
// squares around each.
func push(x, y []float64, gap float64) {
	type square struct{ x, y int }
	at := func(i int) square { return square{int(math.Floor(x[i] / gap)), int(math.Floor(y[i] / gap))} }
	squares := map[square][]int{}
	for i := range x {
		squares[at(i)] = append(squares[at(i)], i)
	}
	const most = 12 // of a square: where everything is in one place, the rest follows in later rounds
	for i := range x {
		s := at(i)
		for dx := -1; dx <= 1; dx++ {
			for dy := -1; dy <= 1; dy++ {
				near := squares[square{s.x + dx, s.y + dy}]
				for _, j := range near[:min(len(near), most)] {
					apart(x, y, i, j, gap)
				}
			}
		}
	}
}

// apart moves i away from j if they are too near.
func apart(x, y []float64, i, j int, gap float64) {
	if i == j {
		return
	}
	dx, dy := x[i]-x[j], y[i]-y[j]
	d := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if d >= gap {
		return
	}
	if d < 1 { // in one place: apart by their numbers
		angle := float64(i%97) * 0.65
		dx, dy, d = math.Cos(angle), math.Sin(angle), 1
	}
	move := (gap - d) / 2
	x[i] += float64(dx / d * move)
	y[i] += float64(dy / d * move)
}
