package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kb/internal/secrets"
)

// Source is something to be read: a file, a URL, or standard input.
type Source struct {
	ID   string // by which its notes know it: the URL, or file:PATH; "" for standard input
	URL  string // "" for a file
	File string // the file's path on this machine; "" for a URL
	Name string // of the file, without directories
}

// FindOptions says which files of a directory are read.
type FindOptions struct {
	Recursive  bool
	Extensions []string // without dots; none: every file that is converted
	Root       string   // the repository, below which files are known by their path there
	Home       string   // the person's directory, which is not named in notes
}

// ArgumentError says that an argument is none that is read, and what would be right.
type ArgumentError struct{ Message, Hint string }

func (e *ArgumentError) Error() string { return e.Message }

// Is makes it one of [ErrNone].
func (e *ArgumentError) Is(target error) bool { return target == ErrNone }

// Stdin is the argument that stands for standard input.
const Stdin = "-"

// ErrNone says that an argument leads to nothing that can be read.
var ErrNone = errors.New("nothing to read")

// Find makes sources of arguments: files, directories, URLs and [Stdin]. Hidden
// files, and those that a directory's links lead to, are left out.
func Find(args []string, o FindOptions) ([]Source, error) {
	var all []Source
	for _, arg := range args {
		found, err := o.find(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(s Source) bool {
		twice := s.ID != "" && seen[s.ID]
		seen[s.ID] = true
		return twice
	}), nil
}

func (o FindOptions) find(arg string) ([]Source, error) {
	if arg == Stdin {
		return []Source{{}}, nil
	}
	if isURL(arg) {
		s, err := FromURL(arg)
		return []Source{s}, err
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil && schemed.MatchString(arg):
		_, err := FromURL(arg)
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %s", ErrNone, arg, reasonOf(err))
	case info.IsDir():
		return o.walk(arg)
	case !info.Mode().IsRegular():
		return nil, &ArgumentError{arg + " is no regular file", "a file or a directory; what a program writes goes to standard input: kb add - --name FILE"}
	}
	s, err := o.file(arg)
	return []Source{s}, err
}

// schemed is what looks like a URL, and like no path on Windows.
var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

// isURL reports whether an argument is a URL rather than a path.
func isURL(arg string) bool {
	scheme, _, ok := strings.Cut(arg, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// FromURL is the source of a URL, in one of its forms: scheme and host in lower
// case, without the fragment and a port that goes without saying.
func FromURL(address string) (Source, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return Source{}, fmt.Errorf("%w: %w", ErrNone, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return Source{}, &ArgumentError{u.Scheme + ": only http and https are fetched", "fetch it with another program, and add the file"}
	case u.Hostname() == "":
		return Source{}, &ArgumentError{address + " names no host", "https://HOST/PATH"}
	case u.User != nil:
		return Source{}, &ArgumentError{"a URL with a password in it would stand in the note", "give it without; a page that needs it: fetch it with another program, and add the file"}
	}
	if name := secrets.InQuery(u.RawQuery); name != "" {
		return Source{}, &ArgumentError{"the URL's " + name + " may be a secret, and would stand in the note", "give it without; a page that needs it: fetch it with another program, then kb add - --source URL"}
	}
	u.Fragment, u.RawFragment = "", ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return Source{ID: u.String(), URL: u.String(), Name: nameInURL(u)}, nil
}

func nameInURL(u *url.URL) string {
	name := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	if name == "" {
		return u.Hostname()
	}
	return name
}

// walk lists the files of a directory.
func (o FindOptions) walk(dir string) (list []Source, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && name != dir && !o.Recursive:
			return fs.SkipDir
		case !d.Type().IsRegular() || !o.wants(name):
			return nil
		}
		s, err := o.file(name)
		list = append(list, s)
		return err
	})
	if err == nil && len(list) == 0 {
		hint := ""
		if !o.Recursive {
			hint = "; --recursive looks below it"
		}
		err = fmt.Errorf("%w: no file of %s is one that is converted%s", ErrNone, dir, hint)
	}
	return list, err
}

// converted are the endings of files that are worth a try in a directory.
var converted = []string{"md", "markdown", "txt", "text", "html", "htm", "xhtml", "pdf", "docx", "odt", "epub", "csv", "tsv", "json", "ipynb", "eml"}

func (o FindOptions) wants(name string) bool {
	exts := o.Extensions
	if len(exts) == 0 {
		exts = converted
	}
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	return slices.ContainsFunc(exts, func(e string) bool { return strings.EqualFold(strings.TrimPrefix(e, "."), ext) })
}

// file is the source of a file. In notes it is known by its path from the
// repository's root, else from the person's home, which say nothing of the machine
// and hold where both are moved; else by its name and a hash of its directory.
func (o FindOptions) file(name string) (Source, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return Source{}, fmt.Errorf("%w: %w", ErrNone, err)
	}
	return Source{ID: o.FileID(abs), File: abs, Name: filepath.Base(abs)}, nil
}

// FileID is how notes know the file, or the directory, at an absolute path.
func (o FindOptions) FileID(abs string) string {
	if rel, ok := below(o.Root, abs); ok {
		return "file:" + (&url.URL{Path: rel}).EscapedPath()
	}
	if rel, ok := below(o.Home, abs); ok {
		return strings.TrimSuffix("file:~/"+(&url.URL{Path: rel}).EscapedPath(), "/")
	}
	return outside(filepath.Dir(abs)) + (&url.URL{Path: filepath.Base(abs)}).EscapedPath()
}

// outsidePrefix begins what files are known by that are below neither the
// repository nor the person's home: notes do not tell where those are.
const outsidePrefix = "file://outside-"

// outside is how notes know the directory of such files: by a hash of its path.
func outside(dir string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(dir)))
	return outsidePrefix + hex.EncodeToString(sum[:6]) + "/"
}

// below is the path of a file from a directory that holds it, "" for the directory
// itself.
func below(dir, name string) (string, bool) {
	if dir == "" {
		return "", false
	}
	for _, d := range []string{dir, resolved(dir)} {
		if rel, err := filepath.Rel(d, name); err == nil && filepath.IsLocal(rel) {
			if rel == "." {
				rel = ""
			}
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
