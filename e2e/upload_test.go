package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/blob/blobtest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/picture/picturetest"
	"github.com/touchline/touchline/internal/platform/scan/scantest"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestUploadIdempotencyKey: a key repeats the first response, even with another
// multipart boundary, but not for another file.
func TestUploadIdempotencyKey(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		post := func(key string, n int, title string) *touchlinetest.Response {
			// Each multipart writer has another boundary.
			body, header := touchlinetest.Form(map[string]string{"kind": "identity", "title": title}, "a.pdf", touchlinetest.PDF(3000, n))
			return c.Call(t, "POST", "/api/coach/documents", body, header, "Idempotency-Key: "+key)
		}
		first, again := post("k", 1, "Passport").Want(t, 201), post("k", 1, "Passport").Want(t, 201)
		if string(first.Body) != string(again.Body) || again.Header.Get("Location") != first.Header.Get("Location") {
			t.Errorf("got %s\nwant %s", again.Body, first.Body)
		}
		post("k", 2, "Passport").Want(t, 422, "idempotency_key_reused")
		post("k", 1, "Visa").Want(t, 422, "idempotency_key_reused")
		if got := validationFaults(post(`"broken`, 1, "")); len(got) != 1 || got[0] != "/Idempotency-Key invalid_value" {
			t.Errorf("invalid key: got %v", got)
		}
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				body, header := touchlinetest.Form(map[string]string{"kind": "identity"}, "b.pdf", touchlinetest.PDF(50_000, 3))
				a, err := s.Do(context.Background(), "POST", "/api/coach/documents", c.Access, body, header, "Idempotency-Key: race")
				if err != nil || a.Status != 201 && a.Status != 409 {
					t.Errorf("%v, %v", a, err)
				}
			})
		}
		wait.Wait()
		if n := len(c.Call(t, "GET", "/api/coach/documents", nil).Items()); n != 2 {
			t.Errorf("got %d documents, want 2", n)
		}
		c.Call(t, "DELETE", first.Header.Get("Location"), nil).Want(t, 200)
		post("k", 1, "Passport").Want(t, 404, "not_found")
	}, touchlinetest.ManyConnections)
}

// startUpload sends the header of an upload with this Content-Length and returns
// the connection.
func startUpload(t *testing.T, s *touchlinetest.Service, c *touchlinetest.User, length string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /api/coach/documents HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s\r\n\r\n", c.Access, multiPart, length)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// readStatus reads the status of a response.
func readStatus(t *testing.T, conn net.Conn) int {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(waitLimit))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestSlowUploads: a slow upload succeeds, a stalled one ends, and neither delays
// others.
func TestSlowUploads(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.NewWith(t, url, func(o *server.Options) {
			o.UploadTimeouts = upload.Timeouts{Stall: time.Second, Arrive: 4 * time.Second}
		}, touchlinetest.ManyConnections)
		c := s.Coach(t, "+919812300001")
		body := certificateForm("a.pdf", touchlinetest.PDF(2000, 1))
		// The upload takes longer than the stall timeout, but no pause in it does.
		slow := startUpload(t, s, c, fmt.Sprint("Content-Length: ", len(body)))
		stalled, trickling := startUpload(t, s, c, "Content-Length: 5000"), startUpload(t, s, c, "Transfer-Encoding: chunked")
		_, _ = io.WriteString(stalled, body[:100])
		var wait sync.WaitGroup
		wait.Go(func() {
			for part := range 8 {
				_, _ = io.WriteString(slow, body[part*len(body)/8:(part+1)*len(body)/8])
				time.Sleep(250 * time.Millisecond)
			}
		})
		wait.Go(func() {
			for i := 0; ; i++ { // one byte every 100 ms
				if _, err := io.WriteString(trickling, "1\r\n-\r\n"); err != nil || i > 100 {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		wait.Go(func() {
			for range 10 { // other requests are not delayed
				c.Upload(t, "identity", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201)
			}
		})
		if status := readStatus(t, slow); status != 201 {
			t.Errorf("slow upload: got %d", status)
		}
		for name, conn := range map[string]net.Conn{"stalled": stalled, "trickling": trickling} {
			if status := readStatus(t, conn); status != 400 {
				t.Errorf("%s upload: got %d", name, status)
			}
		}
		wait.Wait()
		aborted := startUpload(t, s, c, "Content-Length: 5000")
		_, _ = io.WriteString(aborted, body[:500])
		_ = aborted.Close()
		for length, want := range map[string]int{"Content-Length: 10551297": 413, "Content-Length: -1": 400, "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\nContent-Encoding: br": 415} {
			if status := readStatus(t, startUpload(t, s, c, length)); status != want {
				t.Errorf("%s: got %d, want %d at once", length, status, want)
			}
		}
		eventually(t, "temporary files of uploads are deleted", func() bool { return len(spoolFiles(t, s)) == 0 })
	})
}

// TestFileStoreUnavailable: during an outage of the file store, uploads get 503
// and change nothing, and existing documents stay.
func TestFileStoreUnavailable(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		bucket := blobtest.New(t)
		s := touchlinetest.New(t, url, func(c *config.Config) { c.Files = config.SecretURL(bucket.Address()) })
		c := s.Coach(t, "+919812300001")
		d := c.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201)
		failing := func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
		}
		bucket.Wrap.Store(&failing)
		c.Upload(t, "certification", "b.pdf", touchlinetest.PDF(100, 2)).Want(t, 503, "unavailable")
		c.Call(t, "GET", d.String("content_url"), nil).Want(t, 503, "unavailable")
		c.Call(t, "DELETE", d.Header.Get("Location"), nil).Want(t, 200) // its file is deleted later
		if n := len(c.Call(t, "GET", "/api/coach/documents", nil).Want(t, 200).Items()); n != 0 {
			t.Errorf("got %d documents", n)
		}
		const scheduled = `SELECT count(*) FROM blobs WHERE ends_at IS NOT NULL`
		db := openTables(t, s)
		if n := queryOne[int64](t, db, scheduled); n == 0 {
			t.Error("no blob is scheduled for deletion")
		}
		bucket.Wrap.Store(nil)
		s.Clock.Advance(2 * time.Hour)
		c = renewTokens(t, c)
		c.Upload(t, "certification", "b.pdf", touchlinetest.PDF(100, 2)).Want(t, 201)
		eventually(t, "the scheduled blobs are deleted", func() bool {
			s.Clock.Advance(fileSweepPeriod)
			return queryOne[int64](t, db, scheduled) == 0
		})
	})
}

