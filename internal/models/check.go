package models

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"

	"kb/vector"
)

// digest is what a file's bytes amount to.
type digest struct {
	size   int64
	sha256 string
	git    string // of the bytes as a git blob: what the hub gives for small files
}

func digestOf(root *os.Root, name string) (d digest, err error) {
	f, err := root.Open(name)
	if err != nil {
		return d, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return d, err
	}
	if !info.Mode().IsRegular() {
		return d, fmt.Errorf("%s is not a file", name)
	}
	blob, sum := sha1.New(), sha256.New()
	fmt.Fprintf(blob, "blob %d\x00", info.Size())
	d.size, err = io.Copy(io.MultiWriter(blob, sum), f)
	d.git, d.sha256 = hex.EncodeToString(blob.Sum(nil)), hex.EncodeToString(sum.Sum(nil))
	return d, err
}

var (
	isSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)
	isSHA1   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// prove compares a file with the hash that kb knows of it, else with the tag
// that the hub gave.
func prove(d digest, want vector.ModelFile, tag string) (Proof, error) {
	if want.Size > 0 && d.size != want.Size {
		return "", fmt.Errorf("it has %d bytes, not %d: %w", d.size, want.Size, ErrHash)
	}
	got, expected, proof := d.sha256, want.SHA256, Published
	switch {
	case expected != "":
	case isSHA256.MatchString(tag):
		expected, proof = tag, ByHub
	case isSHA1.MatchString(tag):
		got, expected, proof = d.git, tag, ByHub
	default:
		return First, nil
	}
	if got != expected {
		return "", fmt.Errorf("its hash is %s, not %s: %w", got, expected, ErrHash)
	}
	return proof, nil
}

// Finding is what a check found of one file.
type Finding struct {
	Path    string `json:"path"`
	OK      bool   `json:"ok"`
	Message string `json:"message,omitempty"`
}

// Report is what a check of an installed model found.
type Report struct {
	Name   string    `json:"name"`
	OK     bool      `json:"ok"`
	Engine string    `json:"engine"`
	Dim    int       `json:"dim"`
	Cosine float64   `json:"cosine,omitempty"` // of native with the general engine
	Files  []Finding `json:"files"`
	// Notice says what a person should know of a model that is in order, or
	// why it is not.
	Notice string `json:"notice,omitempty"`
}

// Verify hashes the files of an installed model, opens it, and holds the native
// engine against the general one. What it learns of the engine is written to
// model.lock.
func (s *Store) Verify(ctx context.Context, name string) (*Report, error) {
	unlock, err := s.lock(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	m, err := s.Get(name)
	if err != nil {
		return nil, err
	}
	r := &Report{Name: name, OK: true, Files: []Finding{}}
	if err := s.verifyFiles(ctx, m, r); err != nil || !r.OK {
		return r, err
	}
	known, _ := vector.ModelByName(name)
	if err := try(ctx, m.Dir, known, r); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.OK, r.Notice = false, err.Error()
		return r, nil
	}
	if len(m.Files) == 0 || m.Engine == r.Engine && m.Dim == r.Dim {
		return r, nil
	}
	m.Engine, m.Dim = r.Engine, r.Dim
	return r, writeLock(m.Dir, m.Lock)
}

func (s *Store) verifyFiles(ctx context.Context, m Installed, r *Report) error {
	if len(m.Files) == 0 {
		r.Notice = "there is no " + vector.LockName + ": nothing says what the files must be"
	}
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	done := int64(0)
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.report(done, m.Size, "hash "+f.Path)
		done += f.Size
		finding := Finding{Path: f.Path, OK: true}
		d, err := digestOf(root, f.Path)
		if err == nil {
			_, err = prove(d, vector.ModelFile{Size: f.Size, SHA256: f.SHA256}, "")
		} else if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it is missing")
		}
		if err != nil {
			finding.OK, finding.Message, r.OK = false, err.Error(), false
		}
		r.Files = append(r.Files, finding)
	}
	return nil
}

// try opens the model in dir and fills in the engine that is right for it.
func try(ctx context.Context, dir string, known vector.Model, r *Report) error {
	opts := known.Options
	cosine, err := vector.Compare(ctx, dir, opts)
	switch {
	case errors.Is(err, vector.ErrNothingToCompare):
	case err != nil && !errors.Is(err, vector.ErrUnsupported):
		return err
	case err != nil: // the general engine cannot run it
		r.Notice = "there is no second opinion on the native engine: " + err.Error()
	case cosine < vector.MinAgreement:
		r.Cosine, opts.Engine = cosine, "hugot"
		r.Notice = fmt.Sprintf("the native engine gives other vectors than the graph (cosine %.6f): the slow engine hugot is used", cosine)
	default:
		r.Cosine, opts.Engine = cosine, "native"
	}
	e, err := vector.Open(dir, opts)
	if err != nil {
		return err
	}
	defer e.Close()
	if _, err := e.Embed(ctx, []string{"a first text"}, vector.Passage); err != nil {
		return err
	}
	r.Engine, r.Dim = vector.EngineOf(e), e.Dim()
	if known.Dim != 0 && known.Dim != r.Dim {
		return fmt.Errorf("its vectors have %d dimensions, not %d: %w", r.Dim, known.Dim, ErrHash)
	}
	return nil
}
