package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"kb/note"
)

// Recipe names what pages are made by. It is part of what every page is made of.
const Recipe = "site/6"

// Options say where a site goes.
type Options struct {
	Out      string
	Keep     bool                  // return what [Renew] asks for
	Progress func(done, total int) // pages; nil for none
	Cache    Cache                 // rendered code and formulas; nil keeps them for this build only
}

// Built is what a build did.
type Built struct {
	Pages   int // of notes
	Files   int // of the whole site
	Written int // that were not there with the same bytes
	Removed int // that the site no longer has

	Kept []byte // what [Renew] wants to know of this build
}

// builder is one build.
type builder struct {
	set      *Set
	site     *siteData
	names    *namer
	graph    *graph
	renderer *Renderer
	out      *output
	kept     *kept                            // nil, or what the build before left
	recall   func(context.Context, int) error // of docs whose notes are not there yet

	folders      map[place]string // page of each folder, by its path with a final slash
	tagPages     map[string]string
	attachments  map[int]attachment
	byPage       map[string]*Doc
	versions     map[place][]int // docs that say the same, by what they share
	texts        *textCache
	siteKey      string // what all pages depend on
	keyers       sync.Pool
	inFolder     map[place][]int // docs of each folder, in their order there
	turn         []int           // of each doc in its folder
	searchFile   string
	navFile      string
	graphFile    string
	withDiagrams atomic.Bool // a page has one
	progress     func(done, total int)
}

// attachment is a file of the vault as the site has it.
type attachment struct {
	name          string
	width, height int
}

// Build makes the site of a set in a directory, which must be empty, missing,
// or a site made before: of that, only what changes is written. It returns
// [ErrNotOurs] for any other. When it fails, a new site leaves nothing behind,
// and one that was there is finished by the next build.
func Build(ctx context.Context, set *Set, o Options) (_ *Built, err error) {
	out, err := openOutput(o.Out)
	if err != nil {
		return nil, err
	}
	b := &builder{set: set, names: newNamer(), renderer: NewRenderer(o.Cache), out: out, texts: newTextCache(), progress: o.Progress,
		keyers: sync.Pool{New: func() any { return &keyer{} }}}
	if err := b.build(ctx); err != nil {
		if aerr := out.abandon(); aerr != nil {
			err = fmt.Errorf("%w (and cleaning up: %v)", err, aerr)
		}
		return nil, err
	}
	if err := out.finish(set.manifest()); err != nil {
		return nil, err
	}
	built := &Built{Pages: len(set.Docs), Files: out.count, Written: out.written, Removed: len(out.stale)}
	if o.Keep {
		built.Kept = b.keep(out.manifest).bytes()
	}
	return built, nil
}

func (b *builder) build(ctx context.Context) error {
	b.graph = newGraph(b.set, b.names)
	b.docAt("") // makes the map, before pages are made side by side
	b.nameFolders()
	b.nameTags()
	b.group()
	b.orderFolders()
	return inTurn(b.assets, b.copyAttachments, b.searchAndNotes, b.diagrams, b.lists, b.redirects, b.feeds)(ctx)
}

// step is a part of a build.
type step func(context.Context) error

// inTurn is steps one after the other.
func inTurn(steps ...step) step {
	return func(ctx context.Context) error {
		for _, do := range steps {
			if err := do(ctx); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}
}

// searchAndNotes makes the search data, and what names them, beside the pages of
// the notes, which do not: that takes one core.
func (b *builder) searchAndNotes(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, do := range []step{inTurn(b.search, b.data), b.notes} {
		g.Go(func() error { return do(ctx) })
	}
	return g.Wait()
}

// notes makes the pages of the notes, several at a time.
func (b *builder) notes(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	done := 0
	for i := range b.set.Docs {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := b.note(ctx, i); err != nil {
				return fmt.Errorf("%s: %w", b.set.Docs[i].Path, err)
			}
			if b.progress == nil {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			b.progress(done, len(b.set.Docs))
			return nil
		})
	}
	return g.Wait()
}

func (b *builder) note(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, name := b.set.Docs[i], b.graph.pages[i]
	k := b.keyers.Get().(*keyer)
	key := b.pageKey(k, i)
	b.keyers.Put(k)
	source := sourceName(name)
	if plain := b.out.keep(name, key); (plain || b.out.keep(name, key+drawn)) && b.out.keep(source, d.Blob.String()) {
		b.needDiagrams(!plain)
		return nil
	}
	b.out.forget(name, source)
	page, diagrams, err := b.notePage(ctx, i)
	if err != nil {
		return err
	}
	if b.needDiagrams(diagrams); diagrams {
		key += drawn
	}
	text, err := b.text(ctx, d)
	if err != nil {
		return err
	}
	if err := b.out.put(source, d.Blob.String(), visible(d.Note, text)); err != nil {
		return err
	}
	return b.out.put(name, key, page)
}

