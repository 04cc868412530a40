package note

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/gosimple/slug"
	"golang.org/x/text/unicode/norm"
)

// maxFileSlug is the length of a file's name, without date and extension.
const maxFileSlug = 80

// FileSlug returns the name of a file for a note of a title: words of a-z and
// 0-9 with '-' between them, other scripts transliterated, at most 80 bytes,
// allowed on every system. A title of which nothing is left, as of emoji
// alone, gives "note-" and a hash of it.
func FileSlug(title string) string {
	s := slug.Make(norm.NFKC.String(strings.ToValidUTF8(title, "")))
	s = strings.ReplaceAll(s, "_", "-")
	if len(s) > maxFileSlug {
		cut := strings.LastIndexByte(s[:maxFileSlug+1], '-')
		if cut < maxFileSlug/2 {
			cut = maxFileSlug
		}
		s = s[:cut]
	}
	s = strings.Trim(s, "-")
	switch {
	case s == "":
		sum := sha256.Sum256([]byte(title))
		return "note-" + hex.EncodeToString(sum[:4])
	case windowsDevices[s]:
		return "note-" + s
	}
	return s
}

// windowsDevices are the names that no file may have on Windows.
var windowsDevices = func() map[string]bool {
	names := map[string]bool{"con": true, "prn": true, "aux": true, "nul": true}
	for _, c := range "123456789" {
		names["com"+string(c)], names["lpt"+string(c)] = true, true
	}
	return names
}()
