package note

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Renamer mends the links of a collection whose files are given new paths,
// so that each leads to the file that it led to. It is safe for concurrent use.
type Renamer struct {
	moved         map[string]string
	before, after *Resolver
}

// NewRenamer returns a Renamer for a collection of notes and other files at
// paths, of which those in moved get the path that they are mapped to. No two
// files may end at one path.
func NewRenamer(paths []string, moved map[string]string) (*Renamer, error) {
	r := &Renamer{moved: moved, before: NewResolver(paths)}
	taken := make(map[string]string, len(paths))
	after := make([]string, 0, len(paths))
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		to := r.newPath(p)
		if other, ok := taken[to]; ok {
			return nil, fmt.Errorf("rename: %s and %s would both be %s", other, p, to)
		}
		taken[to] = p
		after = append(after, to)
	}
	for from, to := range moved {
		if taken[to] != from {
			return nil, fmt.Errorf("rename: no file %s", from)
		}
		if to == "" || to != path.Clean(to) || path.IsAbs(to) || strings.HasPrefix(to, "../") || to == ".." || to == "." {
			return nil, fmt.Errorf("rename: %q is no path within the collection", to)
		}
	}
	r.after = NewResolver(after)
	return r, nil
}

// newPath returns where the file at p comes to be.
func (r *Renamer) newPath(p string) string {
	if to, ok := r.moved[p]; ok {
		return to
	}
	return p
}

// Affects reports whether a link of the note at path, its path before, has to
// be rewritten.
func (r *Renamer) Affects(path string, links []Link) bool {
	return slices.ContainsFunc(links, func(l Link) bool {
		_, ok := r.mend(path, l)
		return ok
	})
}

// UnwritableLinkError says that a link cannot be made to lead where it should.
type UnwritableLinkError struct {
	Path string // of the note, before
	Line int
	Link string // its target as written
	To   string // the path that it should lead to
}

func (e *UnwritableLinkError) Error() string {
	return fmt.Sprintf("%s, line %d: no link can be written in the place of %q that leads to %s", e.Path, e.Line, e.Link, e.To)
}

// RenameLinks returns the source of the note at path, its path before, with
// its links rewritten so that each leads to the file that it led to, wherever
// that and the note itself come to be, and how many were. A link that does so
// already stays as it is unless the name in it is no longer the file's; others
// keep their form: a bare name, the end of a path, a path from the root or from
// the note, with the extension or without. A name that is not unique becomes a
// path from the root. Links that led nowhere stay, save those to files outside
// the collection. The error is an [UnwritableLinkError], or tells why the note
// cannot be edited; a note without links to rewrite has none.
func (r *Renamer) RenameLinks(path string, src []byte) ([]byte, int, error) {
	n, _ := Parse(src)
	if !r.Affects(path, n.Links) {
		return src, 0, nil
	}
	if _, err := openText(src); err != nil {
		return nil, 0, err
	}
	out, changed := Rewrite(src, func(l Link) (string, bool) { return r.mend(path, l) })
	after, _ := Parse(out)
	if err := r.check(path, n, after); err != nil {
		return nil, 0, err
	}
	return out, changed, nil
}

// check fails if a link of after, the note n with its links mended, does not
// lead to where it did in n.
func (r *Renamer) check(from string, n, after *Note) error {
	to := r.newPath(from)
	for i, l := range n.Links {
		want := r.before.Resolve(from, l)
		if want.Path == "" || want.External {
			continue
		}
		if i >= len(after.Links) || len(n.Links) != len(after.Links) || r.after.Resolve(to, after.Links[i]).Path != r.newPath(want.Path) || after.Links[i].Fragment != l.Fragment {
			return &UnwritableLinkError{Path: from, Line: l.Line, Link: l.Target, To: r.newPath(want.Path)}
		}
	}
	return nil
}

// mend returns the target that link l of the note at from is to have, and
// false if it needs no other.
func (r *Renamer) mend(from string, l Link) (string, bool) {
	if l.Target == "" || l.Kind == AutoLink {
		return "", false
	}
	was := r.before.Resolve(from, l)
	to := r.newPath(from)
	if was.External {
		return "", false
	}
	switch {
	case was.Folder:
		return r.folderTarget(from, to, l)
	case was.Path == "":
		return outsideTarget(from, to, l)
	}
	want := r.newPath(was.Path)
	got := r.after.Resolve(to, l)
	if got.Path == want && (want == was.Path || namesFile(l.Target, want) || isIndex(path.Base(want))) && (len(got.Ambiguous) == 0 || len(was.Ambiguous) > 0) {
		return "", false
	}
	for _, target := range candidates(from, to, l, was.Path, want) {
		t := l
		t.Target = target
		if found := r.after.Resolve(to, t); found.Path == want && len(found.Ambiguous) == 0 && !found.External {
			return target, target != l.Target
		}
	}
	return "", false
}

