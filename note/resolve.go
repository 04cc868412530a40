package note

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Target is what a link leads to.
type Target struct {
	Path      string   // of the note or file within the collection; "" for none
	Fragment  string   // the link's
	External  bool     // it leads out of the collection by its scheme
	Folder    bool     // it leads to a folder that has no index.md or README.md; Path is ""
	Ambiguous []string // all paths that the link could mean as well as Path, Path included; not to be changed
}

// A Resolver finds what the links of a collection lead to, by Obsidian's rules
// for wikilinks and by GitHub's for Markdown links. A Resolver is safe for
// concurrent use. An answer costs a few map lookups, however large the
// collection.
type Resolver struct {
	paths map[string][]string // folded path -> paths, which differ by case at most
	notes map[string][]string // folded end of a note's path, without extension -> paths, best first
	files map[string][]string // folded end of another file's path -> paths, best first

	folders map[string]bool // folded paths of folders; "." is the root
}

// NewResolver returns a Resolver for the notes and other files of a collection.
// Paths are relative to it, with slashes.
func NewResolver(paths []string) *Resolver {
	r := &Resolver{
		paths: make(map[string][]string, len(paths)),
		notes: make(map[string][]string, 2*len(paths)),
		files: map[string][]string{},

		folders: map[string]bool{".": true},
	}
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, shorterFirst)
	for _, p := range slices.Compact(sorted) {
		key := fold(p)
		r.paths[key] = append(r.paths[key], p)
		for dir := path.Dir(key); !r.folders[dir] && dir != "/"; dir = path.Dir(dir) {
			r.folders[dir] = true
		}
		ends := r.files
		if stem, ok := noteStem(key); ok {
			key, ends = stem, r.notes
		}
		for {
			ends[key] = append(ends[key], p)
			_, rest, ok := strings.Cut(key, "/")
			if !ok {
				break
			}
			key = rest
		}
	}
	return r
}

