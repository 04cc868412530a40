package ingest

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kb/vault"
)

// SyncVault is the vault whose notes are refreshed.
type SyncVault interface {
	Vault
	Drafts(ctx context.Context, p vault.DraftsParams) (*vault.DraftsResult, error)
}

// SyncOptions say which sources are asked, and where what changed goes.
type SyncOptions struct {
	Collection string
	Draft      string
	OlderThan  time.Duration // sources that were asked since are left alone
	Max        int           // sources that are asked; 0: all
	DryRun     bool          // ask, and write nothing
}

// Syncer asks the web for the sources of notes, and proposes what changed.
type Syncer struct {
	Vault  SyncVault
	Reader *Reader
	Checks *Checks // what earlier runs learnt
	Now    func() time.Time
	SyncOptions
	Report func(done, total int, what string) // may be nil

	mu      sync.Mutex // guards what follows
	result  *Synced
	batch   []vault.Import
	size    int
	waiting []Check         // of sources whose changes are in the batch
	written map[string]bool // URLs whose notes this run changed, or failed to
	told    int             // how many of the failures a commit has named
	asked   int
	total   int
	notes   map[string]string // source → path of its note
}

// page is a URL with the notes that were made of it: one, or those of a feed.
type page struct {
	url   string
	host  string
	notes []vault.NoteSource
	last  time.Time // when it was asked
}

// Run asks for the sources that are due, those that were asked longest ago first,
// one of each host at a time. Changes go to the draft in batches that are commits;
// a run that was interrupted goes on where its last commit is when it is repeated.
func (s *Syncer) Run(ctx context.Context) (*Synced, error) {
	s.result, s.written = newSynced(s.Draft, s.DryRun), map[string]bool{}
	due, err := s.due(ctx)
	if err != nil {
		return nil, err
	}
	s.total = len(due)
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, pages := range byHost(due) {
		g.Go(func() error { return s.askHost(inner, pages) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	s.result.sort()
	return s.result, s.Checks.Compact()
}

// due lists the pages that are to be asked.
func (s *Syncer) due(ctx context.Context) ([]*page, error) {
	have, err := s.Vault.Sources(ctx, vault.SourcesParams{Collection: s.Collection, Draft: s.Draft})
	if err != nil {
		return nil, err
	}
	s.notes = map[string]string{}
	for _, n := range have.Sources {
		s.notes[n.Source] = n.Path
	}
	held, err := s.held(ctx)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	due := slices.DeleteFunc(s.pages(have.Sources), func(p *page) bool {
		if now.Sub(p.last) < s.OlderThan {
			s.result.Fresh++
			return true
		}
		return s.leftOut(p, now, held)
	})
	slices.SortFunc(due, func(a, b *page) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.url, b.url)) })
	if s.Max > 0 && len(due) > s.Max {
		for _, p := range due[s.Max:] {
			s.skip(p, "more than --max")
		}
		due = due[:s.Max]
	}
	return due, nil
}

// leftOut skips a page that is not to be asked now.
func (s *Syncer) leftOut(p *page, now time.Time, held map[string]string) bool {
	if until := s.Checks.of(p.host).Until; until.After(now) {
		s.skip(p, "its host asked to wait until "+until.UTC().Format(time.RFC3339))
		return true
	}
	for _, n := range p.notes {
		if name := held[n.Path]; name != "" {
			s.skip(p, "draft "+name+" changes "+n.Path+": merge or reject it first")
			return true
		}
	}
	return false
}

// held are the notes that open drafts change, but for the run's own, by their
// paths: what this run changed of them would be in conflict.
func (s *Syncer) held(ctx context.Context) (map[string]string, error) {
	open, err := s.Vault.Drafts(ctx, vault.DraftsParams{State: "open", MaxResults: 500, MaxTokens: math.MaxInt32})
	if err != nil {
		return nil, err
	}
	held := map[string]string{}
	for _, d := range open.Drafts {
		if d.Name == s.Draft || d.Remote != "" {
			continue
		}
		if len(d.Changes) < d.Changed { // not all are listed
			one, err := s.Vault.Drafts(ctx, vault.DraftsParams{Name: d.Name, MaxResults: 1, MaxTokens: math.MaxInt32})
			if err != nil {
				return nil, err
			}
			if len(one.Drafts) == 1 {
				d = one.Drafts[0]
			}
		}
		for _, c := range d.Changes {
			if c.Collection == "" || s.Collection == "" || c.Collection == s.Collection {
				held[c.Path], held[cmp.Or(c.From, c.Path)] = d.Name, d.Name
			}
		}
	}
	return held, nil
}

// pages are the URLs that notes were made of. A feed's entries have its URL, and a
// key each behind #.
func (s *Syncer) pages(sources []vault.NoteSource) []*page {
	byURL := map[string]*page{}
	var list []*page
	for _, n := range sources {
		address, _, _ := strings.Cut(n.Source, "#")
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		p := byURL[address]
		if p == nil {
			p = &page{url: address, host: u.Scheme + "://" + u.Host, last: s.Checks.of(address).Asked}
			byURL[address] = p
			list = append(list, p)
		}
		if at, err := time.Parse(time.RFC3339, n.Fetched); err == nil && at.After(p.last) {
			p.last = at
		}
		p.notes = append(p.notes, n)
	}
	return list
}

