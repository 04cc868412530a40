// Package site makes a static site of docs: pages, and the search in them. It is
// a function of what it is given, and knows no git, no store and no network: the
// same docs give the same bytes.
//
// Notes are untrusted. Their HTML comes from package note, which escapes it;
// raw HTML in them passes a policy (see sanitize.go) and KaTeX and chroma see
// their formulas and code as text.
package site

import "kb/note"

// Doc is a note at a path, to be shown as a page.
type Doc struct {
	Collection, Path string // the path is relative to the collection, with slashes
	Title, Section   string
	Tags, Aliases    []string
	Created, Updated string // dates
	Commit, Author   string // of the last change
	Blob             note.ID
	Language         string // BCP 47; "" for the site's
	Translated       string // what docs that say the same in several languages share; "" for nothing
	Note             *note.Note
	Versions         []Version // the doc's history, newest first
	MoreVersions     bool      // there are older ones
	Related          []*Doc    // docs of the same set about the same, the nearest first
}

// Version is a change of a doc.
type Version struct {
	Commit, Date, Author, Subject string
	Path                          string // of the doc then
}
