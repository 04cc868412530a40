package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Commit is one commit. Text that is not UTF-8 has been made so.
type Commit struct {
	ID        CommitID
	Tree      TreeID
	Parents   []CommitID // none where a shallow clone ends
	Shallow   bool       // the commit has parents that a shallow clone left out
	Author    Signature
	Committer Signature
	Subject   string // the first paragraph, on one line
	Message   string
	Trailers  []Trailer // of the last paragraph, in order
}

// Signature says who did something, and when. When is within 1970-01-01 and
// 2242-03-16, whatever the commit says.
type Signature struct {
	Name  string
	Email string
	When  time.Time
}

// Trailer is a line "Key: value" at the end of a message.
type Trailer struct {
	Key   string
	Value string
}

// Commit reads a commit.
func (r *Repo) Commit(id CommitID) (*Commit, error) {
	o, err := r.objectOf(kindCommit, oid(id))
	if err != nil {
		return nil, err
	}
	shallow, err := r.shallow()
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", id, err)
	}
	c, err := parseCommit(o.data)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", id, err)
	}
	c.ID = id
	if shallow[id] {
		c.Parents, c.Shallow = nil, true
	}
	return c, nil
}

// graphCommit is what walks of history need of a commit.
type graphCommit struct {
	id      CommitID
	tree    TreeID
	parents []CommitID // as recorded, also where a shallow clone ends
	when    int64      // committer date
	author  string
}

// graphBytes is what a graphCommit takes without its parents and author.
const graphBytes = 96

// node reads a commit for a walk of history.
func (r *Repo) node(id CommitID) (*graphCommit, error) {
	if g, ok := r.graph.get(id); ok {
		return g, nil
	}
	o, err := r.objectOf(kindCommit, oid(id))
	if err != nil {
		return nil, err
	}
	h, err := splitCommit(o.data)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", id, err)
	}
	g := &graphCommit{
		id: id, tree: h.tree, parents: h.parents,
		when:   parseSignature(h.committer, h.encoding).When.Unix(),
		author: strings.Clone(parseSignature(h.author, h.encoding).Name),
	}
	r.graph.put(id, g, graphBytes+len(g.parents)*len(id)+len(g.author))
	return g, nil
}

// commitParts are the parts of a commit, not yet read as text.
type commitParts struct {
	tree              TreeID
	parents           []CommitID
	author, committer []byte
	encoding          string
	message           []byte
}

var errCommit = fmt.Errorf("%w: malformed commit", ErrCorrupt)

// splitCommit reads the headers of a commit. Unknown ones, and continuation
// lines, are passed over.
func splitCommit(data []byte) (commitParts, error) {
	var h commitParts
	for i := 0; ; i++ {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(line) == 0 || !ok {
			h.message = data
			break
		}
		key, value, _ := bytes.Cut(line, []byte(" "))
		if err := h.header(i, string(key), value); err != nil {
			return h, err
		}
	}
	if h.tree.IsZero() {
		return h, errCommit
	}
	return h, nil
}

func (h *commitParts) header(i int, key string, value []byte) error {
	id, isID := parseOID(value)
	switch {
	case key == "tree" && i == 0 && isID:
		h.tree = TreeID(id)
	case key == "parent" && isID && h.author == nil:
		h.parents = append(h.parents, CommitID(id))
	case key == "tree" || key == "parent":
		return errCommit
	case key == "author" && h.author == nil:
		h.author = value
	case key == "committer" && h.committer == nil:
		h.committer = value
	case key == "encoding":
		h.encoding = string(value)
	}
	return nil
}

func parseCommit(data []byte) (*Commit, error) {
	h, err := splitCommit(data)
	if err != nil {
		return nil, err
	}
	c := &Commit{
		Tree:      h.tree,
		Parents:   h.parents,
		Author:    parseSignature(h.author, h.encoding),
		Committer: parseSignature(h.committer, h.encoding),
		Message:   decode(h.message, h.encoding),
	}
	c.Subject = subject(c.Message)
	c.Trailers = trailers(c.Message)
	return c, nil
}

// decode makes UTF-8 of text. Commits in Latin-1 are read as such; what is left
// that is not UTF-8 becomes U+FFFD.
func decode(text []byte, encoding string) string {
	if utf8.Valid(text) {
		return string(text)
	}
	switch strings.ToLower(encoding) {
	case "iso-8859-1", "iso8859-1", "latin1", "latin-1", "windows-1252", "cp1252":
		runes := make([]rune, len(text))
		for i, c := range text {
			runes[i] = rune(c)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// maxTime bounds dates: 2^33 seconds.
const maxTime = 1 << 33

// parseSignature reads "Name <mail> 1700000000 +0100" with any part missing.
func parseSignature(line []byte, encoding string) Signature {
	s := Signature{When: time.Unix(0, 0).UTC()}
	text := decode(line, encoding)
	open, end := strings.IndexByte(text, '<'), strings.LastIndexByte(text, '>')
	if open < 0 || end < open {
		s.Name = strings.TrimSpace(text)
		return s
	}
	s.Name, s.Email = strings.TrimSpace(text[:open]), strings.TrimSpace(text[open+1:end])
	fields := strings.Fields(text[end+1:])
	if len(fields) == 0 {
		return s
	}
	sec, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return s
	}
	zone := time.UTC
	if len(fields) > 1 {
		zone = parseZone(fields[1])
	}
	s.When = time.Unix(min(max(sec, 0), maxTime), 0).In(zone)
	return s
}

// parseZone reads "+0130"; anything out of the ordinary is UTC.
func parseZone(s string) *time.Location {
	n, err := strconv.Atoi(s)
	minutes := n/100*60 + n%100
	if err != nil || minutes == 0 || minutes < -14*60 || minutes > 14*60 {
		return time.UTC
	}
	return time.FixedZone("", minutes*60)
}

// subject returns the first paragraph as one line.
func subject(message string) string {
	var lines []string
	for line := range strings.Lines(message) {
		line = strings.TrimRight(line, " \t\r\n\v\f")
		if line != "" {
			lines = append(lines, line)
		} else if len(lines) > 0 {
			break
		}
	}
	return strings.Join(lines, " ")
}

// trailers reads the last paragraph, if it is not the only one and each of its
// lines is a trailer or continues one.
func trailers(message string) []Trailer {
	message = strings.TrimRight(message, " \t\r\n")
	at := strings.LastIndex(message, "\n\n")
	if at < 0 {
		return nil
	}
	var found []Trailer
	for line := range strings.SplitSeq(message[at+2:], "\n") {
		key, value, ok := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, " ") && len(found) > 0:
			found[len(found)-1].Value += " " + strings.TrimSpace(line)
		case ok && isTrailerKey(key):
			found = append(found, Trailer{key, strings.TrimSpace(value)})
		default:
			return nil
		}
	}
	return found
}

func isTrailerKey(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}
