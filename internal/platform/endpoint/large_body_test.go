package endpoint_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/endpoint"
)

// TestLargeBody: a route may take more than 64 KiB, and the memory of one caller's bodies is
// limited until their responses are written.
func TestLargeBody(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	started, proceed := make(chan struct{}), make(chan struct{})
	read := endpoint.Handler[string]{Serve: func(_ context.Context, m endpoint.Meta[string], body endpoint.Body) (response, error) {
		if m.Query.Has("wait") {
			started <- struct{}{}
			<-proceed
		}
		return endpoint.OK(len(body.Raw)), nil
	}}
	h := handlerFor(
		route{Method: "POST", Pattern: "/large", Body: endpoint.AnyBody, MaxBody: 3 << 20, Handle: read},
		route{Method: "POST", Pattern: "/usual", Body: endpoint.AnyBody, Handle: read},
	)
	check := func(path string, size, status int) {
		t.Helper()
		w := send(h, "POST", path, strings.Repeat("x", size))
		if closes := w.Header().Get("Connection") == "close"; w.Code != status || closes != (status != 200) {
			t.Errorf("%d bytes to %s: got %d %s, closes %t; want %d", size, path, w.Code, w.Body, closes, status)
		}
	}
	check("/usual", 64*kib, 200)
	check("/usual", 64*kib+1, 413)
	check("/large", 64*kib+1, 200)
	check("/large", 3<<20, 200)
	check("/large", 3<<20+1, 413)

	for body, want := range map[string]int{strings.Repeat("x", 3<<20): 200, strings.Repeat("x", 3<<20+1): 413} {
		r := httptest.NewRequest("POST", "/large", strings.NewReader(body))
		r.Header.Set("Caller", "asha")
		r.ContentLength = -1
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%d bytes of unknown length: got %d, want %d", len(body), w.Code, want)
		}
	}

	done := make(chan int)
	for range 2 {
		go func() {
			done <- send(h, "POST", "/large?wait", strings.Repeat("x", 2900*kib)).Code
		}()
		<-started
	}
	check("/large", 1000*kib, 503)
	check("/large", 8*kib, 200)
	close(proceed)
	for range 2 {
		if status := <-done; status != 200 {
			t.Errorf("a large body: got %d, want 200", status)
		}
	}
	check("/large", 1000*kib, 200)
}
