package browser_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestDownloadFaultsArePages checks that a download that cannot be sent answers with a page
// that says why.
func TestDownloadFaultsArePages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	user, c := newFormClient(t, s, coachNumber)
	document := user.Upload(t, "certification", "first aid.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
	for _, tt := range []struct {
		header, value string
		status        int
		text          string
	}{
		{"Range", "bytes=500-", 416, "The file ends before the part that was asked for."},
		{"If-Match", `"another"`, 412, "The file has changed meanwhile."},
	} {
		req, err := http.NewRequest("GET", s.URL+"/coach/documents/"+document+"/content", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Language", "en")
		req.Header.Set(tt.header, tt.value)
		resp, err := c.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != tt.status || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(body), tt.text) {
			t.Errorf("%s: got %d, %q; want %d and a page with %q:\n%s", tt.header, resp.StatusCode, resp.Header.Get("Content-Type"), tt.status, tt.text, body)
		}
	}
}
