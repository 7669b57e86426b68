package httpx_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/httpx"
)

// TestDownload: an error before the first byte leaves the response untouched; a later one
// aborts it, so that the client does not take the beginning for the whole file. For HEAD the file is
// not built.
func TestDownload(t *testing.T) {
	t.Parallel()
	failure := errors.New("database gone")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				panic(http.ErrAbortHandler) // as the middleware does, which logs it
			}
		}()
		err := httpx.Download(w, r, "players.csv", "text/csv", func(out io.Writer) error {
			if r.URL.Path == "/refused" {
				return failure
			}
			if _, err := io.WriteString(out, strings.Repeat("x", 10000)); err != nil {
				return fmt.Errorf("write players: %w", err)
			}
			if r.Method == http.MethodHead {
				t.Error("HEAD builds the file")
			}
			if r.URL.Path == "/broken" {
				return failure
			}
			return nil
		})
		if err != nil {
			if len(w.Header()) > 0 {
				t.Errorf("headers before the first byte: %v", w.Header())
			}
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer s.Close()
	for call, want := range map[string]struct {
		status int
		fails  bool
	}{
		"GET /whole": {200, false}, "GET /refused": {http.StatusTeapot, false}, "GET /broken": {200, true},
		"HEAD /whole": {200, false}, "HEAD /refused": {http.StatusTeapot, false},
	} {
		method, path, _ := strings.Cut(call, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(got.Body)
		_ = got.Body.Close()
		if got.StatusCode != want.status || (err != nil) != want.fails {
			t.Errorf("%s: status %d, error %v; want %+v", call, got.StatusCode, err, want)
		}
		if disposition := got.Header.Get("Content-Disposition"); want.status == 200 && disposition != `attachment; filename="players.csv"` {
			t.Errorf("%s: Content-Disposition %q", call, disposition)
		}
	}
}
