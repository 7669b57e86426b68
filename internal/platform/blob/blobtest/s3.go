// Package blobtest provides an S3 server for tests, and a conformance test of blob.Store.
package blobtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The credentials that the server accepts.
const (
	Key    = "test-key"
	Secret = "test/secret+with=signs"
)

// Server is an in-memory S3 server. Unlike plain gofakes3 it checks the access key
// and the content hash of a request. It does not check signatures.
type Server struct {
	URL string
	// Puts counts PUT requests.
	Puts atomic.Int64
	// Wrap, if set, replaces the handler with one that receives it, to inject failures.
	Wrap atomic.Pointer[func(http.Handler) http.Handler]
}

// S3 starts a Server with an empty bucket and returns the bucket's address. If
// TOUCHLINE_TEST_S3 holds the address of a real bucket, it returns that with a
// prefix for this test.
func S3(tb testing.TB) string {
	tb.Helper()
	if address := os.Getenv("TOUCHLINE_TEST_S3"); address != "" {
		u, err := url.Parse(address)
		if err != nil {
			tb.Fatal(err)
		}
		sum := sha256.Sum256([]byte(tb.TempDir()))
		u.Path = "/" + hex.EncodeToString(sum[:8])
		return u.String()
	}
	return New(tb).Address()
}

// New starts a Server with an empty bucket named files.
func New(tb testing.TB) *Server {
	tb.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		tb.Fatal(err)
	}
	s := new(Server)
	inner := s.authenticate(gofakes3.New(backend).Server())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wrap := s.Wrap.Load(); wrap != nil {
			(*wrap)(inner).ServeHTTP(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	tb.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Address returns the address of the bucket, with the prefix "some/prefix".
func (s *Server) Address() string {
	u := url.URL{Scheme: "s3", User: url.UserPassword(Key, Secret), Host: "files", Path: "/some/prefix"}
	u.RawQuery = url.Values{"endpoint": {s.URL}, "region": {"eu-central-1"}}.Encode()
	return u.String()
}

func (s *Server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), "Credential="+Key+"/") {
			refuse(w, "InvalidAccessKeyId")
			return
		}
		if r.Method == http.MethodPut {
			s.Puts.Add(1)
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if sum := sha256.Sum256(body); r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) {
				refuse(w, "XAmzContentSHA256Mismatch")
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>refused</Message></Error>")
}
