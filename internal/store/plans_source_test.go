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
	text    string // its beginning, for messages
	pattern *regexp.Regexp
}

var (
	verb  = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	blank = regexp.MustCompile(`%[a-z]`) // what fmt.Sprintf fills in
)

// literals returns every statement in the non-test files. A part that is not a literal, such
// as a list of parameters, matches anything.
func literals(t *testing.T) []literal {
	t.Helper()
	names, err := filepath.Glob("*.go")
	ok(t, err)
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
			start, pattern := spell(e, constants)
			if !verb.MatchString(start) {
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

// spell returns how an expression of strings begins, and a pattern of the whole.
func spell(e ast.Expr, constants map[string]ast.Expr) (start, pattern string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text, regexp.QuoteMeta(text)
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			start, left := spell(e.X, constants)
			_, right := spell(e.Y, constants)
			return start, left + right
		}
	case *ast.CallExpr:
		if called, is := e.Fun.(*ast.SelectorExpr); is && called.Sel.Name == "Sprintf" {
			start, pattern := spell(e.Args[0], constants)
			return start, blank.ReplaceAllString(pattern, ".*")
		}
	case *ast.ParenExpr:
		return spell(e.X, constants)
	case *ast.Ident:
		if value := constants[e.Name]; value != nil {
			return spell(value, constants)
		}
	}
	return "", ".*"
}
