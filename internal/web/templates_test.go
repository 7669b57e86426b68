package web

import (
	"html/template"
	"strings"
	"testing"
)

// TestTemplatesAreValid checks what html/template checks only when a template is first
// executed: that every template is valid HTML in every branch.
func TestTemplatesAreValid(t *testing.T) {
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	for _, tmpl := range r.templates.Templates() {
		err := tmpl.Execute(new(strings.Builder), nil)
		if _, isEscape := err.(*template.Error); isEscape {
			t.Errorf("%s: %v", tmpl.Name(), err)
		}
	}
}
