package endpoint_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/endpoint"
)

// TestLargeBody: a route may take more than 64 KiB, at most 16 such bodies at the same time and 4
// of one client.
func TestLargeBody(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	started, proceed := make(chan struct{}), make(chan struct{})
	read := func(_ context.Context, m endpoint.Meta[string], body endpoint.Body) (response, error) {
		if m.Query.Has("wait") {
			started <- struct{}{}
			<-proceed
		}
		return endpoint.OK(len(body.Raw)), nil
	}
	h := handlerFor(
		route{Method: "POST", Pattern: "/large", Body: endpoint.AnyBody, MaxBody: 3 << 20, Handle: read},
		route{Method: "POST", Pattern: "/usual", Body: endpoint.AnyBody, Handle: read},
	)
	check := func(path string, size, status int) {
		t.Helper()
		if w := send(h, "POST", path, strings.Repeat("x", size)); w.Code != status {
			t.Errorf("%d bytes to %s: got %d %s, want %d", size, path, w.Code, w.Body, status)
		}
	}
	check("/usual", 64*kib, 200)
	check("/usual", 64*kib+1, 413)
	check("/large", 64*kib+1, 200)
	check("/large", 3<<20, 200)
	check("/large", 3<<20+1, 413)

	r := httptest.NewRequest("POST", "/large", strings.NewReader(strings.Repeat("x", 64*kib+1)))
	r.Header.Set("Caller", "asha")
	r.ContentLength = -1
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 413 {
		t.Errorf("a large body of unknown length: got %d, want 413", w.Code)
	}

	sendFrom := func(client int, path string) int {
		r := httptest.NewRequest("POST", path, strings.NewReader(strings.Repeat("x", 64*kib+1)))
		r.Header.Set("Caller", "asha")
		r.RemoteAddr = fmt.Sprintf("198.51.100.%d:443", client)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	done := make(chan int)
	for i := range 16 {
		if i == 4 {
			if status := sendFrom(0, "/large"); status != 503 {
				t.Errorf("a fifth large body of one client: got %d, want 503", status)
			}
			check("/large", 64*kib+1, 200)
		}
		go func() { done <- sendFrom(i/4, "/large?wait") }()
		<-started
	}
	check("/large", 64*kib+1, 503)
	check("/large", 64*kib, 200)
	close(proceed)
	for range 16 {
		if status := <-done; status != 200 {
			t.Errorf("one of 16 large bodies: got %d, want 200", status)
		}
	}
	for i := range 5 { // every slot is free again
		if status := sendFrom(0, "/large"); status != 200 {
			t.Errorf("large body %d after the others: got %d, want 200", i, status)
		}
	}
	check("/large", 64*kib+1, 200)
}
