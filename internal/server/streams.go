package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxConcurrentStreams limits the streams of one HTTP/2 connection. A page needs a dozen; libraries wait, or open another connection.
	maxConcurrentStreams = 32
	// receiveBuffer limits what a client sends of the bodies of one HTTP/2 connection before a handler reads it, in bytes.
	receiveBuffer = 64 << 10
	// stallTimeout is how long a write over HTTP/2 may wait for the window of its stream without progress: a client with a window of 0 keeps
	// the handler, about 21 KiB, for so long.
	stallTimeout = 10 * time.Second
	// writePiece is the progress of a write, in bytes.
	writePiece = 4 << 10
	// maxRefusals is how many streams of one address may wait for their refusal to leave. The connection of one more is closed.
	maxRefusals = 256
	// maxWrites is how many writes over HTTP/2 to one address may wait for their client. The connection of one more is closed: 6,000
	// would keep 126 MB, nearly half of the memory limit.
	maxWrites = 256
)

// admission is what happens to a stream.
type admission int

const (
	admitted admission = iota
	refused
	reset
)

var errTooManyWrites = errors.New("too many writes wait for clients of the address")

type connectionKey struct{}

// withConnection is the ConnContext of an http.Server: the context of each request has its connection.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if own := ownConnection(conn); own != nil {
		return context.WithValue(ctx, connectionKey{}, own)
	}
	return ctx
}

// ownConnection returns the connection under TLS, or nil.
func ownConnection(conn net.Conn) *connection {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	own, _ := conn.(*connection)
	return own
}

// boundStreams bounds the streams over HTTP/2 like connections: in all, and those of one address. It answers one more with 429 and without a
// body, because a body waits for the window of the stream. A write that makes no progress ends the stream.
func (c *connections) boundStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, _ := r.Context().Value(connectionKey{}).(*connection)
		if r.ProtoMajor < 2 || own == nil {
			next.ServeHTTP(w, r)
			return
		}
		result := c.beginStream(own.network)
		defer c.endStream(own.network, result)
		switch {
		case result == reset:
			_ = own.Close() // its client opens further streams as fast as others end
			panic(http.ErrAbortHandler)
		case result == refused:
			w.Header().Set("Retry-After", "10")
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			_ = http.NewResponseController(w).Flush() // while it is counted
		case r.Method == http.MethodHead: // no body waits
			next.ServeHTTP(w, r)
		default:
			stalls := &stallWriter{ResponseWriter: w, control: http.NewResponseController(w), end: time.Now().Add(writeTimeout), all: c, network: own.network}
			next.ServeHTTP(stalls, r)
			if stalls.finish(); stalls.aborted {
				_ = own.Close()
				panic(http.ErrAbortHandler)
			}
		}
	})
}

// beginStream counts a stream of an address, which is nil without a limit. If all streams are used, an address may have its share of them: so
// the streams of some addresses do not lock out another one.
func (c *connections) beginStream(n *network) admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n == nil {
		c.streams++
		return admitted
	}
	share := c.addressLimit
	if c.streams >= c.limit {
		share = min(share, max(1, c.limit/max(1, len(c.networks))))
	}
	switch {
	case n.streams < share:
		c.streams++
		n.streams++
		return admitted
	case n.refusals < maxRefusals:
		c.warn("refuse HTTP/2 streams of an address that has a quarter of MAX_CONNECTIONS, or its share if all are used; name each proxy in TRUSTED_PROXIES", "streams", n.streams)
		n.refusals++
		return refused
	}
	return reset
}

// endStream ends the count of a stream.
func (c *connections) endStream(n *network, begun admission) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case begun == admitted:
		c.streams--
		if n != nil {
			n.streams--
		}
	case begun == refused:
		n.refusals--
	}
	c.forget(n)
}

// beginWait counts what waits for the client of an address, up to a limit. It reports whether the caller may wait, and must call endWait.
func (c *connections) beginWait(count *int, limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *count >= limit {
		return false
	}
	*count++
	return true
}

func (c *connections) endWait(count *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*count--
}

// stallWriter limits the time of each write over HTTP/2 that makes no progress. It holds a short response until its handler returns, and sends
// it before net/http would: then the stream is still counted. Between writes the deadline of the handler holds: net/http resets a stream when
// its deadline passes, even if no write waits.
type stallWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	all     *connections
	network *network  // nil without a limit
	aborted bool      // too many writes wait for its address
	end     time.Time // the deadline of the handler, zero for none
	begun   bool      // the header has left
	status  int       // of the response that is held, 0 for 200
	held    bytes.Buffer
}

// SetWriteDeadline sets the deadline of the handler.
func (w *stallWriter) SetWriteDeadline(end time.Time) error {
	w.end = end
	return w.control.SetWriteDeadline(end)
}

// WriteHeader implements http.ResponseWriter.
func (w *stallWriter) WriteHeader(status int) {
	switch {
	case w.begun || status < 200:
		w.ResponseWriter.WriteHeader(status)
	case w.status == 0:
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *stallWriter) Write(p []byte) (int, error) {
	switch w.status {
	case 0:
		w.WriteHeader(http.StatusOK)
	case http.StatusNoContent, http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	}
	if !w.begun && w.held.Len()+len(p) <= writePiece {
		return w.held.Write(p)
	}
	defer w.relax()
	if err := w.release(); err != nil {
		return 0, err
	}
	return w.pieces(p)
}

// FlushError lets http.ResponseController flush.
func (w *stallWriter) FlushError() error {
	defer w.relax()
	if err := w.release(); err != nil {
		return err
	}
	return w.wait(w.control.Flush)
}

// wait calls write, which may wait for the client, within stallTimeout.
func (w *stallWriter) wait(write func() error) error {
	if n := w.network; n != nil {
		if !w.all.beginWait(&n.writes, maxWrites) {
			w.aborted = true
			return errTooManyWrites
		}
		defer w.all.endWait(&n.writes)
	}
	w.limit()
	return write()
}

// release writes what is held.
func (w *stallWriter) release() error {
	if w.begun {
		return nil
	}
	w.begun = true
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
	held := w.held.Bytes()
	w.held = bytes.Buffer{}
	if len(held) == 0 {
		return nil
	}
	_, err := w.pieces(held)
	return err
}

// finish sends the rest of the response.
func (w *stallWriter) finish() {
	if !w.begun && w.held.Len() == 0 {
		_ = w.release() // net/http sends a header without a body
		return
	}
	if !w.begun && w.Header().Get("Content-Length") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(w.held.Len()))
	}
	if w.release() == nil { // a client that has gone needs no response
		_ = w.wait(w.control.Flush)
	}
}

// pieces writes p in pieces. Each must leave within stallTimeout.
func (w *stallWriter) pieces(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		err = w.wait(func() error {
			written, err := w.ResponseWriter.Write(p[n:min(len(p), n+writePiece)])
			n += written
			return err
		})
	}
	return n, err
}

// limit gives the next write stallTimeout, or less if the deadline of the handler is earlier.
func (w *stallWriter) limit() {
	deadline := time.Now().Add(stallTimeout)
	if !w.end.IsZero() && w.end.Before(deadline) {
		deadline = w.end
	}
	_ = w.control.SetWriteDeadline(deadline)
}

func (w *stallWriter) relax() { _ = w.control.SetWriteDeadline(w.end) }

// Unwrap lets http.ResponseController set the deadline of reads.
func (w *stallWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
