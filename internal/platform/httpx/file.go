package httpx

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// FileTimeout limits the time of a whole download.
const FileTimeout = 10 * time.Minute

// File is an untrusted file, uploaded by a user, that a handler sends.
type File struct {
	Name      string
	MediaType string
	// ETag identifies the content, without quotes. Two versions of the file at the same
	// URL have different ones.
	ETag string
	// Attachment tells the browser to save the file instead of showing it.
	Attachment bool
	// Framed lets a page of the service show a PDF in a frame. Browsers run no viewer in a
	// sandbox; the viewer runs the scripts of a PDF in a separate process, without access to
	// pages and cookies.
	Framed  bool
	Content io.ReadSeeker
}

// framedPDF allows no script. Chromium puts a PDF into a page of its viewer, which has an
// <embed> and a style.
const framedPDF = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"

// Serve sends the file, one range of it, or 304 if the client has it. It limits the
// time of each write to WriteTimeout, and the time of all to FileTimeout. A range outside the
// file is range_not_satisfiable and an If-Match that fails precondition_failed: then Serve
// has set headers, but written nothing. If the content cannot be read to its end, Serve
// panics with an incompleteError.
func (f File) Serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", f.MediaType)
	h.Set("Content-Disposition", f.disposition())
	// An untrusted file must not run script with the origin of the service.
	policy := "default-src 'none'; sandbox"
	if f.Framed && f.MediaType == "application/pdf" {
		policy = framedPDF
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("ETag", `"`+f.ETag+`"`)
	// ServeContent reads some ranges differently from RFC 9110: see singleRange.
	byteRange := singleRange(r.Header)
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	if byteRange != "" {
		r.Header.Set("Range", byteRange)
	}
	out := &fileWriter{deadlineWriter: deadlineWriter{w, http.NewResponseController(w), time.Now().Add(FileTimeout)}}
	out.relax()
	content := &contentReader{ReadSeeker: f.Content}
	http.ServeContent(out, r, "", time.Time{}, content)
	if content.err != nil && r.Context().Err() == nil {
		panic(incompleteError{fmt.Errorf("send a file: %w", content.err)})
	}
	out.extend() // for the end of the response, which the server writes
	if out.refused != nil {
		for _, name := range []string{"Content-Type", "Content-Disposition", "Content-Length"} {
			h.Del(name)
		}
		h.Set("Cache-Control", "no-store")
		return out.refused
	}
	return nil
}

// contentReader keeps the error of a read, which ServeContent drops.
type contentReader struct {
	io.ReadSeeker
	err error
}

// Read implements io.Reader.
func (c *contentReader) Read(p []byte) (int, error) {
	n, err := c.ReadSeeker.Read(p)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// fileWriter does not write a 416 or 412 of ServeContent, whose body is plain text.
type fileWriter struct {
	deadlineWriter
	refused error
}

// WriteHeader writes the status, unless it is 416 or 412.
func (w *fileWriter) WriteHeader(status int) {
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		w.refused = fault.New(fault.RangeNotSatisfiable, "range_not_satisfiable", "The file ends before this range. Content-Range has its length.")
	case http.StatusPreconditionFailed:
		w.refused = fault.New(fault.PreconditionFailed, "precondition_failed", "The file has changed since you read it. ETag has its current version.")
	default:
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write writes p, or drops it after 416 and 412.
func (w *fileWriter) Write(p []byte) (int, error) {
	if w.refused != nil {
		return len(p), nil
	}
	return w.deadlineWriter.Write(p)
}

// disposition returns the Content-Disposition of the file (RFC 6266). Old clients
// read only the ASCII name.
func (f File) disposition() string {
	kind := "inline"
	if f.Attachment {
		kind = "attachment"
	}
	ascii := strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || strings.ContainsRune(`"\=?%;`, r) { // also encoded words, which some browsers decode
			return '_'
		}
		return r
	}, f.Name)
	value := kind + `; filename="` + ascii + `"`
	if ascii != f.Name {
		value += "; filename*=UTF-8''" + extValue(f.Name)
	}
	return value
}

// extValue encodes s for filename* (RFC 8187).
func extValue(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
