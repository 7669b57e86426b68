package upload_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/upload"
)

// memorySpool is a spool in memory. It counts the open spools.
type memorySpool struct {
	bytes.Buffer
	*bytes.Reader
	open *int
}

func (h *memorySpool) Write(p []byte) (int, error)        { return h.Buffer.Write(p) }
func (h *memorySpool) Read(p []byte) (int, error)         { return h.Buffer.Read(p) }
func (h *memorySpool) WriteTo(w io.Writer) (int64, error) { return h.Buffer.WriteTo(w) }
func (h *memorySpool) ReadByte() (byte, error)            { return h.Buffer.ReadByte() }
func (h *memorySpool) UnreadByte() error                  { return h.Buffer.UnreadByte() }
func (h *memorySpool) ReadRune() (rune, int, error)       { return h.Buffer.ReadRune() }
func (h *memorySpool) UnreadRune() error                  { return h.Buffer.UnreadRune() }
func (h *memorySpool) Len() int                           { return h.Buffer.Len() }
func (h *memorySpool) Size() int64                        { return int64(h.Buffer.Len()) }
func (h *memorySpool) Close() error                       { *h.open--; return nil }

func (h *memorySpool) SHA256() string {
	sum := sha256.Sum256(h.Bytes())
	return hex.EncodeToString(sum[:])
}

func readForm(body, mediaType string) (form *upload.Form, left int, err error) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", mediaType)
	content := upload.NewBody(r.Body, http.NewResponseController(httptest.NewRecorder()), upload.Timeouts{})
	form, err = upload.ReadForm(content, r.Header, func() (upload.Spool, error) {
		left++
		return &memorySpool{open: &left}, nil
	}, upload.Fields{Texts: []string{"kind", "title"}})
	return form, left, err
}

// FuzzForm checks that any body is a form within its limits, or an error of the client that
// leaves no spool open.
func FuzzForm(f *testing.F) {
	const whole = "--XX\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nidentity\r\n" +
		"--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n%PDF-\r\n--XX--\r\n"
	f.Add(whole, "multipart/form-data; boundary=XX")
	f.Add(whole[:100], "multipart/form-data; boundary=XX")
	f.Add(strings.ReplaceAll(whole, "file", "kind"), "multipart/form-data; boundary=XX")
	f.Add(whole, "multipart/form-data; boundary=\"X X\"")
	f.Add("--XX\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\n\x00\r\n--XX--", "multipart/form-data; boundary=XX")
	f.Fuzz(func(t *testing.T, body, mediaType string) {
		form, left, err := readForm(body, mediaType)
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.Malformed && kind != fault.TooLarge || left != 0 {
				t.Fatalf("got %v, %d open spools, want a client error and none", err, left)
			}
			return
		}
		if open := form.File != nil; open != (left == 1) {
			t.Fatalf("got %d open spools", left)
		}
		for name, text := range form.Texts {
			if !utf8.ValidString(text) || len(text) > 8<<10 || name != "kind" && name != "title" {
				t.Fatalf("got field %q with %q", name, text)
			}
		}
		for _, fault := range form.Faults {
			if !utf8.ValidString(fault.Pointer) || len(fault.Pointer) > 250 {
				t.Fatalf("got a fault at %q", fault.Pointer)
			}
		}
	})
}

// TestFormFingerprint checks that a repeated upload has the same fingerprint despite its
// other boundary.
func TestFormFingerprint(t *testing.T) {
	body := func(boundary, title, file string) (string, string) {
		text := "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n" + title + "\r\n" +
			"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n" + file + "\r\n--B--\r\n"
		return strings.ReplaceAll(text, "--B", "--"+boundary), "multipart/form-data; boundary=" + boundary
	}
	fingerprint := func(boundary, title, file string) string {
		form, _, err := readForm(body(boundary, title, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(form.Fingerprint())
	}
	first := fingerprint("XX", "a", "1")
	if fingerprint("YYYYYY", "a", "1") != first {
		t.Error("another boundary changed the fingerprint")
	}
	if fingerprint("XX", "b", "1") == first || fingerprint("XX", "a", "2") == first {
		t.Error("another title or file kept the fingerprint")
	}
}
