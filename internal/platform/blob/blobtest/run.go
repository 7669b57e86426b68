package blobtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/blob"
)

// Each runs test against a folder and against an S3 server, each with a new address.
func Each(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("folder", func(t *testing.T) { test(t, "file:"+t.TempDir()+"/files") })
	t.Run("s3", func(t *testing.T) { test(t, S3(t)) })
}

// Open opens the store at address and closes it when the test ends.
func Open(tb testing.TB, address string) blob.Store {
	tb.Helper()
	s, err := blob.Open(context.Background(), address, blob.Options{Getenv: func(string) string { return "" }})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

const id = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"

// Run tests that a store does what blob.Store documents.
func Run(t *testing.T, s blob.Store) {
	for name, test := range map[string]func(*testing.T, blob.Store){
		"put and open": testPutOpen, "not found": testNotFound, "replace": testReplace, "short reader": testShortReader,
		"seek": testSeek, "invalid keys": testInvalidKeys, "cancelled put": testCancelledPut, "concurrent put": testConcurrentPut,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

var ctx = context.Background()

func put(t *testing.T, s blob.Store, key string, data []byte) {
	t.Helper()
	if err := s.Put(ctx, key, bytes.NewReader(data), int64(len(data)), "application/pdf"); err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
}

func get(t *testing.T, s blob.Store, key string) []byte {
	t.Helper()
	r, size, err := s.Open(ctx, key)
	if err != nil {
		t.Fatalf("open %s: %v", key, err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	if int64(len(data)) != size {
		t.Fatalf("%s: read %d bytes, Open returned size %d", key, len(data), size)
	}
	return data
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

func testPutOpen(t *testing.T, s blob.Store) {
	for _, n := range []int{0, 1, 32 << 10, 3<<20 + 7} {
		for _, key := range []string{id, id + "/small", "a", "a/b", "ab"} {
			want := randomBytes(n)
			put(t, s, key, want)
			if !bytes.Equal(get(t, s, key), want) {
				t.Errorf("%s, %d bytes: read different bytes", key, n)
			}
		}
	}
	r := bytes.NewReader([]byte("read from the start"))
	_, _ = r.Seek(5, io.SeekStart)
	if err := s.Put(ctx, "seek", r, r.Size(), ""); err != nil || string(get(t, s, "seek")) != "read from the start" {
		t.Errorf("put of a reader not at its start: %v", err)
	}
}

func testNotFound(t *testing.T, s blob.Store) {
	if _, _, err := s.Open(ctx, "nothing"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("open: %v", err)
	}
	put(t, s, "gone", []byte("x"))
	put(t, s, "gone/small", []byte("y"))
	for range 2 {
		if err := s.Delete(ctx, "gone"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, _, err := s.Open(ctx, "gone"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("open after delete: %v, want ErrNotFound", err)
	}
	if string(get(t, s, "gone/small")) != "y" {
		t.Error("deleting a key also deleted its variant")
	}
}

func testReplace(t *testing.T, s blob.Store) {
	put(t, s, "key", []byte("the first, which is longer"))
	put(t, s, "key", []byte("the second"))
	if got := get(t, s, "key"); string(got) != "the second" {
		t.Errorf("%q", got)
	}
}

// testShortReader checks that a reader shorter than size stores nothing.
func testShortReader(t *testing.T, s blob.Store) {
	put(t, s, "short", []byte("as it was"))
	if err := s.Put(ctx, "short", bytes.NewReader([]byte("x")), 100, ""); err == nil {
		t.Error("put of 1 byte as 100: got no error")
	}
	if got := get(t, s, "short"); string(got) != "as it was" {
		t.Errorf("%q", got)
	}
}

// testSeek seeks as http.ServeContent does, and backwards.
func testSeek(t *testing.T, s blob.Store) {
	data := randomBytes(200_000)
	put(t, s, "ranges", data)
	r, size, err := s.Open(ctx, "ranges")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		offset int64
		whence int
		at     int64
	}{{0, io.SeekEnd, size}, {0, io.SeekStart, 0}, {150_000, io.SeekStart, 150_000}, {-10, io.SeekEnd, size - 10}, {-100, io.SeekCurrent, size - 110}, {100, io.SeekStart, 100}} {
		at, err := r.Seek(tt.offset, tt.whence)
		if err != nil || at != tt.at {
			t.Fatalf("seek %d from %d: at %d, %v", tt.offset, tt.whence, at, err)
		}
		b := make([]byte, 10)
		n, err := io.ReadFull(r, b)
		if want := data[at:min(at+10, size)]; !bytes.Equal(b[:n], want) {
			t.Errorf("at %d: read %d bytes that differ, %v", at, n, err)
		}
		_, _ = r.Seek(at, io.SeekStart)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("seek before the start: got no error")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Read(make([]byte, 1)); err == nil {
		t.Error("read after close: got no error")
	}
}

func testInvalidKeys(t *testing.T, s blob.Store) {
	for _, key := range []string{"", "/", "..", "../x", "a/..", "a/../b", "a//b", "/a", "a/", "a/b/c", "A", "a.b", "a\\b", "a b", "a\x00", "ä", ".writing", "-a", "_", "a%2fb", "a\n"} {
		if err := s.Put(ctx, key, bytes.NewReader(nil), 0, ""); err == nil {
			t.Errorf("put %q: got no error", key)
		}
		if _, _, err := s.Open(ctx, key); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open %q: %v", key, err)
		}
		if err := s.Delete(ctx, key); err == nil {
			t.Errorf("delete %q: got no error", key)
		}
	}
}

func testCancelledPut(t *testing.T, s blob.Store) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Put(cancelled, "cancelled", bytes.NewReader(randomBytes(1000)), 1000, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled put: %v, want context.Canceled", err)
	}
	if _, _, err := s.Open(ctx, "cancelled"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("open after a cancelled put: %v, want ErrNotFound", err)
	}
}

// testConcurrentPut checks that readers never see a mix of two values.
func testConcurrentPut(t *testing.T, s blob.Store) {
	value := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 50_000) }
	put(t, s, "busy", value(0))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 5 {
				put(t, s, "busy", value(i))
				r, _, err := s.Open(ctx, "busy")
				if err != nil {
					t.Error(err)
					return
				}
				data, err := io.ReadAll(r)
				_ = r.Close()
				if err == nil && (len(data) != 50_000 || bytes.Count(data, data[:1]) != 50_000) {
					t.Errorf("read a mix of two values: %d bytes", len(data))
				}
			}
		})
	}
	all.Wait()
	for i := range 4 {
		if err := s.Delete(ctx, "busy"); err != nil {
			t.Errorf("delete %d: %v", i, err)
		}
	}
}
