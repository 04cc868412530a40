package convert

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var digits = regexp.MustCompile(`\d+`)

// dropRunning removes the lines that stand at the top or the bottom of several
// pages, but for their numbers: running titles, and the numbers of pages.
func dropRunning(pages []pdfPage) {
	const several = 3
	seen := map[string]int{}
	key := func(where string, l pdfLine) string { return where + digits.ReplaceAllString(l.text, "#") }
	for _, p := range pages {
		if n := len(p.lines); n > 0 {
			seen[key("top", p.lines[0])]++
			seen[key("end", p.lines[n-1])]++
		}
	}
	running := func(where string, l pdfLine) bool {
		return pageNumber.MatchString(l.text) || seen[key(where, l)] >= several
	}
	for i := range pages {
		p := &pages[i]
		if len(p.lines) > 1 && running("top", p.lines[0]) {
			p.lines = p.lines[1:]
		}
		if n := len(p.lines); n > 1 && running("end", p.lines[n-1]) {
			p.lines = p.lines[:n-1]
		}
	}
}

var pageNumber = regexp.MustCompile(`^[-–— ]*(\d{1,4}|[ivxlc]{1,6})[-–— ]*$`)

// pageWriter makes Markdown of pages whose text has one size for the most part.
type pageWriter struct {
	body    float64   // the size of most letters
	larger  []float64 // sizes of headings, the largest first
	title   string    // the largest text of the first page that has any
	titled  bool      // the largest size is the title's alone
	spacing float64   // between the lines of a paragraph
}

