package gitstore

import "strings"

// wildmatch matches as git does: ?, *, [set], \x, and with pathname also **;
// with pathname the first three do not match a slash. It keeps the set of
// positions in s that the pattern so far may end at, so its work is bounded by
// the product of the two lengths.
func wildmatch(pat, s string, pathname bool) bool {
	var small [128]bool
	ends := append(small[:0], make([]bool, len(s)+1)...)
	ends[0] = true
	for p := 0; p < len(pat); {
		n, alive := 0, false
		if pat[p] == '*' {
			n, alive = matchStars(pat, p, s, ends, pathname)
		} else {
			n, alive = matchOne(pat[p:], s, ends, pathname)
		}
		if !alive {
			return false
		}
		p += n
	}
	return ends[len(s)]
}

// matchOne moves every end over one character, and returns the length of the
// pattern's part and whether an end is left.
func matchOne(pat, s string, ends []bool, pathname bool) (n int, alive bool) {
	n = 1
	if pat[0] == '\\' {
		n = 2
	}
	for i := len(s); i > 0; i-- {
		ends[i] = false
		if !ends[i-1] {
			continue
		}
		c, ok := s[i-1], false
		switch {
		case pat[0] == '?':
			ok = !pathname || c != '/'
		case pat[0] == '[':
			n, ok = matchSet(pat, c)
			ok = ok && (!pathname || c != '/')
		case pat[0] == '\\':
			ok = len(pat) > 1 && pat[1] == c
		default:
			ok = pat[0] == c
		}
		ends[i] = ok
		alive = alive || ok
	}
	ends[0] = false
	return n, alive
}

// matchStars moves every end over any number of characters, and likewise
// returns the length of the pattern's part; there is always an end left.
func matchStars(pat string, p int, s string, ends []bool, pathname bool) (n int, alive bool) {
	end := p
	for end < len(pat) && pat[end] == '*' {
		end++
	}
	n = end - p
	whole := pathname && n >= 2 && (p == 0 || pat[p-1] == '/')
	dirs := whole && end < len(pat) && pat[end] == '/' // "**/": directories, or none
	any := !pathname || whole && end == len(pat)
	seen := false
	for i := range ends {
		reached := ends[i]
		switch {
		case i == 0:
		case dirs:
			ends[i] = ends[i] || seen && s[i-1] == '/'
		case any || s[i-1] != '/':
			ends[i] = ends[i] || ends[i-1]
		}
		seen = seen || reached
	}
	if dirs {
		n++
	}
	return n, true
}

// matchSet matches c against the set that pat starts with, and returns the
// set's length. A set that is not closed matches nothing.
func matchSet(pat string, c byte) (n int, ok bool) {
	i := 1
	negated := i < len(pat) && (pat[i] == '!' || pat[i] == '^')
	if negated {
		i++
	}
	for first := true; i < len(pat); first = false {
		if pat[i] == ']' && !first {
			return i + 1, ok != negated
		}
		if name, after, found := cutClass(pat[i:]); found {
			if !knownClass(name) {
				return 0, false
			}
			ok = ok || inClass(name, c)
			i = len(pat) - len(after)
			continue
		}
		lo, next := setByte(pat, i)
		hi := lo
		if next+1 < len(pat) && pat[next] == '-' && pat[next+1] != ']' {
			hi, next = setByte(pat, next+1)
		}
		ok = ok || lo <= c && c <= hi
		i = next
	}
	return 0, false
}

// setByte reads one, maybe escaped, byte of a set.
func setByte(pat string, i int) (c byte, next int) {
	if pat[i] == '\\' && i+1 < len(pat) {
		i++
	}
	return pat[i], i + 1
}

// cutClass reads [:name:].
func cutClass(pat string) (name, after string, ok bool) {
	rest, ok := strings.CutPrefix(pat, "[:")
	if !ok {
		return "", "", false
	}
	name, after, ok = strings.Cut(rest, ":]")
	return name, after, ok && !strings.ContainsAny(name, "]")
}

func knownClass(name string) bool {
	switch name {
	case "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit":
		return true
	}
	return false
}

func inClass(name string, c byte) bool {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r'
	case "blank":
		return c == ' ' || c == '\t'
	case "punct":
		return c > ' ' && c < 0x7f && !lower && !upper && !digit
	case "xdigit":
		return digit || c|0x20 >= 'a' && c|0x20 <= 'f'
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "print":
		return c >= ' ' && c < 0x7f
	case "graph":
		return c > ' ' && c < 0x7f
	}
	return false
}
