package vault

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"kb/gitstore"
	"kb/note"
	"kb/site"
)

// trail is where a build of a site leaves what the next one of it may go on from: a
// file among the derived data for each directory of a site.
type trail struct {
	store *Store
	file  string
	key   string // all that a site depends on beside what its commits say
	bases []trailBase
	tips  bool // the commits are those of the branches that say who sees what
	live  bool // the site is of work trees: what is left is in memory
}

// trailBase is what a repository contributed.
type trailBase struct {
	Repository string
	Commit     gitstore.CommitID
}

// steps are what a build left.
type steps struct {
	Key    string
	Bases  []trailBase
	Docs   int
	Left   int
	Cut    []string  // see [siteSet]
	Hidden []note.ID // likewise

	site []byte // see [site.Built.Kept]
}

const (
	trailDir   = "sites"
	trailForm  = "kb trail 1\n"
	mostTrails = 16 // files of them
)

// siteTrail is the trail of the site that p asks for; nil where none is kept.
func (v *Vault) siteTrail(p SiteBuildParams, bases []base) (*trail, error) {
	s := v.store
	if s.facts == nil || len(bases) == 0 {
		return nil, nil
	}
	t := &trail{store: s, tips: true}
	for _, b := range bases {
		if !b.tree.IsZero() || b.commit.IsZero() {
			return nil, nil
		}
		t.live = t.live || b.worktree
		tip, err := v.baseBranch(b.repo)
		t.tips = t.tips && err == nil && tip == b.commit
		t.bases = append(t.bases, trailBase{b.repo.GitDir(), b.commit})
	}
	out, err := realPath(p.Out)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(out))
	t.file = filepath.Join(s.dir, trailDir, hex.EncodeToString(hash[:10]))
	key, err := json.Marshal([]any{trailForm, Version, site.Recipe, s.recipes(v.cfg.Language), datesRecipe, pastRecipe, claimRecipe, v.cfg.hash(), v.scope().key(), out, p.BaseURL, p.Title, t.live})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key)
	t.key = hex.EncodeToString(sum[:])
	return t, nil
}

// realPath is where a directory is, or where it will be.
func realPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real, nil
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		return filepath.Join(parent, filepath.Base(dir)), nil
	}
	return dir, nil
}

// last reads what the build before left of the same site.
func (t *trail) last() (*steps, error) {
	raw, err := os.ReadFile(t.file)
	if err != nil {
		return nil, err
	}
	rest := raw[min(len(raw), len(trailForm)):]
	n, size := binary.Uvarint(rest)
	if size <= 0 || n > uint64(len(rest)-size) || string(raw[:len(trailForm)]) != trailForm {
		return nil, fmt.Errorf("%s is damaged", t.file)
	}
	head, built := rest[size:size+int(n)], rest[size+int(n):]
	s := &steps{site: built}
	if err := json.Unmarshal(head, s); err != nil {
		return nil, err
	}
	if s.Key != t.key {
		return nil, fmt.Errorf("%s is of another site", t.file)
	}
	return s, nil
}

// leave keeps what a build made; the next one goes without if that fails.
func (t *trail) leave(s *steps) {
	s.Key, s.Bases = t.key, t.bases
	head, err := json.Marshal(s)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(t.file), 0o700)
	}
	if err == nil {
		raw := binary.AppendUvarint([]byte(trailForm), uint64(len(head)))
		err = replaceFile(t.file, append(raw, head...), s.site)
	}
	if err != nil {
		t.store.log("what %s is made of is not kept: %v", t.file, err)
	}
	t.clear()
}

// replaceFile writes a file that can be made again: whole or not at all for readers,
// but without waiting for the disk.
func replaceFile(name string, parts ...[]byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".new-*")
	if err != nil {
		return err
	}
	for _, part := range parts {
		if _, err = tmp.Write(part); err != nil {
			break
		}
	}
	if err = cmp.Or(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return cmp.Or(err, os.Remove(tmp.Name()))
	}
	return nil
}

// clear removes the oldest trails where there are many.
func (t *trail) clear() {
	dir := filepath.Dir(t.file)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= mostTrails {
		return
	}
	age := func(e os.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(age(b), age(a)) })
	for _, e := range entries[mostTrails:] {
		_ = os.Remove(filepath.Join(dir, e.Name())) // the next build tries again
	}
}

// docName names a doc among those of all collections.
func docName(d *site.Doc) string { return d.Collection + ":" + d.Path }
