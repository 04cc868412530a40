package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kb/internal/vaulttest"
)

// hostileWords steer a terminal, hide text, or turn it round.
const hostileWords = "a\x1b[31mred\x1b]0;title\x07\x1b]52;c;eA==\x07b\u202ereversed\u200bzero\u2066x\rback\x9b2Jcsi\u009b2Jc1"

// Whatever notes and their names say: no command makes a terminal do anything, nor
// shows a text as another than it is.
func TestTerminalIsSafe(t *testing.T) {
	h := hostileWords
	dir := vaulttest.Repo(t, "-- kb.yaml --\ncollections: [{name: notes, path: ., writable: true}]\n-- s/one.md --\n---\ntags: [\"x"+h+"\"]\naliases: [\"al"+h+"\"]\nstatus: \""+h+"\"\n---\n# Otter "+h+
		"\n\n## Part "+h+"\n\nAn otter "+h+" text, see [[gone "+h+"]] and [[two|"+h+"]].\n\n```\n"+h+"\n```\n-- s/two.md --\n# Otter "+h+"\nMore of otters @ada"+h+" and #tag"+h+".\n-- @commit 2024-01-01 first "+h+" --\n")
	p := newProgram(t, dir)
	for _, line := range [][]string{
		{"search", "otter"}, {"search", "otter", "--explain"}, {"search", "otter", "--mode", "literal"}, {"brief", "otter"}, {"get-document", "s/one.md"}, {"context", "s/one.md", "--depth", "deep"},
		{"digest"}, {"list-sections"}, {"query"}, {"similar", "s/one.md"}, {"links"}, {"links", "--path", "s/one.md"}, {"entities"}, {"history"}, {"history", "--path", "s/one.md"},
		{"health"}, {"export"}, {"blame", "s/one.md"}, {"stats"}, {"drafts"}, {"prompts"}, {"sources"}, {"doctor"}, {"links", "--suggest"},
		{"write", "--title", "T " + h, "--body", "x " + h, "--draft", "d"}, {"review", "list"}, {"review", "show", "d"}, {"review", "diff", "d"}, {"review", "check", "d"},
		{"search", h}, {"get-document", h}, {"search", "otter", "--at", h}, {h},
	} {
		cmd := p.command(append(line, "--text")...)
		out, _ := cmd.CombinedOutput() // some find something wrong
		if len(out) == 0 {
			t.Errorf("kb %q says nothing", line)
		}
		if !utf8.Valid(out) {
			t.Errorf("kb %q writes what is not UTF-8: %.300q", line, out)
		}
		for i, r := range string(out) {
			if steers(r) {
				t.Errorf("kb %q writes %U: …%q…", line, r, out[max(0, i-40):min(len(out), i+20)])
				break
			}
		}
	}
}

// steers reports whether a terminal takes a character for more than text.
func steers(r rune) bool {
	return r < ' ' && !strings.ContainsRune("\n\t", r) || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u200b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", r)
}
