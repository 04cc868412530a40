package site

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// KaTeX 0.19.1, as npm has it; its licence stands beside it. It runs when a site
// is built, and makes MathML: pages need no script, style or font for it.
//
//go:embed katex/katex.min.js
var katexSource string

const (
	mathRecipe = "katex/0.19.1"
	maxTeX     = 4 << 10 // bytes of a formula
	maxNesting = 50      // braces within braces: KaTeX takes exponential time for some
	maxExpand  = 500     // expansions of macros in a formula
	maxDefined = 20_000  // the same times the formula's length, if it defines macros
	maxStack   = 2000    // calls within each other
)

const katexCall = `(function(tex, display, maxExpand) {
	return katex.renderToString(tex, {displayMode: display, output: "mathml", throwOnError: true, strict: "ignore", trust: false, maxExpand: maxExpand, maxSize: 50});
})`

var errNoMath = errors.New("not MathML")

// katexProgram is KaTeX, compiled once.
var katexProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("katex.min.js", katexSource, false)
})

// mathSetter turns TeX into MathML.
type mathSetter struct {
	cache   Cache
	engines sync.Pool // of *mathEngine
}

// mathEngine is a JavaScript runtime with KaTeX in it. It keeps nothing between
// formulas.
type mathEngine struct {
	vm     *goja.Runtime
	render goja.Callable
}

func newMathSetter(c Cache) *mathSetter { return &mathSetter{cache: c} }

// set returns a formula in MathML. It is not ok if the TeX is wrong or too long.
func (m *mathSetter) set(tex string, display bool) ([]byte, bool) {
	if len(tex) > maxTeX || nesting(tex) > maxNesting {
		return nil, false
	}
	key := cacheKey(mathRecipe, fmt.Sprint(display), []byte(tex))
	out, cached := m.cache.Get(key)
	if !cached {
		mathml, err := m.render(tex, display)
		if err == nil {
			out = []byte(mathml)
		}
		m.cache.Put(key, out)
	}
	return out, len(out) > 0
}

func (m *mathSetter) render(tex string, display bool) (string, error) {
	e, ok := m.engines.Get().(*mathEngine)
	if !ok {
		var err error
		if e, err = newMathEngine(); err != nil {
			return "", err
		}
	}
	v, err := e.render(goja.Undefined(), e.vm.ToValue(tex), e.vm.ToValue(display), e.vm.ToValue(expansions(tex)))
	// A runtime that wrong TeX made throw is as before; one whose stack was
	// exhausted is not used again.
	if thrown := (*goja.Exception)(nil); err == nil || errors.As(err, &thrown) {
		m.engines.Put(e)
	}
	if err != nil {
		return "", fmt.Errorf("set %q: %w", tex, err)
	}
	return mathElement(v.String())
}

// nesting returns how deep braces stand within braces.
func nesting(tex string) int {
	depth, deepest := 0, 0
	for i := range len(tex) {
		switch tex[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		deepest = max(deepest, depth)
	}
	return deepest
}

var definition = regexp.MustCompile(`\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand)`)

// expansions bounds those of a formula, so that macros which it defines make it
// no longer than maxDefined.
func expansions(tex string) int {
	if definition.MatchString(tex) {
		return min(maxExpand, maxDefined/len(tex))
	}
	return maxExpand
}

// mathElement takes the <math> from what KaTeX puts around it.
func mathElement(s string) (string, error) {
	start, end := strings.Index(s, "<math"), strings.LastIndex(s, "</math>")
	if start < 0 || end < start {
		return "", errNoMath
	}
	return s[start : end+len("</math>")], nil
}

func newMathEngine() (*mathEngine, error) {
	vm := goja.New()
	vm.SetMaxCallStackSize(maxStack)
	if _, err := vm.RunProgram(katexProgram()); err != nil {
		return nil, fmt.Errorf("load KaTeX: %w", err)
	}
	call, err := vm.RunString(katexCall)
	if err != nil {
		return nil, fmt.Errorf("load KaTeX: %w", err)
	}
	render, _ := goja.AssertFunction(call)
	return &mathEngine{vm, render}, nil
}
