package httpx_test

import (
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/httpx"
)

// FuzzContentDisposition checks that no file name breaks the header or changes its kind.
func FuzzContentDisposition(f *testing.F) {
	f.Add("first aid.pdf")
	f.Add("प्रमाणपत्र \"1\".pdf")
	f.Add("a;b=c\\.pdf")
	f.Fuzz(func(t *testing.T, name string) {
		w := httptest.NewRecorder()
		file := httpx.File{Name: coach.FileName(name, coach.PDF), MediaType: coach.PDF, Attachment: true, Content: strings.NewReader("x")}
		file.Serve(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		header := w.Header().Get("Content-Disposition")
		kind, parameters, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || parameters["filename"] == "" || strings.ContainsAny(header, "\r\n") {
			t.Fatalf("Content-Disposition = %q, %v; want an attachment with a file name", header, err)
		}
	})
}
