package admin_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/message"
)

// extensible is a schema of strings that has the values known so far.
type extensible struct {
	Values []string `json:"x-extensible-enum"`
}

// TestAuditEnums compares the actions and the kinds of objects in the OpenAPI document with
// the constants of package operator and the calls that write entries.
func TestAuditEnums(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas struct {
				Entry struct {
					Properties struct {
						Action     extensible
						ObjectKind extensible `json:"object_kind"`
					}
				}
			}
		}
	}
	data, err := admin.Document()
	if err == nil {
		err = json.Unmarshal(data, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, file := range files {
		ast.Inspect(parse(t, file), func(n ast.Node) bool {
			if kind := auditedKind(n); kind != "" {
				kinds[kind] = true
			}
			return true
		})
	}
	entry := document.Components.Schemas.Entry.Properties
	slices.Sort(entry.Action.Values)
	slices.Sort(entry.ObjectKind.Values)
	if diff := cmp.Diff(constants(t, "../operator/audit.go"), entry.Action.Values); diff != "" {
		t.Errorf("actions (-constants of package operator +openapi.yaml):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(kinds)), entry.ObjectKind.Values); diff != "" {
		t.Errorf("kinds of objects (-calls +openapi.yaml):\n%s", diff)
	}
}

// TestDeliveryEnums checks that the document has every channel and kind of the messages that can fail.
func TestDeliveryEnums(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas struct {
				Delivery struct {
					Properties struct{ Channel, Kind extensible }
				}
			}
		}
	}
	data, err := admin.Document()
	if err == nil {
		err = json.Unmarshal(data, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	delivery, kinds := document.Components.Schemas.Delivery.Properties, []string{}
	for _, kind := range message.Kinds {
		kinds = append(kinds, string(kind))
	}
	if diff := cmp.Diff(kinds, delivery.Kind.Values); diff != "" {
		t.Errorf("kinds (-package message +openapi.yaml):\n%s", diff)
	}
	channels := []string{string(message.SMS), string(message.Chat), string(message.Voice), string(message.Email), string(message.Push)} // all but in_app, which leaves nothing
	if diff := cmp.Diff(channels, delivery.Channel.Values); diff != "" {
		t.Errorf("channels (-package message +openapi.yaml):\n%s", diff)
	}
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// constants returns the string constants of a file, sorted.
func constants(t *testing.T, file string) []string {
	t.Helper()
	var found []string
	for _, d := range parse(t, file).Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			for _, v := range s.(*ast.ValueSpec).Values {
				found = append(found, literal(v))
			}
		}
	}
	slices.Sort(found)
	return found
}

// auditedKind returns the kind of object in a call of audit or Record, which have it as their
// fourth of six arguments, or "".
func auditedKind(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || (f.Sel.Name != "audit" && f.Sel.Name != "Record" || len(call.Args) != 6) && !strings.EqualFold(f.Sel.Name, "AddEntry") {
		return ""
	}
	return literal(call.Args[len(call.Args)-3])
}

// literal returns the value of a string literal, or "".
func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return s
}
