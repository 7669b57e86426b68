package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// literal is a statement in the source of the package.
type literal struct {
	at      string
	text    string // the first literal part, for messages
	pattern *regexp.Regexp
}

var (
	statementStart = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	formatVerb     = regexp.MustCompile(`%[a-z]`)
)

// literals returns every statement in the non-test files. A part that is not a literal, such
// as a list of parameters, matches anything.
func literals(t *testing.T) []literal {
	t.Helper()
	var names []string
	for _, folder := range []string{"../*", "../platform/idempotency"} {
		found, err := filepath.Glob(folder + "/*.go")
		ok(t, err)
		names = append(names, found...)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		ok(t, err)
		file, err := parser.ParseFile(set, name, source, 0)
		ok(t, err)
		files = append(files, file)
	}
	constants := map[string]ast.Expr{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is {
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						constants[name.Name] = spec.Values[i]
					}
				}
			}
			return true
		})
	}
	var found []literal
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			e, is := n.(ast.Expr)
			if !is {
				return true
			}
			start, pattern := matchExpr(e, constants)
			if !statementStart.MatchString(start) {
				return true
			}
			found = append(found, literal{
				set.Position(e.Pos()).String(), strings.Join(strings.Fields(start), " "),
				regexp.MustCompile(`^(?s)` + pattern + `.*$`),
			})
			return false
		})
	}
	return found
}

// matchExpr returns the first literal part of a string expression, and a pattern of the
// whole expression.
func matchExpr(e ast.Expr, constants map[string]ast.Expr) (start, pattern string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text, regexp.QuoteMeta(text)
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			start, left := matchExpr(e.X, constants)
			_, right := matchExpr(e.Y, constants)
			return start, left + right
		}
	case *ast.CallExpr:
		if called, is := e.Fun.(*ast.SelectorExpr); is && called.Sel.Name == "Sprintf" {
			start, pattern := matchExpr(e.Args[0], constants)
			return start, formatVerb.ReplaceAllString(pattern, ".*")
		}
	case *ast.SelectorExpr:
		return matchExpr(e.Sel, constants)
	case *ast.ParenExpr:
		return matchExpr(e.X, constants)
	case *ast.Ident:
		if value := constants[e.Name]; value != nil {
			return matchExpr(value, constants)
		}
	}
	return "", ".*"
}
