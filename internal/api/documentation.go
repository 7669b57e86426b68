package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/apidocs"
	"github.com/touchline/touchline/internal/problem"
	"github.com/touchline/touchline/internal/wire"
)

// openAPI is the published form of the wire contract, kept by hand.
//
//go:embed openapi.yaml
var openAPI []byte

//go:embed templates/*.html
var templateFiles embed.FS

// Document returns the OpenAPI document as JSON. Each call converts it anew.
func Document() ([]byte, error) { return apidocs.JSON(openAPI) }

// Documentation serves the contract to programs and to people: the OpenAPI document,
// its reference page, and a page for each problem code. Its methods are the
// handlers; whoever routes mounts them.
//
// Nothing is read before the first request. Then the document is parsed once,
// its two renderings are kept compressed, and the parsed tree is dropped.
type Documentation struct {
	templates *template.Template
	content   func() (renderedDocs, error)
}

// renderedDocs is what is kept of the document.
type renderedDocs struct {
	json, page cachedPage
	// answeredBy lists, for each problem code, the operations that answer it.
	answeredBy map[string][]apidocs.Link
}

// NewDocumentation returns the handlers. It fails where a template is faulty.
func NewDocumentation() (*Documentation, error) {
	t, err := template.ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	d := &Documentation{templates: t}
	d.content = sync.OnceValues(d.build)
	return d, nil
}

// OpenAPIJSON serves GET /openapi.json.
func (d *Documentation) OpenAPIJSON(w http.ResponseWriter, r *http.Request) {
	d.kept().json.serve(w, r, http.StatusOK)
}

// Page serves GET /docs.
func (d *Documentation) Page(w http.ResponseWriter, r *http.Request) {
	d.kept().page.serve(w, r, http.StatusOK)
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
		AnsweredBy:   d.kept().answeredBy[code],
	})
}

// kept builds what is kept at the first call. What it builds from is embedded
// and built by a test, so it cannot fail in service; if it does, recovery
// answers.
func (d *Documentation) kept() renderedDocs {
	c, err := d.content()
	if err != nil {
		panic(err)
	}
	return c
}

func (d *Documentation) build() (renderedDocs, error) {
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
	return renderedDocs{json: newCachedPage("application/json", "", raw), page: page, answeredBy: ref.AnsweredBy()}, nil
}

// render answers with a page that is small enough to be made each time.
func (d *Documentation) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	page, err := d.html(name, data)
	if err != nil {
		panic(err)
	}
	page.serve(w, r, status)
}

// html renders a page. Its policy admits the one style sheet that it carries
// and nothing else; the hash is taken of what was rendered, because
// html/template takes comments out of style sheets.
func (d *Documentation) html(name string, data any) (cachedPage, error) {
	var buf bytes.Buffer
	if err := d.templates.ExecuteTemplate(&buf, name, data); err != nil {
		return cachedPage{}, fmt.Errorf("docs: %w", err)
	}
	_, rest, _ := strings.Cut(buf.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	hash := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return newCachedPage("text/html; charset=utf-8", policy, buf.Bytes()), nil
}

// cachedPage is an answer that is kept compressed.
type cachedPage struct {
	contentType, policy, etag string
	compressed                []byte
	size                      int
}

func newCachedPage(contentType, policy string, content []byte) cachedPage {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	_, _ = zw.Write(content) // a bytes.Buffer takes everything
	_ = zw.Close()
	hash := sha256.Sum256(content)
	return cachedPage{
		contentType: contentType,
		policy:      policy,
		// Weak, because the compressed and the plain form share it.
		etag:       `W/"` + base64.RawURLEncoding.EncodeToString(hash[:12]) + `"`,
		compressed: buf.Bytes(),
		size:       len(content),
	}
}

// serve answers with the document, compressed for whoever takes that, or with
// 304 for whoever has it.
func (d cachedPage) serve(w http.ResponseWriter, r *http.Request, status int) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if d.policy != "" {
		h.Set("Content-Security-Policy", d.policy)
		h.Set("Referrer-Policy", "no-referrer")
	}
	if status == http.StatusOK {
		h.Set("ETag", d.etag)
		h.Set("Vary", "Accept-Encoding")
		h.Set("Cache-Control", "public, max-age=300")
		if etagMatches(r.Header.Get("If-None-Match"), d.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	} else {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Type", d.contentType)
	if wire.AcceptsEncoding(r.Header, "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(d.compressed)))
		w.WriteHeader(status)
		_, _ = w.Write(d.compressed) // a caller who is gone needs no answer
		return
	}
	h.Set("Content-Length", strconv.Itoa(d.size))
	w.WriteHeader(status)
	if zr, err := gzip.NewReader(bytes.NewReader(d.compressed)); err == nil {
		_, _ = io.Copy(w, zr)
	}
}

// etagMatches says whether an If-None-Match header names etag (RFC 9110, section
// 13.1.2: weakly).
func etagMatches(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}
