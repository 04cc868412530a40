package note

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Entity is something a note names: by a link, a mark, or its properties. Kind
// is url, email, hashtag, mention or field.
type Entity struct {
	Kind  string `cbor:"k"`
	Name  string `cbor:"n"`
	Count int    `cbor:"c"`
}

// The kinds of entities.
const (
	EntityURL     = "url"     // without scheme, query and fragment: example.org/page
	EntityEmail   = "email"   // in lower case
	EntityHashtag = "hashtag" // inline, without '#'
	EntityMention = "mention" // @name, without '@'
	EntityField   = "field"   // an item of the property entities
)

var (
	emailForm   = regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`)
	mentionForm = regexp.MustCompile(`(?:^|[\s(\["'「『（])@([\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?)`)
)

// entities collects what n names, by kind and name.
func (n *Note) entities(text []byte, inline []tagFact) []Entity {
	c := entityCounter{}
	for _, l := range n.Links {
		if name, ok := urlName(l.Target); ok {
			c.add(EntityURL, name)
		} else if mail, ok := strings.CutPrefix(strings.ToLower(l.Target), "mailto:"); ok {
			c.add(EntityEmail, mail)
		}
	}
	for _, t := range inline {
		c.add(EntityHashtag, strings.ToLower(t.name))
	}
	for _, s := range n.Strings("entities") {
		c.add(EntityField, strings.TrimSpace(s))
	}
	c.scan(text[n.Body:])
	return c.list()
}

// scan finds mail addresses and mentions; a line without '@' costs nothing.
func (c entityCounter) scan(body []byte) {
	const most = 4096 // of a line: what is longer is data, not prose
	for rest := string(body); ; {
		at := strings.IndexByte(rest, '@')
		if at < 0 {
			return
		}
		start := strings.LastIndexByte(rest[:at], '\n') + 1
		end := strings.IndexByte(rest[at:], '\n')
		if end < 0 {
			end = len(rest)
		} else {
			end += at
		}
		line := rest[start:min(end, start+most)]
		for _, m := range emailForm.FindAllString(line, -1) {
			c.add(EntityEmail, strings.ToLower(m))
		}
		for _, m := range mentionForm.FindAllStringSubmatch(line, -1) {
			c.add(EntityMention, m[1])
		}
		rest = rest[end:]
	}
}

// urlName is a web address as an entity is named.
func urlName(target string) (string, bool) {
	if !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") {
		return "", false
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(u.Host), "www.")+u.Path, "/"), true
}

// entityCounter counts by kind and name.
type entityCounter map[Entity]int

func (c entityCounter) add(kind, name string) {
	if name != "" && len(name) <= 512 {
		c[Entity{Kind: kind, Name: name}]++
	}
}

func (c entityCounter) list() []Entity {
	out := make([]Entity, 0, len(c))
	for e, n := range c {
		e.Count = n
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entity) int {
		if k := strings.Compare(a.Kind, b.Kind); k != 0 {
			return k
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
