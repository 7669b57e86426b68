package api

import (
	"embed"
	"html/template"
	"net/http"
	"sync"

	"github.com/touchline/touchline/internal/platform/apidocs"
	"github.com/touchline/touchline/internal/platform/problem"
)

// openAPI is the OpenAPI document of the API. It is written by hand.
//
//go:embed openapi.yaml
var openAPI []byte

//go:embed templates/*.html
var templateFiles embed.FS

// Document returns the OpenAPI document as JSON. Each call converts it.
func Document() ([]byte, error) { return apidocs.JSON(openAPI) }

// Documentation serves the OpenAPI document, its reference, the guide, and a page for each
// problem code.
type Documentation struct {
	*apidocs.Pages
	templates *template.Template
}

// NewDocumentation returns the documentation. It has no settings, so all servers of this
// process share it.
func NewDocumentation() (*Documentation, error) { return sharedDocumentation() }

var sharedDocumentation = sync.OnceValues(func() (*Documentation, error) {
	t, err := apidocs.Templates()
	if err != nil {
		return nil, err
	}
	if t, err = t.ParseFS(templateFiles, "templates/*.html"); err != nil {
		return nil, err
	}
	return &Documentation{apidocs.NewPages(apidocs.Config{Document: openAPI, Samples: true}), t}, nil
})

// Handlers returns the handler of each pattern. An error means that nothing was written.
func (d *Documentation) Handlers() map[string]func(http.ResponseWriter, *http.Request) error {
	handlers := d.Pages.Handlers()
	handlers["/problems"] = d.problems
	handlers["/problems/{$}"] = d.problems // the base of the type URIs
	handlers["/problems/{code}"] = d.problem
	return handlers
}

// problems serves GET /problems, the list of all codes.
func (d *Documentation) problems(w http.ResponseWriter, r *http.Request) error {
	return d.render(w, r, http.StatusOK, "problems.html", problemGroups())
}

// problem serves GET /problems/{code}.
func (d *Documentation) problem(w http.ResponseWriter, r *http.Request) error {
	code := r.PathValue("code")
	kind, ok := problem.Lookup(code)
	if !ok {
		return d.render(w, r, http.StatusNotFound, "unknown_problem.html", nil)
	}
	operations, err := d.Operations(code)
	if err != nil {
		return err
	}
	return d.render(w, r, http.StatusOK, "problem.html", problemPage{
		Type:         kind,
		MeaningHTML:  apidocs.Inline(kind.Meaning),
		WhatToDoHTML: apidocs.Inline(kind.WhatToDo),
		StatusText:   http.StatusText(kind.Status),
		Operations:   operations,
	})
}

// render serves a page that is small enough to render for each request.
func (d *Documentation) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	page, err := apidocs.RenderPage(d.templates, name, data)
	if err != nil {
		return err
	}
	page.Serve(w, r, status)
	return nil
}
