package convert

import (
	"math"
	"regexp"
	"strings"

	"github.com/ledongthuc/pdf"
)

// pdfPage is a page's text in lines.
type pdfPage struct {
	number int
	lines  []pdfLine
}

// pdfLine is text on one baseline, in the order in which the page draws it.
type pdfLine struct {
	text      string
	size      float64 // of its largest letters
	x, y, end float64
	bold      bool // all of it
	mono      bool // all of it, in letters of one width
}

// pdfFont is a font of a page.
type pdfFont struct {
	encoding pdf.TextEncoding
	wide     bool            // codes have two bytes
	widths   map[int]float64 // by code, in thousandths
	missing  float64         // the width of other codes
	bold     bool
	mono     bool
}

// pdfState is what drawing operators change.
type pdfState struct {
	ctm, tm, tlm                        matrix
	font                                *pdfFont
	size, charSpace, wordSpace, leading float64
	scale, rise                         float64
}

// matrix is [a b c d e f] as PDF writes it.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times is m applied before n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// pdfReader follows a page's drawing operators and collects lines.
type pdfReader struct {
	pdfState
	saved     []pdfState
	resources pdf.Value
	fonts     map[string]*pdfFont
	depth     int // of forms within forms
	lines     []pdfLine
	open      bool // the last line may go on
}

// mostSaved bounds the graphics states that a page keeps.
const mostSaved = 1000

// readLines reads the lines of a page.
func readLines(p pdf.Page) []pdfLine {
	r := &pdfReader{pdfState: pdfState{ctm: identity, tm: identity, tlm: identity, scale: 1}, resources: p.Resources(), fonts: map[string]*pdfFont{}}
	r.run(p.V.Key("Contents"))
	return r.tidyLines()
}

func (r *pdfReader) run(content pdf.Value) {
	if content.Kind() != pdf.Stream && content.Kind() != pdf.Array {
		return
	}
	pdf.Interpret(content, func(stk *pdf.Stack, op string) {
		n := stk.Len()
		args := make([]pdf.Value, n)
		for i := n - 1; i >= 0; i-- {
			args[i] = stk.Pop()
		}
		r.do(op, args)
	})
}

// numbers are the last n operands; nil when there are fewer.
func numbers(args []pdf.Value, n int) []float64 {
	if len(args) < n {
		return nil
	}
	out := make([]float64, n)
	for i, v := range args[len(args)-n:] {
		out[i] = v.Float64()
	}
	return out
}

// do executes an operator. What is no text is passed over, and so is an operator
// with too few operands.
func (r *pdfReader) do(op string, args []pdf.Value) {
	switch op {
	case "q":
		if len(r.saved) < mostSaved {
			r.saved = append(r.saved, r.pdfState)
		}
	case "Q":
		if n := len(r.saved); n > 0 {
			r.pdfState, r.saved = r.saved[n-1], r.saved[:n-1]
		}
	case "cm":
		if f := numbers(args, 6); f != nil {
			r.ctm = matrix(f).times(r.ctm)
		}
	case "BT":
		r.tm, r.tlm = identity, identity
	case "Do":
		r.form(args)
	case "Tf":
		if len(args) >= 2 {
			r.font, r.size = r.fontOf(args[len(args)-2].Name()), args[len(args)-1].Float64()
		}
	case "Tj", "'", "\"", "TJ":
		r.show(op, args)
	default:
		r.place(op, args)
	}
}

// place executes the operators that say where text goes.
func (r *pdfReader) place(op string, args []pdf.Value) {
	one := 0.0
	if f := numbers(args, 1); f != nil {
		one = f[0]
	}
	switch op {
	case "Tc":
		r.charSpace = one
	case "Tw":
		r.wordSpace = one
	case "TL":
		r.leading = one
	case "Ts":
		r.rise = one
	case "Tz":
		r.scale = one / 100
	case "Tm":
		if f := numbers(args, 6); f != nil {
			r.tm, r.tlm = matrix(f), matrix(f)
		}
	case "Td", "TD":
		if f := numbers(args, 2); f != nil {
			if op == "TD" {
				r.leading = -f[1]
			}
			r.nextLine(f[0], f[1])
		}
	case "T*":
		r.nextLine(0, -r.leading)
	}
}

func (r *pdfReader) nextLine(x, y float64) {
	r.tlm = matrix{1, 0, 0, 1, x, y}.times(r.tlm)
	r.tm = r.tlm
}

// form draws what a page shares with others.
func (r *pdfReader) form(args []pdf.Value) {
	const deepest = 8
	if len(args) == 0 || r.depth >= deepest {
		return
	}
	x := r.resources.Key("XObject").Key(args[len(args)-1].Name())
	if x.Key("Subtype").Name() != "Form" || boundContent(x) != nil {
		return
	}
	outer := *r
	r.depth++
	if own := x.Key("Resources"); own.Kind() == pdf.Dict {
		r.resources, r.fonts = own, map[string]*pdfFont{}
	}
	if m := x.Key("Matrix"); m.Len() == 6 {
		var f matrix
		for i := range f {
			f[i] = m.Index(i).Float64()
		}
		r.ctm = f.times(r.ctm)
	}
	r.run(x)
	lines, open := r.lines, r.open
	*r = outer
	r.lines, r.open = lines, open
}

