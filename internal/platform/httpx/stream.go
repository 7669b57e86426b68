package httpx

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

// StreamHeartbeat is how often a stream of events writes a comment: proxies close a connection that is silent for 30 to 60 s.
const StreamHeartbeat = 20 * time.Second

// StreamComment is what a stream writes each StreamHeartbeat. Clients ignore it.
const StreamComment = ": still here\n\n"

// StreamHeader returns the header of a stream of server-sent events.
func StreamHeader() http.Header {
	return http.Header{
		"Content-Type":      {"text/event-stream"},
		"Cache-Control":     {"no-store, no-transform"}, // a proxy that compresses would hold the events back
		"X-Accel-Buffering": {"no"},                     // nginx must not buffer events
	}
}

// Stream lets write write the response of r after its handler has returned nil. ctx ends when the client has
// gone. A process holds thousands of streams: one takes 15 kB over HTTP/1.1, because it keeps neither the
// stack of the handler nor the request and the buffers of net/http, which take 30 kB.
func Stream(r *http.Request, write func(ctx context.Context, w http.ResponseWriter)) {
	InfoFrom(r.Context()).stream = write
}

// stream writes the response of Stream: over HTTP/1.1 on another goroutine, elsewhere before it returns.
func (m *Middleware) stream(w *statusRecorder, r *http.Request) {
	write := w.info.stream
	if !r.ProtoAtLeast(1, 1) || r.ProtoAtLeast(2, 0) {
		write(r.Context(), w)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // not a connection, in tests
		write(r.Context(), w)
		return
	}
	w.info.Status = http.StatusOK
	s := &streamWriter{Conn: conn, header: w.Header()}
	ctx, cancel := context.WithCancel(WithInfo(context.Background(), w.info))
	go s.awaitClose(cancel)
	go func() {
		defer conn.Close()
		defer cancel()
		defer func() {
			if v := recover(); v != nil {
				m.Log.LogAttrs(ctx, slog.LevelError, "write stream", slog.String("route", w.info.Route), slog.String("trace_id", w.info.TraceID),
					slog.String("error", fmt.Sprintf("panic: %v\n%s", v, debug.Stack())))
			}
		}()
		write(ctx, s)
	}()
}

// streamWriter is the http.ResponseWriter of a stream on its connection. The end of the connection ends the
// body. http.ResponseController finds its deadlines.
type streamWriter struct {
	net.Conn
	header http.Header // nil after the first write
}

// Header returns the header until the first write.
func (s *streamWriter) Header() http.Header { return s.header }

// WriteHeader does nothing: the status is 200.
func (s *streamWriter) WriteHeader(int) {}

// Flush does nothing: each write leaves at once.
func (s *streamWriter) Flush() {}

// Write writes p, the first time after the header.
func (s *streamWriter) Write(p []byte) (int, error) {
	if s.header == nil {
		return s.Conn.Write(p)
	}
	s.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	s.header.Set("Connection", "close")
	head := bytes.NewBufferString("HTTP/1.1 200 OK\r\n")
	_ = s.header.Write(head) // memory
	head.WriteString("\r\n")
	s.header = nil
	n := head.Len()
	written, err := s.Conn.Write(append(head.Bytes(), p...))
	return max(0, written-n), err
}

// awaitClose calls gone when the client closes its side of the connection.
func (s *streamWriter) awaitClose(gone func()) {
	var b [1]byte
	if _, err := s.Read(b[:]); err != nil {
		gone()
	}
}
