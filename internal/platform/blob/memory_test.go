package blob_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/blob/blobtest"
)

// TestMemory checks that storing and reading 10 MiB allocates less than 1 MiB.
func TestMemory(t *testing.T) {
	const size = 10 << 20
	server := blobtest.New(t)
	sink := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("ETag", `"x"`)
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			if r.Method == http.MethodPut {
				return
			}
			w.Header().Set("Content-Length", fmt.Sprint(size))
			for piece := make([]byte, 1<<10); r.Method == http.MethodGet; {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		})
	}
	server.Wrap.Store(&sink)
	for _, address := range []string{"file:" + t.TempDir(), server.Address()} {
		s := blobtest.Open(t, address)
		spool, err := blob.NewSpool(t.TempDir(), size)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spool.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := s.Put(ctx, "a", spool, size, "application/pdf"); err != nil {
			t.Fatal(err)
		}
		r, _, err := s.Open(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if err != nil || n != size {
			t.Fatal(n, err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%.6s: allocated %d bytes, want at most 1 MiB", address, got)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := spool.Close(); err != nil {
			t.Error(err)
		}
	}
}
