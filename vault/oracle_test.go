package vault_test

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// An oracle says where links lead, from the rules that Obsidian and GitHub
// document, by looking through all files for each link:
//
//   - [[name]] is the file whose path ends so, whatever the case; a note's name
//     goes without its extension, an attachment's does not. The exact path from the
//     root comes first, then the file in the note's own folder, then the shortest
//     path. An alias is no name.
//   - [text](path) is relative to the note's folder, with a slash to the root; spaces
//     are %20 or the whole stands in <>. Obsidian also takes it as a path from the
//     root, and a bare name as that of [[name]]. GitHub shows a
//     folder, with its index.md or README.md if it has one.
//   - #heading is a heading's text for [[ ]], its anchor or an HTML id for ( ); ^id
//     is a block that ends so.
//   - Nothing in code, formulas or comments is a link.
//
// It shares no code with the program and knows Markdown only by regular
// expressions.
type oracle struct {
	files   map[string]string // by path
	paths   []string          // shortest first, then in byte order
	anchors map[string]map[string]bool
}

// oracleLink is a link as the oracle finds it.
type oracleLink struct {
	wiki             bool
	target, fragment string
}

func newOracle(files map[string]string) *oracle {
	o := &oracle{files: files, anchors: map[string]map[string]bool{}}
	for p := range files {
		o.paths = append(o.paths, p)
	}
	slices.SortFunc(o.paths, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return o
}

// judge lists the notes that a note links to, and its links that lead nowhere.
func (o *oracle) judge(from string) (out, broken []string) {
	for _, l := range oracleLinks(o.files[from]) {
		name := l.target
		if l.fragment != "" {
			name += "#" + l.fragment
		}
		to, ok := o.find(from, l)
		switch {
		case !ok || !o.hasFragment(to, l):
			broken = append(broken, name)
		case isNote(to) && to != from:
			out = append(out, to)
		}
		if ok && isNote(to) && to != from && !o.hasFragment(to, l) {
			out = append(out, to) // the note is there, its heading is not
		}
	}
	slices.Sort(out)
	slices.Sort(broken)
	return slices.Compact(out), broken
}

func isNote(p string) bool { return strings.HasSuffix(p, ".md") || strings.HasSuffix(p, ".markdown") }

// find returns the file that a link leads to; ok without one is a folder, or
// something outside the vault.
func (o *oracle) find(from string, l oracleLink) (to string, ok bool) {
	switch {
	case l.target == "":
		return from, true
	case l.wiki:
		to = o.named(from, l.target)
		return to, to != ""
	}
	clean := path.Join(path.Dir(from), l.target)
	if rooted, is := strings.CutPrefix(l.target, "/"); is {
		clean = path.Clean(rooted)
	}
	if strings.HasPrefix(clean+"/", "../") {
		return "", !strings.HasPrefix(l.target, "/")
	}
	if !strings.HasSuffix(l.target, "/") {
		if to = o.at(clean); to != "" {
			return to, true
		}
	}
	for _, index := range []string{"index.md", "README.md"} {
		if to = o.spelled(path.Join(clean, index)); to != "" {
			return to, true
		}
	}
	for _, p := range o.paths {
		if clean == "." || strings.HasPrefix(strings.ToLower(p), strings.ToLower(clean)+"/") {
			return "", true
		}
	}
	if !strings.HasPrefix(l.target, ".") && !strings.HasPrefix(l.target, "/") && !strings.HasSuffix(l.target, "/") {
		if to = o.at(l.target); to == "" && !strings.Contains(l.target, "/") {
			to = o.named(from, l.target)
		}
	}
	return to, to != ""
}

// at is the file of that path, a note with or without its extension.
func (o *oracle) at(p string) string {
	for _, want := range []string{p, p + ".md", p + ".markdown"} {
		if p = o.spelled(want); p != "" {
			return p
		}
	}
	return ""
}

// spelled is the file at exactly that path, or in another case.
func (o *oracle) spelled(p string) string {
	if _, ok := o.files[p]; ok {
		return p
	}
	for _, f := range o.paths {
		if strings.EqualFold(f, p) {
			return f
		}
	}
	return ""
}

// named is the file that [[target]] means in a note.
func (o *oracle) named(from, target string) string {
	if strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		return o.at(path.Join(path.Dir(from), target))
	}
	if rooted, ok := strings.CutPrefix(target, "/"); ok {
		return o.at(rooted)
	}
	if p := o.at(target); p != "" {
		return p
	}
	if p := o.at(path.Join(path.Dir(from), target)); p != "" {
		return p
	}
	ends := func(p, want string) bool { return strings.HasSuffix("/"+strings.ToLower(p), "/"+strings.ToLower(want)) }
	for _, p := range o.paths {
		if isNote(target) && ends(p, target) || ends(p, target+".md") || ends(p, target+".markdown") {
			return p
		}
	}
	for _, p := range o.paths {
		if ends(p, target) {
			return p
		}
	}
	return ""
}

