package ptytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScreen(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"text":          {"ab\r\ncd", "ab/cd//"},
		"colour":        {"\x1b[1;31mred\x1b[m \x1b]0;title\x07x", "red x///"},
		"place":         {"\x1b[2;3Hx\x1b[Hy\x1b[3dz\x1b[1Gw\x1b[4`v", "y/  x/wz v/"},
		"wide":          {"日本x", "日本x///"},
		"wrapped":       {"0123456789", "01234567/89//"},
		"scrolled":      {"a\r\nb\r\nc\r\nd", "b/c/d/"},
		"erased":        {"abc\r\ndef\x1b[1;2H\x1b[K\x1b[2;2H\x1b[1K", "a/  f//"},
		"cleared":       {"abc\r\ndef\x1b[2Jx", "/   x//"},
		"below":         {"a\r\nb\r\nc\x1b[2;1H\x1b[J", "a///"},
		"edited":        {"abcd\r\x1b[2P\x1b[@x\x1b[2C\x1b[Xy", "xcdy///"},
		"lines":         {"a\r\nb\r\nc\x1b[1;1H\x1b[M\x1b[L>", ">/b/c/"},
		"region":        {"a\r\nb\r\nc\x1b[1;2r\x1b[2;1H\n\x1b[r", "b//c/"},
		"back":          {"a\r\nb\r\nc\x1b[H\x1bMz", "z/a/b/"},
		"modes":         {"\x1b[?1049h\x1b[?25lx\x1b[?2026$p", "x///"},
		"cut sequences": {"a\x1b|[2;2|Hé", "a/ é//"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScreen(8, 3)
			for part := range strings.SplitSeq(tt.in, "|") {
				if _, err := s.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(s.String(), "\n", "/")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestColoured(t *testing.T) {
	for in, want := range map[string]bool{"\x1b[1;7mx\x1b[0;39;49m": false, "\x1b[1;32mx": true, "\x1b[48;5;3mx": true, "\x1b[97mx": true} {
		s := NewScreen(8, 3)
		_, _ = s.Write([]byte(in))
		if s.Coloured != want {
			t.Errorf("%q: coloured %v, want %v", in, s.Coloured, want)
		}
	}
}

func TestResize(t *testing.T) {
	s := NewScreen(4, 2)
	_, _ = s.Write([]byte("abcd\x1b[2;1Hefgh"))
	s.Resize(6, 3)
	_, _ = s.Write([]byte("\x1b[3;6Hx"))
	if got, want := s.String(), "abcd\nefgh\n     x\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
