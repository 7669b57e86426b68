package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// code is what the Go files of the repository declare and use.
type code struct {
	names map[string]bool            // all identifiers
	of    map[string]map[string]bool // what the packages of a name declare, with methods
	stale []string                   // comments of functions that begin with another name
}

// firstWords are the first words of a comment that describes a function by its name.
var firstWords = regexp.MustCompile(`^([a-z]\w*) (returns|reports|writes|reads|adds|saves|is|are|checks|sends|counts|runs|makes|tells|ends) `)

func readCode(t *testing.T) code {
	c := code{names: map[string]bool{}, of: map[string]map[string]bool{}}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		declared := c.of[parsed.Name.Name]
		if declared == nil {
			declared = map[string]bool{}
			c.of[parsed.Name.Name] = declared
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[d.Name.Name] = true
				if m := firstWords.FindStringSubmatch(d.Doc.Text()); m != nil && m[1] != d.Name.Name {
					c.stale = append(c.stale, file+": the comment of "+d.Name.Name+" begins with "+m[1])
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						declared[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							declared[n.Name] = true
						}
					}
				}
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				c.names[id.Name] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNamesExist: what CONTRIBUTING.md and the documents name in backquotes is in the code, and the comment of a function does
// not begin with another name.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	c := readCode(t)
	for _, s := range c.stale {
		t.Error(s)
	}
	quoted := regexp.MustCompile("`([^`\n]+)`")
	selector := regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?$`)
	method := regexp.MustCompile(`^([A-Z]\w*)\.([A-Z]\w*)$`)
	name := regexp.MustCompile(`^[A-Za-z]*[a-z][A-Z]\w*$`)
	file := regexp.MustCompile(`^(internal|cmd|e2e|docs|deploy|clients|bench|tools)/[\w./-]+$`)
	guide, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	next := regexp.MustCompile(`migrations/(\d+)_note\.sql`).FindStringSubmatch(string(guide))
	if next == nil {
		t.Fatal("CONTRIBUTING.md names no migration for its example")
	}
	if taken, err := filepath.Glob("../internal/store/migrations/" + next[1] + "_*"); err != nil || len(taken) > 0 {
		t.Errorf("CONTRIBUTING.md: the migration %s of its example is %v, %v", next[1], taken, err)
	}
	for _, document := range []string{"../CONTRIBUTING.md", "architecture.md", "testing.md", "guarantees.md"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		known := string(text)
		if before, after, found := strings.Cut(known, "## Add a feature"); found { // a feature that does not exist
			_, after, _ = strings.Cut(after, "\n## ")
			known = before + after
		}
		for _, m := range quoted.FindAllStringSubmatch(known, -1) {
			exists := true
			if s := selector.FindStringSubmatch(m[1]); s != nil {
				exists = (c.of[s[1]] == nil || c.of[s[1]][s[2]]) && c.names[s[2]] && (s[3] == "" || c.names[s[3]])
			} else if s := method.FindStringSubmatch(m[1]); s != nil {
				exists = c.names[s[1]] && c.names[s[2]]
			} else if name.MatchString(m[1]) && m[1] != "localStorage" {
				exists = c.names[m[1]]
			} else if file.MatchString(m[1]) {
				_, err := os.Stat(path.Join("..", m[1]))
				exists = err == nil
			}
			if !exists {
				t.Errorf("%s: %s does not exist", document, m[0])
			}
		}
	}
}
