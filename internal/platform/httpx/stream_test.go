package httpx_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx"
)

// streamServer serves one stream that write writes.
func streamServer(t *testing.T, http2 bool, log io.Writer, write func(context.Context, http.ResponseWriter)) *httptest.Server {
	t.Helper()
	m := &httpx.Middleware{Settings: httpx.Settings{Log: slog.New(slog.NewTextHandler(log, nil)), Now: time.Now}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := new(httpx.RequestInfo)
		m.Serve(w, r.WithContext(httpx.WithInfo(r.Context(), info)), info, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			httpx.Stream(r, write)
		}))
	}))
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// TestStream: a stream has the headers of its handler and is written until write returns. Over HTTP/1.1 it
// keeps no frame of net/http.
func TestStream(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		server := streamServer(t, http2, io.Discard, func(_ context.Context, w http.ResponseWriter) {
			control := http.NewResponseController(w)
			for _, text := range []string{"first ", "second ", string(debug.Stack())} {
				if err := control.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Error(err)
				}
				if _, err := io.WriteString(w, text); err != nil {
					t.Error(err)
				}
				if err := control.Flush(); err != nil {
					t.Error(err)
				}
			}
		})
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || !strings.HasPrefix(string(body), "first second ") {
			t.Errorf("%s: read %q, %v; want both events", resp.Proto, body, err)
		}
		if has := strings.Contains(string(body), "net/http.(*conn).serve"); has && !http2 {
			t.Errorf("the stream keeps the stack of its handler:\n%s", body)
		}
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Date") == "" || resp.Header.Get("X-Trace-Id") == "" {
			t.Errorf("%s: got %s with %v", resp.Proto, resp.Status, resp.Header)
		}
	}
}

// TestStreamEndsWithItsClient: the context of a stream ends when the client has gone.
func TestStreamEndsWithItsClient(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		ended := make(chan struct{})
		server := streamServer(t, http2, io.Discard, func(ctx context.Context, w http.ResponseWriter) {
			defer close(ended)
			_, _ = io.WriteString(w, "first")
			_ = http.NewResponseController(w).Flush()
			<-ctx.Done()
		})
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Errorf("%s: the stream goes on without its client", resp.Proto)
		}
	}
}

// TestStreamPanics: a panic ends its stream only, and is logged with the trace id.
func TestStreamPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ended := make(chan struct{})
	server := streamServer(t, false, writerFunc(func(p []byte) (int, error) {
		defer close(ended)
		return log.Write(p)
	}), func(_ context.Context, w http.ResponseWriter) {
		_, _ = io.WriteString(w, "first")
		panic("broken")
	})
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "first" {
		t.Errorf("read %q, %v", body, err)
	}
	<-ended
	if !strings.Contains(log.String(), "broken") || !strings.Contains(log.String(), resp.Header.Get("X-Trace-Id")) {
		t.Errorf("the log has no panic with its trace id: %s", log.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