// namesFile reports whether a link's target ends in the name of the file at p,
// so spelled, with the extension or without.
func namesFile(target, p string) bool {
	name := path.Base(p)
	target, _, _ = strings.Cut(target, "?")
	last := target[strings.LastIndexAny(target, `/\`)+1:]
	return last == name || last == strings.TrimSuffix(name, path.Ext(name))
}

// folderTarget mends a relative link to a folder when the note that has it moves
// to another.
func (r *Renamer) folderTarget(from, to string, l Link) (string, bool) {
	t := l
	t.Target = path.Clean(relativePath(path.Dir(to), fromFolder(from, l.Target)))
	if strings.HasPrefix(l.Target, "/") || path.Dir(from) == path.Dir(to) || !r.after.Resolve(to, t).Folder {
		return "", false
	}
	if strings.HasSuffix(l.Target, "/") {
		t.Target += "/"
	}
	return t.Target, true
}

// outsideTarget mends a relative link to a file outside the collection when
// the note that has it moves to another folder.
func outsideTarget(from, to string, l Link) (string, bool) {
	if l.Kind != MarkdownLink || path.Dir(from) == path.Dir(to) || strings.HasPrefix(l.Target, "/") {
		return "", false
	}
	p := path.Join(path.Dir(from), l.Target)
	if !strings.HasPrefix(p+"/", "../") {
		return "", false
	}
	up := ""
	if dir := path.Dir(to); dir != "." {
		up = strings.Repeat("../", 1+strings.Count(dir, "/"))
	}
	return up + p, up+p != l.Target
}

// candidates returns the targets that may lead to the file at want, formerly
// at was, in the order of preference for a link written as l.
func candidates(from, to string, l Link, was, want string) []string {
	target := strings.ReplaceAll(l.Target, `\`, "/")
	query := ""
	if l.Kind == MarkdownLink {
		if i := strings.IndexByte(target, '?'); i >= 0 && !strings.HasSuffix(was, target[i:]) {
			target, query = target[:i], l.Target[i:]
		}
	}
	relative := relativePath(path.Dir(to), want)
	var forms []string
	switch {
	case strings.HasPrefix(target, "/"):
		forms = append(forms, "/"+want)
	case strings.HasPrefix(target, "./"):
		if !strings.HasPrefix(relative, "../") {
			relative = "./" + relative
		}
		forms = append(forms, relative)
	case strings.HasPrefix(target, "../"), l.Kind == MarkdownLink && leadsTo(from, target, was):
		forms = append(forms, relative)
	default:
		forms = append(forms, lastParts(want, 1+strings.Count(strings.TrimSuffix(target, "/"), "/")))
	}
	if l.Kind == MarkdownLink {
		forms = append(forms, relative, "./"+relative, want, "/"+want)
	} else {
		forms = append(forms, lastParts(want, 1), want, "/"+want)
	}
	return withQuery(inForm(forms, target, was, want), query)
}

// leadsTo reports whether target, relative to the folder of from, names the
// file at p.
func leadsTo(from, target, p string) bool {
	joined := fold(path.Join(path.Dir(from), target))
	key := fold(p)
	stem, _ := noteStem(key)
	return joined == key || joined == stem || joined == path.Dir(key)
}

// inForm puts before each form that names a note one without its extension, or
// of its folder, if that is what target has of the file that was.
func inForm(forms []string, target, was, want string) []string {
	var all []string
	name := path.Base(want)
	stem, _ := noteStem(fold(was))
	bare := path.Base(fold(target)) == path.Base(stem)
	folder := !bare && !namesFile(fold(target), fold(was)) && isIndex(name)
	for _, f := range forms {
		if folder {
			all = append(all, folderForm(strings.TrimSuffix(f, name), target))
		}
		if stem, ok := noteStem(f); ok && bare {
			all = append(all, stem)
		}
		all = append(all, f)
	}
	return all
}

// isIndex reports whether a link to a folder leads to the file of this name in
// it.
func isIndex(name string) bool { return name == "index.md" || name == "README.md" }

// folderForm returns a link to a folder, "" being the note's own, with a slash
// at its end if target has one.
func folderForm(folder, target string) string {
	if folder == "" {
		folder = "./"
	}
	if !strings.HasSuffix(target, "/") && folder != "/" {
		folder = strings.TrimSuffix(folder, "/")
	}
	return folder
}

func withQuery(forms []string, query string) []string {
	for i := range forms {
		forms[i] += query
	}
	return forms
}

// lastParts returns the last n parts of a path, all if it has fewer.
func lastParts(p string, n int) string {
	parts := strings.Split(p, "/")
	return strings.Join(parts[max(len(parts)-n, 0):], "/")
}

// relativePath returns the path of file p as seen from the folder dir.
func relativePath(dir, p string) string {
	if dir == "." {
		return p
	}
	from, to := strings.Split(dir, "/"), strings.Split(p, "/")
	same := 0
	for same < len(from) && same < len(to)-1 && from[same] == to[same] {
		same++
	}
	return strings.Repeat("../", len(from)-same) + strings.Join(to[same:], "/")
}
