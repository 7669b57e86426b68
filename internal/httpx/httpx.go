// Package httpx is the middleware that both listeners share: trace ids, security
// headers, panic recovery, timeouts and the access log. It also serves files.
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

	"github.com/touchline/touchline/internal/problem"
)

// Exchange is what is known of one request and its answer. Whoever finds the route
// writes its pattern here.
type Exchange struct {
	Trace string
	// Route is the route's pattern, for logs and metrics: the path itself may hold
	// a secret. It is empty where there is no such route.
	Route string
	// Status of the answer; 0 while there is none.
	Status int
}

// Edge is what the exchanges of one listener have in common.
type Edge struct {
	Problems problem.Writer
	Log      *slog.Logger
	// Observe, unless nil, is told of every answer and how long it took.
	Observe func(method string, x *Exchange, took time.Duration)
}

// Serve has next answer r, as x.
func (e *Edge) Serve(w http.ResponseWriter, r *http.Request, x *Exchange, next http.Handler) {
	x.Trace = TraceID(r.Header.Get("Traceparent"))
	guardHeaders(w.Header(), r.URL.Path, x.Trace)
	noted := &statusWriter{ResponseWriter: w, x: x}
	if e.Observe != nil || e.Log.Enabled(r.Context(), slog.LevelDebug) {
		began := time.Now() // a duration for people, not a time of the service
		defer e.note(r, x, began)
	}
	defer e.recover(noted, r)
	next.ServeHTTP(noted, r)
}

// Within returns r for a call that has this long, whatever its caller does. Left to
// itself a request's context ends as soon as nothing more can come from the caller,
// who may have closed that half of the connection alone and wait for the answer.
// That somebody has left for good shows when the answer is written.
func Within(r *http.Request, limit time.Duration) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), limit)
	return r.WithContext(ctx), cancel
}

// Problem answers err as a problem document.
func (e *Edge) Problem(w http.ResponseWriter, r *http.Request, x *Exchange, err error) {
	e.Problems.Write(w, r, x.Trace, x.Route, err)
}

// The headers that guard every answer, ready to be shared: nothing adds to them.
var (
	nosniff    = []string{"nosniff"}
	noReferrer = []string{"no-referrer"}
	noContent  = []string{"default-src 'none'; frame-ancestors 'none'"}
	noStore    = []string{"no-store"}
)

// guardHeaders sets what keeps an answer from being kept, guessed at or framed.
func guardHeaders(h http.Header, path, trace string) {
	h["X-Trace-Id"] = []string{trace}
	h["X-Content-Type-Options"] = nosniff
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = noContent
	if strings.HasPrefix(path, "/auth/") || strings.HasPrefix(path, "/api/") {
		h["Cache-Control"] = noStore
	}
}

// recover answers a panic with a problem, or breaks the connection where the
// answer has begun.
func (e *Edge) recover(w *statusWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if w.x.Status != 0 {
		e.Problems.Unexpected(r, w.x.Trace, w.x.Route, err)
		panic(http.ErrAbortHandler)
	}
	e.Problem(w, r, w.x, err)
}

// note counts the request and writes one line for it: never its path, which may
// hold a secret, nor its query.
func (e *Edge) note(r *http.Request, x *Exchange, began time.Time) {
	took := time.Since(began)
	if e.Observe != nil {
		e.Observe(r.Method, x, took)
	}
	e.Log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelDebug, "request",
		slog.String("method", r.Method), slog.String("route", x.Route), slog.Int("status", x.Status),
		slog.Duration("took", took), slog.String("trace_id", x.Trace))
}

// statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	x *Exchange
}

// WriteHeader notes the status.
func (w *statusWriter) WriteHeader(status int) {
	if w.x.Status == 0 && status >= 200 {
		w.x.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes that an answer without a status is a 200.
func (w *statusWriter) Write(p []byte) (int, error) {
	if w.x.Status == 0 {
		w.x.Status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TraceID returns the trace id of a W3C traceparent, or a new one.
func TraceID(traceparent string) string {
	if traceparent == "" {
		return newTraceID()
	}
	parts := strings.Split(traceparent, "-")
	if len(parts) >= 4 && len(parts[0]) == 2 && parts[0] != "ff" && (parts[0] != "00" || len(parts) == 4) &&
		hexadecimal(parts[0], 2) && hexadecimal(parts[1], 32) && hexadecimal(parts[2], 16) && hexadecimal(parts[3], 2) &&
		strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != "" {
		return parts[1]
	}
	return newTraceID()
}

// newTraceID makes a name for a request, which need not be a secret.
func newTraceID() string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1) // all zeros is no trace id
	return hex.EncodeToString(id[:])
}

func hexadecimal(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}
