package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
)

// hostileNote has a vector wherever a note is shown; every %[1]s is the vector as it
// is, %[2]s in YAML's quotes, %[3]s on one line without brackets.
const hostileNote = `---
title: '%[2]s wombat'
aliases: ['%[2]s']
tags: ['%[2]s', wombat]
status: '%[2]s'
source: '%[2]s'
'%[2]s': '%[2]s'
---
# %[1]s wombat

A wombat. %[1]s

[[#%[1]s]] [[next|%[1]s]] [[none|%[1]s]] ![[%[1]s]] ![[next#%[1]s]] ![[%[1]s.png]] ![[x.svg|%[1]s]]

[%[3]s](%[3]s) [link](<%[3]s> "%[3]s") ![%[3]s](%[3]s '%[3]s') <%[3]s> https://127.0.0.1/%[3]s

## %[1]s

> [!note]+ %[1]s
> %[1]s

> [!%[3]s] t
> b

- [%[3]s] %[1]s

| %[3]s | b |
|---|---|
| %[3]s | %[3]s |

x[^1] ^[%[3]s] #%[3]s %%%%%[1]s%%%%

[^1]: %[1]s

$%[3]s$ $\text{%[3]s}$ $\href{%[3]s}{x}$ $$\htmlStyle{%[3]s}{x}$$

~~~go
%[1]s
~~~

~~~%[3]s
%[1]s
~~~

<b title="%[3]s">x</b> <a href="%[3]s" id='%[3]s'>y</a> <img src="%[3]s" alt='%[3]s'>

%[1]s
`

// hostileSVGs are drawings that would run a script or call another host.
var hostileSVGs = []string{
	`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
	`<svg xmlns="http://www.w3.org/2000/svg"><image href="//evil.example/x.png"/></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="https://evil.example/x.svg#a"/></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg"><a href="javascript:alert(1)"><text y="20">x</text></a></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="//evil.example"/></foreignObject></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg"><style>@import url(//evil.example/x.css);</style></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg"><style>*{background:url(//evil.example/x.png);fill:url("https://evil.example/x.svg#a")}</style><circle r="9"/></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg"><circle r="9" fill="url(//evil.example/x.svg#a)" style="background:url(//evil.example/x)"/></svg>`,
	`<svg xmlns="http://www.w3.org/2000/svg"><set attributeName="onload" to="alert(1)"/><animate attributeName="href" values="javascript:alert(1)"/></svg>`,
	"<?xml version=\"1.0\"?><?xml-stylesheet href=\"//evil.example/x.css\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>",
	`<!DOCTYPE svg [<!ENTITY x "<script xmlns='http://www.w3.org/2000/svg'>alert(1)</script>">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>`,
	`<!DOCTYPE svg SYSTEM "//evil.example/x.dtd"><svg xmlns="http://www.w3.org/2000/svg"/>`,
	`<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script>alert(1)</s:script></s:svg>`,
	"<svg xmlns=\"http://www.w3.org/2000/svg\"><circle r=\"9\"/></svg>",
}

// hostileDiagrams try the library that draws.
var hostileDiagrams = []string{
	"graph TD; A[\"%s\"] --> B[%s]", "graph TD; A --> B\nclick A \"javascript:alert(1)\"", "graph TD; A --> B\nclick A call alert(1)",
	"graph TD; A --> B\nclick A href \"https://evil.example/%s\"", "%%%%{init: {\"securityLevel\": \"loose\", \"htmlLabels\": true, \"theme\": \"%s\"}}%%%%\ngraph TD; A[\"%s\"]",
	"%%%%{init: {\"themeCSS\": \"* { background: url(//evil.example/x) } %s\", \"fontFamily\": \"x;background:url(//evil.example/y)\"}}%%%%\ngraph TD; A[x]",
	"---\nconfig: {securityLevel: loose, themeCSS: '@import url(//evil.example)'}\n---\ngraph TD; A[\"%s\"]", "sequenceDiagram\nA->>B: %s\nlink A: x @ javascript:alert(1)",
	"graph TD; A@{ img: \"https://evil.example/x.png\", label: \"%s\" }", "classDiagram\nclass A[\"%s\"]\nclick A href \"javascript:alert(1)\"", "%s", "mindmap\n  root((%s))",
	"graph TD\nclassDef x fill:url(//evil.example/x),background:url(https://evil.example/y)\nA:::x", "graph TD; A[\"<img src='https://evil.example/x.png'>\"]",
}

