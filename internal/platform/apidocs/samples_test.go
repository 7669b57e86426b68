package apidocs_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/apidocs"
)

// TestSamples checks that the served document has the samples of the guide's calls, each in all languages.
func TestSamples(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pages := apidocs.NewPages(apidocs.Config{Document: source, Samples: true})
	w := httptest.NewRecorder()
	if err := pages.Handlers()["/openapi.json"](w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil)); err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	with := 0
	for path, methods := range document.Paths {
		for method, raw := range methods {
			var operation struct {
				OperationID string                                 `json:"operationId"`
				Samples     []struct{ Lang, Label, Source string } `json:"x-codeSamples"`
			}
			if method == "parameters" {
				continue
			}
			if err := json.Unmarshal(raw, &operation); err != nil {
				t.Fatal(err)
			}
			if len(operation.Samples) == 0 {
				continue
			}
			with++
			if len(operation.Samples) != 3 && operation.OperationID != "refresh" {
				t.Errorf("%s %s: %d samples, want 3", method, path, len(operation.Samples))
			}
			for _, s := range operation.Samples {
				if strings.HasPrefix(s.Source, "\t") || strings.TrimSpace(s.Source) == "" {
					t.Errorf("%s %s: the sample in %s is empty or indented: %q", method, path, s.Label, s.Source)
				}
			}
		}
	}
	if with < 30 {
		t.Errorf("%d operations have samples, want at least 30", with)
	}
}