// byHost groups pages, in their order.
func byHost(pages []*page) (groups [][]*page) {
	at := map[string]int{}
	for _, p := range pages {
		i, ok := at[p.host]
		if !ok {
			i = len(groups)
			at[p.host] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

// askHost asks one host for its pages, one after the other, until it wants to be
// left alone.
func (s *Syncer) askHost(ctx context.Context, pages []*page) error {
	h := &patience{}
	for _, p := range pages {
		s.mu.Lock()
		known := s.known(p)
		if h.over != "" {
			s.skip(p, h.over)
		}
		s.mu.Unlock()
		if h.over != "" {
			continue
		}
		var r *Result
		src, err := FromURL(p.url)
		if err == nil {
			r, err = s.Reader.Read(ctx, src, known)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.answered(ctx, h, p, r, err); err != nil {
			return err
		}
	}
	return nil
}

// known is what makes the request a conditional one. The state of the run before
// counts only while the notes are those that it saw: after a rejected draft, what
// it brought has to come again.
func (s *Syncer) known(p *page) Known {
	if c := s.Checks.of(p.url); c.Notes == fingerprint(p.notes) && c.ETag+c.LastModified != "" {
		return Known{c.ETag, c.LastModified}
	}
	if len(p.notes) == 1 && p.notes[0].Source == p.url {
		return Known{p.notes[0].ETag, p.notes[0].LastModified}
	}
	return Known{}
}

// answered takes the answer for a page.
func (s *Syncer) answered(ctx context.Context, h *patience, p *page, r *Result, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.Checked++
	s.asked++
	if s.Report != nil {
		s.Report(s.asked, s.total, p.url)
	}
	if err != nil {
		return s.fail(h, p, err)
	}
	h.failures = 0
	check := Check{Source: p.url, Asked: s.Now(), Notes: fingerprint(p.notes), ETag: r.ETag, LastModified: r.LastModified}
	if r.Unchanged {
		known := s.known(p)
		check.ETag, check.LastModified = cmp.Or(r.ETag, known.ETag), cmp.Or(r.LastModified, known.LastModified)
		s.result.Unchanged++
		return s.remember(check)
	}
	changed := s.changed(p, r)
	if len(changed) == 0 {
		s.result.Unchanged++
		return s.remember(check)
	}
	return s.take(ctx, changed, check)
}

// changed are the documents whose text is not that of their notes.
func (s *Syncer) changed(p *page, r *Result) (list []vault.Import) {
	a := Adder{Options: Options{KeepOriginal: slices.ContainsFunc(p.notes, func(n vault.NoteSource) bool { return n.Original != "" })}}
	hashes := map[string]string{}
	for _, n := range p.notes {
		hashes[n.Source] = n.Hash
	}
	for _, n := range a.imports(r) {
		if was, known := hashes[n.Source]; known && was == n.TextHash() {
			continue
		}
		if dir := path.Dir(p.notes[0].Path); dir != "." {
			n.Directory = dir
		}
		n.Tags = append(n.Tags, p.commonTags()...)
		list = append(list, n)
	}
	return list
}

// commonTags are the tags that all notes of a page have: those of who added them.
func (p *page) commonTags() []string {
	return slices.DeleteFunc(slices.Clone(p.notes[0].Tags), func(tag string) bool {
		return slices.ContainsFunc(p.notes, func(n vault.NoteSource) bool { return !slices.Contains(n.Tags, tag) })
	})
}

// take puts what changed of a page into the batch.
func (s *Syncer) take(ctx context.Context, changed []vault.Import, check Check) error {
	for _, n := range changed {
		more := bytesOf(&n)
		if len(s.batch) == batchNotes || len(s.batch) > 0 && s.size+more > batchBytes {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
		s.batch, s.size = append(s.batch, n), s.size+more
	}
	s.waiting = append(s.waiting, check)
	return nil
}

// flush proposes the batch. Only then its sources count as asked: what a run that
// is killed had not committed is asked again.
func (s *Syncer) flush(ctx context.Context) error {
	if len(s.batch) == 0 {
		return nil
	}
	slices.SortFunc(s.batch, func(a, b vault.Import) int { return cmp.Compare(a.Source, b.Source) })
	r, err := s.Vault.Add(ctx, vault.AddParams{Notes: s.batch, Collection: s.Collection, Draft: s.Draft, Message: s.digest(), DryRun: s.DryRun, LeaveDeleted: true})
	if err != nil {
		return err
	}
	s.batch, s.size = nil, 0
	s.result.join(r)
	for _, list := range [][]vault.AddedNote{r.Added, r.Updated, r.Failed} {
		for _, n := range list {
			address, _, _ := strings.Cut(n.Source, "#")
			s.written[address] = true
		}
	}
	for _, c := range s.waiting {
		if s.written[c.Source] { // its notes are others than those that were asked for
			c = Check{Source: c.Source, Asked: c.Asked}
		}
		if err := s.remember(c); err != nil {
			return err
		}
	}
	s.waiting = nil
	return nil
}

func (s *Syncer) remember(c Check) error {
	if s.DryRun {
		return nil
	}
	return s.Checks.put(c)
}

func (s *Syncer) skip(p *page, why string) {
	s.result.Skipped = append(s.result.Skipped, SyncSkipped{Path: p.notes[0].Path, URL: p.url, Reason: why})
}