// pageKey is a hash of all that a note's page depends on.
func (b *builder) pageKey(k *keyer, i int) string {
	d, name := b.set.Docs[i], b.graph.pages[i]
	k.put(b.siteKey, d.Collection, d.Path, d.Updated, d.Commit, d.Author, d.Language, name)
	for _, t := range b.translations(name, i) {
		k.put(t.URL, t.Text, t.Language)
	}
	k.number(2*len(d.Versions) + boolInt(d.MoreVersions))
	for _, v := range d.Versions {
		k.put(v.Commit, v.Date, v.Author, v.Subject, v.Path)
	}
	b.putTargets(k, i, new([]int))
	b.putSuperseded(k, d)
	for _, j := range neighbours(b.graph.out[i]) {
		k.put(b.graph.pages[j], b.set.Docs[j].Title)
	}
	for _, j := range b.related(i) {
		k.put(b.graph.pages[j], b.set.Docs[j].Title)
	}
	k.number(len(b.graph.in[i]))
	for _, e := range b.graph.in[i] {
		from := b.set.Docs[e.doc]
		k.put(b.graph.pages[e.doc], from.Title)
		k.buf = append(k.buf, from.Blob[:]...)
		k.number(e.start)
	}
	for dir := folderOf(d); dir != ""; dir = parent(dir) {
		k.put(b.folders[place{d.Collection, dir}])
	}
	k.put(b.folders[place{d.Collection, ""}])
	for _, by := range []int{-1, 1} {
		if j, ok := b.beside(i, by); ok {
			k.put(b.graph.pages[j], b.set.Docs[j].Title)
		}
		k.number(0)
	}
	return k.sum()
}

// putTargets adds where the links and tags of doc i lead, and the same of what it
// embeds, each doc once.
func (b *builder) putTargets(k *keyer, i int, seen *[]int) {
	if slices.Contains(*seen, i) {
		return
	}
	*seen = append(*seen, i)
	d := b.set.Docs[i]
	k.put(d.Title)
	k.buf = append(k.buf, d.Blob[:]...)
	for _, tag := range d.Tags {
		k.put(b.tagPages[strings.ToLower(tag)])
	}
	for _, t := range b.graph.targets[i] {
		switch {
		case t.doc >= 0:
			to := b.set.Docs[t.doc]
			k.put(b.graph.pages[t.doc])
			if t.part {
				k.buf = append(k.buf, to.Blob[:]...) // whether it has such a heading
			}
			if t.embed {
				b.putTargets(k, t.doc, seen)
			}
		case t.file >= 0:
			a := b.attachments[t.file]
			k.put(a.name)
			k.number(a.width)
			k.number(a.height)
		default:
			k.put("")
		}
	}
}

// putSuperseded adds the note that took the place of d.
func (b *builder) putSuperseded(k *keyer, d *Doc) {
	if l := b.superseded("", d); l != nil {
		k.links(*l)
	}
}

// copyAttachments copies the files that notes show or link to, under names with
// their content's hash.
func (b *builder) copyAttachments(ctx context.Context) error {
	b.attachments = map[int]attachment{}
	var used []int
	seen := map[int]bool{}
	for _, targets := range b.graph.targets {
		for _, t := range targets {
			if t.file >= 0 && !seen[t.file] {
				seen[t.file] = true
				used = append(used, t.file)
			}
		}
	}
	slices.Sort(used)
	for _, j := range used {
		if err := b.copyAttachment(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) copyAttachment(ctx context.Context, j int) error {
	f := b.set.Files[j]
	raw, err := b.set.Read(ctx, f.Collection, f.Blob)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	data, ext, ok := publishable(f.Path, raw)
	if !ok {
		return nil
	}
	stem := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
	a := attachment{name: assetDir + "/files/" + f.Blob.String()[:10] + "-" + safeName(stem) + ext}
	a.width, a.height = imageSize(data)
	b.attachments[j] = a
	if b.out.has(a.name) {
		return nil // the same bytes under two names that are one here
	}
	return b.out.put(a.name, "", data)
}

// load has doc i say what is in it.
func (b *builder) load(ctx context.Context, i int) error {
	if b.set.Docs[i].Note != nil {
		return nil
	}
	return b.recall(ctx, i)
}

// text is a doc's text as note.Parse returned it with its Note.
func (b *builder) text(ctx context.Context, d *Doc) ([]byte, error) {
	return b.texts.get(d.Blob, func() ([]byte, error) {
		raw, err := b.set.Read(ctx, d.Collection, d.Blob)
		if err != nil {
			return nil, err
		}
		if len(raw) > note.MaxText {
			_, text := note.Parse(raw) // cut where Parse cuts
			return text, nil
		}
		return note.Decode(raw)
	})
}

// textCache keeps the texts read last: a note that links to many is read for the
// backlinks of each.
type textCache struct {
	mu    sync.Mutex
	texts map[note.ID][]byte
	size  int
}

const maxTexts = 32 << 20

func newTextCache() *textCache { return &textCache{texts: map[note.ID][]byte{}} }

func (c *textCache) get(id note.ID, read func() ([]byte, error)) ([]byte, error) {
	c.mu.Lock()
	text, ok := c.texts[id]
	c.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := read()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(text); c.size > maxTexts {
		clear(c.texts)
		c.size = len(text)
	}
	c.texts[id] = text
	return text, nil
}

// script is a file that hands data to the client: a call, so that it loads from
// a disk too, where nothing can be fetched.
func script(function string, data any) ([]byte, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return []byte(fmt.Sprintf("kb.%s(%s)\n", function, raw)), nil
}

// hashed is a name with a hash of the content in it, so that it can be kept
// forever.
func hashed(name string, data []byte) string {
	sum := sha256.Sum256(data)
	ext := path.Ext(name)
	return assetDir + "/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:5]) + ext
}

// inName is the key of files whose names say what they are made of.
const inName = "="

func (b *builder) putHashed(name string, data []byte) (string, error) {
	as := hashed(name, data)
	return as, b.out.put(as, inName, data)
}