// newPageWriter measures all pages.
func newPageWriter(pages []pdfPage) *pageWriter {
	w := &pageWriter{}
	letters := map[float64]int{}
	gaps := map[float64]int{}
	for _, p := range pages {
		for i, l := range p.lines {
			letters[rounded(l.size)] += utf8.RuneCountInString(l.text)
			if i > 0 && p.lines[i-1].y > l.y {
				gaps[rounded((p.lines[i-1].y-l.y)/max(l.size, 1))] += 1
			}
		}
	}
	w.body, w.spacing = mostOf(letters), mostOf(gaps)
	for size := range letters {
		if size > w.body*1.12 {
			w.larger = append(w.larger, size)
		}
	}
	slices.SortFunc(w.larger, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	w.title = titleOfPages(pages, w.larger)
	w.titled = w.title != "" && !slices.ContainsFunc(pages[1:], func(p pdfPage) bool {
		return slices.ContainsFunc(p.lines, func(l pdfLine) bool { return rounded(l.size) == w.larger[0] })
	})
	return w
}

func rounded(x float64) float64 { return math.Round(x*5) / 5 }

// mostOf is the key of the highest count; of two the smaller.
func mostOf(counts map[float64]int) (best float64) {
	most := 0
	for x, n := range counts {
		if n > most || n == most && x < best {
			best, most = x, n
		}
	}
	return best
}

// titleOfPages joins the lines of the largest text of the first page with text.
func titleOfPages(pages []pdfPage, larger []float64) string {
	for _, p := range pages {
		if len(p.lines) == 0 {
			continue
		}
		largest := slices.MaxFunc(p.lines, func(a, b pdfLine) int { return int(math.Copysign(1, a.size-b.size)) }).size
		if !slices.Contains(larger, rounded(largest)) {
			return ""
		}
		var words []string
		for _, l := range p.lines {
			if rounded(l.size) == rounded(largest) {
				words = append(words, l.text)
			}
		}
		return strings.Join(words, " ")
	}
	return ""
}

// level is the level of a heading in letters of a size, 0 for other text.
func (w *pageWriter) level(l pdfLine) int {
	const deepest, longest = 4, 160
	if len(l.text) > longest || strings.IndexFunc(l.text, unicode.IsLetter) < 0 {
		return 0
	}
	if i := slices.Index(w.larger, rounded(l.size)); i >= 0 {
		if w.titled {
			i = max(i-1, 0)
		}
		return min(i+2, deepest)
	}
	if m := sectionNumber.FindString(l.text); m != "" && l.bold {
		return min(strings.Count(strings.TrimRight(m, ". "), ".")+2, deepest+1)
	}
	return 0
}

var sectionNumber = regexp.MustCompile(`^\d+(\.\d+)*\.?\s+`)

// page writes a page. Its first paragraph has a block id.
func (w *pageWriter) page(p pdfPage) string {
	var b strings.Builder
	marked := false
	for i := 0; i < len(p.lines); {
		level := w.level(p.lines[i])
		if n := countMono(p.lines[i:]); n > 1 {
			b.WriteString(fenced(codeLines(p.lines[i:i+n]), "") + "\n")
			i += n
			continue
		}
		n := i + 1
		for n < len(p.lines) && w.joins(p.lines[n-1], p.lines[n], level) {
			n++
		}
		text := joinLines(p.lines[i:n])
		if level > 0 {
			if len(b.String())+p.number > 1 || !strings.EqualFold(text, w.title) {
				fmt.Fprintf(&b, "%s %s\n\n", strings.Repeat("#", level), escapeInline(text))
			}
		} else {
			id := ""
			if !marked {
				id = fmt.Sprintf(" ^page-%d", p.number)
			}
			marked = true
			before := b.String()
			if item := listItem(text); strings.HasPrefix(item, "- ") && lastIsItem(before) {
				b.Reset()
				fmt.Fprintf(&b, "%s\n%s\n\n", strings.TrimRight(before, "\n"), item)
			} else {
				fmt.Fprintf(&b, "%s%s\n\n", item, id)
			}
		}
		i = n
	}
	return b.String()
}

// joins reports whether a line goes on with what the line before it began.
func (w *pageWriter) joins(before, l pdfLine, level int) bool {
	if l.mono && before.mono || w.level(l) != level || level > 0 && rounded(before.size) != rounded(l.size) || isItem(l.text) {
		return false
	}
	gap := (before.y - l.y) / max(l.size, 1)
	if gap <= 0 { // the next column
		return level == 0 && !endsSentence(before.text)
	}
	indented := l.x > before.x+0.8*l.size && endsSentence(before.text)
	return gap < w.spacing*1.35+0.1 && !indented
}

func endsSentence(s string) bool {
	return strings.HasSuffix(s, ".") || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!")
}

// lastIsItem reports whether the last paragraph of Markdown is an item of a list.
func lastIsItem(md string) bool {
	md = strings.TrimRight(md, "\n")
	return strings.HasPrefix(md[strings.LastIndexByte(md, '\n')+1:], "- ")
}

var itemMark = regexp.MustCompile(`^([•◦▪‣●○–■]|[-*])\s+|^\(?(\d{1,3}|[a-z])[.)]\s+`)

func isItem(s string) bool { return itemMark.MatchString(s) }

// listItem writes a paragraph, as an item of a list if it begins like one.
func listItem(text string) string {
	m := itemMark.FindString(text)
	if m == "" || strings.IndexFunc(m, unicode.IsLetter) >= 0 {
		return escapeLine(text)
	}
	rest := escapeInline(text[len(m):])
	if number := digits.FindString(m); number != "" {
		return number + ". " + rest
	}
	return "- " + rest
}

// joinLines joins the lines of a paragraph. A word that was divided at the end of a
// line is put together.
func joinLines(lines []pdfLine) string {
	var b strings.Builder
	for i, l := range lines {
		text := l.text
		if i+1 < len(lines) {
			next, _ := utf8.DecodeRuneInString(lines[i+1].text)
			if cut, ok := strings.CutSuffix(text, "-"); ok && unicode.IsLower(next) && endsWithLetter(cut) {
				b.WriteString(cut)
				continue
			}
			text += " "
		}
		b.WriteString(text)
	}
	return strings.TrimSpace(b.String())
}

func endsWithLetter(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r)
}

// countMono counts the lines from the first on that are in letters of one width.
func countMono(lines []pdfLine) int {
	for i, l := range lines {
		if !l.mono {
			return i
		}
	}
	return len(lines)
}

// codeLines lays out lines of code as far as their places tell.
func codeLines(lines []pdfLine) string {
	left := lines[0].x
	for _, l := range lines {
		left = min(left, l.x)
	}
	var b strings.Builder
	for _, l := range lines {
		const width = 0.6 // of a letter, by its height
		indent := int(math.Round((l.x - left) / max(width*l.size, 1)))
		b.WriteString(strings.Repeat(" ", min(max(indent, 0), 80)) + l.text + "\n")
	}
	return b.String()
}
