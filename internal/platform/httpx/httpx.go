// Package httpx is the middleware that both listeners share: trace ids, security
// headers, panic recovery, timeouts and the access log. It also routes requests and
// serves files.
package httpx

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/telemetry"
)

// RequestInfo describes one request and its response, for logs, metrics and problem
// documents. Router sets Route, and the adapter of the API Client; Middleware sets the rest.
type RequestInfo struct {
	TraceID string
	// Sampled says that the trace is exported.
	Sampled bool
	// Route is the pattern of the route, because a path may hold a secret. It is
	// empty if no route matches.
	Route string
	// Client is the client's network, as rate limits count it: see ratelimit.Address.
	Client string
	// Status is the status of the response, 0 before it is written.
	Status int
	// Stream says that the response stays open, so that its duration says nothing.
	Stream bool
	// AccountID and SessionID name the caller, OperatorID the operator
	// token; each is empty if the request has none.
	AccountID, SessionID, OperatorID string

	span   [8]byte
	stream func(context.Context, http.ResponseWriter) // see Stream
}

// SpanID identifies the request in its trace: several requests of a client may have one trace id.
func (i *RequestInfo) SpanID() string { return hex.EncodeToString(i.span[:]) }

// TraceParent returns the W3C traceparent of the request. It implements telemetry.Parenter.
func (i *RequestInfo) TraceParent() string {
	flags := "-00"
	if i.Sampled {
		flags = "-01"
	}
	return "00-" + i.TraceID + "-" + i.SpanID() + flags
}

type infoKey struct{}

// infoContext is a context with the RequestInfo of its request, also under telemetry.ParentKey.
type infoContext struct {
	context.Context
	info *RequestInfo
}

// Value implements context.Context.
func (c infoContext) Value(key any) any {
	switch key.(type) {
	case infoKey, telemetry.ParentKey:
		return c.info
	}
	return c.Context.Value(key)
}

// WithInfo returns ctx with the RequestInfo of its request.
func WithInfo(ctx context.Context, info *RequestInfo) context.Context { return infoContext{ctx, info} }

// InfoFrom returns the RequestInfo of the request that ctx belongs to, or nil.
func InfoFrom(ctx context.Context) *RequestInfo {
	info, _ := ctx.Value(infoKey{}).(*RequestInfo)
	return info
}

// Middleware wraps the handlers of one listener.
type Middleware struct {
	Settings
	// HTTPS says that clients use TLS although a proxy ends it.
	HTTPS bool
	// Refuse writes the error of a request that it must not pass on; nil writes a problem document.
	Refuse func(w http.ResponseWriter, r *http.Request, err error)
}

// Serve sets the trace id and the security headers, calls next, recovers its panic
// and logs the request.
func (m *Middleware) Serve(w http.ResponseWriter, r *http.Request, info *RequestInfo, next http.Handler) {
	if m.Tracer != nil && !IsProbe(r.URL.Path) {
		ctx, span := m.Tracer.Request(r.Context(), r.Header.Get("Traceparent"))
		r = r.WithContext(ctx)
		info.TraceID, info.span, info.Sampled = span.ID()
		defer func() { span.End(MethodLabel(r.Method), info.Route, info.Status) }()
	} else {
		info.TraceID = TraceID(r.Header.Get("Traceparent"))
		binary.BigEndian.PutUint64(info.span[:], rand.Uint64()|1) // zeros are invalid
	}
	setSecurityHeaders(w.Header(), r.URL.Path, info.TraceID)
	if r.TLS != nil || m.HTTPS {
		w.Header()["Strict-Transport-Security"] = oneYear
	}
	recorder := &statusRecorder{ResponseWriter: w, info: info}
	if m.Observe != nil || m.Log.Enabled(r.Context(), m.accessLevel(r)) {
		start := time.Now() // the real clock, not the injected one: this measures a duration
		defer m.observe(r, info, start)
	}
	defer m.recover(recorder, r)
	if m.mustUseHTTPS(r) {
		m.requireHTTPS(recorder, r, info)
		return
	}
	next.ServeHTTP(recorder, r)
	if info.stream != nil {
		m.stream(recorder, r)
	}
}

