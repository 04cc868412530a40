package site

import "testing"

// A drawing that is opened by itself can neither run nor load anything.
func TestInertSVG(t *testing.T) {
	const head = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">`
	for in, want := range map[string]bool{
		`<circle r="9" fill="url(#a)"/><use xlink:href="#b"/>`:          true,
		`<style>.a{fill:#fff;stroke:url('#a')}</style>`:                 true,
		`<image href="data:image/png;base64,AAAA"/>`:                    true,
		`<text>R&amp;D &#x6587; script on a=1</text>`:                   true,
		`<script>alert(1)</script>`:                                     false,
		`<s:script>alert(1)</s:script>`:                                 false,
		`<g onload="alert(1)"/>`:                                        false,
		`<a href="javascript:alert(1)"/>`:                               false,
		`<image href="//evil.example/x.png"/>`:                          false,
		`<image href="&#47;/evil.example/x.png"/>`:                      false,
		`<style>*{fill:url(//evil.example/x.svg#a)}</style>`:            false,
		`<style>*{fill:url( "https://evil.example/x" )}</style>`:        false,
		`<style>*{fill:u\72l(//evil.example/x)}</style>`:                false,
		`<circle style="fill:ur&#108;(//evil.example/x)"/>`:             false,
		`<style>*{background:image-set("//evil.example/x" 1x)}</style>`: false,
		`<style>@import "//evil.example/x.css";</style>`:                false,
		`<foreignObject><iframe src="#"/></foreignObject>`:              false,
		`<set attributeName="onload" to="alert(1)"/>`:                   false,
	} {
		if got := inertSVG([]byte(head + in + "</svg>")); got != want {
			t.Errorf("%s: inert %v, want %v", in, got, want)
		}
	}
}
