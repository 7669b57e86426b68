package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/problem"
)

// docsServer serves the documentation under the paths of the service.
func docsServer(t *testing.T) http.Handler {
	t.Helper()
	docs, err := api.NewDocumentation()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, page := range docs.Handlers() {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := page(w, r); err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
			}
		})
	}
	return mux
}

func fetch(t *testing.T, h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestOpenAPIJSON(t *testing.T) {
	h := docsServer(t)
	first := fetch(t, h, "/openapi.json")
	if first.Code != http.StatusOK || first.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("got %d %s", first.Code, first.Header().Get("Content-Type"))
	}
	if !json.Valid(first.Body.Bytes()) || !strings.HasPrefix(first.Body.String(), `{"openapi":"3.1.`) {
		t.Errorf("body starts %.40q, want the document in its own order", first.Body)
	}
	etag := first.Header().Get("ETag")
	for _, header := range []string{etag, `"other", ` + etag, strings.TrimPrefix(etag, "W/"), "*"} {
		if w := fetch(t, h, "/openapi.json", "If-None-Match", header); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("If-None-Match %s = %d with %d bytes, want an empty 304", header, w.Code, w.Body.Len())
		}
	}
	if w := fetch(t, h, "/openapi.json", "If-None-Match", `"other"`); w.Code != http.StatusOK {
		t.Errorf("another ETag = %d, want 200", w.Code)
	}
	w := fetch(t, h, "/openapi.json", "Accept-Encoding", "br, gzip")
	zr, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(zr)
	if err != nil || !bytes.Equal(unpacked, first.Body.Bytes()) {
		t.Errorf("the compressed response differs: %v", err)
	}
	for _, refuses := range []string{"gzip;q=0", "br, GZIP ; q=0.0", "x-gzip-like", "identity"} {
		if coding := fetch(t, h, "/openapi.json", "Accept-Encoding", refuses).Header().Get("Content-Encoding"); coding != "" {
			t.Errorf("Accept-Encoding %s: got %s, want no encoding", refuses, coding)
		}
	}
}

var links = regexp.MustCompile(` href="([^"]+)"`)

// TestPages checks that every link of every page has a target, and that no page loads
// anything else.
func TestPages(t *testing.T) {
	h := docsServer(t)
	document := fetch(t, h, "/openapi.json").Body.String()
	pages := []string{"/docs/guide", "/docs/mobile-apps", "/docs/versions", "/problems"}
	for _, p := range problem.Catalogue() {
		pages = append(pages, "/problems/"+p.Code)
	}
	there := map[string]bool{"": true, "data:,": true}
	for _, path := range pages {
		w := fetch(t, h, path)
		body := w.Body.String()
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s = %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'; style-src 'sha256-") {
			t.Errorf("%s: policy %q", path, p)
		}
		for _, mark := range []string{"<script", "style=", " src=", "ZgotmplZ", "&lt;no value"} {
			if strings.Contains(body, mark) {
				t.Errorf("%s contains %s", path, mark)
			}
		}
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.HasPrefix(target, "https://") {
				continue // a guide links to specifications
			}
			known, checked := there[target]
			if !checked {
				known = fetch(t, h, target).Code == http.StatusOK
				there[target] = known
			}
			if target == "/docs" && anchor != "" {
				known = known && strings.Contains(document, `"operationId":"`+anchor+`"`)
			}
			if !known {
				t.Errorf("%s: the link %s has no target", path, m[1])
			}
		}
	}
}

func TestUnknownProblem(t *testing.T) {
	h := docsServer(t)
	w := fetch(t, h, "/problems/%3Cscript%3E")
	if w.Code != http.StatusNotFound || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("got %d %s, want a page with 404", w.Code, w.Header().Get("Content-Type"))
	}
	if strings.Contains(w.Body.String(), "script") {
		t.Error("the page repeats the code of the URL")
	}
	if w := fetch(t, h, "/problems/otp_expired"); !strings.Contains(w.Body.String(), `href="/docs#login"`) {
		t.Error("the page does not link to the operations that return the code")
	}
}
