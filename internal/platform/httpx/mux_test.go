package httpx_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/touchline/touchline/internal/platform/httpx"
)

// A literal segment further left wins, and each pattern gets its own path values.
func TestMux(t *testing.T) {
	mux := httpx.NewMux(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "none") }))
	for _, pattern := range []string{
		"/players", "/players/{id}", "/players/add", "/players/imports/{import_id}", "/players/{id}/fees", "/players/{player_id}/marks", "/players/{id}/{other}/x",
		"/players/imports/{import_id}/rows", "/players/{id}/marks/{mark_id}", "/problems/{$}", "/problems/{code}",
	} {
		mux.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, pattern)
			for _, name := range []string{"id", "import_id", "player_id", "other", "mark_id", "code"} {
				if v := r.PathValue(name); v != "" {
					_, _ = io.WriteString(w, " "+name+"="+v)
				}
			}
		}))
	}
	for path, want := range map[string]string{
		"/players": "/players", "/players/add": "/players/add", "/players/7": "/players/{id} id=7",
		"/players/imports":        "/players/{id} id=imports",
		"/players/imports/fees":   "/players/imports/{import_id} import_id=fees",
		"/players/7/fees":         "/players/{id}/fees id=7",
		"/players/7/marks":        "/players/{player_id}/marks player_id=7",
		"/players/7/none":         "none",
		"/players/imports/7/rows": "/players/imports/{import_id}/rows import_id=7",
		"/players/7/marks/8":      "/players/{id}/marks/{mark_id} id=7 mark_id=8",
		"/players/7/marks/x":      "/players/{id}/marks/{mark_id} id=7 mark_id=x",
		"/players/7/y/x":          "/players/{id}/{other}/x id=7 other=y",
		"/players/a%2Fb/fees":     "/players/{id}/fees id=a/b",
		"/problems/":              "/problems/{$}", "/problems/x": "/problems/{code} code=x", "/other": "none",
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if got := w.Body.String(); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
