package store_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/service"
	"github.com/touchline/touchline/internal/store/storetest"
)

// fakeTokenStore returns the same operator token for every secret.
type fakeTokenStore struct{ operator.Store }

func (fakeTokenStore) TokenByHash(context.Context, []byte) (*operator.Token, error) {
	return &operator.Token{ID: "0198f2c4-5e00-7b11-8f3a-2d6c4e8b9a01", Name: "desk", Scopes: []operator.Scope{operator.KYC}, EndsAt: time.Now().Add(time.Hour)}, nil
}

func (fakeTokenStore) MarkTokenUsed(context.Context, string, time.Time, time.Time) error { return nil }

// slowFileStore has one file, which is read slowly.
type slowFileStore struct {
	blob.Store
	content []byte
}

func (f slowFileStore) Open(context.Context, string) (io.ReadSeekCloser, int64, error) {
	return slowReader{bytes.NewReader(f.content)}, int64(len(f.content)), nil
}

type slowReader struct{ *bytes.Reader }

// WriteTo calls Read, which bytes.Reader.WriteTo would not.
func (s slowReader) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{s})
}

func (s slowReader) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 100_000)])
}
func (slowReader) Close() error { return nil }

// TestSlowDocument checks that a document arrives that takes longer than the server's write
// timeout, and that a browser cannot run it as a page.
func TestSlowDocument(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("%PDF-1.7\n"), 150_000)
	p := newFixture(t, storetest.SQLite(t))
	by := p.coach(1)
	id := p.identity(by, "identity")
	p.submit(by, id)
	ok(t, run(p.db, `UPDATE documents SET file_name = $2, size = $3, sha256 = '5e00' WHERE id = $1`, id, "पासपोर्ट 2.pdf", len(content)))
	v := p.verify()
	v.Documents = p.newDocuments(slowFileStore{content: content})
	handler := admin.New(admin.Config{
		Operators: service.Operators{
			Shell: service.Shell{Tokens: &operator.Service{Store: fakeTokenStore{}, Now: time.Now}},
			Vault: new(vault.Vault),
		},
		Settings: httpx.Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		Features: []func(*admin.Server) []admin.Route{v.OperatorOperations},
	}).Handler()
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.WriteTimeout = 100 * time.Millisecond
	srv.Start()
	t.Cleanup(srv.Close)
	ask := func(headers ...string) (*http.Response, []byte, error) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/admin/kyc/"+by.AccountID+"/documents/"+id+"/content", http.NoBody)
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
		t.Errorf("got %d with %d of %d bytes, %v", resp.StatusCode, len(body), len(content), err)
	}
	for name, want := range map[string]string{
		"Content-Type":            picture.PDF,
		"Content-Disposition":     `attachment; filename="________ 2.pdf"; filename*=UTF-8''%E0%A4%AA%E0%A4%BE%E0%A4%B8%E0%A4%AA%E0%A5%8B%E0%A4%B0%E0%A5%8D%E0%A4%9F%202.pdf`,
		"Content-Security-Policy": "default-src 'none'; sandbox",
		"X-Content-Type-Options":  "nosniff",
		"Cache-Control":           "no-store",
		"Etag":                    `"5e00"`,
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if resp, body, err := ask("If-None-Match", `"5e00"`); err != nil || resp.StatusCode != 304 || len(body) != 0 {
		t.Errorf("known ETag: got %d, %d bytes, %v, want an empty 304", resp.StatusCode, len(body), err)
	}
	if resp, body, err := ask("Range", "bytes=2000000-"); err != nil || resp.StatusCode != 416 || !strings.Contains(string(body), `"range_not_satisfiable"`) {
		t.Errorf("range after the end: got %d %q, %v, want 416 range_not_satisfiable", resp.StatusCode, body, err)
	}
	if resp, body, err := ask("Range", "bytes=0-3"); err != nil || resp.StatusCode != 206 || string(body) != "%PDF" {
		t.Errorf("range: got %d %q, %v, want 206 %%PDF", resp.StatusCode, body, err)
	}
}