// WithTimeout returns r with a context that ends after timeout, and not when the
// client closes its side of the connection. net/http cancels the context of a
// request at the client's FIN, but a client that has closed only its sending side
// still waits for the response. A write to a client that has gone fails.
func WithTimeout(r *http.Request, timeout time.Duration) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), timeout)
	return r.WithContext(ctx), cancel
}

// WriteProblem writes err as a problem document.
func (m *Middleware) WriteProblem(w http.ResponseWriter, r *http.Request, info *RequestInfo, err error) {
	if m.Refused != nil {
		m.Refused(r.Context(), info, err)
	}
	m.Problems().Write(w, r, info.TraceID, info.Route, err)
}

// The values of the security headers are shared by all responses: do not append to them.
var (
	nosniff    = []string{"nosniff"}
	noReferrer = []string{"no-referrer"}
	denyAll    = []string{"default-src 'none'; frame-ancestors 'none'"}
	noStore    = []string{"no-store"}
	// oneYear lets browsers use TLS only (RFC 6797).
	oneYear = []string{"max-age=31536000"}
)

// setSecurityHeaders sets the headers that every response has.
func setSecurityHeaders(h http.Header, path, traceID string) {
	h["X-Trace-Id"] = []string{traceID}
	h["X-Content-Type-Options"] = nosniff
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = denyAll
	if strings.HasPrefix(path, "/auth/") || strings.HasPrefix(path, "/api/") {
		h["Cache-Control"] = noStore
	}
}

// recover writes a problem document after a panic. If the response has begun, it
// aborts the connection, so that the client sees that the response is incomplete.
func (m *Middleware) recover(w *statusRecorder, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	if incomplete, ok := v.(incompleteError); ok {
		m.Problems().Classify(r, w.info.TraceID, w.info.Route, incomplete.error)
		panic(http.ErrAbortHandler)
	}
	err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if w.info.Status != 0 {
		m.Problems().Unexpected(r, w.info.TraceID, w.info.Route, err)
		panic(http.ErrAbortHandler)
	}
	m.WriteProblem(w, r, w.info, err)
}

// observe measures the request and logs it with its route, because its path and its
// query may hold a secret.
func (m *Middleware) observe(r *http.Request, info *RequestInfo, start time.Time) {
	took := time.Since(start)
	if m.Observe != nil {
		m.Observe(r.Method, info, took)
	}
	level := m.accessLevel(r)
	if !m.Log.Enabled(r.Context(), level) {
		return
	}
	m.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "request",
		slog.String("method", MethodLabel(r.Method)), slog.String("route", info.Route), slog.Int("status", info.Status),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000), slog.String("trace_id", info.TraceID), slog.String("span_id", info.SpanID()))
}

// accessLevel returns the level of the line of a request. Probes would be most of the lines.
func (m *Middleware) accessLevel(r *http.Request) slog.Level {
	if m.AccessLog && !IsProbe(r.URL.Path) {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// MethodLabel returns the method for logs and metrics: "other" for unknown methods,
// because clients can send any text.
func MethodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// statusRecorder records the status of the response in info.
type statusRecorder struct {
	http.ResponseWriter
	info *RequestInfo
}

// WriteHeader records the first final status; 1xx is not final.
func (w *statusRecorder) WriteHeader(status int) {
	if w.info.Status == 0 && status >= 200 {
		w.info.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write records 200 if WriteHeader was not called.
func (w *statusRecorder) Write(p []byte) (int, error) {
	if w.info.Status == 0 {
		w.info.Status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TraceID returns the trace id of a W3C traceparent, or a new one.
func TraceID(traceparent string) string {
	if traceparent == "" {
		return newTraceID()
	}
	parts := strings.Split(traceparent, "-")
	if len(parts) >= 4 && len(parts[0]) == 2 && parts[0] != "ff" && (parts[0] != "00" || len(parts) == 4) &&
		isHex(parts[0], 2) && isHex(parts[1], 32) && isHex(parts[2], 16) && isHex(parts[3], 2) &&
		strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != "" {
		return parts[1]
	}
	return newTraceID()
}

// newTraceID returns a random trace id. It is not a secret, so math/rand is enough.
func newTraceID() string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1) // a trace id of zeros is invalid
	return hex.EncodeToString(id[:])
}

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}