func shorterFirst(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// fold maps names that a user takes for the same to one key: case does not
// count, nor how accents are composed.
func fold(s string) string { return strings.ToLower(norm.NFC.String(s)) }

var noteExtensions = []string{".md", ".markdown"}

// noteStem cuts the extension from the path of a note.
func noteStem(p string) (stem string, ok bool) {
	for _, ext := range noteExtensions {
		if stem, ok := strings.CutSuffix(p, ext); ok {
			return stem, true
		}
	}
	return p, false
}

// Resolve returns what a link in the note at path from leads to. A wikilink
// means a path from the collection's root, or the end of one: a name, or a name
// and the folders above it. Of several it means the one in from's folder, else
// the shortest, else the first in byte order, and Ambiguous lists them. An alias
// is no name. A Markdown link means a path from from's folder, or from the root
// if it starts with a slash; a folder stands for its index.md or README.md, or for itself. One
// that leads nowhere is tried as a path from the root, and a bare name as a
// wikilink, as Obsidian does. Case never counts where a path that fits exactly
// is absent.
func (r *Resolver) Resolve(from string, l Link) Target {
	t := Target{Fragment: l.Fragment}
	switch {
	case l.Target == "":
		t.Path = from
	case LeadsOut(l):
		t.External = true
	case l.Kind == MarkdownLink:
		t = r.markdown(from, l.Target)
		t.Fragment = l.Fragment
	default:
		t.Path, t.Ambiguous = r.wiki(from, l.Target)
	}
	return t
}

// LeadsOut reports whether a link leads out of its collection, by what it says alone.
func LeadsOut(l Link) bool {
	return l.Target != "" && (l.Kind == AutoLink || hasScheme(l.Target) && (l.Kind == MarkdownLink || strings.Contains(l.Target, "://")))
}

// markdown finds the target of a Markdown link, as it stands or without its query.
func (r *Resolver) markdown(from, target string) (t Target) {
	target = strings.ReplaceAll(target, `\`, "/")
	t = r.markdownTarget(from, target)
	if plain, _, ok := strings.Cut(target, "?"); ok && plain != "" && t.Path == "" && !t.Folder {
		t = r.markdownTarget(from, plain)
	}
	return t
}

func (r *Resolver) markdownTarget(from, target string) (t Target) {
	t.Path = r.markdownPath(from, target)
	t.Folder = t.Path == "" && r.folders[fold(fromFolder(from, target))]
	switch {
	case t.Path != "", t.Folder, strings.HasPrefix(target, "."), strings.HasPrefix(target, "/"), strings.HasSuffix(target, "/"):
	case strings.Contains(target, "/"):
		t.Path = r.at(target)
	default:
		t.Path, t.Ambiguous = r.wiki(from, target)
	}
	return t
}

// fromFolder is the path that a Markdown link means: from the note's folder, or
// with a slash from the root.
func fromFolder(from, target string) string {
	if rooted := strings.TrimPrefix(target, "/"); rooted != target {
		return path.Clean(rooted)
	}
	return path.Join(path.Dir(from), target)
}

func (r *Resolver) markdownPath(from, target string) string {
	p := fromFolder(from, target)
	if p == ".." || strings.HasPrefix(p, "../") {
		return ""
	}
	if !strings.HasSuffix(target, "/") {
		if found := r.at(p); found != "" {
			return found
		}
	}
	for _, index := range []string{"index.md", "README.md"} {
		if found := r.exact(path.Join(p, index)); found != "" {
			return found
		}
	}
	return ""
}

// at returns the file at a path, or the note whose path lacks its extension.
func (r *Resolver) at(p string) string {
	if found := r.exact(p); found != "" {
		return found
	}
	for _, ext := range noteExtensions {
		if found := r.exact(p + ext); found != "" {
			return found
		}
	}
	return ""
}

// exact returns the file at a path: the one spelled so, else the first that
// differs by case.
func (r *Resolver) exact(p string) string {
	all := r.paths[fold(p)]
	switch {
	case len(all) == 0:
		return ""
	case slices.Contains(all, p):
		return p
	}
	return all[0]
}

// twins lists the files that a path without regard to case means, if they are
// several and none is spelled so.
func (r *Resolver) twins(p, found string) []string {
	all := r.paths[fold(found)]
	if len(all) < 2 || strings.HasPrefix(found, p) {
		return nil
	}
	return all
}

func (r *Resolver) wiki(from, target string) (found string, ambiguous []string) {
	target = strings.ReplaceAll(target, `\`, "/")
	if strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		p := path.Join(path.Dir(from), target)
		if strings.HasPrefix(p, "../") {
			return "", nil
		}
		return r.at(p), nil
	}
	if rooted, ok := strings.CutPrefix(target, "/"); ok {
		return r.at(path.Clean(rooted)), nil
	}
	target = path.Clean(target)
	if found = r.at(target); found != "" {
		return found, r.twins(target, found)
	}
	all := r.ending(target)
	if len(all) == 0 {
		return "", nil
	}
	found = all[0]
	if near := r.at(path.Join(path.Dir(from), target)); near != "" {
		found = near
	}
	if len(all) > 1 {
		ambiguous = all
	}
	return found, ambiguous
}

// ending returns the files whose path ends with the folders and name of target,
// notes before others. An extension that target has is one that they have.
func (r *Resolver) ending(target string) []string {
	key := fold(target)
	if stem, ok := noteStem(key); ok {
		fits := func(p string) bool { return strings.HasSuffix(fold(p), key) }
		if all := r.notes[stem]; !slices.ContainsFunc(all, func(p string) bool { return !fits(p) }) && len(all) > 0 {
			return all // as nearly always: not to be copied
		} else if all = slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !fits(p) }); len(all) > 0 {
			return all
		}
	}
	if all := r.notes[key]; len(all) > 0 {
		return all
	}
	return r.files[key]
}
