package vault

import (
	"slices"
	"strings"
)

// Visibility is who may see a note, and how far a caller sees: what is private is
// seen by fewer than what is the team's.
type Visibility string

// The visibilities, each seen by fewer than the one before.
const (
	Public  Visibility = "public"
	Team    Visibility = "team"
	Private Visibility = "private"
)

var visibilities = []Visibility{Public, Team, Private}

// ParseVisibility reads the name of a visibility, in any case.
func ParseVisibility(s string) (Visibility, error) {
	v := Visibility(strings.ToLower(strings.TrimSpace(s)))
	if !slices.Contains(visibilities, v) {
		return "", errorf(Usage, "visibility %q", clip(s, 60)).hint("accepted: public, team, private")
	}
	return v, nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. Nothing is "".
func (a *Visibility) UnmarshalText(text []byte) (err error) {
	if *a = ""; len(text) > 0 {
		*a, err = ParseVisibility(string(text))
	}
	return err
}

// stricter returns the one that fewer see.
func (a Visibility) stricter(b Visibility) Visibility {
	if slices.Index(visibilities, b) > slices.Index(visibilities, a) {
		return b
	}
	return a
}

// reaches reports whether who sees as far as a sees what is b.
func (a Visibility) reaches(b Visibility) bool {
	return slices.Index(visibilities, a) >= slices.Index(visibilities, b)
}

// scope is how far a call sees, and for whom it is.
type scope struct {
	all  bool       // every note of the collections
	sees Visibility // else
	user string     // whose private notes it sees, beside those that are nobody's
}

// scope of v: as its caller says, else all for a person, and for an agent all
// but what is private.
func (v *Vault) scope() scope {
	switch s := v.caller.Sees; {
	case slices.Contains(visibilities, s):
		return scope{sees: s, user: v.caller.User}
	case s != "":
		return scope{sees: Public}
	case v.audience == Person:
		return scope{all: true}
	}
	return scope{sees: Team}
}

// narrowed returns a copy of v that sees no further than a visibility, if it names
// one.
func (v *Vault) narrowed(to Visibility) *Vault {
	w := *v
	if s := v.scope(); to != "" && (s.all && to != Private || !s.all && s.sees.reaches(to)) {
		w.caller.Sees = to
	}
	return &w
}

func (s scope) key() string {
	switch {
	case s.all:
		return "all"
	case s.sees == Private:
		return string(s.sees) + " " + foldName(s.user)
	}
	return string(s.sees)
}

// admits reports whether a note is seen: what is private and has owners, by them
// alone.
func (s scope) admits(level Visibility, owners []string) bool {
	if s.all || level != Private {
		return s.all || s.sees.reaches(level)
	}
	return s.sees == Private && (len(owners) == 0 || slices.ContainsFunc(owners, s.is))
}

// is reports whether an owner that a note names is the user of s, who may be
// known as "Name <address>": by the whole of it, the name or the address.
func (s scope) is(owner string) bool {
	user, owner := foldName(s.user), foldName(strings.TrimPrefix(linkText(owner), "@"))
	name, address, _ := strings.Cut(strings.TrimSuffix(user, ">"), "<")
	return owner != "" && (owner == user || owner == strings.TrimSpace(name) || owner == address)
}

// pathRule gives the notes below some paths a visibility.
type pathRule struct {
	pattern string // as [protectionKey] makes it
	level   Visibility
}

// pathRules are the patterns of a configuration.
func (c VisibilityConfig) pathRules() (rules []pathRule) {
	for level, patterns := range map[Visibility][]string{Public: c.Public, Team: c.Team, Private: c.Private} {
		for _, p := range patterns {
			rules = append(rules, pathRule{protectionKey(p), level})
		}
	}
	return rules
}

// byPath is the visibility that the configuration gives to a path of c; "" for
// none of its own.
func (s *shared) byPath(c *collection, p string) (level Visibility) {
	if len(s.rules) == 0 {
		return ""
	}
	for _, name := range s.namesOf(c, p) {
		name = protectionKey(name)
		for _, r := range s.rules {
			if matchPattern(r.pattern, name) {
				level = r.level.stricter(level)
			}
		}
	}
	return level
}

// namesOf are the ways in which a configuration may name a path of c: from the
// collection, the repository, and the configuration's own directory.
func (s *shared) namesOf(c *collection, p string) []string {
	names := []string{p}
	for _, name := range []string{c.full(p), s.fromConfig(c, p)} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// usual is the visibility of the notes of c of which nothing else is said.
func (c *collection) usual() Visibility { return Visibility(c.Visibility) }

// level is the visibility of a note of c that says claim of itself: the stricter
// of that and what the configuration says of its path, else the usual.
func (s *shared) level(c *collection, p string, says *claim) Visibility {
	level := s.byPath(c, p)
	if says != nil {
		level = says.Level.stricter(level)
	}
	if level == "" {
		return c.usual()
	}
	return level
}