var (
	oracleID     = regexp.MustCompile(`(?m)(?:^|\s)\^([\w-]+)[ \t]*$`)
	oracleHTMLID = regexp.MustCompile(`<[a-zA-Z][^<>]*?\b(?:id|name)\s*=\s*["']?([^"'\s>]+)`)
	oracleTitle  = regexp.MustCompile(`(?m)^(?:> ?)* {0,3}(?:[-*+] |\d+[.)] )? {0,3}#{1,6}[ \t]+(.*)$|^([^\n]+)\n(?:=+|-+)[ \t]*$`)
	oracleMarkup = regexp.MustCompile("`+([^`]*)`+|\\*+|<[^>]*>|!?\\[\\[(?:[^\\]|]*\\|)?([^\\]]*)\\]\\]|!?\\[([^\\]]*)\\](?:\\([^)]*\\)|\\[[^\\]]*\\])")
)

// hasFragment reports whether a note has what a link's fragment names.
func (o *oracle) hasFragment(to string, l oracleLink) bool {
	if l.fragment == "" || !isNote(to) {
		return true
	}
	if o.anchors[to] == nil {
		o.anchors[to] = oracleAnchors(o.files[to])
	}
	want := l.fragment[strings.LastIndexByte(l.fragment, '#')+1:]
	return o.anchors[to][want] || o.anchors[to][oracleAnchor(want)] || !l.wiki && o.anchors[to]["id="+l.fragment]
}

// oracleAnchors are what a link into a note can name: its headings' anchors, its
// blocks with their sign, and its HTML ids after "id=".
func oracleAnchors(src string) map[string]bool {
	_, body := oracleBody(src)
	out, seen := map[string]bool{}, map[string]int{}
	for _, m := range oracleTitle.FindAllStringSubmatch(oracleFences(body), -1) {
		text := strings.TrimRight(strings.TrimSpace(m[1]+m[2]), "# ")
		anchor := oracleAnchor(oracleMarkup.ReplaceAllString(text, "$1$2$3"))
		out[strings.TrimSuffix(fmt.Sprintf("%s-%d", anchor, seen[anchor]), "-0")] = true
		seen[anchor]++
	}
	text := oracleBlank(body)
	for _, m := range oracleID.FindAllStringSubmatch(text, -1) {
		out["^"+m[1]] = true
	}
	for _, m := range oracleHTMLID.FindAllStringSubmatch(text, -1) {
		out["id="+m[1]] = true
	}
	return out
}

// oracleAnchor is GitHub's anchor of a heading.
func oracleAnchor(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.Is(unicode.Pc, r):
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

var (
	oracleWiki       = regexp.MustCompile(`^!?\[\[([^\[\]\n|]+?)\\?(?:\|[^\n]*?)?\]\]`)
	oracleInline     = regexp.MustCompile(`^\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)`)
	oracleDefinition = regexp.MustCompile(`(?m)^[ >]{0,3}\[([^\]\n^][^\]\n]*)\]:[ \t]*\n?[ \t]*(?:<([^<>\n]*)>|(\S+))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^)\n]*\)))?[ \t]*$`)
	oracleReference  = regexp.MustCompile(`^\[([^\[\]]*)\]`)
	oracleBreak      = regexp.MustCompile(`\n[ \t>]*\n`)
	oracleScheme     = regexp.MustCompile(`^(?:[a-zA-Z][a-zA-Z0-9+.-]+:|//)`)
	oracleUnescape   = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)
)

// oracleLinks finds the links of a note that do not leave the vault.
func oracleLinks(src string) (links []oracleLink) {
	front, body := oracleBody(src)
	for i := range front {
		if m := oracleWiki.FindStringSubmatch(front[i:]); m != nil && front[i] == '[' {
			links = append(links, oracleWikiLink(m[1])...)
		}
	}
	body = oracleBlank(body)
	defined := map[string]string{}
	for _, m := range oracleDefinition.FindAllStringSubmatch(body, -1) {
		if key := oracleLabel(m[1]); defined[key] == "" {
			defined[key] = m[2] + m[3]
		}
	}
	body = oracleDefinition.ReplaceAllString(body, "")
	for _, block := range oracleBreak.Split(body, -1) {
		links = append(links, oracleInlineLinks(block, defined)...)
	}
	return links
}

func oracleLabel(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// oracleInlineLinks finds the links of a paragraph.
func oracleInlineLinks(s string, defined map[string]string) (links []oracleLink) {
	var open []int
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if m := oracleWiki.FindStringSubmatch(s[i:]); m != nil && (i+len(m[0]) == len(s) || s[i+len(m[0])] != '(') {
				links = append(links, oracleWikiLink(m[1])...)
				i += len(m[0]) - 1
				continue
			}
			open = append(open, i)
		case ']':
			if len(open) == 0 {
				continue
			}
			text := s[open[len(open)-1]+1 : i]
			open = open[:len(open)-1]
			dest, size, ok := oracleDestination(s[i+1:], text, defined)
			if ok {
				links = append(links, oracleMarkdown(dest)...)
				i += size
			}
		}
	}
	return links
}

