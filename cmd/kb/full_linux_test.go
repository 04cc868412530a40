package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"kb/internal/vaulttest"
)

// A server that has the derived data open when there is no room any more answers
// as before, of new notes too, ends well, and keeps what it derives once there is
// room. The length of files stands for the disk's.
func TestServerOnFullDisk(t *testing.T) {
	p := newProgram(t, vaulttest.Repo(t, sample))
	s, err := p.serve()
	must(t, err)
	found := func(query string) int {
		t.Helper()
		raw, err := s.call("search", map[string]any{"query": query})
		must(t, err)
		var r struct{ Total int }
		must(t, json.Unmarshal(raw, &r))
		return r.Total
	}
	limit := func(bytes uint64) {
		t.Helper()
		var old unix.Rlimit
		must(t, unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, nil, &old))
		lower := unix.Rlimit{Cur: min(bytes, old.Max), Max: old.Max}
		must(t, unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &lower, nil))
	}
	reindex := func() error {
		_, err := s.call("reindex", nil)
		return err
	}
	if n := found("otters"); n != 2 {
		t.Fatalf("with room: %d", n)
	}
	limit(1 << 10)
	for i := range 2 {
		vaulttest.Write(t, p.dir, fmt.Sprintf("new%d.md", i), fmt.Sprintf("# New %d\nOtters again.\n", i))
		if n := found("otters"); n != 3+i {
			t.Errorf("without room: %d, want %d", n, 3+i)
		}
	}
	for _, tool := range []string{"kb_digest", "kb_health", "kb_query", "kb_stats", "list_sections", "kb_entities", "kb_links"} {
		_, err := s.call(tool, nil)
		must(t, err)
	}
	_, err = s.call("kb_write", map[string]any{"title": "Seals", "body": "Seals swim."})
	must(t, err)
	if err := reindex(); err == nil {
		t.Error("reindex kept something without room")
	}
	limit(unix.RLIM_INFINITY)
	must(t, reindex())
	limit(1 << 10)
	if n := found("otters"); n != 4 {
		t.Errorf("at last: %d", n)
	}
	must(t, s.end())
	p.mustRun(t, "check")
}
