package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/blob/blobtest"
	"github.com/touchline/touchline/internal/platform/fault"
)

var ctx = context.Background()

func TestStoreConformance(t *testing.T) {
	t.Parallel()
	blobtest.Each(t, func(t *testing.T, address string) { blobtest.Run(t, blobtest.Open(t, address)) })
}

func TestServeContentRange(t *testing.T) {
	t.Parallel()
	blobtest.Each(t, func(t *testing.T, address string) {
		s := blobtest.Open(t, address)
		data := bytes.Repeat([]byte("0123456789"), 10_000)
		if err := s.Put(ctx, "a", bytes.NewReader(data), int64(len(data)), ""); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ header, want string }{{"bytes=99990-", "0123456789"}, {"bytes=5-7", "567"}, {"bytes=-3", "789"}} {
			file, _, err := s.Open(ctx, "a")
			if err != nil {
				t.Fatal(err)
			}
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.Header.Set("Range", tt.header)
			w.Header().Set("Content-Type", "text/plain")
			http.ServeContent(w, r, "", time.Time{}, file)
			if w.Code != http.StatusPartialContent || w.Body.String() != tt.want {
				t.Errorf("%s: got %d %q, want 206 %q", tt.header, w.Code, w.Body, tt.want)
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestFolder checks the file modes, that Delete removes temporary files, and that a
// symbolic link cannot lead out of the folder.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "files")
	s := blobtest.Open(t, "file:"+dir)
	const key = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"
	for _, k := range []string{key, key + "/small"} {
		if err := s.Put(ctx, k, strings.NewReader("bytes"), 5, ""); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]os.FileMode{"": 0o700, "21": 0o700, "21/" + key: 0o600, "21/" + key + ".small": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want %v", path, info, err, want)
		}
	}
	temp := filepath.Join(dir, ".writing", key+".0123456789abcdef")
	other := filepath.Join(dir, ".writing", key+".small.0123456789abcdef")
	for _, path := range []string{temp, other} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(ctx, key); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("temporary file of the deleted key: got %v, want removed", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("temporary file of another key: %v", err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "21", "link21")); err != nil {
		t.Skip(err)
	}
	if _, _, err := s.Open(ctx, "link21"); err == nil {
		t.Error("opened a symbolic link to a file outside the folder")
	}
}

// brokenReader fails on every read.
type brokenReader struct{ io.Reader }

func (brokenReader) Seek(int64, int) (int64, error) { return 0, nil }

func TestFailingStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	wantDown := func(t *testing.T, err error) {
		t.Helper()
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("err = %v, want unavailable", err)
		}
		if err != nil && strings.Contains(err.Error(), blobtest.Secret) {
			t.Errorf("error contains the secret: %v", err)
		}
	}
	all := func(t *testing.T, s blob.Store) {
		t.Helper()
		var wait sync.WaitGroup // each call pauses before it sends the request again
		defer wait.Wait()
		wait.Go(func() { wantDown(t, s.Put(ctx, "a", strings.NewReader("x"), 1, "")) })
		wait.Go(func() {
			_, _, err := s.Open(ctx, "a")
			wantDown(t, err)
		})
		wait.Go(func() { wantDown(t, s.Delete(ctx, "a")) })
	}
	t.Run("deleted folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "files")
		s := blobtest.Open(t, "file:"+dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		wantDown(t, s.Put(ctx, "a", strings.NewReader("x"), 1, ""))
	})
	t.Run("unreadable source", func(t *testing.T) {
		blobtest.Each(t, func(t *testing.T, address string) {
			wantDown(t, blobtest.Open(t, address).Put(ctx, "a", brokenReader{iotest.ErrReader(errors.New("disk"))}, 1, ""))
		})
	})
	t.Run("connection refused", func(t *testing.T) {
		t.Parallel()
		// Port 1 is reserved. The port of a closed server can become the port of another test's server.
		all(t, blobtest.Open(t, "s3://k:s@files?endpoint=http://127.0.0.1:1"))
	})
	t.Run("wrong credentials", func(t *testing.T) {
		all(t, blobtest.Open(t, "s3://other:s@files?endpoint="+blobtest.New(t).URL))
	})
	t.Run("no such bucket", func(t *testing.T) {
		all(t, blobtest.Open(t, "s3://"+blobtest.Key+":s@nowhere?endpoint="+blobtest.New(t).URL))
	})
	t.Run("server fails", func(t *testing.T) {
		server := blobtest.New(t)
		fail := func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInsufficientStorage) })
		}
		server.Wrap.Store(&fail)
		all(t, blobtest.Open(t, server.Address()))
	})
	for _, status := range []int{http.StatusOK, http.StatusNotFound} {
		t.Run(fmt.Sprintf("proxy responds %d itself", status), func(t *testing.T) {
			t.Parallel()
			server := blobtest.New(t)
			reply := func(http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/html")
					w.WriteHeader(status)
					_, _ = io.WriteString(w, "<html>proxy</html>")
				})
			}
			server.Wrap.Store(&reply)
			all(t, blobtest.Open(t, server.Address()))
		})
	}
	t.Run("response cut off", func(t *testing.T) {
		t.Parallel()
		server := blobtest.New(t)
		s := blobtest.Open(t, server.Address())
		if err := s.Put(ctx, "a", strings.NewReader(strings.Repeat("x", 100_000)), 100_000, ""); err != nil {
			t.Fatal(err)
		}
		tear := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					next.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Length", "100000")
				w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
				_, _ = w.Write(make([]byte, 1000))
				panic(http.ErrAbortHandler)
			})
		}
		server.Wrap.Store(&tear)
		r, _, err := s.Open(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(r)
		wantDown(t, err)
		_ = r.Close()
	})
}

