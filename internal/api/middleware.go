package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// around wraps what every request gets, found or not: a trace id, headers, a line
// in the log, and an answer even if a handler panics.
func (s *Server) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{trace: traceID(r.Header.Get("Traceparent"))}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
		guardHeaders(w.Header(), r.URL.Path, c.trace)
		noted := &statusWriter{ResponseWriter: w, call: c}
		if !s.log.Enabled(r.Context(), slog.LevelDebug) {
			defer s.recover(noted, r)
			next.ServeHTTP(noted, r)
			return
		}
		began := time.Now() // a duration for people, not a time of the service
		defer s.logAccess(r, c, began)
		defer s.recover(noted, r)
		next.ServeHTTP(noted, r)
	})
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
func (s *Server) recover(w *statusWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if w.call.status != 0 {
		s.unexpected(r, w.call, err)
		panic(http.ErrAbortHandler)
	}
	s.problem(w, r, err)
}

// logAccess writes one line for a request: never its path, which may hold a
// secret, nor its query.
func (s *Server) logAccess(r *http.Request, c *call, began time.Time) {
	s.log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelDebug, "request",
		slog.String("method", r.Method), slog.String("route", c.pattern), slog.Int("status", c.status),
		slog.Duration("took", time.Since(began)), slog.String("trace_id", c.trace))
}

// statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	call *call
}

// WriteHeader notes the status.
func (w *statusWriter) WriteHeader(status int) {
	if w.call.status == 0 && status >= 200 {
		w.call.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes that an answer without a status is a 200.
func (w *statusWriter) Write(p []byte) (int, error) {
	if w.call.status == 0 {
		w.call.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// traceID returns the trace id of a W3C traceparent, or a new one.
func traceID(traceparent string) string {
	parts := strings.Split(traceparent, "-")
	if len(parts) >= 4 && len(parts[0]) == 2 && parts[0] != "ff" && (parts[0] != "00" || len(parts) == 4) &&
		hexadecimal(parts[0], 2) && hexadecimal(parts[1], 32) && hexadecimal(parts[2], 16) && hexadecimal(parts[3], 2) &&
		strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != "" {
		return parts[1]
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

func hexadecimal(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}