var (
	boldName = regexp.MustCompile(`(?i)bold|black|heavy|demi|CMBX|medi`)
	monoName = regexp.MustCompile(`(?i)courier|mono|consolas|menlo|typewriter|CMTT|LMTT|code`)
)

// fontOf finds a font of the page by its name.
func (r *pdfReader) fontOf(name string) *pdfFont {
	if f, ok := r.fonts[name]; ok {
		return f
	}
	f := pdf.Font{V: r.resources.Key("Font").Key(name)}
	out := &pdfFont{encoding: f.Encoder(), widths: map[int]float64{}, missing: 500}
	out.bold, out.mono = boldName.MatchString(f.BaseFont()), monoName.MatchString(f.BaseFont())
	if f.V.Key("Subtype").Name() == "Type0" {
		out.wide = true
		out.wideWidths(f.V.Key("DescendantFonts").Index(0))
	} else {
		first := f.FirstChar()
		for i, w := range f.Widths() {
			out.widths[first+i] = w
		}
	}
	r.fonts[name] = out
	return out
}

// wideWidths reads the widths of a font of many characters: "c [w…]" and "from to
// w".
func (f *pdfFont) wideWidths(v pdf.Value) {
	f.missing = 1000
	if dw := v.Key("DW"); dw.Kind() == pdf.Integer || dw.Kind() == pdf.Real {
		f.missing = dw.Float64()
	}
	w := v.Key("W")
	for i := 0; i+1 < w.Len(); {
		first := int(w.Index(i).Int64())
		if list := w.Index(i + 1); list.Kind() == pdf.Array {
			for j := range list.Len() {
				f.widths[first+j] = list.Index(j).Float64()
			}
			i += 2
			continue
		}
		last := min(int(w.Index(i+1).Int64()), first+0xffff)
		for code := first; code <= last; code++ {
			f.widths[code] = w.Index(i + 2).Float64()
		}
		i += 3
	}
}

// show draws text.
func (r *pdfReader) show(op string, args []pdf.Value) {
	if len(args) == 0 || r.font == nil {
		return
	}
	if op == "\"" && len(args) >= 3 {
		r.wordSpace, r.charSpace = args[0].Float64(), args[1].Float64()
	}
	if op == "'" || op == "\"" {
		r.nextLine(0, -r.leading)
	}
	last := args[len(args)-1]
	if last.Kind() != pdf.Array {
		r.text(last.RawString())
		return
	}
	for i := range last.Len() {
		if v := last.Index(i); v.Kind() == pdf.String {
			r.text(v.RawString())
		} else {
			r.advance(-v.Float64() / 1000 * r.size)
		}
	}
}

func (r *pdfReader) advance(x float64) {
	r.tm = matrix{1, 0, 0, 1, x * r.scale, 0}.times(r.tm)
}

// text draws one string: it goes on with the last line, or begins one.
func (r *pdfReader) text(raw string) {
	if raw == "" {
		return
	}
	at := r.tm.times(r.ctm)
	size := math.Abs(r.size) * math.Hypot(at[2], at[3])
	s := r.font.encoding.Decode(raw)
	r.moved(raw)
	end := r.tm.times(r.ctm)[4]
	if strings.TrimSpace(s) == "" {
		if n := len(r.lines); n > 0 && r.open && s != "" {
			r.lines[n-1].text += " "
		}
		return
	}
	if n := len(r.lines); n > 0 && r.open {
		if l := &r.lines[n-1]; l.goesOn(at[4], at[5], size) {
			if gap := at[4] - l.end; gap > 0.16*size && !strings.HasSuffix(l.text, " ") {
				l.text += " "
			}
			l.text, l.end = l.text+s, end
			l.bold, l.mono = l.bold && r.font.bold, l.mono && r.font.mono
			l.size = max(l.size, size)
			return
		}
	}
	r.lines = append(r.lines, pdfLine{text: s, size: size, x: at[4], y: at[5], end: end, bold: r.font.bold, mono: r.font.mono})
	r.open = true
}

// moved moves behind a string.
func (r *pdfReader) moved(raw string) {
	step := 1
	if r.font.wide {
		step = 2
	}
	x := 0.0
	for i := 0; i+step <= len(raw); i += step {
		code := int(raw[i])
		if r.font.wide {
			code = code<<8 | int(raw[i+1])
		}
		w, ok := r.font.widths[code]
		if !ok {
			w = r.font.missing
		}
		x += w/1000*r.size + r.charSpace
		if step == 1 && raw[i] == ' ' {
			x += r.wordSpace
		}
	}
	r.advance(x)
}

// goesOn reports whether text at a point is on the line, behind it: a little above
// or below, as notes' numbers are, and not back where the line began.
func (l *pdfLine) goesOn(x, y, size float64) bool {
	most := max(size, l.size)
	return math.Abs(y-l.y) < 0.55*most && x > l.end-most && x < l.end+12*most
}

// tidyLines gives lines one kind of space, and drops those without text.
func (r *pdfReader) tidyLines() (lines []pdfLine) {
	for _, l := range r.lines {
		if l.text = strings.TrimSpace(ligatures.Replace(l.text)); !l.mono {
			l.text = strings.Join(strings.Fields(l.text), " ")
		}
		if l.text != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// ligatures are letters that fonts draw as one.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "\u00ad", "-", "\x00", "", "\uf0b7", "•", "\uf0a7", "▪")
