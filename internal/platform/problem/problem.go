// Package problem writes errors as problem documents (RFC 9457): it maps a fault to its
// status and headers. Its catalogue holds the texts of every code, for both listeners.
package problem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

var statuses = map[fault.Kind]int{
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.Unauthenticated:      http.StatusUnauthorized,
	fault.Forbidden:            http.StatusForbidden,
	fault.TooLarge:             http.StatusRequestEntityTooLarge,
	fault.UnsupportedMedia:     http.StatusUnsupportedMediaType,
	fault.NotAcceptable:        http.StatusNotAcceptable,
	fault.Malformed:            http.StatusBadRequest,
	fault.NotFound:             http.StatusNotFound,
	fault.Invalid:              http.StatusUnprocessableEntity,
	fault.Gone:                 http.StatusGone,
	fault.Conflict:             http.StatusConflict,
	fault.PreconditionFailed:   http.StatusPreconditionFailed,
	fault.PreconditionRequired: http.StatusPreconditionRequired,
	fault.RangeNotSatisfiable:  http.StatusRequestedRangeNotSatisfiable,
	fault.TooMany:              http.StatusTooManyRequests,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

// Writer writes problem documents.
type Writer struct {
	// PublicURL is the base of the pages of the codes, without a final slash.
	PublicURL string
	Log       *slog.Logger
}

// Classify returns the problem to show for err and its status. It logs an error that is not a
// *fault.Error, which is not shown, and what made the service unavailable. The log has the
// trace id and the route pattern, not the path, which may contain a secret.
func (p Writer) Classify(r *http.Request, trace, route string, err error) (*fault.Error, int) {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || statuses[e.Kind] == 0 {
		return p.Unexpected(r, trace, route, err)
	}
	if e.Kind == fault.Unavailable && errors.Unwrap(e) != nil { // overloaded has no cause
		level := slog.LevelWarn
		if errors.Is(err, fault.ErrDraining) {
			level = slog.LevelDebug
		}
		p.Log.LogAttrs(r.Context(), level, "unavailable", slog.String("route", route), slog.String("trace_id", trace), slog.Any("error", err))
	}
	return e, statuses[e.Kind]
}

// Write writes err as a problem document and logs it; see Classify.
func (p Writer) Write(w http.ResponseWriter, r *http.Request, trace, route string, err error) {
	e, status := p.Classify(r, trace, route, err)
	h := w.Header()
	if e.RetryAfter > 0 || e.Kind == fault.TooMany {
		h.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(e.RetryAfter.Seconds())))))
	}
	if e.Kind == fault.Unauthenticated {
		h.Set("WWW-Authenticate", challenge(e.Code))
	}
	if scope, ok := e.Extra["scope"].(string); ok && e.Code == "insufficient_scope" {
		h.Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scope+`"`)
	}
	h.Set("Content-Type", "application/problem+json")
	body := p.document(e, status, trace)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

// Unexpected logs an error that is not a *fault.Error and returns the problem to show.
func (p Writer) Unexpected(r *http.Request, trace, route string, err error) (*fault.Error, int) {
	attrs := []slog.Attr{slog.String("route", route), slog.String("trace_id", trace), slog.Any("error", err)}
	switch {
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		p.Log.LogAttrs(r.Context(), slog.LevelDebug, "client disconnected", attrs...)
	case errors.Is(err, context.DeadlineExceeded):
		p.Log.LogAttrs(r.Context(), slog.LevelWarn, "timeout", attrs...)
	default:
		p.Log.LogAttrs(r.Context(), slog.LevelError, "internal error", attrs...)
		return fault.New(fault.Internal, "internal_error", "The service made a mistake. Try again later. If it happens again, send the trace_id to the operator of the service."),
			http.StatusInternalServerError
	}
	e, _ := errors.AsType[*fault.Error](fault.Down(err))
	return e, http.StatusServiceUnavailable
}

// challenge returns the WWW-Authenticate header of a 401 (RFC 6750, section 3). Without a token it has no error
// (section 3.1), but it needs a parameter.
func challenge(code string) string {
	if code == "token_missing" {
		return `Bearer realm="touchline"`
	}
	return `Bearer error="invalid_token"`
}

// document returns the problem's JSON: the common members, then the members of this code
// by name, then the errors.
func (p Writer) document(e *fault.Error, status int, trace string) []byte {
	title := e.Code
	if kind, ok := Lookup(e.Code); ok {
		title = kind.Title
	}
	var b bytes.Buffer
	b.WriteByte('{')
	put := func(name string, value any) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(value)
		if err != nil {
			text = []byte("null")
		}
		b.WriteString(strconv.Quote(name) + ":")
		b.Write(text)
	}
	put("type", p.PublicURL+"/problems/"+e.Code)
	put("title", title)
	put("status", status)
	put("detail", e.Message)
	put("code", e.Code)
	put("trace_id", trace)
	for _, name := range slices.Sorted(maps.Keys(e.Extra)) {
		put(name, wire(e.Extra[name]))
	}
	if len(e.Fields) > 0 {
		fields := make([]fieldError, len(e.Fields))
		for i, field := range e.Fields {
			fields[i] = fieldError(field)
		}
		put("errors", fields)
	}
	b.WriteByte('}')
	return b.Bytes()
}

type fieldError struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

// wire formats a member as in other responses.
func wire(v any) any {
	if t, ok := v.(time.Time); ok {
		return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	}
	return v
}
