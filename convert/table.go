package convert

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Limits on tables: a note is to be read.
const (
	maxRows    = 2000
	maxColumns = 60
	maxCell    = 2000 // characters
)

// convertCSV makes a table of comma, semicolon or tab separated values. The first
// row names the columns.
func convertCSV(ctx context.Context, s *sniffed) ([]Doc, error) {
	r := csv.NewReader(strings.NewReader(s.text))
	r.Comma = separator(s)
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	r.ReuseRecord = true
	t := &tableWriter{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.add(row)
	}
	d := Doc{Body: t.String()}
	d.Notices = t.notices()
	return []Doc{d}, nil
}

// separator is the one that the first line has most of.
func separator(s *sniffed) rune {
	if s.ext == ".tsv" || s.media == "text/tab-separated-values" {
		return '\t'
	}
	line, _, _ := strings.Cut(s.text, "\n")
	best, most := ',', strings.Count(line, ",")
	for _, c := range []rune{';', '\t', '|'} {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// tableWriter writes a Markdown table, within bounds.
type tableWriter struct {
	strings.Builder
	rows, columns int
	wide          bool
}

// add writes a row; the first is the head.
func (t *tableWriter) add(row []string) {
	t.rows++
	if t.rows > maxRows+1 || t.Len() > partBytes {
		return
	}
	if t.rows == 1 {
		t.columns = min(len(row), maxColumns)
	}
	t.wide = t.wide || len(row) > maxColumns
	cells := make([]string, t.columns)
	for i := range cells {
		if i < len(row) {
			cells[i] = cell(row[i])
		}
	}
	fmt.Fprintf(t, "| %s |\n", strings.Join(cells, " | "))
	if t.rows == 1 {
		fmt.Fprintf(t, "|%s\n", strings.Repeat("---|", t.columns))
	}
}

// cell is a value as it stands in a table.
func cell(s string) string {
	if r := []rune(s); len(r) > maxCell {
		s = string(r[:maxCell]) + "…"
	}
	s = strings.Join(strings.Fields(s), " ")
	return strings.ReplaceAll(escapeInline(s), "|", `\|`)
}

func (t *tableWriter) notices() (list []string) {
	if n := t.rows - 1 - maxRows; n > 0 {
		list = append(list, fmt.Sprintf("%d rows, of which %d are shown", t.rows-1, maxRows))
	} else if t.Len() > partBytes {
		list = append(list, fmt.Sprintf("%d rows, of which those that fit a note are shown", t.rows-1))
	}
	if t.wide {
		list = append(list, fmt.Sprintf("more than %d columns: the others are left out", maxColumns))
	}
	return list
}

func isJSON(s *sniffed) bool {
	return s.text != "" && (s.stated(".json .jsonl .ndjson", "application/json", "application/x-ndjson") || s.media == "" && s.ext == "" && json.Valid([]byte(s.text)) && strings.ContainsAny(s.text[:1], "{["))
}

// convertJSON makes a table of a list of objects, or of lines that are objects; of
// anything else it shows the JSON itself.
func convertJSON(ctx context.Context, s *sniffed) ([]Doc, error) {
	rows, ok, err := jsonRows(ctx, s.text)
	if err != nil {
		return nil, err
	}
	if !ok {
		return showJSON(s)
	}
	names := columnsOf(rows)
	t := &tableWriter{}
	t.add(names)
	for _, row := range rows {
		values := make([]string, len(names))
		for i, name := range names {
			if v, has := row[name]; has {
				values[i] = jsonText(v)
			}
		}
		t.add(values)
	}
	return []Doc{{Body: t.String(), Notices: t.notices()}}, nil
}

// jsonRows reads a list of objects, or objects in a row.
func jsonRows(ctx context.Context, text string) (rows []map[string]json.RawMessage, ok bool, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	list := strings.HasPrefix(strings.TrimSpace(text), "[")
	if list {
		if _, err := d.Token(); err != nil {
			return nil, false, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	for d.More() {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		var row map[string]json.RawMessage
		if json.Unmarshal(raw, &row) != nil || row == nil {
			return nil, false, nil
		}
		rows = append(rows, row)
	}
	return rows, len(rows) > 1 || list && len(rows) > 0, nil
}

// columnsOf are the keys of objects: those of the first, then what others have.
func columnsOf(rows []map[string]json.RawMessage) (names []string) {
	seen := map[string]bool{}
	for _, row := range rows[:min(len(rows), maxRows)] {
		for _, name := range slices.Sorted(maps.Keys(row)) {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// jsonText is a value in a cell.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// mostShown is how much of JSON is shown as it is.
const mostShown = 64 << 10

func showJSON(s *sniffed) ([]Doc, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(s.text), "", "  "); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	d := Doc{}
	text := b.String()
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "")
		text = text[:strings.LastIndexByte(text, '\n')+1]
		d.Notices = []string{fmt.Sprintf("%d KB of JSON, of which the first %d are shown", b.Len()>>10, mostShown>>10)}
	}
	d.Body = fenced(text, "json")
	return []Doc{d}, nil
}
