package note

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxWikiLink bounds the bytes of a wikilink.
const maxWikiLink = 1000

// wikiLink reads the wikilink or embed that s starts with, and its length.
// "[[a]](url)" is a Markdown link whose text has brackets.
func wikiLink(s []byte) (l Link, size int, ok bool) {
	open := 2
	if l.Embed = s[0] == '!'; l.Embed {
		open = 3
	}
	if !bytes.HasPrefix(s[open-2:], []byte("[[")) {
		return l, 0, false
	}
	inner := s[open:min(len(s), maxWikiLink)]
	end := bytes.Index(inner, []byte("]]"))
	if end <= 0 {
		return l, 0, false
	}
	inner, size = inner[:end], open+end+2
	if size < len(s) && s[size] == '(' && !l.Embed {
		return l, 0, false
	}
	target, alias, aliased := bytes.Cut(inner, []byte{'|'})
	target = bytes.TrimSuffix(target, []byte{'\\'}) // as a table's cell has it
	if blank(target) || bytes.ContainsAny(target, "[]\n") || bytes.ContainsRune(alias, '\n') || bytes.Contains(alias, []byte("[[")) {
		return l, 0, false
	}
	name, fragment, _ := strings.Cut(string(target), "#")
	l.Kind, l.Target, l.Fragment = WikiLink, strings.TrimSpace(name), strings.TrimSpace(fragment)
	if l.Target == "" && l.Fragment == "" {
		return l, 0, false
	}
	l.Text = strings.TrimSpace(string(alias))
	if !aliased || l.Text == "" || l.Embed && imageSize(l.Text) {
		l.Text = shownTarget(l)
	}
	return l, size, true
}

// shownTarget is what Obsidian shows for a link without an alias.
func shownTarget(l Link) string {
	shown := strings.ReplaceAll(l.Fragment, "#", " > ")
	switch {
	case shown == "":
		return l.Target
	case l.Target == "":
		return shown
	}
	return l.Target + " > " + shown
}

// imageSize reports whether an embed's alias is a size: "300", "300x200".
func imageSize(s string) bool {
	return strings.Trim(s, "0123456789x") == "" && strings.Trim(s, "x") != ""
}

// wikiLinkNode is a [[wikilink]] or ![[embed]].
type wikiLinkNode struct {
	ast.BaseInline
	link Link
}

var kindWikiLink = ast.NewNodeKind("WikiLink")

func (n *wikiLinkNode) Kind() ast.NodeKind { return kindWikiLink }

func (n *wikiLinkNode) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"Target": n.link.Target, "Fragment": n.link.Fragment}, nil)
}

type wikiLinkParser struct{}

func (wikiLinkParser) Trigger() []byte { return []byte{'!', '['} }

func (wikiLinkParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if len(line) < 5 || line[1] != '[' || line[0] == '!' && line[2] != '[' {
		return nil
	}
	l, size, ok := wikiLink(line)
	if !ok || segment.Padding > 0 {
		return nil
	}
	l.Start, l.End = segment.Start, segment.Start+size
	n := &wikiLinkNode{link: l}
	f := factsOf(pc)
	f.links = append(f.links, linkFact{Link: l, node: n})
	block.Advance(size)
	return n
}
