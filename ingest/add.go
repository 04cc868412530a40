package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"kb/internal/fetch"
	"kb/note"
	"kb/vault"
)

// Vault is where documents go.
type Vault interface {
	Sources(ctx context.Context, p vault.SourcesParams) (*vault.Sources, error)
	Add(ctx context.Context, p vault.AddParams) (*vault.Added, error)
	Merge(ctx context.Context, p vault.ReviewMergeParams) (*vault.ReviewMerged, error)
}

// Options say where documents go, and how.
type Options struct {
	Collection   string
	Directory    string
	Template     string // of new notes
	Tags         []string
	Draft        string // default: vault.InboxDraft
	Message      string
	DryRun       bool
	Merge        bool // publish what was added at once, if it passes the checks
	LeaveDeleted bool // what people deleted is not brought back
	KeepOriginal bool // keep the file that a note was made of beside it
}

// Adder reads sources and adds what they hold to a vault.
type Adder struct {
	Vault  Vault
	Reader *Reader
	Options
	Report func(done, total int, what string) // may be nil

	known map[string]vault.NoteSource
}

// The size of a batch. Each is a commit: what was read before the command is
// killed is not read again. A call has room for six times the bytes, which is what
// the worst of texts takes as JSON.
const (
	batchNotes = 100
	batchBytes = 2 << 20
	workers    = 4
)

// Run reads the sources, in their order, and adds them in batches. A source that
// cannot be read fails alone. Repeating a run that was interrupted adds the rest.
// What could not be merged is added: the result comes with the error.
func (a *Adder) Run(ctx context.Context, sources []Source) (*vault.Added, error) {
	a.Draft = cmp.Or(a.Draft, vault.InboxDraft)
	total := &vault.Added{Added: []vault.AddedNote{}, Updated: []vault.AddedNote{}, Skipped: []vault.AddedNote{}, Failed: []vault.AddedNote{}, Missing: []vault.AddedNote{}, Draft: a.Draft, DryRun: a.DryRun}
	if err := a.learn(ctx); err != nil {
		return nil, err
	}
	var batch []vault.Import
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		r, err := a.Vault.Add(ctx, a.params(batch))
		if err == nil {
			total.Join(r)
			batch, size = nil, 0
		}
		return err
	}
	err := a.readAll(ctx, sources, func(i int, r *Result, err error) error {
		a.report(i, len(sources), sources[i].Name)
		if err != nil || r.Unchanged {
			return a.without(ctx, total, sources[i], err)
		}
		for _, n := range a.imports(r) {
			more := bytesOf(&n)
			if len(batch) == batchNotes || len(batch) > 0 && size+more > batchBytes {
				if err := flush(); err != nil {
					return err
				}
			}
			batch, size = append(batch, n), size+more
		}
		return nil
	})
	if err = errors.Join(err, flush()); err != nil {
		return nil, err
	}
	a.report(len(sources), len(sources), "")
	if a.Merge && !a.DryRun {
		return total, a.merge(ctx, total)
	}
	return total, nil
}

func (a *Adder) report(done, total int, what string) {
	if a.Report != nil {
		a.Report(done, total, what)
	}
}

func (a *Adder) params(batch []vault.Import) vault.AddParams {
	return vault.AddParams{Notes: batch, Collection: a.Collection, Directory: a.Directory, Template: a.Template, Tags: a.Tags, Draft: a.Draft, Message: a.Message, DryRun: a.DryRun, LeaveDeleted: a.LeaveDeleted}
}

// learn asks the vault what it has.
func (a *Adder) learn(ctx context.Context) error {
	have, err := a.Vault.Sources(ctx, vault.SourcesParams{Collection: a.Collection, Draft: a.Draft})
	if err != nil {
		return err
	}
	a.known = map[string]vault.NoteSource{}
	for _, s := range have.Sources {
		a.known[s.Source] = s
	}
	return nil
}

// reading is what reading a source gave.
type reading struct {
	result *Result
	err    error
}

// readAll reads sources, some at once, and hands the results over in their order.
func (a *Adder) readAll(ctx context.Context, sources []Source, take func(i int, r *Result, err error) error) error {
	results := make([]chan reading, len(sources))
	for i := range results {
		results[i] = make(chan reading, 1)
	}
	g, inner := errgroup.WithContext(ctx)
	ahead := make(chan struct{}, 2*workers) // bounds what is read and not yet taken
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		for i := range sources {
			select {
			case ahead <- struct{}{}:
				next <- i // a worker takes it: none waits for anything else
			case <-inner.Done():
				return inner.Err()
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			for i := range next {
				known := a.known[sources[i].ID]
				r, err := a.Reader.Read(inner, sources[i], Known{known.ETag, known.LastModified})
				results[i] <- reading{r, err}
			}
			return nil
		})
	}
	g.Go(func() error { return takeAll(inner, results, ahead, take) })
	return g.Wait()
}

