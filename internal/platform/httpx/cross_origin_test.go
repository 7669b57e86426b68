package httpx_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/platform/httpx"
)

// TestOrigins: in development every origin of this machine is allowed. Each refused origin is reported once, and of strangers
// only the first.
func TestOrigins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		origin   string
		loopback bool
		allowed  bool
	}{
		{"https://app.example", false, true},
		{"https://App.example", false, true},
		{"http://localhost:5173", true, true},
		{"http://localhost", true, true},
		{"https://127.0.0.1:3000", true, true},
		{"http://[::1]:3000", true, true},
		{"http://localhost:5173", false, false},
		{"http://localhost.evil.example", true, false},
		{"http://127.0.0.1.evil.example", true, false},
		{"http://192.168.1.4:5173", true, false},
		{"null", true, false},
	} {
		var refused []string
		h := httpx.CrossOrigin(httpx.Origins{
			Allowed: []string{"https://app.example"}, Loopback: tt.loopback, Refused: func(origin string) { refused = append(refused, origin) },
		})(http.NotFoundHandler())
		for range 2 {
			r := httptest.NewRequest("GET", "http://touchline.example/api/me", http.NoBody)
			r.Header.Set("Origin", tt.origin)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Header().Get("Access-Control-Allow-Origin"); (got == tt.origin) != tt.allowed {
				t.Errorf("%s: allowed %q, want %t", tt.origin, got, tt.allowed)
			}
		}
		var want []string
		if !tt.allowed && tt.origin != "null" {
			want = []string{tt.origin}
		}
		if !slices.Equal(refused, want) {
			t.Errorf("%s: reported %v, want %v", tt.origin, refused, want)
		}
	}
	reported := 0
	h := httpx.CrossOrigin(httpx.Origins{Refused: func(string) { reported++ }})(http.NotFoundHandler())
	for i := range 100 {
		r := httptest.NewRequest("GET", "http://touchline.example/api/me", http.NoBody)
		r.Header.Set("Origin", fmt.Sprintf("https://%d.example", i))
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	r := httptest.NewRequest("POST", "http://touchline.example/sign-in", http.NoBody)
	r.Header.Set("Origin", "http://touchline.example") // a page of the service
	h.ServeHTTP(httptest.NewRecorder(), r)
	if reported != 20 {
		t.Errorf("%d strangers were reported, want 20", reported)
	}
}
