package ingest

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestOutputs(t *testing.T) {
	list, err := Outputs("r", "jsonl", []byte("{\"title\":\"A\",\"body\":\"x\",\"source\":\"https://example.org/\\n---\\nevil: 1\"}\n\n{\"title\":\"B\",\"body\":\"y\",\"tags\":[\"t\"]}"))
	if err != nil || len(list) != 2 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if strings.Contains(list[0].Body, "\nevil:") || list[0].Source == list[1].Source || list[1].Body != "y" || list[1].Tags[0] != "t" {
		t.Errorf("got %+v", list)
	}
	again, err := Outputs("r", "jsonl", []byte(`{"title":"B","body":"changed"}`))
	if err != nil || again[0].Source != list[1].Source {
		t.Errorf("a note that is printed again is %q, was %q, %v", again[0].Source, list[1].Source, err)
	}
	for _, bad := range []string{"x", `{"title":"A"}`, `{"title":"A","body":"b"} {}`, `{"title":"A","body":"b","path":"/etc"}`, `[]`, "{\"title\":\"A\",\"body\":\"b\"}\nnull"} {
		if list, err := Outputs("r", "jsonl", []byte(bad)); !errors.Is(err, ErrOutput) {
			t.Errorf("%s: got %+v, %v", bad, list, err)
		}
	}
	list, err = Outputs("r", "", []byte("# Title\n\nText.\n"))
	if err != nil || list[0].Title != "Title" || list[0].Source != "recipe:r" {
		t.Errorf("markdown: %+v, %v", list, err)
	}
}

// What is remembered survives a line that was cut off.
func TestChecks(t *testing.T) {
	file := t.TempDir() + "/deep/sync.jsonl"
	c, err := OpenChecks(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"1", "2"} {
		if err := c.put(Check{Source: "a", ETag: tag}); err != nil {
			t.Fatal(err)
		}
	}
	appendTo(t, file, `{"source":"b","eta`)
	if c, err = OpenChecks(file); err != nil || c.of("a").ETag != "2" || c.of("b") != (Check{}) {
		t.Fatalf("got %+v, %v", c, err)
	}
	for range 600 {
		if err := c.put(Check{Source: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Compact(); err != nil {
		t.Fatal(err)
	}
	if c, err = OpenChecks(file); err != nil || c.lines != 2 || c.of("a").ETag != "2" || c.of("c").Source != "c" {
		t.Errorf("after compacting: %+v, %v", c, err)
	}
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
