package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// snowballModule is where the server's stemmers come from: Go that the Snowball
// compiler wrote. The client's are the same code, translated statement by
// statement, so that a word has one stem on both sides.
const snowballModule = "github.com/blevesearch/snowballstem"

// stemmers are the languages whose stemmer is Snowball's, by the directory it is in.
var stemmers = map[string]string{
	"da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french", "ga": "irish",
	"hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "ro": "romanian", "ru": "russian",
	"sv": "swedish", "ta": "tamil", "tr": "turkish",
}

// translateStemmers writes a script for each stemmer to dir.
func translateStemmers(dir string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", snowballModule).Output()
	if err != nil {
		return fmt.Errorf("find %s: %w", snowballModule, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for lang, name := range stemmers {
		src := filepath.Join(strings.TrimSpace(string(out)), name, name+"_stemmer.go")
		js, err := translate(src)
		if err != nil {
			return fmt.Errorf("%s: %w", src, err)
		}
		raw := fmt.Sprintf("kb.stem(function(among){%s\nreturn Stem;});\n", js)
		if raw, err = minify(raw); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "stem-"+lang+".js"), []byte(raw), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// translate returns the declarations of a generated Go file as JavaScript. Words
// are strings of bytes there: each character is one byte of UTF-8.
func translate(file string) (js string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return "", err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("translate: %v", p)
		}
	}()
	var t translator
	for _, d := range f.Decls {
		t.decl(d)
	}
	return t.String(), nil
}

type translator struct{ bytes.Buffer }

func (t *translator) p(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *translator) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for i, name := range v.Names {
					t.p("var %s=%s;\n", name.Name, expr(v.Values[i]))
				}
			}
		}
	case *ast.FuncDecl:
		t.p("function %s(env,context)", d.Name.Name)
		t.block(d.Body)
	}
}

func (t *translator) block(b *ast.BlockStmt) {
	t.p("{\n")
	for _, s := range b.List {
		t.stmt(s)
	}
	t.p("}\n")
}

func (t *translator) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		t.p("%s:", s.Label.Name)
		t.stmt(s.Stmt)
	case *ast.ForStmt:
		if s.Init != nil || s.Cond != nil || s.Post != nil {
			panic("a loop with an end")
		}
		t.p("for(;;)")
		t.block(s.Body)
	case *ast.RangeStmt:
		t.repeat(s)
	case *ast.IfStmt:
		if s.Init != nil {
			panic("a condition with a statement")
		}
		t.p("if(%s)", expr(s.Cond))
		t.block(s.Body)
		if s.Else != nil {
			t.p("else ")
			t.stmt(s.Else)
		}
	case *ast.BlockStmt:
		t.block(s)
	case *ast.ReturnStmt:
		t.p("return %s;\n", expr(s.Results[0]))
	case *ast.BranchStmt:
		t.p("%s %s;\n", s.Tok, s.Label.Name)
	case *ast.ExprStmt:
		t.p("%s;\n", expr(s.X))
	case *ast.IncDecStmt:
		t.p("%s%s;\n", expr(s.X), s.Tok)
	case *ast.DeclStmt:
		t.variables(s.Decl.(*ast.GenDecl))
	case *ast.AssignStmt:
		t.assign(s)
	case *ast.EmptyStmt:
	default:
		panic(fmt.Sprintf("%T", s))
	}
}

// repeat is `for range [n]struct{}{}` or `for range make([]struct{}, n)`: so many
// rounds.
func (t *translator) repeat(s *ast.RangeStmt) {
	var n string
	switch x := s.X.(type) {
	case *ast.CompositeLit:
		n = expr(x.Type.(*ast.ArrayType).Len)
	case *ast.CallExpr:
		n = expr(x.Args[1])
	}
	t.p("for(let n_=%s;n_>0;n_--)", n)
	t.block(s.Body)
}

func (t *translator) variables(d *ast.GenDecl) {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok {
			panic("a declaration that is no variable")
		}
		for i, name := range v.Names {
			if i < len(v.Values) {
				t.p("var %s=%s;\n", name.Name, expr(v.Values[i]))
			} else {
				t.p("var %s=0;\n", name.Name)
			}
		}
	}
}

func (t *translator) assign(s *ast.AssignStmt) {
	if len(s.Lhs) > 1 && s.Tok != token.DEFINE {
		panic("several assigned at once")
	}
	for i, l := range s.Lhs {
		left := expr(l)
		if _, ok := s.Rhs[i].(*ast.TypeAssertExpr); ok || left == "_" {
			continue // context := ctx.(*Context): it is the parameter already
		}
		if s.Tok == token.DEFINE {
			t.p("var %s=%s;\n", left, expr(s.Rhs[i]))
		} else {
			t.p("%s%s%s;\n", left, s.Tok, expr(s.Rhs[i]))
		}
	}
}

func expr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "nil":
			return "null"
		case "ctx":
			return "context"
		}
		return e.Name
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			if err != nil {
				panic(err)
			}
			return byteString(s)
		}
		return e.Value
	case *ast.SelectorExpr:
		if x := expr(e.X); x != "snowballRuntime" {
			return x + "." + e.Sel.Name
		}
		return "among." + e.Sel.Name
	case *ast.CallExpr:
		return call(e)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return expr(e.X)
		}
		return e.Op.String() + expr(e.X)
	case *ast.BinaryExpr:
		op := e.Op.String()
		if op == "==" || op == "!=" {
			op += "="
		}
		return expr(e.X) + op + expr(e.Y)
	case *ast.ParenExpr:
		return "(" + expr(e.X) + ")"
	case *ast.CompositeLit:
		return composite(e)
	}
	panic(fmt.Sprintf("%T", e))
}

func call(e *ast.CallExpr) string {
	f := expr(e.Fun)
	var args []string
	for _, a := range e.Args {
		args = append(args, expr(a))
	}
	switch f {
	case "int", "int32", "uint":
		return "(" + args[0] + ")"
	case "len":
		return args[0] + ".length"
	}
	return f + "(" + strings.Join(args, ",") + ")"
}

// composite is a list, a struct as an object, or an element of a list of either.
func composite(e *ast.CompositeLit) string {
	var parts []string
	object := false
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			object = true
			parts = append(parts, expr(kv.Key)+":"+expr(kv.Value))
			continue
		}
		parts = append(parts, expr(x))
	}
	if _, list := e.Type.(*ast.ArrayType); object || !list {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// byteString is a string literal whose characters are the bytes of s.
func byteString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
