package api

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// documentContent serves GET /api/coach/documents/{document_id}/content to the owner,
// and a public picture to anyone.
func (s *Server) documentContent(ctx context.Context, r Request[NoBody]) (Response, error) {
	content, err := s.openContent(ctx, r)
	if fault.KindOf(err) == fault.NotFound {
		return Response{}, errNoContent(r.Caller, err)
	}
	if err != nil {
		return Response{}, err
	}
	if err := r.Faults.Err(); err != nil {
		_ = content.Close()
		return Response{}, err
	}
	return contentResponse(content), nil
}

func (s *Server) openContent(ctx context.Context, r Request[NoBody]) (*coach.Content, error) {
	id, err := r.PathID("document_id")
	if err != nil {
		return nil, err
	}
	size := r.Query.Get("size")
	if r.Query.Has("size") && size == "" {
		size = "?" // an empty size is unknown, not the original
	}
	return s.Documents.Open(ctx, r.Caller.Actor, id, size)
}

// errNoContent returns why the caller gets no content: not signed in, not a coach, or
// notFound.
func errNoContent(caller Caller, notFound error) error {
	if caller.SignInError != nil {
		return caller.SignInError
	}
	if caller.Role != actor.Coach {
		return errRole()
	}
	return notFound
}

// contentResponse sends a PDF as an attachment and a picture inline.
func contentResponse(c *coach.Content) Response {
	file := c.Document.File
	etag := file.SHA256
	if c.Size != "" {
		etag += "-" + c.Size
	}
	h := http.Header{}
	if c.Public {
		h.Set("Cache-Control", "public, max-age=60")
	}
	return Response{Header: h, Write: func(w http.ResponseWriter, r *http.Request) error {
		defer c.Close()
		if c.Public {
			w.Header().Add("Vary", "Authorization")
		}
		return httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: etag, Attachment: file.MediaType == coach.PDF, Content: c}.Serve(w, r)
	}}
}
