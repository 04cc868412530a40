package note

import (
	"strings"
	"time"
)

var dateLayouts = []string{
	time.DateOnly,
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02T15:04Z07:00",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	"2006/01/02",
	"2006/01/02 15:04",
	"2006.01.02",
	"20060102",
	"2006-1-2",
	"2006/1/2",
	"2006-01",
	"2 January 2006",
	"2 Jan 2006",
	"January 2, 2006",
	"Jan 2, 2006",
	time.RFC1123,
	time.RFC1123Z,
}

// ParseDate reads a date as notes have them: ISO 8601 and RFC 3339, with a
// space for the 'T', with '/' or '.' for '-', a year and month, English month
// names, a date within [[ ]] or quotes. Without a zone it is UTC. Orders that
// differ among countries, such as 01/02/2024, are not dates.
func ParseDate(s string) (time.Time, bool) {
	s = strings.Trim(strings.TrimSpace(s), `"'[]`)
	if len(s) < 6 || len(s) > 40 {
		return time.Time{}, false
	}
	if len(s) > 10 && s[10] == 't' {
		s = strings.ToUpper(s) // 2001-12-14t21:59:43z, as RFC 3339 and YAML allow
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
