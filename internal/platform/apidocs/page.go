package apidocs

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

	"github.com/touchline/touchline/internal/platform/wire"
)

// templateFiles are the frame of all pages ("head"), the reference and the guide.
//
//go:embed templates/*.html
var templateFiles embed.FS

// Templates returns the templates of this package. A caller may add its own.
func Templates() (*template.Template, error) {
	t, err := template.ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the documentation templates: %w", err)
	}
	return t, nil
}

// Page is a rendered page or script, plain and compressed with gzip.
type Page struct {
	contentType, policy, etag string
	plain, compressed         []byte
}

// RenderPage renders a page whose Content-Security-Policy allows only its own style sheet.
func RenderPage(t *template.Template, name string, data any) (Page, error) {
	html, err := execute(t, name, data)
	if err != nil {
		return Page{}, err
	}
	policy := "default-src 'none'; style-src " + styleHash(html) + "; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return newPage("text/html; charset=utf-8", policy, html), nil
}

func execute(t *template.Template, name string, data any) ([]byte, error) {
	var buf bytes.Buffer
	if err := t.ExecuteTemplate(&buf, name, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return buf.Bytes(), nil
}

// styleHash returns the source expression of the style sheet in a page. It is the hash of the
// rendered one, because html/template removes comments.
func styleHash(html []byte) string {
	_, rest, _ := strings.Cut(string(html), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	hash := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}

func newPage(contentType, policy string, content []byte) Page {
	var buf bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression) // the level exists
	_, _ = zw.Write(content)                                 // a bytes.Buffer does not fail
	_ = zw.Close()
	hash := sha256.Sum256(content)
	return Page{
		contentType: contentType,
		policy:      policy,
		// Weak, because the compressed and the plain page share it.
		etag:       `W/"` + base64.RawURLEncoding.EncodeToString(hash[:12]) + `"`,
		plain:      content,
		compressed: buf.Bytes(),
	}
}

// Serve writes the page, compressed if the client accepts gzip, or 304 if the client has it.
func (p Page) Serve(w http.ResponseWriter, r *http.Request, status int) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if p.policy != "" {
		h.Set("Content-Security-Policy", p.policy)
		h.Set("Referrer-Policy", "no-referrer")
	}
	if status == http.StatusOK {
		h.Set("ETag", p.etag)
		h.Add("Vary", "Accept-Encoding")
		h.Set("Cache-Control", "public, max-age=300")
		if wire.ETagMatches(r.Header.Get("If-None-Match"), p.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	} else {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Type", p.contentType)
	body := p.plain
	if wire.AcceptsEncoding(r.Header, "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = p.compressed
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has gone
}
