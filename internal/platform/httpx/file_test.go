package httpx_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/picture"
)

// TestUnreadableFile: if the file store fails in the middle of a file, the log says so and the
// connection is aborted.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := httpx.Middleware{Settings: httpx.Settings{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	file := httpx.File{MediaType: picture.PDF, Content: io.NewSectionReader(brokenFile{}, 0, 1<<20)}
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := file.Serve(w, r); err != nil {
			t.Error(err)
		}
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.Serve(w, r, &httpx.RequestInfo{Route: "/content"}, serve)
	}))
	got, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	_ = got.Body.Close()
	if got.StatusCode != 200 || err == nil || len(body) >= 1<<20 {
		t.Errorf("status %d, %d bytes, %v; want 200 and an aborted body", got.StatusCode, len(body), err)
	}
	s.Close() // waits for the handler
	if !strings.Contains(log.String(), `level=WARN msg=unavailable route=/content`) || !strings.Contains(log.String(), "the bucket is gone") {
		t.Errorf("the log has no warning: %s", log.String())
	}
}

// brokenFile fails after 512 KiB.
type brokenFile struct{}

func (brokenFile) ReadAt(p []byte, offset int64) (int, error) {
	if offset >= 512<<10 {
		return 0, fault.Down(errors.New("the bucket is gone"))
	}
	return len(p), nil
}

// FuzzContentDisposition checks that no file name breaks the header or changes its kind.
func FuzzContentDisposition(f *testing.F) {
	f.Add("first aid.pdf")
	f.Add("प्रमाणपत्र \"1\".pdf")
	f.Add("a;b=c\\.pdf")
	f.Fuzz(func(t *testing.T, name string) {
		w := httptest.NewRecorder()
		file := httpx.File{Name: document.FileName(name, picture.PDF), MediaType: picture.PDF, Attachment: true, Content: strings.NewReader("x")}
		file.Serve(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		header := w.Header().Get("Content-Disposition")
		kind, parameters, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || parameters["filename"] == "" || strings.ContainsAny(header, "\r\n") {
			t.Fatalf("Content-Disposition = %q, %v; want an attachment with a file name", header, err)
		}
	})
}
