package apidocs_test

import (
	"os"
	"testing"

	"github.com/touchline/touchline/internal/platform/apidocs"
)

// TestTypes checks that the reference page names the type of every field and parameter.
func TestTypes(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reference, err := apidocs.New(document)
	if err != nil {
		t.Fatal(err)
	}
	check := func(where, name string, typed apidocs.Type) {
		if typed.Text == "" && typed.Object == "" {
			t.Errorf("%s: %s has no type", where, name)
		}
	}
	objects := reference.Objects
	for _, g := range reference.Groups {
		for _, op := range g.Operations {
			for _, p := range op.Parameters {
				check(op.ID, p.Name, p.Type)
			}
			if op.Body != nil {
				objects = append(objects, op.Body.Objects...)
			}
			for _, r := range op.Responses {
				for _, h := range r.Headers {
					check(op.ID, h.Name, h.Type)
				}
				if r.Body != nil {
					objects = append(objects, r.Body.Objects...)
				}
			}
		}
	}
	for _, o := range objects {
		for _, f := range o.Fields {
			check(o.Name, f.Name, f.Type)
		}
	}
}
