package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
)

// documentContent serves GET /api/coach/documents/{document_id}/content: to the
// owner, and a picture that is public to anybody.
func (s *Server) documentContent(w http.ResponseWriter, r *http.Request) error {
	content, err := s.openContent(r)
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

func (s *Server) openContent(r *http.Request) (*coach.Content, error) {
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
	return s.documents.Open(r.Context(), caller(r), id, size)
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

// answerContent answers the bytes: a PDF to be saved, a picture to be shown.
func answerContent(w http.ResponseWriter, r *http.Request, c *coach.Content) {
	file := c.Document.File
	tag := file.SHA256
	if c.Size != "" {
		tag += "-" + c.Size
	}
	if c.Public {
		h := w.Header()
		h.Set("Cache-Control", "public, max-age=60")
		h.Set("Vary", "Authorization")
	}
	httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: tag, Attachment: file.MediaType == coach.PDF, Content: c}.Serve(w, r)
}
