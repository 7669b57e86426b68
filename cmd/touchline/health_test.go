package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHealth asks a server that is ready, one that is not, and one that is gone.
func TestHealth(t *testing.T) {
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("got a call of %s, want /readyz", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("the reason"))
	}))
	defer s.Close()
	addr := s.Listener.Addr().String()
	_, port, _ := strings.Cut(addr, ":")
	ask := func(addr string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"health", "--addr", addr}, nil, &out, &errs)
		return code, out.String() + errs.String()
	}
	for _, addr := range []string{addr, "0.0.0.0:" + port, ":" + port} {
		if code, out := ask(addr); code != 0 || out != "ready\n" {
			t.Errorf("%s: got exit status %d and %q, want 0 and ready", addr, code, out)
		}
	}
	status = http.StatusServiceUnavailable
	if code, out := ask(addr); code != 1 || !strings.Contains(out, "status 503: the reason") {
		t.Errorf("503: got exit status %d and %q, want 1 and the reason", code, out)
	}
	s.Close()
	if code, out := ask(addr); code != 1 {
		t.Errorf("no server: got exit status %d and %q, want 1", code, out)
	}
}

// TestHealthOverTLS asks a server whose certificate has another name.
func TestHealthOverTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	var out, errs bytes.Buffer
	args := []string{"health", "--addr", s.Listener.Addr().String(), "--tls-autocert-domains", "touchline.test"}
	if code := run(t.Context(), args, nil, &out, &errs); code != 0 || out.String() != "ready\n" {
		t.Errorf("got exit status %d, %q and %q, want 0 and ready", code, &out, &errs)
	}
}
