package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
)

//go:embed templates/*.html
var templateFiles embed.FS

// Renderer renders templates. It is safe for concurrent use.
type Renderer struct {
	templates *template.Template
	catalogue func(code string) *translation
	assets    *assets
	style     template.CSS
	policy    string
}

// NewRenderer returns the renderer of the templates and texts of this package and of features, each of
// which has templates/*.html and texts.<language>.json. The pages and the console share one.
func NewRenderer(features ...fs.FS) (*Renderer, error) {
	c, err := newCatalogue(features)
	if err != nil {
		return nil, err
	}
	a, err := loadAssets()
	if err != nil {
		return nil, err
	}
	t, err := template.New("").Funcs(template.FuncMap{"asset": a.path, "args": args, "dict": dict}).ParseFS(templateFiles, "templates/*.html")
	for _, feature := range features {
		if err == nil {
			t, err = t.ParseFS(feature, "templates/*.html")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	style := a.files["app.css"].content
	hash := sha256.Sum256(style)
	return &Renderer{
		templates: t, catalogue: c, assets: a, style: template.CSS(style),
		policy: "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
			"'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}, nil
}

// args returns its arguments as a list, for templates that a template calls.
func args(values ...any) []any { return values }

// dict returns a map of its arguments, which are names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: odd number of arguments")
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: argument %d is not a name", i)
		}
		if pairs[i+1] == nil { // a template that names a value that its page does not have
			return nil, fmt.Errorf("dict: %s is nil", name)
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}

// write writes the response of a handler, or the page of its error.
func (p *Pages) write(w http.ResponseWriter, r *http.Request, req *Request, resp Response, err error) {
	if err != nil {
		resp = p.failure(req, err)
	}
	w.Header().Add("Vary", "Accept-Language, Cookie")
	p.send(w, r, req, resp)
}

// RenderPart renders a part of a page by its template, for a handler that uses it many times.
func (p *Pages) RenderPart(name string, data any) (string, error) {
	var out bytes.Buffer
	err := p.render.templates.ExecuteTemplate(&out, name, data)
	return out.String(), err
}

var markup = regexp.MustCompile(`<[^>]*>`)

// PartText returns the words of a part of a page as a person reads them, with a space between them.
func (p *Pages) PartText(name string, data any) (string, error) {
	part, err := p.RenderPart(name, data)
	return strings.Join(strings.Fields(html.UnescapeString(markup.ReplaceAllString(part, " "))), " "), err
}

func (p *Pages) send(w http.ResponseWriter, r *http.Request, req *Request, resp Response) {
	h := w.Header()
	for _, c := range resp.Cookies {
		http.SetCookie(w, c)
	}
	// The URL can hold the token of a link, and the page names people.
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	if resp.Public {
		h.Set("Cache-Control", "public, max-age=60")
		h.Del("X-Robots-Tag")
	}
	for name, values := range resp.Header {
		h[name] = values
	}
	switch {
	case resp.Write != nil:
		if err := resp.Write(w, r); err != nil {
			p.send(w, r, req, p.failure(req, err))
		}
	case resp.Redirect != "":
		status := resp.Status
		if status == 0 {
			status = http.StatusSeeOther
		}
		http.Redirect(w, r, resp.Redirect, status)
	default:
		p.writeTemplate(w, r, resp)
	}
}

func (p *Pages) writeTemplate(w http.ResponseWriter, r *http.Request, resp Response) {
	var out bytes.Buffer
	render := func() {
		out.Reset()
		if err := p.render.templates.ExecuteTemplate(&out, path.Base(resp.Template)+".html", resp.View); err != nil {
			panic(err) // a test renders every template; the middleware recovers
		}
	}
	render()
	if f := resp.View.Form; f != nil && len(f.Faults) > 0 {
		f.sortFaults() // the list of faults is above the fields, whose labels and order it needs
		render()
	}
	page := out.Bytes()
	if resp.View.Direction() == "rtl" { // back is where the lines begin
		page = bytes.ReplaceAll(page, []byte(">← "), []byte(">→ "))
	}
	status := resp.Status
	if status == 0 {
		status = http.StatusOK
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", resp.View.Language)
	h.Set("Content-Security-Policy", p.render.policy)
	if resp.Frames {
		h.Set("Content-Security-Policy", p.render.policy+"; frame-src 'self'")
	}
	if resp.Public {
		hash := sha256.Sum256(page)
		tag := `W/"` + hex.EncodeToString(hash[:12]) + `"` // weak: the page may be compressed
		h.Set("ETag", tag)
		if matches(r.Header.Get("If-None-Match"), tag) {
			h.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	_, _ = w.Write(page) // the client may have disconnected
}

// matches reports whether a header If-None-Match names a tag.
func matches(header, tag string) bool {
	for known := range strings.SplitSeq(header, ",") {
		if known = strings.TrimSpace(known); known == tag || known == "*" {
			return true
		}
	}
	return false
}

// failure returns the page of an error. Errors that are not for people are logged.
func (p *Pages) failure(r *Request, err error) Response {
	if e, ok := err.(SignInError); ok {
		return e.redirect()
	}
	p.refused(r, err)
	info := httpx.InfoFrom(r.Context())
	shown, _ := p.Problems().Classify(r.Request, info.TraceID, info.Route, err)
	if shown.Kind == fault.Unavailable {
		err = shown // also of a timeout, which is no *fault.Error
	}
	status, wait, title := http.StatusInternalServerError, 0, "failure.title"
	switch fault.KindOf(err) {
	case fault.NotFound:
		status, title = http.StatusNotFound, "failure.not_found"
	case fault.Unavailable:
		status, wait = http.StatusServiceUnavailable, 2
	case fault.TooMany:
		status, wait = http.StatusTooManyRequests, 60
		if f, ok := errors.AsType[*fault.Error](err); ok && f.RetryAfter > 0 {
			wait = int(math.Ceil(f.RetryAfter.Seconds()))
		}
	case fault.MethodNotAllowed:
		status = http.StatusMethodNotAllowed
	case fault.Forbidden, fault.Unauthenticated:
		status = http.StatusForbidden
	case fault.TooLarge:
		status = http.StatusRequestEntityTooLarge
	case fault.PreconditionFailed:
		status = http.StatusPreconditionFailed
	case fault.RangeNotSatisfiable:
		status = http.StatusRequestedRangeNotSatisfiable
	case fault.Internal:
		status = http.StatusInternalServerError
	default:
		status = http.StatusUnprocessableEntity
	}
	resp := Page("failure", p.NewView(r, title)).With(status)
	if wait > 0 {
		resp.Header = http.Header{"Retry-After": {strconv.Itoa(wait)}}
	}
	resp.View.Data = map[string]any{"Message": p.ErrorText(r, err), "Status": status, "Start": startPage(r.URL.Path)}
	return resp
}

// startPage returns the first page of the role that has a page, or the start page of the site. The
// latter is also the way on from a first page that fails.
func startPage(address string) string {
	for _, role := range []actor.Role{actor.Coach, actor.Guardian, actor.Student} {
		if strings.HasPrefix(address, Home(role)+"/") {
			return Home(role)
		}
	}
	return "/"
}
