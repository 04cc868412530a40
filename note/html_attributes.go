package note

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// userID stands before the ids of raw HTML, so that they are none of the page's.
const userID = "user:"

// rawNames lists the attributes of raw HTML that are kept as they are.
var rawNames = names("title alt width height align valign colspan rowspan scope start reversed value type open lang dir datetime " +
	"controls loop muted span headers abbr cite-label label kind srclang role hidden")

// rawAttributes returns the attributes of a raw element that it keeps; not ok if
// it leads nowhere: then it keeps its id.
func (w *htmlWriter) rawAttributes(t html.Token) (kept []html.Attribute, ok bool) {
	ok = true
	named := false
	for _, a := range t.Attr {
		switch {
		case a.Key == "href" && t.Data == "a":
			h := w.href(rawLink(a.Val, false))
			ok = ok && h.URL != ""
			kept = append(kept, html.Attribute{Key: "href", Val: escapeURL(h.URL)})
			if h.Class != "" {
				kept = append(kept, html.Attribute{Key: "class", Val: h.Class})
			}
		case a.Key == "src":
			h := w.href(rawLink(a.Val, true))
			ok = ok && h.URL != "" && !h.External
			kept = append(kept, html.Attribute{Key: "src", Val: escapeURL(h.URL)})
		case namesPlace(t, a):
			if !named && w.claimID(a.Val) {
				named = true
				kept = append(kept, html.Attribute{Key: "id", Val: w.Prefix + userID + a.Val})
			}
		case rawNames[a.Key]:
			kept = append(kept, a)
		}
	}
	if !ok {
		kept = slices.DeleteFunc(kept, func(a html.Attribute) bool { return a.Key != "id" })
	} else if t.Data == "img" {
		kept = append(kept, html.Attribute{Key: "loading", Val: "lazy"})
	}
	return kept, ok
}

// namesPlace reports whether an attribute makes a link lead to its element.
func namesPlace(t html.Token, a html.Attribute) bool {
	return a.Val != "" && (a.Key == "id" || a.Key == "name" && t.Data == "a")
}

// claimID reports whether an id of raw HTML is to be written: once.
func (w *htmlWriter) claimID(id string) bool {
	written, known := w.rawIDs[id]
	if known {
		w.rawIDs[id] = true
	}
	return known && !written
}

// lostIDs writes the ids of raw HTML of which no element was written, so that links
// to them lead somewhere. In a table they wait for its end.
func (w *htmlWriter) lostIDs(ids []string) {
	if last := len(w.elements) - 1; last >= 0 && tableParts[w.elements[last].name] {
		return
	}
	for _, id := range ids {
		if w.claimID(id) {
			w.str("<span").attr("id", w.Prefix+userID+id).str("></span>")
		}
	}
}

// rawLink is a link of raw HTML, whose URL has its entities resolved.
func rawLink(url string, embed bool) Link {
	l := splitTarget(strings.TrimSpace(url))
	l.Embed = embed
	return l
}

// rawIDs returns the ids that raw HTML in part of a text defines, none of them written
// yet.
func rawIDs(f *facts, part Span) map[string]bool {
	ids := map[string]bool{}
	for _, a := range f.anchors {
		if part.End == 0 || part.Start <= a.offset && a.offset < part.End {
			ids[a.id] = false
		}
	}
	return ids
}
