package site

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// xss is a corpus of what might run a script, one vector a line.
//
//go:embed testdata/xss.txt
var xss string

// xssContexts are where a vector is tried; every %s is the vector.
var xssContexts = map[string]string{
	"body":           "%s",
	"in a line":      "before %s after",
	"heading":        "# %s\n",
	"setext":         "%s\n===\n",
	"emphasis":       "**%s** ==%s==",
	"list":           "- %s\n- [ ] %s\n",
	"task":           "- [%s] x\n",
	"quote":          "> %s\n",
	"table":          "|%s|b|\n|-|-|\n|%s|%s|\n",
	"callout type":   "> [!%s] t\n> b\n",
	"callout title":  "> [!note]+ %s\n> %s\n",
	"wikilink":       "[[%s]]",
	"wikilink part":  "[[b#%s]] [[#%s]]",
	"block":          "[[b#^%s]] x ^%s\n",
	"alias":          "[[b|%s]] [[none|%s]]",
	"embed":          "![[%s]] ![[b#%s]]",
	"image":          "![[%s.png]] ![[x.png|%s]] ![[%s.mp4]] ![[%s.mp3|%s]] ![[%s.pdf]]",
	"md link":        "[%s](%s)",
	"md angle":       "[%s](<%s> \"%s\")",
	"md image":       "![%s](%s '%s')",
	"image label":    "![%s|10](x.png) ![x|%s](x.png)",
	"reference":      "[x][r] ![y][r] [r]\n\n[r]: <%s> (%s)\n",
	"autolink":       "<%s> https://e.org/%s www.e.org/%s a@e.org%s",
	"autolink 2":     "<https://e.org/%s>",
	"code":           "`%s`\n\n    %s\n",
	"fence":          "```go\n%s\n```\n",
	"fence html":     "```html\n%s\n```\n",
	"fence info":     "```%s\nx\n```\n",
	"mermaid":        "```mermaid\ngraph TD; A[\"%s\"]\n%s\n```\n",
	"math":           "$%s$ $$%s$$ $\\text{%s}$",
	"math block":     "$$\n%s\n$$\n",
	"open math":      "> $$\n> %s\n\nx",
	"comment":        "%%%%%s%%%%",
	"tag":            "#%s #a/%s",
	"footnote label": "x[^%s]\n\n[^%s]: y\n",
	"footnote":       "x[^1] ^[%s]\n\n[^1]: %s\n",
	"raw attribute":  "<b title=\"%s\">x</b> <a href=\"%s\" id='%s'>y</a> <img src=\"%s\" alt='%s'>",
	"raw block":      "<div title='%s'>\n%s\n\n%s\n\n</div>\n",
	"raw table":      "<table><tr><td>\n\n%s\n\n</td></tr></table>\n",
	"details":        "<details><summary>%s</summary>\n\n%s\n\n</details>\n",
	"title":          "---\ntitle: '%s'\naliases: ['%s']\n---\n# T\n\n![[b]]\n",
}

func TestXSS(t *testing.T) {
	vectors := strings.Split(strings.TrimSpace(xss), "\n")
	if len(vectors) < 200 {
		t.Fatalf("%d vectors", len(vectors))
	}
	r := NewRenderer(nil)
	for name, context := range xssContexts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, vector := range vectors {
				src := fmt.Sprintf(strings.ReplaceAll(context, "%s", "%[1]s"), vector)
				v := newTestLinks(map[string]string{"a.md": src, "b.md": "---\ntitle: '" + vector + "'\n---\n# B\n\n" + vector + "\n\n## " + vector + "\n\n" + vector + " ^id\n", "x.png": "", "x.mp4": ""})
				b, err := r.Body(v.docs["a.md"], v)
				if err != nil {
					t.Fatal(err)
				}
				if problem := unsafe(b.HTML); problem != "" {
					t.Fatalf("%s in\n%s\nof\n%s", problem, b.HTML, src)
				}
			}
		})
	}
}

var (
	shownElements = strings.Fields("a abbr address article aside audio b bdi bdo big blockquote br caption center cite code col colgroup data dd del details dfn div dl dt em " +
		"figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd li mark ol p picture pre q rp rt ruby s samp section small source span strike strong " +
		"sub summary sup table tbody td tfoot th thead time tr track tt u ul var video wbr " +
		"math semantics annotation mrow mi mn mo ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mlabeledtr mpadded mphantom mstyle menclose mglyph merror")
	shownAttributes = strings.Fields("href class id title alt src width height loading decoding aria-label aria-hidden role tabindex controls loop muted preload open start reversed value type datetime " +
		"colspan rowspan span scope align valign lang dir disabled checked data-task data-callout kind srclang label " +
		"xmlns encoding display mathvariant mathcolor mathbackground mathsize stretchy fence separator lspace rspace linethickness width height depth voffset scriptlevel displaystyle " +
		"columnalign rowspacing columnspacing columnlines rowlines accent accentunder minsize maxsize movablelimits symmetric form notation side")
	inertURL = regexp.MustCompile(`^(?:(?i:https?|mailto|kb):|[^:]*$|[^:]*[/?#])`)
)

// unsafe says what in a page's body could run, load or break out, "" if nothing.
func unsafe(body []byte) string {
	var open []string
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		switch token := z.Token(); kind {
		case html.StartTagToken:
			if problem := unsafeTag(token); problem != "" {
				return problem
			}
			if !slices.Contains([]string{"br", "hr", "img", "input", "wbr", "col", "source", "track"}, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				return fmt.Sprintf("</%s> in %v", token.Data, open)
			}
			open = open[:len(open)-1]
		case html.CommentToken, html.DoctypeToken:
			return "token " + token.String()
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%v is open", open)
	}
	return ""
}

func unsafeTag(t html.Token) string {
	if !slices.Contains(shownElements, t.Data) {
		return "element " + t.String()
	}
	for _, a := range t.Attr {
		switch {
		case !slices.Contains(shownAttributes, a.Key):
			return "attribute " + t.String()
		case (a.Key == "href" || a.Key == "src") && !inertURL.MatchString(a.Val):
			return "URL " + t.String()
		case a.Key == "src" && strings.HasPrefix(a.Val, "//"):
			return "foreign " + t.String()
		}
	}
	return ""
}
