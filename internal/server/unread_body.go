package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx"
)

// guardConnection decides whether an HTTP/1.1 connection stays open after the response.
//
// While the replica drains, it asks clients to close their connection, so that at the
// end of the drain time only unused connections are idle.
//
// After a chunked body it closes the connection: a proxy that finds another end of the
// body would take the rest for a request of the next client (RFC 9112, section 11.2).
//
// It reads the rest of a body that the handler has refused. Many clients, such as browsers,
// send a whole body before they read the response. If the server closed the connection
// earlier, they would report a reset connection instead of the response. The response to a
// large body leaves before that, with Connection: close, so that a client that waits for it
// need not send the rest.
func (a *App) guardConnection(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.readiness.draining.Load() || len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close") // over HTTP/2, net/http sends GOAWAY
		}
		if r.ProtoMajor != 1 || r.ContentLength == 0 || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		body := &countedBody{ReadCloser: r.Body, left: r.ContentLength}
		r.Body = body
		early := &earlyWriter{ResponseWriter: w, body: body}
		next.ServeHTTP(early, r)
		early.send()
		if own, _ := r.Context().Value(connectionKey{}).(*connection); own != nil && own.network != nil {
			if !own.all.beginWait(&own.network.discards, maxDiscards) {
				return // net/http closes the connection, or reads a short rest
			}
			defer own.all.endWait(&own.network.discards)
		}
		a.discard(r.Context(), http.NewResponseController(w), body, r.Header.Get("Expect") == "")
	})
}

// countedBody counts the bytes of a body that were not read.
type countedBody struct {
	io.ReadCloser
	left  int64 // negative if the length is unknown
	ended bool
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left >= 0 {
		b.left -= int64(n)
	}
	b.ended = b.ended || err != nil || b.left == 0
	return n, err
}

// earlyWriter holds a response that begins while more than discardChunk of the body is unread,
// so that it leaves as a whole, with Connection: close and its length, before the rest of the
// body is read.
type earlyWriter struct {
	http.ResponseWriter
	body   *countedBody
	begun  bool
	held   bool
	status int
	text   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (w *earlyWriter) WriteHeader(status int) {
	if w.begun || status < 200 {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.begun = true
	if unread := !w.body.ended && (w.body.left < 0 || w.body.left > discardChunk); unread {
		w.Header().Set("Connection", "close")
		w.held, w.status = true, status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *earlyWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.held && w.text.Len()+len(p) <= discardChunk {
		return w.text.Write(p)
	}
	if err := w.release(); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

// FlushError lets http.ResponseController flush.
func (w *earlyWriter) FlushError() error {
	if err := w.release(); err != nil {
		return err
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// release writes what is held.
func (w *earlyWriter) release() error {
	if !w.held {
		return nil
	}
	w.held = false
	w.ResponseWriter.WriteHeader(w.status)
	_, err := w.ResponseWriter.Write(w.text.Bytes())
	return err
}

// send sends a response that is still held.
func (w *earlyWriter) send() {
	if !w.held {
		return
	}
	if w.text.Len() > 0 || w.status != http.StatusNoContent && w.status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(w.text.Len()))
	}
	_ = w.FlushError() // a client that has gone needs no response
}

// Unwrap lets http.ResponseController set deadlines.
func (w *earlyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// discard reads the rest of a body. A client that expects 100 Continue may wait with it for
// the response: net/http alone decides about that body, within the first deadline.
func (a *App) discard(ctx context.Context, control *http.ResponseController, body io.Reader, sends bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	end, _ := ctx.Deadline()
	for left := discardBytes; left > 0; left -= discardChunk {
		if left < discardBytes && a.discards.WaitN(ctx, discardChunk) != nil {
			return
		}
		deadline := time.Now().Add(a.discardStall)
		if end.Before(deadline) {
			deadline = end
		}
		_ = control.SetReadDeadline(deadline)
		if !sends {
			return
		}
		if _, err := io.CopyN(io.Discard, body, discardChunk); err != nil {
			return
		}
		_ = control.SetWriteDeadline(time.Now().Add(httpx.WriteTimeout))
	}
}
