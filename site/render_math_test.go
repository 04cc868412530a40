package site

import (
	"strings"
	"sync"
	"testing"
)

func TestMath(t *testing.T) {
	m := newMathSetter(newMemory())
	tests := []struct {
		tex  string
		want string // in the MathML, "" if the TeX cannot be set
	}{
		{`x^2`, "<msup><mi>x</mi><mn>2</mn></msup>"},
		{`a < b`, "<mo>&lt;</mo>"},
		{`\text{<script>}`, "&lt;script&gt;"},
		{`\newcommand{\a}[1]{#1^2}\a{x}`, "<msup>"},
		{`\frac{1}{2}`, "<mfrac>"},
		{`\begin{aligned}a&=b\\c&=d\end{aligned}`, "<mtable"},
		{`\nosuch`, ""},
		{`{`, ""},
		{`\href{javascript:alert(1)}{x}`, `<mtext>\href</mtext>`}, // not trusted
		{`\def\a{\a\a}\a`, ""},
		{`\def\a{` + strings.Repeat("x", 2000) + `}` + strings.Repeat(`\a`, 900), ""},
		{strings.Repeat(`\frac{1}{`, 400) + "x" + strings.Repeat("}", 400), ""},
		{strings.Repeat("x", maxTeX+1), ""},
	}
	for _, tt := range tests {
		got, ok := m.set(tt.tex, false)
		if ok != (tt.want != "") || !strings.Contains(string(got), tt.want) {
			t.Errorf("%.40s: %v %s, want %q", tt.tex, ok, got, tt.want)
		}
	}
	if display, _ := m.set("x", true); !strings.Contains(string(display), `display="block"`) {
		t.Errorf("display math is %s", display)
	}
}

// A macro that one formula defines is unknown to the next, whatever runtime
// sets it.
func TestMathKeepsNothing(t *testing.T) {
	m := newMathSetter(newMemory())
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if _, ok := m.set(`\gdef\leak{x}\leak`, false); !ok {
				t.Error("a global definition cannot be set")
			}
			if got, ok := m.set(`\leak`, false); ok {
				t.Errorf("\\leak is known: %s", got)
			}
		})
	}
	wait.Wait()
}
