package vault

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"kb/internal/secrets"
)

// secrets reports keys and passwords on the lines that the draft wrote. What it
// says shows no more of them than which one is meant.
func (c *checker) secrets(e *proposedEdit, added map[int]bool) {
	for _, s := range secrets.Find(e.now) {
		line := 1 + bytes.Count(e.now[:s.Offset], []byte("\n"))
		if added[line] {
			c.report(e, line, checkSecret, "take it out, and revoke it if it is real: the draft's history has it", "%s", secretText(s))
		}
	}
}

// hiddenRune finds a character in a line that a reader does not see or that shows
// the line in another order. Joiners are left alone where scripts and emoji need
// them: not between Latin letters.
func hiddenRune(line string) (rune, bool) {
	line = strings.TrimRight(line, "\r\n")
	if strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r > 0x7e }) < 0 {
		return 0, false
	}
	runes := []rune(strings.TrimPrefix(line, "\ufeff")) // a byte order mark, on the first line
	for i, r := range runes {
		switch {
		case r == '\u200c' || r == '\u200d':
			if i == 0 || i+1 == len(runes) || latin(runes[i-1]) || latin(runes[i+1]) {
				return r, true
			}
		case r == '\u00ad': // a soft hyphen shows where a word may break
		case isHidden(r), shapeless(r):
			return r, true
		}
	}
	return 0, false
}

func latin(r rune) bool { return r < 0x80 || unicode.Is(unicode.Latin, r) }

// shapeless reports whether r takes no room though it is a letter or mark by
// class: Hangul fillers, and the selectors that can carry bytes.
func shapeless(r rune) bool {
	return r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x034f || r >= 0xe0000 && r <= 0xe0fff
}

// describeRune names a hidden character.
func describeRune(r rune) string {
	what := "an invisible character"
	switch {
	case unicode.Is(unicode.Bidi_Control, r):
		what = "a character that reorders the text"
	case r >= 0xe0000 && r <= 0xe0fff:
		what = "an invisible tag character"
	case unicode.IsControl(r):
		what = "a control character"
	}
	return fmt.Sprintf("%s: U+%04X", what, r)
}

// sources checks what the draft says its knowledge is from.
func (c *checker) sources(ctx context.Context, e *proposedEdit) {
	for _, key := range []string{"source", "sources"} {
		line, has := fieldLine(e.note, key)
		if !has {
			continue
		}
		for _, s := range e.newSources(key) {
			if why := c.badSource(ctx, e, s); why != "" {
				mend := "a URL (https://…) or a citation (kb://…)"
				if strings.HasPrefix(s, scheme) {
					mend = "cite a note that is there"
				}
				c.report(e, line, checkSource, mend, "%s: %s", clip(s, 80), why)
			}
		}
	}
}

// newSources are the values of a property that the note did not have before.
func (e *proposedEdit) newSources(key string) (out []string) {
	var before []string
	if e.previous != nil {
		before = sourceValues(e.previous, key)
	}
	for _, s := range sourceValues(e.note, key) {
		if !slices.Contains(before, s) {
			out = append(out, s)
		}
	}
	return out
}

// badSource says what is wrong with a source, "" for nothing.
func (c *checker) badSource(ctx context.Context, e *proposedEdit, s string) string {
	if strings.HasPrefix(s, scheme) {
		return c.badCitation(ctx, s)
	}
	if strings.HasPrefix(s, "[[") && strings.HasSuffix(s, "]]") {
		return "" // a link, and checked as one
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || strings.ContainsAny(s, " \t"):
		return "neither a URL nor a citation"
	case u.Host != "" && slices.Contains([]string{"http", "https", "ftp", "ssh", "git"}, u.Scheme):
		return ""
	case u.Scheme == "file" && u.Opaque+u.Path != "":
		return "" // what kb add read
	case u.Opaque != "" && slices.Contains([]string{"doi", "urn", "isbn", "arxiv", "mailto"}, u.Scheme):
		return ""
	}
	return "neither a URL nor a citation"
}

// badCitation looks up what a source cites.
func (c *checker) badCitation(ctx context.Context, s string) string {
	cited, err := parseCitation(s)
	if err != nil {
		return err.Error()
	}
	col, unknown := c.v.collection(cited.Collection)
	if unknown != nil {
		return unknown.Error()
	}
	at := c.into
	if cited.Commit != "" {
		if at, unknown = col.repo.Resolve(cited.Commit); unknown != nil {
			return "no such commit"
		}
	} else if col.repo != c.repo {
		return ""
	}
	f, missing := col.repo.File(at, col.full(cited.Path))
	if missing == nil {
		if seen, err := c.sight.past(ctx, col, cited.Path, f.Blob); err == nil && seen {
			return ""
		}
	}
	return "no such note at that commit"
}
