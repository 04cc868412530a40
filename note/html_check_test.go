package note

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var (
	safeScheme = regexp.MustCompile(`^(?i:https?|mailto|kb):`)
	anyScheme  = regexp.MustCompile(`^[^/?#]*:`)
)

// checkHTML fails if out is no balanced HTML, or a browser would find another
// tree in it, or something of it could run.
func checkHTML(t *testing.T, out []byte) {
	t.Helper()
	var tree, stack []string
	ids := map[string]bool{}
	z := html.NewTokenizer(bytes.NewReader(out))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.StartTagToken:
			tree = append(tree, strings.Repeat(" ", len(stack))+token.Data)
			checkAttributes(t, token, ids)
			if !voidNames[token.Data] {
				stack = append(stack, token.Data)
			}
		case html.EndTagToken:
			if len(stack) == 0 || stack[len(stack)-1] != token.Data {
				t.Fatalf("</%s> ends %v in:\n%s", token.Data, stack, out)
			}
			stack = stack[:len(stack)-1]
		case html.CommentToken, html.DoctypeToken, html.SelfClosingTagToken:
			t.Fatalf("token %v in:\n%s", token, out)
		}
	}
	if len(stack) > 0 {
		t.Fatalf("open at the end: %v:\n%s", stack, out)
	}
	if parsed := browserTree(t, out); !slices.Equal(tree, parsed) {
		t.Fatalf("a browser finds another tree (-written +parsed):\n%s\n%s", cmp.Diff(tree, parsed), out)
	}
}

func checkAttributes(t *testing.T, token html.Token, ids map[string]bool) {
	t.Helper()
	switch token.Data {
	case "script", "style", "iframe", "object", "embed", "form", "base", "meta", "link", "svg", "template":
		t.Fatalf("element %v", token)
	}
	for _, a := range token.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || a.Key == "srcset":
			t.Fatalf("attribute %v", token)
		case a.Key == "id":
			if ids[a.Val] || a.Val == "" && !headingNames[token.Data] {
				t.Fatalf("id %q twice or empty", a.Val)
			}
			ids[a.Val] = true
		case a.Key == "href" || a.Key == "src":
			if anyScheme.MatchString(a.Val) && !safeScheme.MatchString(a.Val) || strings.ContainsAny(a.Val, "\x00\t\n\r <>\"") {
				t.Fatalf("URL %q", a.Val)
			}
		}
	}
}

// browserTree returns the elements that a browser makes of a fragment.
func browserTree(t *testing.T, out []byte) []string {
	t.Helper()
	nodes, err := html.ParseFragment(bytes.NewReader(out), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	var tree []string
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if n.Type == html.ElementNode {
			tree = append(tree, strings.Repeat(" ", depth)+n.Data)
			depth++
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth)
		}
	}
	for _, n := range nodes {
		walk(n, 0)
	}
	return tree
}

// checkRendered fails if the HTML of a note is unsafe, or does not have the
// headings and links that Parse finds.
func checkRendered(t *testing.T, src []byte) {
	t.Helper()
	n, text := Parse(src)
	if n.Binary {
		return
	}
	seen := map[Span]Link{}
	o := testOptions()
	link := o.Link
	o.Link = func(l Link) Href {
		if l.End > 0 {
			seen[Span{l.Start, l.End}] = l
		}
		return link(l)
	}
	o.Embed = nil
	out, anchors := HTML(n, text, o)
	checkHTML(t, out)
	var ids []HeadingAnchor
	for _, h := range n.Headings {
		ids = append(ids, HeadingAnchor{h.Level, h.Text, h.Slug})
	}
	if diff := cmp.Diff(ids, anchors); diff != "" {
		t.Fatalf("headings (-parsed +rendered):\n%s", diff)
	}
	for _, id := range n.Anchors {
		if at := fmt.Sprintf(`id="%s"`, html.EscapeString(userID+id)); !bytes.Contains(out, []byte(at)) {
			t.Fatalf("no element has %s:\n%s", at, out)
		}
	}
	for _, l := range n.Links {
		if got, ok := seen[Span{l.Start, l.End}]; ok && got != l {
			t.Fatalf("link %+v is rendered as %+v", l, got)
		}
		delete(seen, Span{l.Start, l.End})
	}
	if len(seen) > 0 {
		t.Fatalf("rendered links that are not parsed: %v", seen)
	}
	o.Embed, o.Sanitize = testOptions().Embed, nil
	out, _ = HTML(n, text, o)
	checkHTML(t, out)
}