// hostile is a vault in which everything is a vector.
func hostile(t *testing.T) (dir string, vectors []string, diagrams int) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "xss.txt"))
	if err != nil {
		t.Fatal(err)
	}
	vectors = strings.Split(strings.TrimSpace(string(raw)), "\n")
	oneLine := strings.NewReplacer("|", "", "[", "", "]", "", "\r", "")
	dir = vaulttest.Repo(t, "")
	for i, v := range vectors {
		one := oneLine.Replace(v)
		text := strings.ReplaceAll(fmt.Sprintf(hostileNote, v, strings.ReplaceAll(v, "'", "''"), one), "[[next", fmt.Sprintf("[[n%d", (i+1)%len(vectors)))
		vaulttest.Write(t, dir, fmt.Sprintf("n%d.md", i), text)
	}
	for i, name := range []string{`<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `javascript:alert(1)`, `'-alert(1)-'`, `{{constructor.constructor('alert(1)')()}}`, `..\..\x`, `%2e%2e%2fx`, "a\u202eb", `x?y#z&amp;`, `[x](javascript:alert(1))`} {
		vaulttest.Write(t, dir, fmt.Sprintf("%s %d.md", strings.ReplaceAll(name, "/", "∕"), i), "A wombat in a file of a name: [[n0]].\n")
	}
	for i, svg := range hostileSVGs {
		vaulttest.Write(t, dir, fmt.Sprintf("d%d.svg", i), svg)
		vaulttest.Write(t, dir, fmt.Sprintf("drawing%d.md", i), fmt.Sprintf("A drawing ![[d%[1]d.svg]] and [a link](d%[1]d.svg).\n", i))
	}
	for i, d := range hostileDiagrams {
		var text strings.Builder
		for k := i; k < len(vectors); k += 5 * len(hostileDiagrams) {
			fmt.Fprintf(&text, "```mermaid\n%s\n```\n\n", strings.ReplaceAll(strings.ReplaceAll(d, "%s", vectors[k]), "%%%%", "%%"))
		}
		vaulttest.Write(t, dir, fmt.Sprintf("diagrams%d.md", i), text.String())
	}
	vaulttest.Write(t, dir, "kb.yaml", "collections: [{name: notes, path: ., description: '<script>alert(1)</script>'}]\nsite: {title: \"<script>alert(1)</script>\"}\n")
	vaulttest.Commit(t, dir, "2024-01-01", "<script>alert(1)</script>")
	vaulttest.Write(t, dir, "n0.md", "# <img src=x onerror=alert(1)>\n\nA wombat.\n")
	vaulttest.Commit(t, dir, "2024-01-02", "<img src=x onerror=alert(1)>")
	return dir, vectors, len(hostileDiagrams)
}

func TestBrowserHostile(t *testing.T) {
	dir, vectors, diagrams := hostile(t)
	site := build(t, dir)
	work := struct {
		Notes    []string `json:"notes"`
		Diagrams []string `json:"diagrams"`
		Lists    []string `json:"lists"`
		Files    []string `json:"files"`
		Hovers   int      `json:"hovers"`
		Queries  []string `json:"queries"`
	}{Lists: []string{"all.html", "tags.html", "recent.html", "404.html"}, Hovers: 12, Queries: []string{"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "javascript:alert(1)", "onerror wombat"}}
	some := 10
	if long() {
		some = 1
		work.Hovers, work.Queries = 100, append(work.Queries, vectors[:50]...)
	}
	for i := 0; i < len(vectors); i += some {
		work.Notes = append(work.Notes, fmt.Sprintf("n%d.html", i))
	}
	for i := range hostileSVGs {
		work.Lists = append(work.Lists, fmt.Sprintf("drawing%d.html", i))
	}
	for i := range diagrams {
		work.Diagrams = append(work.Diagrams, fmt.Sprintf("diagrams%d.html", i))
	}
	files, err := filepath.Glob(filepath.Join(site, "kb", "files", "*"))
	if err != nil || len(files) == 0 || len(files) >= len(hostileSVGs) {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		work.Files = append(work.Files, "kb/files/"+filepath.Base(f))
	}
	readers(t, "hostile.mjs", site, jsonFile(t, work))
}
