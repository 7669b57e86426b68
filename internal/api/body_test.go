package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestTooLargeOverTheWire: whoever sends too much hears so, also when no length
// was announced, and what is left is not waited for.
func TestTooLargeOverTheWire(t *testing.T) {
	srv := httptest.NewServer(newAdapter(t).server.Handler())
	defer srv.Close()
	for name, body := range map[string]io.Reader{
		"announced": bytes.NewReader(make([]byte, 64<<10+1)),
		"chunked":   io.MultiReader(bytes.NewReader(make([]byte, 70<<10)), bytes.NewReader(make([]byte, 1<<10))),
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
			t.Errorf("%s: %s, close %v", name, resp.Status, resp.Close)
		}
	}
}
