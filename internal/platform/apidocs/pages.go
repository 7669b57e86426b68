package apidocs

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"sync"
)

//go:embed reference.js
var referenceScript []byte

// Config has the document that Pages serve, and what differs between the listeners.
type Config struct {
	Document []byte // YAML
	// Samples adds the samples of docs/samples/_reference to the served document.
	Samples bool
	// ProblemsURL is the server that has the pages under /problems/, without a slash at the end; empty for the same server.
	ProblemsURL string
}

// Pages serve an OpenAPI document, its reference and the guide. The first request renders them.
type Pages struct {
	Config
	rendered func() (rendered, error)
}

type rendered struct {
	document, reference, script Page
	guides                      map[string]Page
	operations                  map[string][]Link
}

// NewPages returns the pages of a document.
func NewPages(c Config) *Pages {
	p := &Pages{Config: c}
	p.rendered = sync.OnceValues(p.render)
	return p
}

// Handlers returns the handler of each pattern. An error means that nothing was written.
func (p *Pages) Handlers() map[string]func(http.ResponseWriter, *http.Request) error {
	page := func(choose func(rendered) Page) func(http.ResponseWriter, *http.Request) error {
		return func(w http.ResponseWriter, r *http.Request) error {
			all, err := p.rendered()
			if err != nil {
				return err
			}
			choose(all).Serve(w, r, http.StatusOK)
			return nil
		}
	}
	handlers := map[string]func(http.ResponseWriter, *http.Request) error{
		"/openapi.json":      page(func(all rendered) Page { return all.document }),
		"/docs":              page(func(all rendered) Page { return all.reference }),
		"/docs/reference.js": page(func(all rendered) Page { return all.script }),
		scalarPath + "{file}": func(w http.ResponseWriter, r *http.Request) error {
			return serveScalar(w, r, r.PathValue("file"))
		},
		scalarPath + "chunks/{file}": func(w http.ResponseWriter, r *http.Request) error {
			return serveScalar(w, r, "chunks/"+r.PathValue("file"))
		},
	}
	for _, g := range guides {
		handlers["/docs/"+g.Name] = page(func(all rendered) Page { return all.guides[g.Name] })
	}
	return handlers
}

// Operations returns the operations that return a problem code.
func (p *Pages) Operations(code string) ([]Link, error) {
	all, err := p.rendered()
	return all.operations[code], err
}

func (p *Pages) render() (rendered, error) {
	root, err := parse(p.Document)
	if err != nil {
		return rendered{}, err
	}
	if p.Samples {
		if err := addSamples(root); err != nil {
			return rendered{}, err
		}
	}
	raw, err := root.compact()
	if err != nil {
		return rendered{}, err
	}
	t, err := Templates()
	if err != nil {
		return rendered{}, err
	}
	all := rendered{
		document:   newPage("application/json", "", raw),
		script:     newPage("text/javascript; charset=utf-8", "", referenceScript),
		operations: operationsByCode(root),
	}
	all.reference, err = p.renderReference(t, root.at("info", "title").Value)
	if err != nil {
		return rendered{}, err
	}
	all.guides, err = renderGuides(t)
	return all, err
}

// renderReference renders the page of Scalar. Scalar puts its style sheet into the page, so the
// Content-Security-Policy allows styles in the page. It allows nothing of another origin.
func (p *Pages) renderReference(t *template.Template, title string) (Page, error) {
	scripts, err := scalarImports()
	if err != nil {
		return Page{}, fmt.Errorf("list the scripts of the reference: %w", err)
	}
	html, err := execute(t, "reference.html", struct {
		Title, ProblemsURL string
		Scripts            []string
	}{title, p.ProblemsURL, scripts})
	if err != nil {
		return Page{}, err
	}
	const policy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return newPage("text/html; charset=utf-8", policy, html), nil
}
