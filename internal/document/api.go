package document

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
)

// handlers serves documents as JSON, and their files.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of a coach's documents.
func (s *Service) Operations(a *api.Server) []api.Route {
	const list, one = "/api/coach/documents", "/api/coach/documents/{document_id}"
	h := handlers{s, a}
	return []api.Route{
		{Method: "GET", Pattern: list, Handle: endpoint.Handle(h.list), Authorize: api.CoachOnly, Query: endpoint.Paged("kind")},
		{Method: "POST", Pattern: list, Handle: endpoint.Handle(h.add), Authorize: api.CoachOnly, Body: endpoint.Multipart, MaxUpload: upload.MaxBody, Acquire: a.AcquireUpload},
		{Method: "GET", Pattern: one, Handle: endpoint.HandleID("document_id", h.get), Authorize: api.CoachOnly},
		{Method: "PATCH", Pattern: one, Handle: endpoint.HandleID("document_id", h.edit), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: one, Handle: endpoint.HandleID("document_id", h.remove), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: one + "/content", Handle: endpoint.Handle(h.content), Authenticate: a.AuthenticateOptional, Produces: endpoint.AnyMedia, Timeout: httpx.FileTimeout, Query: []string{"size"}},
		{Method: "PUT", Pattern: one + "/content", Handle: endpoint.Handle(h.replaceContent), Authorize: api.CoachOnly, Body: endpoint.Multipart, MaxUpload: upload.MaxBody, Acquire: a.AcquireUpload},
	}
}

// list serves GET /api/coach/documents.
func (h handlers) list(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	query := r.Query
	kind := ""
	if query.Has("kind") {
		if kind = query.Get("kind"); !utf8.ValidString(kind) {
			kind = "?" // not a kind, so that the rules refuse it
		}
		kind = kindRules.Text(kind, "/kind", &f)
	}
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	list, err := h.List(ctx, r.Caller.Actor, coach.DocumentKind(kind), page.After.ID, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, api.NewDocumentResponse, func(d coach.Document) api.Keyset { return api.Keyset{ID: d.ID} }), nil
}

// get serves GET /api/coach/documents/{document_id}.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	d, err := h.Document(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(api.NewDocumentResponse(d)), nil
}

type patchRequest struct {
	Title     *string          `json:"title" rule:"notnull,name,min=1,max=100"`
	Issuer    wire.Opt[string] `json:"issuer" rule:"name,min=1,max=100"`
	IssuedOn  wire.Opt[string] `json:"issued_on"`
	ExpiresOn wire.Opt[string] `json:"expires_on"`
}

// edit serves PATCH /api/coach/documents/{document_id}.
func (h handlers) edit(ctx context.Context, r api.Request[patchRequest], id string) (api.Response, error) {
	in, f := r.Body, r.Faults
	patch := Patch{
		Title: in.Title, Issuer: input.Value(in.Issuer),
		IssuedOn: patchedDate(in.IssuedOn, "/issued_on", &f), ExpiresOn: patchedDate(in.ExpiresOn, "/expires_on", &f),
	}
	if len(f) > 0 {
		if _, err := h.Document(ctx, r.Caller.Actor, id); err != nil {
			return api.Response{}, err // not_found comes before validation_failed
		}
		return api.Response{}, f.Err()
	}
	d, err := h.Edit(ctx, r.Caller.Actor, id, patch)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(api.NewDocumentResponse(d)), nil
}

// patchedDate is input.Value for a date. An empty date is a fault: only null clears it.
func patchedDate(o wire.Opt[string], at string, f *wire.Faults) *coach.Date {
	text := input.Value(o)
	if text == nil {
		return nil
	}
	if !o.Null && *text == "" {
		f.Add(at, "invalid_date", "This must be a day that exists, as YYYY-MM-DD, or null.")
	}
	d := readDate(*text, at, f)
	return &d
}

type removedResponse struct {
	ProfileComplete bool     `json:"profile_complete"`
	Missing         []string `json:"missing"`
	KYCState        string   `json:"kyc_state"`
}

// remove serves DELETE /api/coach/documents/{document_id}.
func (h handlers) remove(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	removed, err := h.Remove(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	missing := h.Profiles.Coaches.Missing(removed.Filled)
	return endpoint.OK(removedResponse{len(missing) == 0, missing, h.kycState(removed.KYC)}), nil
}

// content serves GET /api/coach/documents/{document_id}/content to the owner,
// and a public picture to anyone.
func (h handlers) content(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	content, err := h.openContent(ctx, r)
	if fault.KindOf(err) == fault.NotFound {
		return api.Response{}, errNoContent(r.Caller, err)
	}
	if err != nil {
		return api.Response{}, err
	}
	if err := r.Faults.Err(); err != nil {
		_ = content.Close()
		return api.Response{}, err
	}
	return contentResponse(content), nil
}

func (h handlers) openContent(ctx context.Context, r api.Request[api.NoBody]) (*Content, error) {
	id, err := r.PathID("document_id")
	if err != nil {
		return nil, err
	}
	size := r.Query.Get("size")
	if r.Query.Has("size") && size == "" {
		size = "?" // an empty size is unknown, not the original
	}
	return h.Open(ctx, r.Caller.Actor, id, size)
}

// errNoContent returns why the caller gets no content: not signed in, not a coach, or
// notFound.
func errNoContent(caller api.Caller, notFound error) error {
	if caller.SignInError != nil {
		return caller.SignInError
	}
	if caller.Role != actor.Coach {
		return api.ErrRole()
	}
	return notFound
}

// contentResponse sends a PDF as an attachment and a picture inline.
func contentResponse(c *Content) api.Response {
	file := c.Document.File
	etag := file.SHA256
	if c.Size != "" {
		etag += "-" + c.Size
	}
	h := http.Header{}
	if c.Public {
		h.Set("Cache-Control", "public, max-age=60")
	}
	return api.Response{Header: h, Write: func(w http.ResponseWriter, r *http.Request) error {
		defer c.Close()
		if c.Public {
			w.Header().Add("Vary", "Authorization")
		}
		return httpx.File{Name: file.Name, MediaType: file.MediaType, ETag: etag, Attachment: file.MediaType == picture.PDF, Content: c}.Serve(w, r)
	}}
}

// kycState returns the state of a verification as responses show it.
func (h handlers) kycState(state coach.KYCState) string {
	return string(h.Profiles.Subscriptions.Tiers.KYCState(state))
}
