package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/web"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var now = time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)

// fakeLinks knows one token, or returns err.
type fakeLinks struct {
	token   string
	preview approval.LinkPreview
	err     error
	calls   int
}

func (l *fakeLinks) Link(_ context.Context, hash []byte, at time.Time) (approval.LinkPreview, error) {
	l.calls++
	if l.err != nil {
		return approval.LinkPreview{}, l.err
	}
	if !at.Equal(now) || !bytes.Equal(hash, auth.HashLink(l.token)) {
		return approval.LinkPreview{}, fault.Missing()
	}
	return l.preview, nil
}

func serve(t *testing.T, l *fakeLinks, method, path string) (*httptest.ResponseRecorder, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	pages, err := web.New(l, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, page := range pages.Handlers() {
		mux.Handle("GET "+pattern, page)
	}
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, httptest.NewRequest(method, path, nil))
	return rec, &log
}

func TestLinkPages(t *testing.T) {
	guardian := approval.LinkPreview{Party: actor.Guardian, CoachName: "Asha Rao", StudentName: "Kabir Mehta"}
	student := approval.LinkPreview{Party: actor.Student, CoachName: "Asha Rao", StudentName: "Kabir Mehta"}
	nameless := approval.LinkPreview{Party: actor.Guardian}
	hostile := approval.LinkPreview{
		Party:       actor.Guardian,
		CoachName:   "<script>alert(1)</script> \u202eevil\u202c www.evil.example",
		StudentName: `"><img src=x onerror=alert(1)>` + "\r\nPay now",
	}
	tests := map[string]struct {
		links  fakeLinks
		path   string
		status int
	}{
		"guardian":  {fakeLinks{token: "q3VnX0Zp-Y_a", preview: guardian}, "/a/q3VnX0Zp-Y_a", 200},
		"student":   {fakeLinks{token: "q3VnX0Zp-Y_a", preview: student}, "/a/q3VnX0Zp-Y_a", 200},
		"nameless":  {fakeLinks{token: "t", preview: nameless}, "/a/t", 200},
		"hostile":   {fakeLinks{token: "t", preview: hostile}, "/a/t", 200},
		"not_found": {fakeLinks{token: "t", preview: guardian}, "/a/u", 404},
		"failed":    {fakeLinks{err: fault.Down(errors.New("gone"))}, "/a/t", 503},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rec, _ := serve(t, &tt.links, http.MethodGet, tt.path)
			if rec.Code != tt.status {
				t.Fatalf("status %d, want %d", rec.Code, tt.status)
			}
			checkHeaders(t, rec)
			golden(t, name+".html", rec.Body.Bytes())
		})
	}
}

// checkHeaders checks the headers that protect the URL, the names and the reader.
func checkHeaders(t *testing.T, rec *httptest.ResponseRecorder) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type":           "text/html; charset=utf-8",
		"Cache-Control":          "no-store",
		"Referrer-Policy":        "no-referrer",
		"X-Content-Type-Options": "nosniff",
		"X-Robots-Tag":           "noindex, nofollow",
	} {
		if got := rec.Header().Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	_, rest, _ := strings.Cut(rec.Body.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	hash := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "';"
	if got := rec.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, want) || strings.Contains(got, "unsafe") {
		t.Errorf("got policy %s, want one that allows only the inline style sheet", got)
	}
	for _, foreign := range []string{"<script", "<img", "onerror=alert(1)>", "http://", "https://", "\u202e"} {
		if strings.Contains(rec.Body.String(), foreign) {
			t.Errorf("the page contains %q", foreign)
		}
	}
}

func TestUnknownLinksGetTheSamePage(t *testing.T) {
	want, _ := serve(t, &fakeLinks{token: "t"}, http.MethodGet, "/a/u")
	for _, path := range []string{"/a/%00", "/a/a%20b", "/a/%F0%9F%8F%91", "/a/a%2Fb", "/a/" + strings.Repeat("a", 129)} {
		l := &fakeLinks{token: "t"}
		rec, _ := serve(t, l, http.MethodGet, path)
		if rec.Code != 404 || rec.Body.String() != want.Body.String() {
			t.Errorf("%s: got status %d or a different page, want 404 and the page of an unknown link", path, rec.Code)
		}
		if l.calls != 0 {
			t.Errorf("%s: got %d store calls, want none for an invalid token", path, l.calls)
		}
	}
}

func TestLinkHead(t *testing.T) {
	if rec, _ := serve(t, &fakeLinks{token: "t"}, http.MethodHead, "/a/t"); rec.Code != 200 {
		t.Errorf("HEAD: got status %d, want 200", rec.Code)
	}
}

func TestLinkFailureIsLoggedWithoutToken(t *testing.T) {
	for status, err := range map[int]error{500: errors.New("disk on fire"), 503: fault.Down(errors.New("disk on fire"))} {
		rec, log := serve(t, &fakeLinks{err: err}, http.MethodGet, "/a/s3cret")
		if rec.Code != status || strings.Contains(rec.Body.String(), "disk") {
			t.Errorf("got status %d, want %d and no cause in the page", rec.Code, status)
		}
		if status == 503 && rec.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After header")
		}
		if !strings.Contains(log.String(), "disk on fire") || strings.Contains(log.String(), "s3cret") {
			t.Errorf("got log %s, want the cause and no token", log)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update and check the difference\n%s", path, got)
	}
}
