package api

import (
	"context"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
)

type documentResponse struct {
	DocumentID string  `json:"document_id"`
	Kind       string  `json:"kind"`
	Title      string  `json:"title"`
	Issuer     *string `json:"issuer"`
	IssuedOn   *string `json:"issued_on"`
	ExpiresOn  *string `json:"expires_on"`
	FileName   string  `json:"file_name"`
	MediaType  string  `json:"media_type"`
	Size       int64   `json:"size"`
	Width      *int    `json:"width"`
	Height     *int    `json:"height"`
	InProfile  bool    `json:"in_profile"`
	ContentURL string  `json:"content_url"`
	CreatedAt  string  `json:"created_at"`
	UpdatedAt  string  `json:"updated_at"`
	// KYCState is present after a file was replaced, which may change the state.
	KYCState *string `json:"kyc_state,omitempty"`
}

func newDocumentResponse(d coach.Document) documentResponse {
	out := documentResponse{
		DocumentID: d.ID, Kind: string(d.Kind), Title: d.Title, Issuer: wire.OrNull(d.Issuer),
		IssuedOn: wire.OrNull(string(d.IssuedOn)), ExpiresOn: wire.OrNull(string(d.ExpiresOn)),
		FileName: d.File.Name, MediaType: d.File.MediaType, Size: d.File.Size, InProfile: d.InProfile,
		ContentURL: contentURL(d.ID, ""), CreatedAt: wire.Timestamp(d.CreatedAt), UpdatedAt: wire.Timestamp(d.UpdatedAt),
	}
	if d.File.Width > 0 {
		out.Width, out.Height = &d.File.Width, &d.File.Height
	}
	return out
}

// contentURL returns the path of the content of a document, or of one size of a picture.
func contentURL(id, size string) string {
	url := "/api/coach/documents/" + id + "/content"
	if size != "" {
		url += "?size=" + size
	}
	return url
}

type pictureResponse struct {
	DocumentID string                `json:"document_id"`
	URL        string                `json:"url"`
	Width      int                   `json:"width"`
	Height     int                   `json:"height"`
	Sizes      []pictureSizeResponse `json:"sizes"`
}

type pictureSizeResponse struct {
	Name   string `json:"name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	URL    string `json:"url"`
}

// newPictureResponse returns the picture of a profile, or nil.
func newPictureResponse(d *coach.Document) *pictureResponse {
	if d == nil {
		return nil
	}
	out := &pictureResponse{
		DocumentID: d.ID, URL: contentURL(d.ID, ""), Width: d.File.Width, Height: d.File.Height, Sizes: []pictureSizeResponse{},
	}
	for _, size := range d.File.Sizes {
		out.Sizes = append(out.Sizes, pictureSizeResponse{size.Name, size.Width, size.Height, contentURL(d.ID, size.Name)})
	}
	return out
}

// listDocuments serves GET /api/coach/documents.
func (s *Server) listDocuments(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	query := r.Query
	kind := ""
	if query.Has("kind") {
		if kind = query.Get("kind"); !utf8.ValidString(kind) {
			kind = "?" // not a kind, so that the rules refuse it
		}
		kind = upload.KindRules.Text(kind, "/kind", &f)
	}
	page := s.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	list, err := s.Documents.List(ctx, r.Caller.Actor, coach.DocumentKind(kind), page.After.ID, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, list, newDocumentResponse, func(d coach.Document) Keyset { return Keyset{ID: d.ID} }), nil
}

// getDocument serves GET /api/coach/documents/{document_id}.
func (s *Server) getDocument(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	d, err := s.Documents.Document(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newDocumentResponse(d)), nil
}

type documentPatch struct {
	Title     *string          `json:"title" rule:"notnull,name,min=1,max=100"`
	Issuer    wire.Opt[string] `json:"issuer" rule:"name,min=1,max=100"`
	IssuedOn  wire.Opt[string] `json:"issued_on"`
	ExpiresOn wire.Opt[string] `json:"expires_on"`
}

// editDocument serves PATCH /api/coach/documents/{document_id}.
func (s *Server) editDocument(ctx context.Context, r Request[documentPatch], id string) (Response, error) {
	in, f := r.Body, r.Faults
	patch := coach.DocumentPatch{
		Title: in.Title, Issuer: input.Value(in.Issuer),
		IssuedOn: patchDate(in.IssuedOn, "/issued_on", &f), ExpiresOn: patchDate(in.ExpiresOn, "/expires_on", &f),
	}
	if len(f) > 0 {
		if _, err := s.Documents.Document(ctx, r.Caller.Actor, id); err != nil {
			return Response{}, err // not_found comes before validation_failed
		}
		return Response{}, f.Err()
	}
	d, err := s.Documents.Edit(ctx, r.Caller.Actor, id, patch)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newDocumentResponse(d)), nil
}

// patchDate is input.Value for a date. An empty date is a fault: only null clears it.
func patchDate(o wire.Opt[string], at string, f *wire.Faults) *coach.Date {
	text := input.Value(o)
	if text == nil {
		return nil
	}
	if !o.Null && *text == "" {
		f.Add(at, "invalid_date", "This must be a day that exists, as YYYY-MM-DD, or null.")
	}
	d := upload.ReadDate(*text, at, f)
	return &d
}

type documentDeletedResponse struct {
	ProfileComplete bool     `json:"profile_complete"`
	Missing         []string `json:"missing"`
	KYCState        string   `json:"kyc_state"`
}

// deleteDocument serves DELETE /api/coach/documents/{document_id}.
func (s *Server) deleteDocument(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	removed, err := s.Documents.Remove(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	missing := s.Coaches.Missing(removed.Filled)
	return endpoint.OK(documentDeletedResponse{len(missing) == 0, missing, s.kycState(removed.KYC)}), nil
}

// kycState returns the state of a verification as responses show it.
func (s *Server) kycState(state coach.KYCState) string {
	return string(s.Subscriptions.Tiers.KYCState(state))
}
