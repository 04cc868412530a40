package vault

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"kb/internal/fetch"
)

func TestHiddenRune(t *testing.T) {
	tests := []struct {
		line string
		want rune // 0: nothing hidden
	}{
		{"plain text\twith a tab\r\n", 0},
		{"größe 日本語 ไทย عربى", 0},
		{"\ufeff# a byte order mark at the start", 0},
		{"emoji 👩\u200d👩\u200d👧 and flags 🇪🇺 with selectors ❤️", 0},
		{"Persian می\u200cخواهم has joiners", 0},
		{"a soft\u00adhyphen", 0},
		{"zero\u200bwidth", 0x200b},
		{"pass\u200dword", 0x200d},
		{"a byte order \ufeffmark within", 0xfeff},
		{"bidi \u202etxet", 0x202e},
		{"isolate \u2066x\u2069", 0x2066},
		{"tags \U000e0041\U000e0042", 0xe0041},
		{"bytes in selectors \U000e0101", 0xe0101},
		{"filler \u3164", 0x3164},
		{"bell \a", 7},
		{"escape \x1b[31m", 0x1b},
	}
	for _, tt := range tests {
		got, found := hiddenRune(tt.line)
		if found != (tt.want != 0) || found && got != tt.want {
			t.Errorf("%q: %U, %v; want %U", tt.line, got, found, tt.want)
		}
	}
}

func TestIsPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true,
		"127.0.0.1": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "224.0.0.1": false, "255.255.255.255": false,
		"fe80::1": false, "fd00::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::a00:1": false,
		"2002:7f00:1::": false, "198.18.0.1": false, "::": false,
	} {
		if got := fetch.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}

func TestAskSource(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/there", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/onlyget", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	mux.HandleFunc("/members", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://[::1]:1/secret", http.StatusFound)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	here := netip.MustParseAddr("127.0.0.1")
	client := sourceClient(func(a netip.Addr) bool { return a == here })
	for path, want := range map[string]string{
		"/there": "", "/onlyget": "", "/members": "", "/moved": "",
		"/gone": "answers 404", "/loop": "cannot be reached", "/inside": "not a public address", "/file": "cannot be reached",
	} {
		got := askSource(context.Background(), client, s.URL+path)
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := askSource(context.Background(), sourceClient(fetch.Public), s.URL+"/there"); !strings.HasPrefix(got, "not a public address") {
		t.Errorf("loopback: %q", got)
	}
}

// flow breaks lines at spaces and loses nothing.
func TestFlow(t *testing.T) {
	tests := []struct {
		width int
		text  string
		want  string
	}{
		{20, "short", "+ short\n"},
		{20, "one two three four five six", "+ one two three four\n+ five six\n"},
		{12, "averyveryverylongword", "+ averyveryv\n+ erylongwor\n+ d\n"},
		{16, "    indented text here", "+     indented\n+ text here\n"},
		{14, "日本語の長い文章です", "+ 日本語の長い\n+ 文章です\n"},
		{0, strings.Repeat("x ", 100), "+ " + strings.TrimSpace(strings.Repeat("x ", 100)) + "\n"},
		{20, "", "+\n"},
		{20, "a\tb", "+ a    b\n"},
	}
	for _, tt := range tests {
		var b strings.Builder
		text := NewText(&b)
		text.Width = tt.width
		text.flow(styled{"+ ", ""}, []styled{{tt.text, ""}})
		if b.String() != tt.want {
			t.Errorf("%q at %d:\n%q, want\n%q", tt.text, tt.width, b.String(), tt.want)
		}
	}
}

func TestMoreNames(t *testing.T) {
	name, only := moreNames("x a.md b.md", []string{"c.md"})
	if name != "x" || strings.Join(only, " ") != "c.md a.md b.md" {
		t.Errorf("%q %q", name, only)
	}
	if name, only := moreNames("x y", nil); name != "x y" || only != nil {
		t.Errorf("%q %q: without only nothing is taken for a path", name, only)
	}
}
