package note

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// userID stands before the ids of raw HTML, so that they are none of the page's.
const userID = "user:"

// rawNames lists the attributes of raw HTML that are kept as they are.
var rawNames = names("title alt width height align valign colspan rowspan scope start reversed value type open lang dir datetime " +
	"controls loop muted span headers abbr cite-label label kind srclang role hidden")

// rawAttributes returns the attributes of a raw element that it keeps; not ok if
// it leads nowhere.
func (w *htmlWriter) rawAttributes(t html.Token) (kept []html.Attribute, ok bool) {
	ok = true
	for _, a := range t.Attr {
		switch {
		case a.Key == "href" && t.Data == "a":
			h := w.href(rawLink(a.Val, false))
			if h.URL == "" {
				return nil, false
			}
			kept = append(kept, html.Attribute{Key: "href", Val: escapeURL(h.URL)})
			if h.Class != "" {
				kept = append(kept, html.Attribute{Key: "class", Val: h.Class})
			}
		case a.Key == "src":
			h := w.href(rawLink(a.Val, true))
			if h.URL == "" || h.External {
				return nil, false
			}
			kept = append(kept, html.Attribute{Key: "src", Val: escapeURL(h.URL)})
		case a.Key == "id" || a.Key == "name" && t.Data == "a":
			if written, known := w.rawIDs[a.Val]; known && !written {
				w.rawIDs[a.Val] = true
				kept = append(kept, html.Attribute{Key: "id", Val: w.Prefix + userID + a.Val})
			}
		case rawNames[a.Key]:
			kept = append(kept, a)
		}
	}
	if t.Data == "img" {
		kept = append(kept, html.Attribute{Key: "loading", Val: "lazy"})
	}
	return kept, ok
}

// rawLink is a link of raw HTML, whose URL has its entities resolved.
func rawLink(url string, embed bool) Link {
	l := splitTarget(strings.TrimSpace(url))
	l.Embed = embed
	return l
}

// rawIDs returns the ids that raw HTML defines, none of them written yet.
func rawIDs(f *facts, text []byte) map[string]bool {
	ids := map[string]bool{}
	for _, s := range f.skip {
		tag := text[s.Start:s.End]
		if tag[0] != '<' || !bytes.Contains(tag, []byte("id=")) && !bytes.Contains(tag, []byte("name=")) {
			continue
		}
		z := html.NewTokenizer(bytes.NewReader(tag))
		if k := z.Next(); k != html.StartTagToken && k != html.SelfClosingTagToken {
			continue
		}
		for _, a := range z.Token().Attr {
			if (a.Key == "id" || a.Key == "name") && a.Val != "" {
				ids[a.Val] = false
			}
		}
	}
	return ids
}
