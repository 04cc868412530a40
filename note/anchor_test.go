package note

import (
	"slices"
	"strings"
	"testing"
)

func TestAnchors(t *testing.T) {
	tests := []struct{ src, want string }{
		{`a <span id="x">b</span> <a name=y></a> <img name="z">`, "x y"},
		{"<div id='top'>\n<p ID=\"in &amp; out\">\n</div>\n\n> <br id=q />", "top in & out q"},
		{"`<a id=code>`\n\n    <a id=code>\n\n```\n<a id=code>\n```\n<!-- <a id=comment> -->", ""},
		{"<a id=x> <b id=x> <i id=''> <i id>", "x"},
		{"# <a id=h></a>Title\n\n- item <a\nid=i>", "h i"},
	}
	for _, tt := range tests {
		checkNote(t, []byte(tt.src))
		n, _ := Parse([]byte(tt.src))
		if got := strings.Join(n.Anchors, " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.src, got, tt.want)
		}
	}
}

// Code names nobody and nothing.
func TestEntitiesOutsideCode(t *testing.T) {
	src := "@ada `@media` a@b.cd\n\n```css\n@media print { x@y.zz }\n```\n\n    @indented i@j.kk\n\n> ~~~\n> @quoted\n> ~~~\n\n- `` `@a` ``\n  @bob ``x``@carol.de `#include` #tag `http://u.v`\n\n<b>@html</b> (@eve)"
	n, _ := Parse([]byte(src))
	var got []string
	for _, e := range n.Entities {
		got = append(got, e.Kind+" "+e.Name)
	}
	if want := []string{"email a@b.cd", "hashtag tag", "mention ada", "mention bob", "mention eve"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !strings.Contains(src, "@media print") {
		t.Error("the text was changed")
	}
}
