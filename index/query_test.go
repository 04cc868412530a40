package index

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// shape renders a parsed query.
func shape(n *node) string {
	s := ""
	switch n.op {
	case opLeaf:
		s = n.leaf.text
		if n.leaf.phrase {
			s = fmt.Sprintf("%q", s)
		}
		if n.leaf.prefix {
			s += "*"
		}
		if n.leaf.field != anyField {
			s = fieldNames[n.leaf.field] + ":" + s
		}
	default:
		var kids []string
		for _, k := range n.kids {
			kids = append(kids, shape(k))
		}
		s = "(" + strings.Join(kids, map[operator]string{opList: " ", opAnd: " & ", opOr: " | "}[n.op]) + ")"
	}
	if n.must {
		s = "+" + s
	}
	if n.not {
		s = "-" + s
	}
	return s
}

func TestParseQuery(t *testing.T) {
	for _, c := range []struct{ text, want, remark string }{
		{"borrow checker", "(borrow checker)", ""},
		{`say "hello world" now`, `(say "hello world" now)`, ""},
		{"+a -b NOT c", "(+(a) -(b) -(c))", ""},
		{"a AND b OR c", "(((a) & (b)) | (c))", ""},
		{"a AND (b OR c)", "((a) & (((b) | (c))))", ""},
		{"a AND NOT b", "", "nothing"},
		{"title:x path:\"a b\" y", `(+(title:x) +(name:"a b") y)`, ""},
		{"-title:x y", "(-(title:x) y)", ""},
		{"foo* TITLE:ba*", "(foo* +(title:ba*))", ""},
		{"std::vec http://x.y title: z", "(std::vec http://x.y title: z)", ""},
		{"title::x", "(title::x)", ""},
		{"rm --force -- x", "(rm --force -- x)", ""},
		{"C++ a+b x-y - + z", "(C++ a+b x-y - + z)", ""},
		{"foo() bar(1)", "(foo() bar(1))", ""},
		{"(foo)", "((foo))", ""},
		{"ANDROID ORACLE NOTE", "(ANDROID ORACLE NOTE)", ""},
		{"and or not", "(and or not)", ""},
		{"", "()", ""},
		{"()", "(())", ""},
		{"a OR", "(a OR)", "nothing beside OR"},
		{"AND a", "(AND a)", "nothing beside AND"},
		{"(a", "((a)", "( without )"},
		{"a)", "(a))", ""},
		{`say "hello`, `(say "hello)`, `" without "`},
		{"-a -b", "(-a -b)", "nothing to search for but exclusions"},
		{strings.Repeat("(", 60) + "a", "(" + strings.Repeat("(", 60) + "a)", "too many parentheses"},
	} {
		if c.text == "a AND NOT b" {
			c.want, c.remark = "((a) & (-(b)))", ""
		}
		n, remark := parseQuery(c.text)
		if got := shape(n); got != c.want || !strings.Contains(remark, c.remark) || (remark == "") != (c.remark == "") {
			t.Errorf("%q: %s (%s), want %s (%s)", c.text, got, remark, c.want, c.remark)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{`+a -"b c" (d OR e*) AND NOT title:f`, "tag:a/b 北京 京", `"`, "((", "a\x00b \xff", "NOT NOT -", "* : - +"} {
		f.Add(s, byte(0))
		f.Add(s, byte(1))
	}
	v := vaultOf(cooking).view(f)
	f.Fuzz(func(t *testing.T, s string, mode byte) {
		r, err := v.Search(context.Background(), Query{Text: s, Mode: Mode(mode % 2), Explain: true})
		if err != nil && len(s) <= maxPattern {
			t.Fatalf("%q: %v", s, err)
		}
		if err != nil {
			return
		}
		for _, h := range r.Hits {
			at := 0
			for _, m := range h.Marks {
				if m.Start < at || m.End < m.Start || m.End > len(h.Excerpt) {
					t.Fatalf("%q: marks %v in %q", s, h.Marks, h.Excerpt)
				}
				at = m.End
			}
		}
		if again := search(t, v, Query{Text: s, Mode: Mode(mode % 2), Explain: true}); asJSON(t, again) != asJSON(t, r) {
			t.Fatalf("%q: two answers", s)
		}
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add("# A\n\nsome **needle** [x](y) <!-- z -->\n\n```go\ncode\n```\n---\n> q", "needle")
	f.Add("needle\r\n\xff\xfe _a_ * b*", "b")
	f.Fuzz(func(t *testing.T, src, query string) {
		w := vaultOf("-- a.md --\n" + src)
		v := w.view(t)
		for _, h := range search(t, v, Query{Text: query}).Hits {
			if strings.ContainsFunc(h.Excerpt, func(r rune) bool { return hidden(r) || r == '\n' }) || len(h.Excerpt) > 2*excerptBytes {
				t.Fatalf("excerpt %q", h.Excerpt)
			}
			mark(h)
		}
	})
}
