// Package endpoint converts handlers of the type func(ctx, Request) (Response, error) to
// HTTP handlers. One adapter makes the checks that come before a handler, in the order of
// api/openapi.yaml, section Problems. It decodes the request and encodes the response, for
// the public and for the admin listener.
package endpoint

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Request is one decoded request. C is the type of the caller. T is the type of the
// body: a struct for JSON (see wire.Bind), url.Values for a form, Upload for
// multipart/form-data.
type Request[C, T any] struct {
	Meta[C]
	Body T
	// Raw is the body as received; empty for Upload.
	Raw []byte
	// Faults are the faults that decoding found. The handler appends its own and
	// returns Faults.Err. Decoding returns no error itself, because not_found comes
	// before validation_failed.
	Faults wire.Faults
}

// Meta is a request without its body.
type Meta[C any] struct {
	// Caller is the zero value on a route without authentication.
	Caller C
	Method string
	Path   string
	// Route is the pattern of the route.
	Route   string
	TraceID string
	// Query has the parameters that can be decoded; Faults report the others.
	Query  url.Values
	Header http.Header
	// Client is the client's network, as rate limits count it (see ratelimit.Address).
	Client string
	// BaseURL is the scheme and host under which the client reached this listener.
	BaseURL string

	http       *http.Request
	middleware *httpx.Middleware
}

// RequestURI returns the path and the query as the client sent them.
func (m Meta[C]) RequestURI() string { return m.http.URL.RequestURI() }

// PathPart returns a part of the path, as the client sent it.
func (m Meta[C]) PathPart(name string) string { return m.http.PathValue(name) }

// PathID returns the identifier in the path, or not_found if it is not an identifier.
func (m Meta[C]) PathID(name string) (string, error) {
	id := m.http.PathValue(name)
	if !IsID(id) {
		return "", fault.Missing()
	}
	return id, nil
}

// IsID reports whether s is an identifier of this service: a UUID version 7 (RFC
// 9562) in lower case.
func IsID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.Version() == 7 && len(s) == 36 && strings.ToLower(s) == s
}

// Body is the body of a request before it is decoded into the type of a handler.
type Body struct {
	// Raw is a body that is not multipart/form-data, as received.
	Raw []byte
	// Faults are the faults found before decoding.
	Faults wire.Faults

	json   any // from wire.Parse; nil without a body
	form   url.Values
	upload Upload
}

// Upload is a Multipart or CSV body. The handler reads it, under its own limits.
type Upload struct {
	io.Reader
	// Control sets the deadlines of the connection.
	Control *http.ResponseController
}

// Handler is a typed handler after Handle.
type Handler[C any] struct {
	Serve func(ctx context.Context, m Meta[C], body Body) (Response, error)
	// Body is the type into which Serve decodes the body. A test compares it with the OpenAPI document.
	Body reflect.Type
}

// Handle decodes the body for h.
func Handle[C, T any](h func(context.Context, Request[C, T]) (Response, error)) Handler[C] {
	t := reflect.TypeFor[T]()
	without := t.Kind() == reflect.Struct && t.NumField() == 0
	return Handler[C]{Body: t, Serve: func(ctx context.Context, m Meta[C], body Body) (Response, error) {
		r := Request[C, T]{Meta: m, Raw: body.Raw, Faults: slices.Clone(body.Faults)}
		Decode(body, &r.Body, &r.Faults)
		if without && m.Method != http.MethodGet && m.Method != http.MethodHead && len(r.Faults) > 0 {
			return Response{}, r.Faults.Err() // the handler looks at no body
		}
		return h(ctx, r)
	}}
}

// HandleID is Handle for a handler of the object whose identifier is the part name of the
// path. It returns not_found if that part is not an identifier.
func HandleID[C, T any](name string, h func(ctx context.Context, r Request[C, T], id string) (Response, error)) Handler[C] {
	return Handle(func(ctx context.Context, r Request[C, T]) (Response, error) {
		id, err := r.PathID(name)
		if err != nil {
			return Response{}, err
		}
		return h(ctx, r, id)
	})
}

// Decode puts the body into value and adds the faults to f.
func Decode[T any](body Body, value *T, f *wire.Faults) {
	switch v := any(value).(type) {
	case *Upload:
		*v = body.upload
	case *url.Values:
		*v = body.form
	default:
		if len(body.Raw) > 0 {
			wire.Bind(body.json, value, f)
		}
	}
}
