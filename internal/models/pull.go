package models

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kb/vector"
)

// Pull installs a known model from a hub, and returns what it is and whether it
// was there already, all of it. Interrupted, it goes on the next time where it
// stopped.
func (s *Store) Pull(ctx context.Context, hub *Hub, m vector.Model) (r *Report, already bool, err error) {
	unlock, err := s.lock(m.Name)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	if r := s.upToDate(ctx, m); r != nil {
		return r, true, nil
	}
	l := Lock{Name: m.Name, Source: m.Repository, Revision: m.Revision}
	if l.Files, err = s.download(ctx, hub, m); err != nil {
		return nil, false, err
	}
	if r, err = s.finish(ctx, l, m); err != nil {
		return nil, false, err
	}
	for _, f := range l.Files {
		if f.Proof == First {
			r.Notice = join(r.Notice, fmt.Sprintf("nothing says what %s must be: it is taken as it came", f.Path))
		}
	}
	return r, false, nil
}

// download fetches the files of a model into its staging directory.
func (s *Store) download(ctx context.Context, hub *Hub, m vector.Model) (files []File, err error) {
	if err := os.MkdirAll(s.staging(m.Name), 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.staging(m.Name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p := &progress{store: s, total: m.Size()}
	for _, f := range m.Files {
		file, err := p.pull(ctx, hub, root, m, f)
		if err != nil {
			return nil, fmt.Errorf("download %s of %s: %w", f.Path, m.Name, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// upToDate returns what an installed model is, or nothing if it is not the one
// that m describes, whole.
func (s *Store) upToDate(ctx context.Context, m vector.Model) *Report {
	have, err := s.Get(m.Name)
	if err != nil || have.Revision != m.Revision || len(have.Files) < len(m.Files) {
		return nil
	}
	r := &Report{Name: m.Name, OK: true, Engine: have.Engine, Dim: have.Dim, Files: []Finding{}}
	if err := s.verifyFiles(ctx, have, r); err != nil || !r.OK {
		return nil
	}
	return r
}

// finish tries the staged model and installs it.
func (s *Store) finish(ctx context.Context, l Lock, known vector.Model) (*Report, error) {
	s.report(0, 0, "try "+l.Name)
	r := &Report{Name: l.Name, OK: true, Files: []Finding{}}
	if err := try(ctx, s.staging(l.Name), known, r); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errors.Join(fmt.Errorf("try %s: %w", l.Name, err), os.RemoveAll(s.staging(l.Name)))
	}
	for _, f := range l.Files {
		r.Files = append(r.Files, Finding{Path: f.Path, OK: true})
	}
	l.Engine, l.Dim = r.Engine, r.Dim
	return r, s.install(l)
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// progress adds up the bytes of a model's files.
type progress struct {
	store       *Store
	done, total int64
}

func (p *progress) pull(ctx context.Context, hub *Hub, root *os.Root, m vector.Model, f vector.ModelFile) (File, error) {
	address, err := hub.address(m, f)
	if err != nil {
		return File{}, err
	}
	d := &download{hub: hub, root: root, address: address, want: f, wrap: p.store.wrap}
	d.report = func(done, _ int64) { p.store.report(p.done+done, p.total, m.Name) }
	file, err := d.run(ctx)
	p.done += file.Size
	return file, err
}
