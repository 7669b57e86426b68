package httpx

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// FileLimit is how long a whole download may take.
const FileLimit = 10 * time.Minute

// File is a file of a stranger's that a call answers with.
type File struct {
	Name      string
	MediaType string
	// Tag names these bytes among all that the address may ever answer.
	Tag string
	// Saved says that it is to be saved, not shown.
	Saved bool
	// Content is its bytes.
	Content io.ReadSeeker
}

// Answer answers the bytes, or those of a range, or that they are known. Each piece
// has its time to leave; FileLimit, for all of them, is the caller's to set.
func (f File) Answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.MediaType)
	h.Set("Content-Disposition", f.disposition())
	// A file of a stranger must never act as a page of ours.
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("ETag", `"`+f.Tag+`"`)
	// ServeContent has ideas of its own of some ranges.
	wanted := oneRange(r.Header)
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	if wanted != "" {
		r.Header.Set("Range", wanted)
	}
	http.ServeContent(&fileWriter{patientWriter: patientWriter{w, http.NewResponseController(w)}}, r, "", time.Time{}, f.Content)
}

// fileWriter leaves out the text that ServeContent would send for a range that
// lies outside: Content-Range says what there is to say. Neither that nor a failed
// If-Match may be kept by anybody, whatever the file itself may.
type fileWriter struct {
	patientWriter
	silent bool
}

// WriteHeader writes the status.
func (c *fileWriter) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable || status == http.StatusPreconditionFailed {
		c.silent = true
		h := c.Header()
		h.Del("Content-Type")
		h.Del("Content-Disposition")
		h.Set("Content-Length", "0")
		h.Set("Cache-Control", "no-store")
	}
	c.patientWriter.WriteHeader(status)
}

// Write writes a piece of the body.
func (c *fileWriter) Write(p []byte) (int, error) {
	if c.silent {
		return len(p), nil
	}
	return c.patientWriter.Write(p)
}

// disposition is the Content-Disposition of a file (RFC 6266). The plain name is
// for clients that know no other.
func (f File) disposition() string {
	kind := "inline"
	if f.Saved {
		kind = "attachment"
	}
	plain := strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return '_'
		}
		return r
	}, f.Name)
	value := kind + `; filename="` + plain + `"`
	if plain != f.Name {
		value += "; filename*=UTF-8''" + extValue(f.Name)
	}
	return value
}

// extValue writes s as RFC 8187 wants it.
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
