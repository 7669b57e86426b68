package httpx_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/httpx"
)

// TestDownload: an error before the first byte leaves the response untouched; a later one
// aborts it, so that the client does not take the beginning for the whole file.
func TestDownload(t *testing.T) {
	t.Parallel()
	failure := errors.New("database gone")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				panic(http.ErrAbortHandler) // as the middleware does, which logs it
			}
		}()
		err := httpx.Download(w, "players.csv", "text/csv", func(out io.Writer) error {
			if r.URL.Path == "/refused" {
				return failure
			}
			if _, err := io.WriteString(out, strings.Repeat("x", 10000)); err != nil {
				return err
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
	for path, want := range map[string]struct {
		status int
		fails  bool
	}{"/whole": {200, false}, "/refused": {http.StatusTeapot, false}, "/broken": {200, true}} {
		got, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(got.Body)
		_ = got.Body.Close()
		if got.StatusCode != want.status || (err != nil) != want.fails {
			t.Errorf("%s: status %d, error %v; want %+v", path, got.StatusCode, err, want)
		}
		if disposition := got.Header.Get("Content-Disposition"); want.status == 200 && disposition != `attachment; filename="players.csv"` {
			t.Errorf("%s: Content-Disposition %q", path, disposition)
		}
	}
}
