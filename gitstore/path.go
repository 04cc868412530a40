package gitstore

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// CheckPath refuses a path of a tree that could do harm where it is shown or
// written: one that is absolute or climbs, has a component that some file
// system takes for .git, or holds control or bidirectional characters,
// backslashes or bytes that are not UTF-8. It separates with slashes; "" is
// refused. With portable it also refuses what Windows and macOS cannot store
// under that very name; that is for paths about to be created. Errors wrap
// [ErrUnsafePath].
func CheckPath(p string, portable bool) error {
	const maxPath = 4096
	why := ""
	parts := strings.Split(p, "/")
	switch {
	case p == "":
		why = "it is empty"
	case len(p) > maxPath:
		why = fmt.Sprintf("longer than %d bytes", maxPath)
	case len(parts) > MaxDepth:
		why = fmt.Sprintf("more than %d components", MaxDepth)
	}
	for i := 0; i < len(parts) && why == ""; i++ {
		if why = unsafeName(parts[i]); why == "" && portable {
			why = unportableName(parts[i])
		}
	}
	if why != "" {
		return fmt.Errorf("%w %q: %s", ErrUnsafePath, p, why)
	}
	return nil
}

// FoldPath returns a key that is equal for paths which a case-insensitive or
// normalising file system takes for the same.
func FoldPath(p string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(p)))
}

// unsafeName says what is wrong with one component, "" when nothing is.
func unsafeName(name string) string {
	if plainName(name) {
		return ""
	}
	const maxName = 255
	switch {
	case name == "" || name == "." || name == "..":
		return "a component is empty or climbs"
	case len(name) > maxName:
		return "a component is too long"
	case !utf8.ValidString(name):
		return "not UTF-8"
	case strings.ContainsAny(name, `/\`):
		return "a slash or backslash in a name"
	case strings.ContainsFunc(name, isDeceptive):
		return "control, bidirectional or replacement characters"
	case isGitName(name):
		return "a name some file systems take for .git"
	}
	return ""
}

// plainName recognises most names without looking at them twice.
func plainName(name string) bool {
	if name == "" || len(name) > 100 || name[0] == '.' || name[0]|0x20 == 'g' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c >= 0x7f || c == '\\' || c == '/' {
			return false
		}
	}
	return true
}

// isDeceptive reports characters that make a name look like another, or a
// terminal do something.
func isDeceptive(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError ||
		unicode.Is(unicode.Bidi_Control, r)
}

// isGitName reports whether HFS+ (which ignores some characters) or NTFS
// (which drops trailing dots and spaces, has streams, and short names) may
// take name for .git.
func isGitName(name string) bool {
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if isHFSIgnorable(r) {
			return -1
		}
		return r
	}, name))
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	short, isShort := strings.CutPrefix(name, "git~")
	return name == ".git" || isShort && len(short) == 1 && short[0] >= '0' && short[0] <= '9'
}

func isHFSIgnorable(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}

// unportableName says why one component would not survive on Windows or macOS.
func unportableName(name string) string {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case strings.ContainsAny(name, `<>:"|?*`):
		return "a character that Windows does not allow"
	case strings.TrimRight(name, ". ") != name || name[0] == ' ':
		return "a leading space, or a trailing dot or space"
	case isDevice(strings.TrimSpace(base)):
		return "a name that Windows reserves"
	case !norm.NFC.IsNormalString(name):
		return "not in Unicode normal form C"
	}
	return ""
}

func isDevice(base string) bool {
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	port, isPort := strings.CutPrefix(base, "com")
	if !isPort {
		port, isPort = strings.CutPrefix(base, "lpt")
	}
	return isPort && (len(port) == 1 && port[0] >= '0' && port[0] <= '9' || port == "¹" || port == "²" || port == "³")
}
