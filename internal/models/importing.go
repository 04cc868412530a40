package models

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kb/vector"
)

// ErrArchive is wrapped by errors about a file or directory that holds no model.
var ErrArchive = errors.New("no model in it")

// wanted are the files of a model that are taken from a directory or archive:
// all that vector.Open reads. Nothing else is looked at.
var wanted = []string{
	"model.safetensors", "model.onnx", "onnx/model.onnx", "tokenizer.json", "config.json",
	"1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json",
}

var archiveNames = []string{".tar.gz", ".tgz", ".tar", ".zip"}

// NameOf returns the name under which [Store.Import] installs what is at src.
func NameOf(src string) string {
	name := filepath.Base(filepath.Clean(src))
	for _, ext := range archiveNames {
		if len(name) > len(ext) && strings.EqualFold(name[len(name)-len(ext):], ext) {
			return name[:len(name)-len(ext)]
		}
	}
	return name
}

// Import installs a model from a directory, or from an archive of one (tar,
// tar.gz, zip), under a name. The files of a name that kb knows must be those
// that were published.
func (s *Store) Import(ctx context.Context, name, src string) (*Report, error) {
	if _, err := s.path(name); err != nil {
		return nil, err
	}
	unlock, err := s.lock(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := os.RemoveAll(s.staging(name)); err != nil {
		return nil, err
	}
	known, _ := vector.ModelByName(name)
	l, err := s.stage(ctx, name, src, known)
	var r *Report
	if err == nil {
		r, err = s.finish(ctx, l, known)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take %s: %w", filepath.Base(src), err), os.RemoveAll(s.staging(name)))
	}
	return r, nil
}

// stage copies the files into the staging directory.
func (s *Store) stage(ctx context.Context, name, src string, known vector.Model) (l Lock, err error) {
	files, closer, err := openSource(src)
	if err != nil {
		return l, err
	}
	defer closer.Close()
	if err := os.MkdirAll(s.staging(name), 0o755); err != nil {
		return l, err
	}
	root, err := os.OpenRoot(s.staging(name))
	if err != nil {
		return l, err
	}
	defer root.Close()
	in := &intake{ctx: ctx, store: s, root: root}
	if err := files(in.take); err != nil {
		return l, err
	}
	if len(in.taken) == 0 {
		return l, fmt.Errorf("%w: none of %s", ErrArchive, strings.Join(wanted, ", "))
	}
	slices.Sort(in.taken)
	l = Lock{Name: name, Source: filepath.Base(src), Revision: known.Revision}
	if len(in.taken) < len(known.Files) {
		l.Revision = "" // a part of the model only
	}
	for _, p := range in.taken {
		f, err := proveImported(root, p, known)
		if err != nil {
			return l, fmt.Errorf("%s: %w", p, err)
		}
		if f.Proof == First {
			l.Revision = ""
		}
		l.Files = append(l.Files, f)
	}
	return l, nil
}

func proveImported(root *os.Root, name string, known vector.Model) (File, error) {
	sum, err := digestOf(root, name)
	if err != nil {
		return File{}, err
	}
	want := vector.ModelFile{}
	if i := slices.IndexFunc(known.Files, func(f vector.ModelFile) bool { return f.Path == name }); i >= 0 {
		want = known.Files[i]
	}
	proof, err := prove(sum, want, "")
	return File{Path: name, Size: sum.size, SHA256: sum.sha256, Proof: proof}, err
}

// A source calls take with every file of a directory or archive.
type source func(take func(name string, open func() (io.ReadCloser, error)) error) error

func openSource(src string) (source, io.Closer, error) {
	info, err := os.Stat(src)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return dirSource(src), io.NopCloser(nil), nil
	}
	f, err := os.Open(src)
	if err != nil {
		return nil, nil, err
	}
	files, err := archiveSource(f, info.Size())
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return files, f, nil
}

// dirSource has the wanted files of a directory. They may be links, as the
// hub's own cache has them.
func dirSource(dir string) source {
	return func(take func(string, func() (io.ReadCloser, error)) error) error {
		for _, name := range wanted {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
				continue
			} else if err != nil {
				return err
			}
			if err := take(name, func() (io.ReadCloser, error) { return os.Open(file) }); err != nil {
				return err
			}
		}
		return nil
	}
}

func archiveSource(f *os.File, size int64) (source, error) {
	head := make([]byte, 4)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	switch {
	case string(head) == "PK\x03\x04":
		z, err := zip.NewReader(f, size)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrArchive, err)
		}
		return zipSource(z), nil
	case head[0] == 0x1f && head[1] == 0x8b:
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrArchive, err)
		}
		return tarSource(z), nil
	}
	return tarSource(f), nil
}

func zipSource(z *zip.Reader) source {
	return func(take func(string, func() (io.ReadCloser, error)) error) error {
		for _, f := range z.File {
			if !f.Mode().IsRegular() {
				continue
			}
			if err := take(f.Name, f.Open); err != nil {
				return err
			}
		}
		return nil
	}
}

func tarSource(r io.Reader) source {
	return func(take func(string, func() (io.ReadCloser, error)) error) error {
		t := tar.NewReader(r)
		for {
			h, err := t.Next()
			if err == io.EOF {
				return nil
			} else if err != nil {
				return fmt.Errorf("%w: %w", ErrArchive, err)
			}
			if h.Typeflag != tar.TypeReg {
				continue
			}
			if err := take(h.Name, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }); err != nil {
				return err
			}
		}
	}
}

// intake copies wanted files into a directory.
type intake struct {
	ctx    context.Context
	store  *Store
	root   *os.Root
	prefix *string // of all names in the archive, once one is known
	taken  []string
	bytes  int64
}

// take copies a file if it is wanted. Names come from strangers: what is not on
// the list, below at most one directory, is passed over.
func (in *intake) take(name string, open func() (io.ReadCloser, error)) error {
	prefix, name, ok := splitWanted(name)
	switch {
	case !ok:
		return nil
	case in.prefix == nil:
		in.prefix = &prefix
	case *in.prefix != prefix:
		return fmt.Errorf("%w: it holds several", ErrArchive)
	}
	if slices.Contains(in.taken, name) {
		return fmt.Errorf("%w: %s is in it twice", ErrArchive, name)
	}
	src, err := open()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrArchive, name, err)
	}
	defer src.Close()
	if err := in.copy(name, src); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	in.taken = append(in.taken, name)
	return nil
}

// splitWanted finds the wanted name at the end of a path in an archive.
func splitWanted(name string) (prefix, file string, ok bool) {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	for _, file := range wanted {
		rest, found := strings.CutSuffix(name, file)
		prefix := strings.TrimSuffix(rest, "/")
		if !found || rest != "" && prefix == rest || strings.Contains(prefix, "/") || slices.Contains([]string{"onnx", "1_Pooling", ".."}, prefix) {
			continue
		}
		return prefix, file, true
	}
	return "", "", false
}

func (in *intake) copy(name string, src io.Reader) (err error) {
	if dir := path.Dir(name); dir != "." {
		if err := in.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := in.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &counter{w: f, limit: maxFile, moved: func(n int64) { in.store.report(in.bytes+n, 0, name) }}
	_, err = io.Copy(w, &cancelReader{in.ctx, src})
	in.bytes += w.n
	switch {
	case w.err != nil || in.ctx.Err() != nil:
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	return f.Sync()
}

// cancelReader ends when its context does.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