// takeAll hands over results in their order, and makes room for more.
func takeAll(ctx context.Context, results []chan reading, ahead <-chan struct{}, take func(i int, r *Result, err error) error) error {
	for i, from := range results {
		select {
		case got := <-from:
			<-ahead
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := take(i, got.result, got.err); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// without notes a source that gave no document.
func (a *Adder) without(ctx context.Context, total *vault.Added, s Source, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	known, there := a.known[s.ID]
	n := vault.AddedNote{Source: cmp.Or(s.ID, "standard input"), Path: known.Path, Title: known.Title, Notices: []string{}}
	var status *fetch.StatusError
	switch {
	case err == nil:
		n.Reason = "unchanged: the server says so"
		total.Skipped = append(total.Skipped, n)
	case there && errors.As(err, &status) && status.Gone():
		n.Reason = fmt.Sprintf("%v: the note stays", err)
		total.Missing = append(total.Missing, n)
	default:
		n.Reason = reasonOf(err)
		total.Failed = append(total.Failed, n)
	}
	return nil
}

// reasonOf is an error for who asked for a source by its name.
func reasonOf(err error) string {
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.Is(err, fetch.ErrPrivate):
		return err.Error() + ": --allow-private fetches it all the same"
	}
	return err.Error()
}

// imports makes of what was read what the vault takes.
func (a *Adder) imports(r *Result) []vault.Import {
	var list []vault.Import
	for _, d := range r.Docs {
		n := vault.Import{Source: r.Source.ID, Type: d.Type, Title: d.Title, Authors: d.Authors, Tags: d.Tags, Body: d.Body,
			Fetched: r.Fetched.Format(time.RFC3339), ETag: r.ETag, LastModified: r.LastModified, Notices: d.Notices}
		if d.Key != "" && n.Source != "" {
			n.Source += "#" + d.Key
		}
		if !d.Created.IsZero() {
			n.Created = d.Created.Format(time.DateOnly)
		}
		if r.Moved != "" {
			n.Notices = append(n.Notices, "it moved for good to "+r.Moved)
		}
		for _, f := range d.Attachments {
			n.Files = append(n.Files, vault.ImportFile{Path: f.Name, Data: f.Data})
		}
		if a.KeepOriginal && d.Type != "markdown" { // which is the note itself
			a.keep(&n, r)
		}
		list = append(list, n)
	}
	return list
}

// mostOriginal is the size of the largest file that a draft may bring.
const mostOriginal = 1 << 20

// keep adds the file that a note was made of.
func (a *Adder) keep(n *vault.Import, r *Result) {
	if len(r.Raw) > mostOriginal {
		n.Notices = append(n.Notices, fmt.Sprintf("the original is not kept: %d KB, at most %d are", len(r.Raw)>>10, mostOriginal>>10))
		return
	}
	sum := sha256.Sum256(r.Raw)
	ext := filepath.Ext(r.Source.Name)
	if slices.ContainsFunc([]rune(ext), func(c rune) bool {
		return c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) {
		ext = ""
	}
	stem := note.FileSlug(strings.TrimSuffix(r.Source.Name, filepath.Ext(r.Source.Name)))
	n.Original = fmt.Sprintf("originals/%s-%s%s", stem, hex.EncodeToString(sum[:4]), strings.ToLower(cmp.Or(ext, extensionOf(r.Raw))))
	n.Files = append(n.Files, vault.ImportFile{Path: n.Original, Data: r.Raw})
}

// extensionOf guesses the ending of a file without one. It is none that makes the
// file a note.
func extensionOf(b []byte) string {
	if strings.HasPrefix(http.DetectContentType(b), "text/html") {
		return ".html"
	}
	return ".bin"
}

func bytesOf(n *vault.Import) int {
	size := len(n.Body)
	for _, f := range n.Files {
		size += len(f.Data) * 4 / 3 // as it travels
	}
	return size
}

// Gone lists the notes that were made of files below a directory that are no
// longer there. Nothing is deleted for it.
func (a *Adder) Gone(dir, id string) (list []vault.AddedNote) {
	if strings.HasPrefix(id, outsidePrefix) {
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // what cannot be read is not known to be gone
			if err == nil && d.IsDir() {
				list = append(list, a.goneFrom(name, outside(name))...)
			}
			return nil
		})
		return list
	}
	prefix := strings.TrimSuffix(id, "/") + "/"
	if id == "file:" { // the repository's root
		prefix = id
	}
	return a.goneFrom(dir, prefix)
}

// goneFrom lists those of a directory whose sources begin so.
func (a *Adder) goneFrom(dir, prefix string) (list []vault.AddedNote) {
	for _, from := range slices.Sorted(maps.Keys(a.known)) {
		rest, ok := strings.CutPrefix(from, prefix)
		if !ok || prefix == "file:" && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "~/")) {
			continue
		}
		rest, _, _ = strings.Cut(rest, "#") // a conversation of an export
		rel, err := url.PathUnescape(rest)
		if err != nil || !filepath.IsLocal(filepath.FromSlash(rel)) {
			continue
		}
		if _, err = os.Lstat(filepath.Join(dir, filepath.FromSlash(rel))); errors.Is(err, fs.ErrNotExist) {
			s := a.known[from]
			list = append(list, vault.AddedNote{Source: from, Path: s.Path, Title: s.Title, Notices: []string{}, Reason: "the file is gone: the note stays"})
		}
	}
	return list
}

// merge publishes what the run added, and what an earlier run that was
// interrupted left on the draft.
func (a *Adder) merge(ctx context.Context, total *vault.Added) error {
	p := vault.ReviewMergeParams{Strategy: "merge", Message: a.Message, Imports: true}
	p.Name = a.Draft
	for _, list := range [][]vault.AddedNote{total.Added, total.Updated, total.Skipped} {
		for _, n := range list {
			if n.Pending {
				p.Only = append(p.Only, append([]string{n.Path}, n.Files...)...)
			}
		}
	}
	if len(p.Only) == 0 {
		return nil
	}
	slices.Sort(p.Only)
	p.Only = slices.Compact(p.Only)
	m, err := a.Vault.Merge(ctx, p)
	if err != nil {
		return notMerged(a.Draft, err)
	}
	total.Merged = m.Commit
	return nil
}

// notMerged is why the draft was not merged, with what a person can do then.
func notMerged(name string, err error) error {
	e := *vault.AsError(err)
	e.Message = "not merged: " + e.Message
	e.Hint = fmt.Sprintf("it waits on draft %s: kb review diff %s shows it, kb review edit %s changes it, kb review merge %s publishes it", name, name, name, name)
	return &e
}
