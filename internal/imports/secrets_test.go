package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var secretName = regexp.MustCompile(`(?i)^(hash|secret|sum|token|password|key)$`)

// Nothing that tells a secret is compared by ==, which takes longer the more of it
// is right: crypto/subtle does, over hashes.
func TestSecretsTakeTheSameTime(t *testing.T) {
	subtle := 0
	for _, dir := range []string{"access", "owner", "httpd"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if n.Sel.Name == "ConstantTimeCompare" {
						subtle++
					}
				case *ast.BinaryExpr:
					equal := n.Op == token.EQL || n.Op == token.NEQ
					if equal && (isSecret(n.X) && isVariable(n.Y) || isSecret(n.Y) && isVariable(n.X)) {
						t.Errorf("%s: a secret is compared by %s", set.Position(n.Pos()), n.Op)
					}
				}
				return true
			})
		}
	}
	if subtle != 2 {
		t.Errorf("%d comparisons in constant time, want that of tokens and that of the owner's secret", subtle)
	}
}

// isSecret reports whether an expression is named as a secret is.
func isSecret(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return secretName.MatchString(e.Name)
	case *ast.SelectorExpr:
		return secretName.MatchString(e.Sel.Name)
	case *ast.CallExpr:
		return isSecret(e.Fun)
	}
	return false
}

// isVariable reports whether an expression is no constant.
func isVariable(e ast.Expr) bool {
	_, literal := e.(*ast.BasicLit)
	id, named := e.(*ast.Ident)
	return !literal && !(named && id.Name == "nil")
}
