package admin_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/operator"
)

const (
	coachID    = "0198f2c4-5e00-7b11-8f3a-2d6c4e8b9a01"
	documentID = "0198f2c4-5e00-7b11-8f3a-2d6c4e8b9a02"
)

// tokens knows one operator, whatever the secret, and takes every record.
type tokens struct{ operator.Store }

func (tokens) TokenByHash(context.Context, []byte) (*operator.Token, error) {
	return &operator.Token{ID: coachID, Name: "desk", Scopes: []operator.Scope{operator.KYC}, EndsAt: time.Now().Add(time.Hour)}, nil
}
func (tokens) MarkTokenUsed(context.Context, string, time.Time, time.Time) error { return nil }
func (tokens) Record(context.Context, actor.Operator, string, string, string, string) error {
	return nil
}

// passport is a document store with one document.
type passport struct {
	coach.DocumentStore
	file coach.StoredFile
}

func (p passport) DocumentByID(context.Context, string) (coach.Document, error) {
	return coach.Document{ID: documentID, CoachID: coachID, Kind: coach.Identity, File: p.file}, nil
}

// tape is a file store from which every file comes slowly.
type tape struct {
	coach.Files
	content []byte
}

func (f tape) Open(context.Context, string) (io.ReadSeekCloser, int64, error) {
	return slow{bytes.NewReader(f.content)}, int64(len(f.content)), nil
}

type slow struct{ *bytes.Reader }

// WriteTo is hidden, so that pieces are read.
func (s slow) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{s})
}

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(60 * time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 100_000)])
}
func (slow) Close() error { return nil }

// TestLongDocument: a document that takes longer to leave than the server's time
// for an answer arrives, and cannot act as a page.
func TestLongDocument(t *testing.T) {
	content := bytes.Repeat([]byte("%PDF-1.7\n"), 150_000)
	handler := admin.New(admin.Config{
		Operators: &operator.Service{Store: tokens{}, Now: time.Now},
		Documents: &coach.Documents{
			Store: passport{file: coach.StoredFile{Name: "पासपोर्ट 2.pdf", MediaType: coach.PDF, Size: int64(len(content)), SHA256: "5e00"}},
			Files: tape{content: content},
		},
		Vault: new(auth.Vault), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}).Handler()
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.WriteTimeout = 300 * time.Millisecond
	srv.Start()
	t.Cleanup(srv.Close)
	ask := func(headers ...string) (*http.Response, []byte, error) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/admin/kyc/"+coachID+"/documents/"+documentID+"/content", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer tlo_x")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp, body, err
	}
	resp, body, err := ask()
	if err != nil || resp.StatusCode != 200 || !bytes.Equal(body, content) {
		t.Errorf("%d with %d of %d bytes, %v", resp.StatusCode, len(body), len(content), err)
	}
	for name, want := range map[string]string{
		"Content-Type":            coach.PDF,
		"Content-Disposition":     `attachment; filename="________ 2.pdf"; filename*=UTF-8''%E0%A4%AA%E0%A4%BE%E0%A4%B8%E0%A4%AA%E0%A5%8B%E0%A4%B0%E0%A5%8D%E0%A4%9F%202.pdf`,
		"Content-Security-Policy": "default-src 'none'; sandbox",
		"X-Content-Type-Options":  "nosniff",
		"Cache-Control":           "no-store",
		"Etag":                    `"5e00"`,
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if resp, body, err := ask("If-None-Match", `"5e00"`); err != nil || resp.StatusCode != 304 || len(body) != 0 {
		t.Errorf("what is there already: %d, %d bytes, %v", resp.StatusCode, len(body), err)
	}
	if resp, body, err := ask("Range", "bytes=2000000-"); err != nil || resp.StatusCode != 416 || len(body) != 0 {
		t.Errorf("a part that is not there: %d %q, %v", resp.StatusCode, body, err)
	}
	if resp, body, err := ask("Range", "bytes=0-3"); err != nil || resp.StatusCode != 206 || string(body) != "%PDF" {
		t.Errorf("a part: %d %q, %v", resp.StatusCode, body, err)
	}
}