// oracleDestination reads what follows a text in brackets.
func oracleDestination(s, text string, defined map[string]string) (dest string, size int, ok bool) {
	if m := oracleInline.FindStringSubmatch(s); m != nil {
		return m[1] + m[2], len(m[0]), true
	}
	if m := oracleReference.FindStringSubmatch(s); m != nil {
		label := m[1]
		if strings.TrimSpace(label) == "" {
			label = text
		}
		dest, ok = defined[oracleLabel(label)]
		return dest, len(m[0]), ok
	}
	dest, ok = defined[oracleLabel(text)]
	return dest, 0, ok
}

func oracleWikiLink(target string) []oracleLink {
	name, fragment, _ := strings.Cut(target, "#")
	if name = strings.TrimSpace(name); strings.Contains(name, "://") {
		return nil
	}
	return []oracleLink{{wiki: true, target: name, fragment: strings.TrimSpace(fragment)}}
}

func oracleMarkdown(dest string) []oracleLink {
	dest = oracleUnescape.ReplaceAllString(dest, "$1")
	if dest == "" || oracleScheme.MatchString(dest) || strings.Contains(dest, "://") {
		return nil // "(https://a.b)" is meant for an address too
	}
	name, fragment, _ := strings.Cut(dest, "#")
	name, _, _ = strings.Cut(name, "?")
	l := oracleLink{target: name, fragment: fragment}
	for _, p := range []*string{&l.target, &l.fragment} {
		if plain, err := url.PathUnescape(*p); err == nil {
			*p = plain
		}
	}
	if l.target == "" && l.fragment == "" {
		return nil
	}
	return []oracleLink{l}
}

// oracleBody cuts off the frontmatter.
func oracleBody(src string) (front, body string) {
	src = strings.ReplaceAll(strings.TrimPrefix(src, "\ufeff"), "\r\n", "\n")
	if m := oracleFront.FindStringSubmatch(src); m != nil {
		return m[1], src[len(m[0]):]
	}
	return "", src
}

var (
	oracleFront   = regexp.MustCompile(`(?s)^---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|$)`)
	oracleFence   = regexp.MustCompile("^((?:[ \t]*>)*)[ \t]*(?:(?:[-*+]|\\d+[.)])[ \t]+)*(```+|~~~+)([^\n]*)$")
	oracleItem    = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d+[.)])(?:[ \t]|$)`)
	oracleHTML    = regexp.MustCompile(`(?i)^ {0,3}</?(?:address|article|aside|blockquote|body|center|details|dialog|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|nav|ol|option|p|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul|pre|script|style)[\s/>]`)
	oracleTicks   = regexp.MustCompile("`+")
	oracleCode    = strings.NewReplacer("[", "(", "]", ")", "`", "'", `\`, "/", "<", "(", "^", "'")
	oracleComment = regexp.MustCompile(`(?s)<!--.*?-->|%%.*?%%|\$\$.*?\$\$`)
)

// oracleBlank takes out what holds no links: code, comments, formulas, HTML.
func oracleBlank(body string) string {
	blocks := strings.Split(oracleComment.ReplaceAllString(oracleFences(body), ""), "\n\n")
	for i, b := range blocks {
		blocks[i] = oracleSpans(b)
	}
	return strings.Join(blocks, "\n\n")
}

// oracleFences takes out blocks of code, fenced and indented, and of HTML.
func oracleFences(body string) string {
	var out []string
	fence, quoted := "", ""
	inList, inHTML, blank := false, false, true
	for _, line := range strings.Split(body, "\n") {
		m := oracleFence.FindStringSubmatch(line)
		empty := strings.Trim(line, " \t>") == ""
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		inHTML = !empty && (inHTML || fence == "" && oracleHTML.MatchString(line))
		if fence != "" && quoted != "" && !strings.HasPrefix(strings.TrimSpace(line), ">") {
			fence = ""
		}
		switch {
		case fence != "":
			if m != nil && strings.HasPrefix(m[2], fence) && strings.TrimSpace(m[3]) == "" {
				fence = ""
			}
			line = ""
		case m != nil && !strings.Contains(m[3], "`"):
			fence, quoted, line = m[2], m[1], ""
		case inHTML, indented && blank && !inList:
			line = ""
		case oracleItem.MatchString(line):
			inList = true
		case !empty && !indented && blank && !strings.HasPrefix(line, " "):
			inList = false
		}
		blank = empty || blank && line == ""
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// oracleSpans takes the code spans out of a paragraph.
func oracleSpans(s string) string {
	var b strings.Builder
	for {
		at := oracleTicks.FindStringIndex(s)
		if at == nil {
			return b.String() + s
		}
		b.WriteString(s[:at[0]])
		ticks, rest := s[at[0]:at[1]], s[at[1]:]
		end := -1
		for _, m := range oracleTicks.FindAllStringIndex(rest, -1) {
			if m[1]-m[0] == len(ticks) {
				end = m[1]
				break
			}
		}
		switch {
		case strings.HasSuffix(b.String(), `\`):
			b.WriteString(ticks[:1])
			s = s[at[0]+1:]
		case end < 0:
			b.WriteString(ticks)
			s = rest
		default:
			b.WriteString(oracleCode.Replace(rest[:end]))
			s = rest[end:]
		}
	}
}
