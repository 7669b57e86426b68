package api

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/wire"
)

// closeConnection is the response to an upload whose body is not read to its end.
var closeConnection = Response{Header: http.Header{"Connection": {"close"}}}

// readForm reads an upload: texts with these names, and a file. The caller closes the
// form.
func (s *Server) readForm(r Request[endpoint.Upload], names ...string) (*form, error) {
	body := s.uploadBody(r.Body)
	defer body.done()
	fr := &formReader{body: body, names: names, spool: s.Documents.NewSpool}
	return fr.read(r.Header)
}

// addDocument serves POST /api/coach/documents.
func (s *Server) addDocument(ctx context.Context, r Request[endpoint.Upload]) (Response, error) {
	form, err := s.readForm(r, "kind", "title", "issuer", "issued_on", "expires_on")
	if err != nil {
		return closeConnection, err
	}
	defer form.close()
	ctx, cancel := context.WithTimeout(ctx, uploadWorkTimeout)
	defer cancel()
	by := r.Caller.Actor
	return s.handleOnce(ctx, r.Meta, keyed{
		owner: by.AccountID, keep: keepResponse, timeout: uploadWorkTimeout, body: form.fingerprint(),
		mayRepeat: func(ctx context.Context, id string) error {
			_, err := s.Documents.Document(ctx, by, id)
			return err
		},
		rebuild: func(ctx context.Context, w idempotency.Work) (Response, error) {
			d, err := s.Documents.Document(ctx, by, w.ID)
			if err != nil {
				return Response{}, err
			}
			return endpoint.Created("/api/coach/documents/"+d.ID, newDocumentResponse(d)), nil
		},
		handle: func(ctx context.Context, f wire.Faults) (Response, error) {
			f = append(f, form.faults...)
			draft := form.draft(&f)
			if err := s.checkDraft(draft, f); err != nil {
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
func (s *Server) checkDraft(draft coach.Upload, f wire.Faults) error {
	if f.Has("/file") {
		return f.Err()
	}
	_, more, err := s.Documents.Check(draft)
	if err != nil {
		return err
	}
	for _, field := range more {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
	return f.Err()
}

var (
	kindRules   = wire.ParseRules("required,oneof=certification|qualification|identity|profile_picture")
	titleRules  = wire.ParseRules("name,max=100")
	issuerRules = wire.ParseRules("name,max=100")
)

// draft returns the document of a form. An empty text counts as absent, because browsers
// send the fields that a person left empty.
func (form *form) draft(f *wire.Faults) coach.Upload {
	d := coach.Upload{FileName: form.fileName}
	if form.file != nil {
		d.File = form.file
	}
	if kind := form.texts["kind"]; kind == "" {
		f.Add("/kind", "required", "This is needed.")
	} else {
		d.Kind = coach.DocumentKind(kindRules.Text(kind, "/kind", f))
	}
	if title := form.texts["title"]; title != "" {
		d.Title = titleRules.Text(title, "/title", f)
	}
	if issuer := form.texts["issuer"]; issuer != "" {
		d.Issuer = issuerRules.Text(issuer, "/issuer", f)
	}
	d.IssuedOn = documentDate(form.texts["issued_on"], "/issued_on", f)
	d.ExpiresOn = documentDate(form.texts["expires_on"], "/expires_on", f)
	addDates(f, d.IssuedOn, d.ExpiresOn)
	return d
}

// documentDate reads a date; "" means no date.
func documentDate(text, at string, f *wire.Faults) coach.Date {
	if text == "" {
		return ""
	}
	d, ok := coach.ParseDate(text)
	if !ok {
		f.Add(at, "invalid_date", "This must be a day that exists, as YYYY-MM-DD.")
		return ""
	}
	return d
}

func addDates(f *wire.Faults, issued, expires coach.Date) {
	for _, field := range coach.CheckDates(issued, expires) {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
}

// replaceContent serves PUT /api/coach/documents/{document_id}/content.
func (s *Server) replaceContent(ctx context.Context, r Request[endpoint.Upload]) (Response, error) {
	form, err := s.readForm(r)
	if err != nil {
		return closeConnection, err
	}
	defer form.close()
	ctx, cancel := context.WithTimeout(ctx, uploadWorkTimeout)
	defer cancel()
	id, err := r.PathID("document_id")
	if err != nil {
		return Response{}, err
	}
	old, err := s.Documents.Document(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	draft := coach.Upload{Kind: old.Kind, FileName: form.fileName}
	if form.file != nil {
		draft.File = form.file
	}
	if err := s.checkDraft(draft, form.faults); err != nil {
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
