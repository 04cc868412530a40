package site

import (
	"context"
	"strings"

	"kb/note"
)

// Set is what a site is made of: the docs of a view and what belongs to them.
// All that pages show comes from here, so that equal sets give equal bytes.
type Set struct {
	Title    string // of the site
	BaseURL  string // where it will be served: https://host/path/; "" when unknown
	Language string // BCP 47, of the pages
	Commit   Commit // of the view
	Recipes  []string

	Collections []Collection
	Docs        []*Doc // by collection, in the order of Collections, then by path
	Files       []File // attachments that notes may show or link to, likewise

	// Custom changes how pages look.
	Custom Custom

	// Search is what the site's search ranks by; nil for a site without.
	Search *SearchData

	// Moved lists paths at which docs were before. Where several were at one, the
	// first here counts.
	Moved []Moved

	// Read returns a blob as it is stored. It is called from several goroutines.
	Read func(ctx context.Context, collection string, blob note.ID) ([]byte, error)
}

// base is BaseURL with one slash at its end, or "".
func (s *Set) base() string {
	if s.BaseURL == "" {
		return ""
	}
	return strings.TrimRight(s.BaseURL, "/") + "/"
}

// Custom is what a vault adds to every page: a style after the site's own, and HTML,
// which is cleaned as the notes' is.
type Custom struct {
	Style      []byte
	Head       []byte // meta and link elements
	AfterTitle []byte // of a note
	Footer     []byte
}

// Commit is a commit as pages name it.
type Commit struct {
	ID      string // in full
	Date    string // RFC 3339, UTC
	Author  string
	Subject string
}

// Collection is a set of docs with links of its own.
type Collection struct {
	Name        string
	Description string
	Sections    map[string]string // descriptions, by first-level directory
}

// File is a file beside the notes.
type File struct {
	Collection string
	Path       string
	Blob       note.ID
}

// Moved says that the doc now at To was at From.
type Moved struct {
	Collection string
	From, To   string
}
