package openapitest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// CheckQueries fails tb unless the routes under /api and /auth have the query parameters that the
// document lists. The routes have a method and a pattern as their key.
func CheckQueries(tb testing.TB, document []byte, routes map[string][]string) {
	tb.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		tb.Fatal(err)
	}
	documented := map[string][]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			names := []string{}
			for _, p := range slices.Concat(item.Parameters, op.Parameters) {
				if p.Value.In == openapi3.ParameterInQuery {
					names = append(names, p.Value.Name)
				}
			}
			documented[method+" "+path] = names
		}
	}
	checked := 0
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		if !strings.Contains(name, " /api/") && !strings.Contains(name, " /auth/") {
			continue
		}
		checked++
		got, want := slices.Sorted(slices.Values(routes[name])), slices.Sorted(slices.Values(documented[name]))
		if !slices.Equal(got, want) {
			tb.Errorf("%s: the route has the query parameters %v, the document %v", name, got, want)
		}
	}
	if checked < 10 {
		tb.Errorf("got %d routes, want more", checked)
	}
}
