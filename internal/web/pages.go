package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

//go:embed templates/*.html
var templateFiles embed.FS

// Pages serves the pages. New makes it; it is safe for concurrent use.
type Pages struct {
	links     Links
	now       func() time.Time
	log       *slog.Logger
	templates *template.Template
	// policy is the Content-Security-Policy: the one style sheet that every page
	// carries, and nothing else.
	policy string
}

// New returns the pages over links. It fails where a template is faulty.
func New(links Links, now func() time.Time, log *slog.Logger) (*Pages, error) {
	t, err := template.ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p := &Pages{links: links, now: now, log: log, templates: t}
	p.policy, err = policyFor(t)
	return p, err
}

// policyFor admits the style sheet by its hash, taken of what is rendered,
// because html/template takes comments out of style sheets.
func policyFor(t *template.Template) (string, error) {
	var sheet bytes.Buffer
	if err := t.ExecuteTemplate(&sheet, "style", nil); err != nil {
		return "", fmt.Errorf("web: %w", err)
	}
	_, rest, _ := strings.Cut(sheet.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	hash := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", nil
}

// Handlers returns the pages by their patterns for ServeMux, without a method:
// whoever mounts them lets GET and HEAD through.
func (p *Pages) Handlers() map[string]http.Handler {
	return map[string]http.Handler{"/a/{token}": http.HandlerFunc(p.link)}
}

// render answers with a page that nobody keeps, indexes, frames or learns the
// address of: the address is the secret.
func (p *Pages) render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := p.templates.ExecuteTemplate(&page, name, data); err != nil {
		panic(err) // every page is rendered by a test; recovery answers
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", "en")
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a reader who is gone needs no answer
}
