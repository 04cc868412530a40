package ingest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kb/vault"
)

// Check is what asking a source, or a host, left to remember.
type Check struct {
	Source       string    `json:"source"`         // a URL; a host's has no path
	Asked        time.Time `json:"asked,omitzero"` // when it answered
	Until        time.Time `json:"until,omitzero"` // a host that asked not to be asked before
	Notes        string    `json:"notes,omitempty"`
	ETag         string    `json:"etag,omitempty"` // of the answer that is in those notes
	LastModified string    `json:"last_modified,omitempty"`
}

// Checks remembers when sources were asked, in a file of JSON lines: a source that
// did not change leaves no trace in its note. A line is appended for each answer,
// so that nothing is lost when the program is killed. The file is derived data:
// without it, sources are asked once more.
type Checks struct {
	file  string
	by    map[string]Check
	lines int
}

// OpenChecks reads the file, which need not be there. Lines that cannot be read
// are passed over.
func OpenChecks(file string) (*Checks, error) {
	c := &Checks{file: file, by: map[string]Check{}}
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was asked: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		c.lines++
		var x Check
		if json.Unmarshal(lines.Bytes(), &x) == nil && x.Source != "" {
			c.by[x.Source] = x
		}
	}
	return c, nil
}

func (c *Checks) of(source string) Check { return c.by[source] }

// put remembers a check.
func (c *Checks) put(x Check) error {
	line, err := json.Marshal(x)
	if err != nil {
		return err // unreachable: it holds nothing that JSON cannot
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return fmt.Errorf("remember what was asked: %w", err)
	}
	f, err := os.OpenFile(c.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("remember what was asked: %w", err)
	}
	// A line that was cut off when the program was killed ends here.
	_, err = f.Write(slices.Concat([]byte("\n"), line, []byte("\n")))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("remember what was asked: %w", err)
	}
	c.by[x.Source] = x
	c.lines += 2
	return nil
}

// Compact rewrites the file when most of it is out of date. What another process
// adds meanwhile may be lost.
func (c *Checks) Compact() error {
	if c.lines < 1000 || c.lines < 8*len(c.by) {
		return nil
	}
	var b bytes.Buffer
	for _, source := range slices.Sorted(maps.Keys(c.by)) {
		line, err := json.Marshal(c.by[source])
		if err != nil {
			return err // unreachable
		}
		b.Write(append(line, '\n'))
	}
	next := c.file + ".new"
	if err := errors.Join(os.WriteFile(next, b.Bytes(), 0o600), os.Rename(next, c.file)); err != nil {
		return fmt.Errorf("compact what was asked: %w", err)
	}
	return nil
}

// fingerprint names what notes hold of a source.
func fingerprint(notes []vault.NoteSource) string {
	var lines []string
	for _, n := range notes {
		lines = append(lines, n.Source+" "+n.Hash)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:12])
}
