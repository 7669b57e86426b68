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

// Pages serves the pages. It is safe for concurrent use.
type Pages struct {
	links     Links
	now       func() time.Time
	log       *slog.Logger
	templates *template.Template
	// policy is the Content-Security-Policy: it allows only the inline style sheet.
	policy string
}

// New returns the pages. It returns an error if a template is invalid.
func New(links Links, now func() time.Time, log *slog.Logger) (*Pages, error) {
	t, err := template.ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p := &Pages{links: links, now: now, log: log, templates: t}
	p.policy, err = policyFor(t)
	return p, err
}

// policyFor returns a policy with the hash of the style sheet as it is rendered, because
// html/template removes comments from style sheets.
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

// Handlers returns the pages by ServeMux pattern, without a method. Register them for GET
// and HEAD only.
func (p *Pages) Handlers() map[string]http.Handler {
	return map[string]http.Handler{"/a/{token}": http.HandlerFunc(p.link)}
}

// render writes a page. Its headers forbid caching, indexing, framing and the Referer
// header, because the URL contains the token.
func (p *Pages) render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := p.templates.ExecuteTemplate(&page, name, data); err != nil {
		panic(err) // a test renders every page; the middleware recovers
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
	_, _ = w.Write(page.Bytes()) // the client may have disconnected
}
