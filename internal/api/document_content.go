package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
)

// contentLimit is how long a whole download may take.
const contentLimit = 10 * time.Minute

// documentContent serves GET /api/coach/documents/{document_id}/content: to the
// owner, and a picture that is public to anybody.
func (s *Server) documentContent(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), contentLimit)
	defer cancel()
	content, err := s.openContent(ctx, r)
	if fault.KindOf(err) == fault.NotFound {
		return mayNot(r, err)
	}
	if err != nil {
		return err
	}
	defer content.Close()
	answerContent(w, r, content)
	return nil
}

func (s *Server) openContent(ctx context.Context, r *http.Request) (*coach.Content, error) {
	id, err := pathID(r, "document_id")
	if err != nil {
		return nil, err
	}
	size := ""
	if query := r.URL.Query(); query.Has("size") {
		if size = query.Get("size"); size == "" {
			size = "?" // there, and no size
		}
	}
	return s.documents.Open(ctx, caller(r), id, size)
}

// mayNot says why the caller gets nothing: who is not signed in shall, and who is
// no coach cannot own anything here.
func mayNot(r *http.Request, err error) error {
	c := callOf(r.Context())
	if c.refused != nil {
		return c.refused
	}
	if c.by.Role != actor.Coach {
		return errRole()
	}
	return err
}

// answerContent answers the bytes, or those of a range, or that they are known.
func answerContent(w http.ResponseWriter, r *http.Request, c *coach.Content) {
	file := c.Document.File
	h := w.Header()
	h.Set("Content-Type", file.MediaType)
	h.Set("Content-Disposition", disposition(file))
	// A file of a stranger must never act as a page of ours.
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	tag := file.SHA256
	if c.Size != "" {
		tag += "-" + c.Size
	}
	h.Set("ETag", `"`+tag+`"`)
	if c.Public {
		h.Set("Cache-Control", "public, max-age=60")
		h.Set("Vary", "Authorization")
	}
	// ServeContent has ideas of its own of some ranges.
	wanted := oneRange(r.Header)
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	if wanted != "" {
		r.Header.Set("Range", wanted)
	}
	http.ServeContent(&contentWriter{patientWriter: patientWriter{w, http.NewResponseController(w)}}, r, "", time.Time{}, c)
}

// contentWriter leaves out the text that ServeContent would send for a range that
// lies outside: Content-Range says what there is to say. Neither that nor a failed
// If-Match may be kept by anybody, whatever the file itself may.
type contentWriter struct {
	patientWriter
	silent bool
}

// WriteHeader writes the status.
func (c *contentWriter) WriteHeader(status int) {
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
func (c *contentWriter) Write(p []byte) (int, error) {
	if c.silent {
		return len(p), nil
	}
	return c.patientWriter.Write(p)
}

// disposition is the Content-Disposition of a file (RFC 6266): pictures are shown,
// everything else is saved. The plain name is for clients that know no other.
func disposition(file coach.StoredFile) string {
	kind := "inline"
	if file.MediaType == coach.PDF {
		kind = "attachment"
	}
	plain := strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return '_'
		}
		return r
	}, file.Name)
	value := kind + `; filename="` + plain + `"`
	if plain != file.Name {
		value += "; filename*=UTF-8''" + extValue(file.Name)
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