// TestEarlyResponse checks that an attempt no longer reads the content when the next one does. The
// race detector reports a read of the first one.
func TestEarlyResponse(t *testing.T) {
	t.Parallel()
	server := blobtest.New(t)
	var puts atomic.Int32
	busy := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && puts.Add(1) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable) // before it has read the content
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	server.Wrap.Store(&busy)
	s := blobtest.Open(t, server.Address())
	content := strings.Repeat("0123456789", 100_000)
	if err := s.Put(ctx, "a", strings.NewReader(content), int64(len(content)), ""); err != nil {
		t.Fatal(err)
	}
	r, _, err := s.Open(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != content || puts.Load() != 2 {
		t.Errorf("after %d attempts the object has %d bytes, want %d after 2; %v", puts.Load(), len(got), len(content), err)
	}
}

// TestFileNamesAreObjectNames: docs/operating.md says how to move files between a folder and
// a bucket.
func TestFileNamesAreObjectNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := blobtest.Open(t, "file:"+dir)
	keys := []string{"0198f2c4-7b00-7e21-a1c4-5d2f9e8b6a10", "0198f2c4-7b00-7e21-a1c4-5d2f9e8b6a10/128", "touchline-store"}
	for _, key := range keys {
		if err := old.Put(ctx, key, strings.NewReader(key), int64(len(key)), ""); err != nil {
			t.Fatal(err)
		}
	}
	address, back := blobtest.New(t).Address(), t.TempDir()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	client, err := minio.NewCore(strings.TrimPrefix(u.Query().Get("endpoint"), "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(blobtest.Key, blobtest.Secret, ""), Region: u.Query().Get("region"),
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "[^.]*", "*"))
	if err != nil || len(files) != len(keys) {
		t.Fatalf("files %v, %v; want %d", files, err, len(keys))
	}
	for _, file := range files {
		name := filepath.Base(file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		object := strings.Trim(u.Path, "/") + "/" + name
		if _, err := client.PutObject(ctx, u.Host, object, bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]),
			minio.PutObjectOptions{DisableContentSha256: true}); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(name, ".")
		if err := client.FGetObject(ctx, u.Host, object, filepath.Join(back, first[len(first)-2:], name), minio.GetObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, store := range []string{address, "file:" + back} {
		for _, key := range keys {
			r, _, err := blobtest.Open(t, store).Open(ctx, key)
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			data, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil || string(data) != key {
				t.Errorf("%s: %q, %v", key, data, err)
			}
		}
	}
}

// TestErrorNamesCode: the error of a bucket names the file store and the code of S3.
func TestErrorNamesCode(t *testing.T) {
	t.Parallel()
	server := blobtest.New(t)
	full := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusInsufficientStorage)
			_, _ = io.WriteString(w, "<Error><Code>XMinioStorageFull</Code><Message>Delete a few objects.</Message></Error>")
		})
	}
	server.Wrap.Store(&full)
	err := blobtest.Open(t, server.Address()).Put(ctx, "a", strings.NewReader("x"), 1, "")
	if want := "file store: put a: XMinioStorageFull: Delete a few objects."; fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestStalledDownload: the error of a download that stalls does not look like the error of a client
// that has gone.
func TestStalledDownload(t *testing.T) {
	t.Parallel()
	server := blobtest.New(t)
	s := blobtest.Open(t, server.Address())
	if err := s.Put(ctx, "a", strings.NewReader(strings.Repeat("x", 100_000)), 100_000, ""); err != nil {
		t.Fatal(err)
	}
	stall := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Length", "100000")
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			_, _ = w.Write(make([]byte, 1000))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
	}
	server.Wrap.Store(&stall)
	blob.SetStall(s, 50*time.Millisecond)
	r, _, err := s.Open(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(r)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if want := "file store: read a: the server stopped sending"; fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPutIsRetried(t *testing.T) {
	t.Parallel()
	server := blobtest.New(t)
	s := blobtest.Open(t, server.Address())
	failed := false
	once := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !failed {
				failed = true
				_, _ = io.CopyN(io.Discard, r.Body, 10_000)
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	server.Wrap.Store(&once)
	if err := s.Put(ctx, "a", strings.NewReader(strings.Repeat("x", 100_000)), 100_000, ""); err != nil || !failed {
		t.Fatalf("first request failed: %t, err = %v", failed, err)
	}
	if server.Puts.Load() != 1 {
		t.Errorf("%d objects stored, want 1", server.Puts.Load())
	}
}

// TestInvalidAddresses also checks that no error contains the secret.
func TestInvalidAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "file:", "ftp://x", "s3:", "s3://", "s3://bucket", "s3://key@bucket", "s3://key:hunter2@bucket?endpoint=ftp://x",
		"s3://key:hunter2@bucket?endpoint=http://host/path", "s3://key:hunter2@%zz",
	} {
		_, err := blob.Open(ctx, address, blob.Options{Getenv: func(string) string { return "" }})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
	env := map[string]string{"AWS_ACCESS_KEY_ID": blobtest.Key, "AWS_SECRET_ACCESS_KEY": blobtest.Secret}
	s, err := blob.Open(ctx, "s3://files?endpoint="+blobtest.New(t).URL, blob.Options{Getenv: func(k string) string { return env[k] }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "a", strings.NewReader("x"), 1, ""); err != nil {
		t.Errorf("credentials from the environment: %v", err)
	}
}
