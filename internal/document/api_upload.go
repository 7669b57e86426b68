package document

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
)

// readForm reads an upload: texts with these names, and a file. The caller closes the
// form.
func (h handlers) readForm(r api.Request[endpoint.Upload], names ...string) (*upload.Form, error) {
	body := h.api.UploadBody(r.Body)
	defer body.Done()
	return upload.ReadForm(body, r.Header, h.api.NewSpool, upload.Fields{Texts: names})
}

// add serves POST /api/coach/documents.
func (h handlers) add(ctx context.Context, r api.Request[endpoint.Upload]) (api.Response, error) {
	form, err := h.readForm(r, "kind", "title", "issuer", "issued_on", "expires_on")
	if err != nil {
		return api.CloseConnection, err
	}
	defer form.Close()
	ctx, cancel := context.WithTimeout(ctx, upload.WorkTimeout)
	defer cancel()
	by := r.Caller.Actor
	return h.api.HandleOnce(ctx, r.Meta, keyed.Request{
		Owner: by.AccountID, Keep: keyed.Keep, Timeout: upload.WorkTimeout, Body: form.Fingerprint(),
		MayRepeat: func(ctx context.Context, id string) error {
			_, err := h.Document(ctx, by, id)
			return err
		},
		Rebuild: func(ctx context.Context, w idempotency.Work) (api.Response, error) {
			d, err := h.Document(ctx, by, w.ID)
			if err != nil {
				return api.Response{}, err
			}
			return endpoint.Created("/api/coach/documents/"+d.ID, api.NewDocumentResponse(d)), nil
		},
		Handle: func(ctx context.Context, f wire.Faults) (api.Response, error) {
			f = append(f, form.Faults...)
			draft := readUpload(form, &f)
			if err := h.checkDraft(ctx, by, draft, f); err != nil {
				return api.Response{}, err
			}
			d, err := h.Add(ctx, by, draft)
			if err != nil {
				return api.Response{}, err
			}
			return endpoint.Created("/api/coach/documents/"+d.ID, api.NewDocumentResponse(d)).WithSubject(d.ID), nil
		},
	})
}

// checkDraft returns every fault of an upload and of its file as an error.
func (h handlers) checkDraft(ctx context.Context, by actor.Actor, draft Upload, f wire.Faults) error {
	if f.Has("/file") {
		return f.Err()
	}
	_, more, err := h.Check(ctx, by, draft)
	if err != nil {
		return err
	}
	for _, field := range more {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
	return f.Err()
}

// replaceContent serves PUT /api/coach/documents/{document_id}/content.
func (h handlers) replaceContent(ctx context.Context, r api.Request[endpoint.Upload]) (api.Response, error) {
	form, err := h.readForm(r)
	if err != nil {
		return api.CloseConnection, err
	}
	defer form.Close()
	ctx, cancel := context.WithTimeout(ctx, upload.WorkTimeout)
	defer cancel()
	id, err := r.PathID("document_id")
	if err != nil {
		return api.Response{}, err
	}
	old, err := h.Document(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	draft := newUpload(form, old.Kind)
	if err := h.checkDraft(ctx, r.Caller.Actor, draft, form.Faults); err != nil {
		return api.Response{}, err
	}
	d, kyc, err := h.Replace(ctx, r.Caller.Actor, id, draft)
	if err != nil {
		return api.Response{}, err
	}
	out := api.NewDocumentResponse(d)
	state := h.kycState(kyc)
	out.KYCState = &state
	return endpoint.OK(out), nil
}
