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

// FuzzDisposition: a client reads the name that was meant, and nothing else.
func FuzzDisposition(f *testing.F) {
	f.Add("first aid.pdf")
	f.Add("प्रमाणपत्र \"1\".pdf")
	f.Add("a;b=c\\.pdf")
	f.Fuzz(func(t *testing.T, sent string) {
		w := httptest.NewRecorder()
		file := httpx.File{Name: coach.FileName(sent, coach.PDF), MediaType: coach.PDF, Saved: true, Content: strings.NewReader("x")}
		file.Answer(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		header := w.Header().Get("Content-Disposition")
		kind, parameters, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || parameters["filename"] == "" || strings.ContainsAny(header, "\r\n") {
			t.Fatalf("%q: %v", header, err)
		}
	})
}
