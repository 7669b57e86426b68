package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/platform/apidocs"
	"github.com/touchline/touchline/internal/platform/problem"
	"github.com/touchline/touchline/internal/platform/wire"
)

// openAPI is the OpenAPI document of the API. It is written by hand.
//
//go:embed openapi.yaml
var openAPI []byte

//go:embed templates/*.html
var templateFiles embed.FS

// Document returns the OpenAPI document as JSON. Each call converts it.
func Document() ([]byte, error) { return apidocs.JSON(openAPI) }

// Documentation serves the OpenAPI document, its reference page and a page for each
// problem code. It renders the document and the reference page at the first request.
type Documentation struct {
	templates *template.Template
	rendered  func() (renderedDocs, error)
}

type renderedDocs struct {
	json, page cachedPage
	// operations lists the operations that return a problem code.
	operations map[string][]apidocs.Link
}

// NewDocumentation returns the documentation. It has no settings, so all servers of this
// process share it.
func NewDocumentation() (*Documentation, error) { return sharedDocumentation() }

var sharedDocumentation = sync.OnceValues(parseDocumentation)

func parseDocumentation() (*Documentation, error) {
	t, err := template.ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the documentation templates: %w", err)
	}
	d := &Documentation{templates: t}
	d.rendered = sync.OnceValues(d.renderAll)
	return d, nil
}

// OpenAPIJSON serves GET /openapi.json.
func (d *Documentation) OpenAPIJSON(w http.ResponseWriter, r *http.Request) {
	d.docs().json.serve(w, r, http.StatusOK)
}

// Page serves GET /docs.
func (d *Documentation) Page(w http.ResponseWriter, r *http.Request) {
	d.docs().page.serve(w, r, http.StatusOK)
}

// Problems serves GET /problems/, the list of all codes.
func (d *Documentation) Problems(w http.ResponseWriter, r *http.Request) {
	d.render(w, r, http.StatusOK, "problems.html", problemGroups())
}

// Problem serves GET /problems/{code}.
func (d *Documentation) Problem(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	kind, ok := problem.Lookup(code)
	if !ok {
		d.render(w, r, http.StatusNotFound, "unknown_problem.html", nil)
		return
	}
	d.render(w, r, http.StatusOK, "problem.html", problemPage{
		Type:         kind,
		MeaningHTML:  apidocs.Inline(kind.Meaning),
		WhatToDoHTML: apidocs.Inline(kind.WhatToDo),
		StatusText:   http.StatusText(kind.Status),
		Operations:   d.docs().operations[code],
	})
}

// docs returns the rendered documents. A test renders the same embedded files, so an error
// is a bug: the middleware recovers the panic.
func (d *Documentation) docs() renderedDocs {
	docs, err := d.rendered()
	if err != nil {
		panic(err)
	}
	return docs
}

func (d *Documentation) renderAll() (renderedDocs, error) {
	raw, err := Document()
	if err != nil {
		return renderedDocs{}, err
	}
	ref, err := apidocs.New(openAPI)
	if err != nil {
		return renderedDocs{}, err
	}
	page, err := d.html("docs.html", ref)
	if err != nil {
		return renderedDocs{}, err
	}
	return renderedDocs{json: newCachedPage("application/json", "", raw), page: page, operations: ref.OperationsByCode()}, nil
}

// render serves a page that is small enough to render for each request.
func (d *Documentation) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	page, err := d.html(name, data)
	if err != nil {
		panic(err)
	}
	page.serve(w, r, status)
}

// html renders a page. Its Content-Security-Policy allows only its own style sheet. The
// hash is the hash of the rendered style sheet, because html/template removes comments.
func (d *Documentation) html(name string, data any) (cachedPage, error) {
	var buf bytes.Buffer
	if err := d.templates.ExecuteTemplate(&buf, name, data); err != nil {
		return cachedPage{}, fmt.Errorf("render %s: %w", name, err)
	}
	_, rest, _ := strings.Cut(buf.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	hash := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return newCachedPage("text/html; charset=utf-8", policy, buf.Bytes()), nil
}

// cachedPage is a rendered page, plain and compressed with gzip.
type cachedPage struct {
	contentType, policy, etag string
	plain, compressed         []byte
}

func newCachedPage(contentType, policy string, content []byte) cachedPage {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	_, _ = zw.Write(content) // a bytes.Buffer does not fail
	_ = zw.Close()
	hash := sha256.Sum256(content)
	return cachedPage{
		contentType: contentType,
		policy:      policy,
		// Weak, because the compressed and the plain page share it.
		etag:       `W/"` + base64.RawURLEncoding.EncodeToString(hash[:12]) + `"`,
		plain:      content,
		compressed: buf.Bytes(),
	}
}

// serve writes the page, compressed if the client accepts gzip, or 304 if the client has it.
func (d cachedPage) serve(w http.ResponseWriter, r *http.Request, status int) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if d.policy != "" {
		h.Set("Content-Security-Policy", d.policy)
		h.Set("Referrer-Policy", "no-referrer")
	}
	if status == http.StatusOK {
		h.Set("ETag", d.etag)
		h.Add("Vary", "Accept-Encoding")
		h.Set("Cache-Control", "public, max-age=300")
		if ETagMatches(r.Header.Get("If-None-Match"), d.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	} else {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Type", d.contentType)
	body := d.plain
	if wire.AcceptsEncoding(r.Header, "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = d.compressed
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has gone
}

// ETagMatches reports whether an If-None-Match header names etag, by weak comparison (RFC
// 9110, section 13.1.2).
func ETagMatches(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}
