// Command figures counts how large the program is and how it is cut. Packages for tests, whose names end in test, count as tests.
//
//	go -C tools run ./figures [folder of the repository]
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	module   = "github.com/touchline/touchline/"
	maxLines = 400 // of a file
	maxWidth = 120 // of a line
)

// figures are the counts.
type figures struct {
	lines, testLines, files, packages, longFiles, wideLines int
	settings, functionFields, namedResults, statementsInIf  int
	views                                                   int // data of pages without a type
	imports                                                 map[[2]string]bool
}

func main() {
	root := ".."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	f := figures{imports: map[[2]string]bool{}}
	folders := map[string]bool{}
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(folder, "test") {
				f.testLines += bytes.Count(source, []byte("\n"))
				return nil
			}
			folders[folder] = true
			return f.file(filepath.ToSlash(folder), source)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for _, row := range []struct {
		name string
		n    int
	}{
		{"lines of Go in internal and cmd, without tests", f.lines},
		{"lines of their tests", f.testLines},
		{"files", f.files},
		{"packages", len(folders)},
		{fmt.Sprintf("files above %d lines", maxLines), f.longFiles},
		{fmt.Sprintf("lines above %d columns, without the tags of settings", maxWidth), f.wideLines},
		{"settings", f.settings},
		{"struct fields of function type", f.functionFields},
		{"functions with named results", f.namedResults},
		{"conditions of if after a call in the same line", f.statementsInIf},
		{"views with map[string]any", f.views},
		{"imports between folders of internal", len(f.imports)},
	} {
		fmt.Printf("| %s | %d |\n", row.name, row.n)
	}
}

// file counts a file that is no test.
func (f *figures) file(folder string, source []byte) error {
	f.files++
	n := bytes.Count(source, []byte("\n"))
	f.lines += n
	if n > maxLines {
		f.longFiles++
	}
	for line := range strings.Lines(string(source)) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
		if utf8.RuneCountInString(line) > maxWidth && !strings.Contains(line, "`env:") {
			f.wideLines++
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), folder, source, 0)
	if err != nil {
		return err
	}
	for _, spec := range parsed.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if to, ours := strings.CutPrefix(path, module); ours {
			if from, to := top(folder), top(to); from != to && strings.HasPrefix(folder, "internal/") {
				f.imports[[2]string{from, to}] = true
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			f.fields(n)
		case *ast.FuncDecl:
			if n.Type.Results != nil && len(n.Type.Results.List) > 0 && len(n.Type.Results.List[0].Names) > 0 {
				f.namedResults++
			}
		case *ast.IfStmt:
			if s, is := n.Init.(*ast.AssignStmt); is && s.Tok == token.ASSIGN {
				f.statementsInIf++
			}
		case *ast.AssignStmt:
			f.view(n)
		}
		return true
	})
	return nil
}

func (f *figures) fields(s *ast.StructType) {
	for _, field := range s.Fields.List {
		if _, is := field.Type.(*ast.FuncType); is {
			f.functionFields += max(1, len(field.Names))
		}
		if field.Tag != nil {
			tag, _ := strconv.Unquote(field.Tag.Value)
			if _, is := reflect.StructTag(tag).Lookup("env"); is {
				f.settings++
			}
		}
	}
}

// view counts v.Data = map[string]any{…}.
func (f *figures) view(a *ast.AssignStmt) {
	if to, is := a.Lhs[0].(*ast.SelectorExpr); is && to.Sel.Name == "Data" {
		if value, is := a.Rhs[0].(*ast.CompositeLit); is {
			if _, is := value.Type.(*ast.MapType); is {
				f.views++
			}
		}
	}
}

// top returns the first two parts of a folder: internal/message for internal/message/sms.
func top(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}
