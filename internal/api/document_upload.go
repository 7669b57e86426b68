package api

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
)

// CloseConnection is the response to an upload whose body is not read to its end.
var CloseConnection = Response{Header: http.Header{"Connection": {"close"}}}

// readForm reads an upload: texts with these names, and a file. The caller closes the
// form.
func (s *Server) readForm(r Request[endpoint.Upload], names ...string) (*upload.Form, error) {
	body := s.UploadBody(r.Body)
	defer body.Done()
	return upload.ReadForm(body, r.Header, s.Documents.NewSpool, upload.Fields{Texts: names})
}

// UploadBody returns the body of an upload, whose time is limited. The caller calls its Done.
func (s *Server) UploadBody(u endpoint.Upload) *upload.Body {
	return upload.NewBody(u, u.Control, s.UploadTimeouts)
}

// AcquireUpload takes a slot for an upload of the caller.
func (s *Server) AcquireUpload(_ context.Context, caller Caller) (release func(), err error) {
	return s.Uploads.Acquire(caller.AccountID, s.Now())
}

// addDocument serves POST /api/coach/documents.
func (s *Server) addDocument(ctx context.Context, r Request[endpoint.Upload]) (Response, error) {
	form, err := s.readForm(r, "kind", "title", "issuer", "issued_on", "expires_on")
	if err != nil {
		return CloseConnection, err
	}
	defer form.Close()
	ctx, cancel := context.WithTimeout(ctx, upload.WorkTimeout)
	defer cancel()
	by := r.Caller.Actor
	return s.HandleOnce(ctx, r.Meta, keyed.Request{
		Owner: by.AccountID, Keep: keyed.Keep, Timeout: upload.WorkTimeout, Body: form.Fingerprint(),
		MayRepeat: func(ctx context.Context, id string) error {
			_, err := s.Documents.Document(ctx, by, id)
			return err
		},
		Rebuild: func(ctx context.Context, w idempotency.Work) (Response, error) {
			d, err := s.Documents.Document(ctx, by, w.ID)
			if err != nil {
				return Response{}, err
			}
			return endpoint.Created("/api/coach/documents/"+d.ID, newDocumentResponse(d)), nil
		},
		Handle: func(ctx context.Context, f wire.Faults) (Response, error) {
			f = append(f, form.Faults...)
			draft := form.Document(&f)
			if err := s.checkDraft(ctx, by, draft, f); err != nil {
				return Response{}, err
			}
			d, err := s.Documents.Add(ctx, by, draft)
			if err != nil {
				return Response{}, err
			}
			return endpoint.Created("/api/coach/documents/"+d.ID, newDocumentResponse(d)).WithSubject(d.ID), nil
		},
	})
}

// checkDraft returns every fault of an upload as an error, with those of its file.
func (s *Server) checkDraft(ctx context.Context, by actor.Actor, draft coach.Upload, f wire.Faults) error {
	if f.Has("/file") {
		return f.Err()
	}
	_, more, err := s.Documents.Check(ctx, by, draft)
	if err != nil {
		return err
	}
	for _, field := range more {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
	return f.Err()
}

// replaceContent serves PUT /api/coach/documents/{document_id}/content.
func (s *Server) replaceContent(ctx context.Context, r Request[endpoint.Upload]) (Response, error) {
	form, err := s.readForm(r)
	if err != nil {
		return CloseConnection, err
	}
	defer form.Close()
	ctx, cancel := context.WithTimeout(ctx, upload.WorkTimeout)
	defer cancel()
	id, err := r.PathID("document_id")
	if err != nil {
		return Response{}, err
	}
	old, err := s.Documents.Document(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	draft := coach.Upload{Kind: old.Kind, FileName: form.FileName}
	if form.File != nil {
		draft.File = form.File
	}
	if err := s.checkDraft(ctx, r.Caller.Actor, draft, form.Faults); err != nil {
		return Response{}, err
	}
	d, kyc, err := s.Documents.Replace(ctx, r.Caller.Actor, id, draft)
	if err != nil {
		return Response{}, err
	}
	out := newDocumentResponse(d)
	state := s.kycState(kyc)
	out.KYCState = &state
	return endpoint.OK(out), nil
}
