package endpoint_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/inflight"
)

// busyServer serves with one request in flight, a read or a write. A request to /slow is in flight until
// done is called.
type busyServer struct {
	http.Handler
	limiter *inflight.Limiter
	refused []string
	done    func()
}

func newBusyServer(t *testing.T, routes ...route) *busyServer {
	t.Helper()
	s := &busyServer{limiter: inflight.New(1)}
	log, wait, started := slog.New(slog.DiscardHandler), make(chan struct{}), make(chan struct{})
	s.done = sync.OnceFunc(func() { close(wait) })
	adapter := endpoint.Adapter[string]{
		Middleware: httpx.Middleware{Settings: httpx.Settings{Now: time.Now, Log: log, Refused: func(_ context.Context, info *httpx.RequestInfo, err error) {
			s.refused = append(s.refused, info.Route)
		}}},
		Authenticate: func(r *http.Request) (string, error) { return "asha", nil },
		InFlight:     &inflight.Limits{Reads: s.limiter, Writes: s.limiter},
	}
	s.Handler = adapter.Handler(append(routes, route{Method: "GET", Pattern: "/slow", Handle: endpoint.Handler[string]{Serve: func(context.Context, endpoint.Meta[string], endpoint.Body) (response, error) {
		close(started)
		<-wait
		return endpoint.NoContent(), nil
	}}}))
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		send(s, "GET", "/slow", "")
	}()
	<-started
	t.Cleanup(func() {
		s.done()
		<-finished
		if n := s.limiter.Stats().Running; n != 0 {
			t.Errorf("%d requests are in flight at the end", n)
		}
	})
	return s
}

var noContent = endpoint.Handler[string]{Serve: func(context.Context, endpoint.Meta[string], endpoint.Body) (response, error) {
	return endpoint.NoContent(), nil
}}

// TestOverloaded: a request beyond the limit is refused before authentication and before
// its body is read, unless its route has no limits.
func TestOverloaded(t *testing.T) {
	unexpected := func(*http.Request) (string, error) {
		t.Error("authenticated although overloaded")
		return "", nil
	}
	s := newBusyServer(t,
		route{Method: "POST", Pattern: "/json", Body: endpoint.JSON, Authenticate: unexpected, Handle: noContent},
		route{Method: "POST", Pattern: "/upload", Body: endpoint.Multipart, MaxUpload: 1, Authenticate: unexpected, Handle: noContent},
		route{Method: "GET", Pattern: "/page", Authenticate: unexpected, Handle: noContent},
		route{Method: "GET", Pattern: "/health", NoLimits: true, Handle: noContent},
	)
	for _, tt := range []struct {
		method, path string
		status       int
		body         string
		closes       bool
	}{
		{"POST", "/json", 503, `"code":"overloaded"`, false},
		{"POST", "/upload", 503, `"code":"overloaded"`, true},
		{"GET", "/page", 503, `"code":"overloaded"`, false},
		{"PUT", "/page", 405, `"code":"method_not_allowed"`, false},
		{"GET", "/nowhere", 404, `"code":"not_found"`, false},
		{"GET", "/health", 204, ``, false},
	} {
		r := httptest.NewRequest(tt.method, tt.path, unreadable{t})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) || (w.Header().Get("Connection") == "close") != tt.closes {
			t.Errorf("%s: got %d %s %v, want %d with %s, close %t", tt.path, w.Code, w.Body, w.Header(), tt.status, tt.body, tt.closes)
		}
		if strings.HasPrefix(tt.body, `"code":"overloaded"`) && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: 503 has no Retry-After", tt.path)
		}
	}
	if got := fmt.Sprint(s.refused); got != "[/json /upload /page /page ]" {
		t.Errorf("Refused was called for %s", got)
	}
}

// unreadable is a body that must not be read.
type unreadable struct{ *testing.T }

func (b unreadable) Read([]byte) (int, error) {
	b.Error("the body was read")
	return 0, io.EOF
}

// TestUrgentRequestWaits: an urgent request waits for the one in flight.
func TestUrgentRequestWaits(t *testing.T) {
	s := newBusyServer(t, route{Method: "PUT", Pattern: "/decision", Body: endpoint.OptionalJSON, Urgent: true, Handle: noContent})
	time.AfterFunc(50*time.Millisecond, s.done)
	if w := send(s, "PUT", "/decision", ""); w.Code != 204 {
		t.Errorf("got %d %s, want 204", w.Code, w.Body)
	}
}

// TestWaitingForClientIsNotInFlight: a request is not in flight while its body or its
// upload arrives, while its stream is open or its download is written.
func TestWaitingForClientIsNotInFlight(t *testing.T) {
	var limiter *inflight.Limiter
	inFlight := func(what string, want int) {
		if got := limiter.Stats().Running; got != want {
			t.Errorf("%s: %d requests in flight, want %d", what, got, want)
		}
	}
	handle := func(what string, want, whileWritten int) endpoint.Handler[string] {
		return endpoint.Handler[string]{Serve: func(context.Context, endpoint.Meta[string], endpoint.Body) (response, error) {
			inFlight(what, want)
			return response{Write: func(w http.ResponseWriter, _ *http.Request) error {
				inFlight(what+" while it is written", whileWritten)
				w.WriteHeader(http.StatusNoContent)
				return nil
			}}, nil
		}}
	}
	// /slow is in flight the whole time.
	s := newBusyServer(t,
		route{Method: "PUT", Pattern: "/json", Urgent: true, Body: endpoint.OptionalJSON, Handle: handle("JSON", 1, 1)},
		route{Method: "GET", Pattern: "/page", Handle: handle("page", 1, 1)},
		route{Method: "POST", Pattern: "/upload", Body: endpoint.Multipart, MaxUpload: 100, Handle: handle("upload", 0, 0)},
		route{Method: "GET", Pattern: "/stream", NoTimeout: true, Handle: handle("stream", 0, 0)},
		route{Method: "GET", Pattern: "/download", Timeout: httpx.FileTimeout, Handle: handle("download", 1, 0)},
	)
	s.done()
	limiter = s.limiter
	for range 2 {
		for _, call := range []string{"PUT /json", "GET /page", "POST /upload", "GET /stream", "GET /download"} {
			method, path, _ := strings.Cut(call, " ")
			body := readerFunc(func([]byte) (int, error) {
				inFlight("body of "+path, 0)
				return 0, io.EOF
			})
			r := httptest.NewRequest(method, path, body)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			w := httptest.NewRecorder()
			for s.ServeHTTP(w, r); w.Code == http.StatusServiceUnavailable; s.ServeHTTP(w, r) {
				w = httptest.NewRecorder() // /slow has not ended yet
			}
			if w.Code != 204 {
				t.Errorf("%s: got %d %s, want 204", call, w.Code, w.Body)
			}
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
