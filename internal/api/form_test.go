package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
)

// heap is a spool in memory; it counts those that are open.
type heap struct {
	bytes.Buffer
	*bytes.Reader
	open *int
}

func (h *heap) Write(p []byte) (int, error)        { return h.Buffer.Write(p) }
func (h *heap) Read(p []byte) (int, error)         { return h.Buffer.Read(p) }
func (h *heap) WriteTo(w io.Writer) (int64, error) { return h.Buffer.WriteTo(w) }
func (h *heap) ReadByte() (byte, error)            { return h.Buffer.ReadByte() }
func (h *heap) UnreadByte() error                  { return h.Buffer.UnreadByte() }
func (h *heap) ReadRune() (rune, int, error)       { return h.Buffer.ReadRune() }
func (h *heap) UnreadRune() error                  { return h.Buffer.UnreadRune() }
func (h *heap) Len() int                           { return h.Buffer.Len() }
func (h *heap) Size() int64                        { return int64(h.Buffer.Len()) }
func (h *heap) Close() error                       { *h.open--; return nil }

func (h *heap) SHA256() string {
	sum := sha256.Sum256(h.Bytes())
	return hex.EncodeToString(sum[:])
}

func readForm(body, mediaType string) (form *api.Form, left int, err error) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", mediaType)
	form, err = api.ReadForm(httptest.NewRecorder(), r, func() (coach.Spool, error) {
		left++
		return &heap{open: &left}, nil
	}, "kind", "title")
	return form, left, err
}

// FuzzForm: whatever comes is a form within its bounds, or refused with a problem
// that is the caller's, and no spool is left.
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
				t.Fatalf("%v, %d spools are left", err, left)
			}
			return
		}
		if open := form.File != nil; open != (left == 1) {
			t.Fatalf("%d spools are left of one file or none", left)
		}
		for name, text := range form.Texts {
			if !utf8.ValidString(text) || len(text) > 8<<10 || name != "kind" && name != "title" {
				t.Fatalf("%q: %q", name, text)
			}
		}
		for _, fault := range form.Faults {
			if !utf8.ValidString(fault.Pointer) || len(fault.Pointer) > 250 {
				t.Fatalf("a fault at %q", fault.Pointer)
			}
		}
	})
}

// Two tries of one upload are one, whatever lies between their parts.
func TestFormFingerprint(t *testing.T) {
	body := func(boundary, title, file string) (string, string) {
		text := "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n" + title + "\r\n" +
			"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n" + file + "\r\n--B--\r\n"
		return strings.ReplaceAll(text, "--B", "--"+boundary), "multipart/form-data; boundary=" + boundary
	}
	print := func(boundary, title, file string) string {
		form, _, err := readForm(body(boundary, title, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(form.Print)
	}
	first := print("XX", "a", "1")
	if print("YYYYYY", "a", "1") != first {
		t.Error("another boundary makes another upload")
	}
	if print("XX", "b", "1") == first || print("XX", "a", "2") == first {
		t.Error("another upload is the same")
	}
}
