package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestLargeBodyClosesTheConnection checks that a body over the limit gets 413 before it has
// arrived, with and without Content-Length.
func TestLargeBodyClosesTheConnection(t *testing.T) {
	srv := httptest.NewServer(newFixture(t).server.Handler())
	defer srv.Close()
	for name, body := range map[string]io.Reader{
		"Content-Length": bytes.NewReader(make([]byte, 64<<10+1)),
		"chunked":        io.MultiReader(bytes.NewReader(make([]byte, 70<<10)), bytes.NewReader(make([]byte, 1<<10))),
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/auth/login", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
			t.Errorf("%s: got %s, close %v, want 413, close true", name, resp.Status, resp.Close)
		}
	}
}