// TestScannerUnavailable: without the configured scanner, no upload is accepted.
func TestScannerUnavailable(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		c.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 503, "unavailable")
		if n := queryOne[int64](t, openTables(t, s), `SELECT count(*) FROM blobs`); n != 0 {
			t.Errorf("got %d blobs that were not scanned", n)
		}
	}, func(c *config.Config) { c.ClamAV = "unix:/nowhere/clamd.sock" })
}

// TestScanner: a virus is refused and not stored.
func TestScanner(t *testing.T) {
	t.Parallel()
	clamd := &scantest.Clamd{TB: t, Limit: 25 << 20}
	address := clamd.Listen("tcp", "127.0.0.1:0")
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		c.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201)
		infected := bytes.Replace(touchlinetest.PDF(200, 2), []byte("....."), []byte(scantest.Eicar), 1)
		refused := c.Upload(t, "certification", "b.pdf", infected).Want(t, 422, "validation_failed")
		if got := validationFaults(refused); len(got) != 1 || got[0] != "/file infected" {
			t.Errorf("got faults %v", got)
		}
		if n := len(c.Call(t, "GET", "/api/coach/documents", nil).Want(t, 200).Items()); n != 1 {
			t.Errorf("got %d documents", n)
		}
		if n := queryOne[int64](t, openTables(t, s), `SELECT count(*) FROM blobs`); n != 1 {
			t.Errorf("got %d blobs", n)
		}
	}, func(cfg *config.Config) { cfg.ClamAV = address })
}

// TestPublicPicture: the picture of a listed coach who shows it is public; all
// other documents are private.
func TestPublicPicture(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		picture := c.Upload(t, "profile_picture", "me.jpg", picturetest.JPEG(picturetest.FourCorners(400, 300))).Want(t, 201).String("content_url")
		certificate := c.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201).String("content_url")
		c.AddPlayer(t, touchlinetest.Minor("+919812300011", ""))
		guardian := s.SignIn(t, "guardian", "+919812300011")
		other := s.Coach(t, "+919812300002")
		s.Call(t, "GET", picture, "", nil).Want(t, 401, "token_missing")
		guardian.Call(t, "GET", picture, nil).Want(t, 403, "role_not_allowed")
		other.Call(t, "GET", picture, nil).Want(t, 404)
		c.Call(t, "PUT", "/api/coach/visibility", map[string]any{"visible": true, "show": []string{"name", "profile_picture"}}).Want(t, 200)
		a := s.Call(t, "GET", picture+"?size=small", "", nil).Want(t, 200)
		if a.Header.Get("Cache-Control") != "public, max-age=60" || a.Header.Get("ETag") == "" {
			t.Errorf("public picture: got headers %v", a.Header)
		}
		s.Call(t, "GET", picture+"?size=small", "", nil, "If-None-Match: "+a.Header.Get("ETag")).Want(t, 304)
		s.Call(t, "GET", picture, "nonsense", nil).Want(t, 200)
		s.Call(t, "HEAD", picture, "", nil).Want(t, 200)
		s.Call(t, "GET", picture, "", nil, "Range: bytes=0-1,4-5").Want(t, 200)
		guardian.Call(t, "GET", picture, nil).Want(t, 200)
		if own := c.Call(t, "GET", picture, nil).Want(t, 200); own.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("own document: got headers %v", own.Header)
		}
		s.Call(t, "GET", certificate, "", nil).Want(t, 401)
		other.Call(t, "GET", certificate, nil).Want(t, 404)
		c.Call(t, "PUT", "/api/coach/visibility", map[string]any{"visible": true, "show": []string{"name"}}).Want(t, 200)
		s.Call(t, "GET", picture, "", nil).Want(t, 401)
	})
}

// TestDeletedFilesAreRemoved: files of deleted documents are deleted within
// minutes.
func TestDeletedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		d := c.Upload(t, "profile_picture", "me.jpg", picturetest.JPEG(picturetest.FourCorners(400, 300))).Want(t, 201)
		folder := strings.TrimPrefix(s.Config.Files.Reveal(), "file:")
		files := func() (n int) {
			_ = filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					n++
				}
				return nil
			})
			return n
		}
		before := files()
		c.Call(t, "DELETE", d.Header.Get("Location"), nil).Want(t, 200)
		s.Clock.Advance(fileSweepPeriod)
		eventually(t, "the files are deleted", func() bool { return files() == before-3 })
	})
}
