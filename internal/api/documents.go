package api

import (
	"net/http"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
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
	// KYCState is said where the file was replaced, which may have moved it.
	KYCState *string `json:"kyc_state,omitempty"`
}

func newDocumentResponse(d coach.Document) documentResponse {
	out := documentResponse{
		DocumentID: d.ID, Kind: string(d.Kind), Title: d.Title, Issuer: orNull(d.Issuer),
		IssuedOn: orNull(string(d.IssuedOn)), ExpiresOn: orNull(string(d.ExpiresOn)),
		FileName: d.File.Name, MediaType: d.File.MediaType, Size: d.File.Size, InProfile: d.InProfile,
		ContentURL: contentURL(d.ID, ""), CreatedAt: timestamp(d.CreatedAt), UpdatedAt: timestamp(d.UpdatedAt),
	}
	if d.File.Width > 0 {
		out.Width, out.Height = &d.File.Width, &d.File.Height
	}
	return out
}

// contentURL is where the content of a document is, or one size of a picture:
// relative to the server.
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

// newPictureResponse answers the picture of a profile; nil where there is none.
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
func (s *Server) listDocuments(w http.ResponseWriter, r *http.Request) error {
	var f faults
	query := r.URL.Query()
	kind := ""
	if query.Has("kind") {
		if kind = query.Get("kind"); !utf8.ValidString(kind) {
			kind = "?"
		}
		kind = kindRules.Text(kind, "/kind", (*wire.Faults)(&f))
	}
	page := s.page(r, query, &f)
	if err := f.err(); err != nil {
		return err
	}
	list, err := s.documents.List(r.Context(), caller(r), coach.DocumentKind(kind), page.after.ID, page.more())
	if err != nil {
		return err
	}
	return answerPage(w, page, list, newDocumentResponse, func(d coach.Document) keyset { return keyset{ID: d.ID} })
}

// getDocument serves GET /api/coach/documents/{document_id}.
func (s *Server) getDocument(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "document_id")
	if err != nil {
		return err
	}
	d, err := s.documents.Document(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, newDocumentResponse(d))
}

type documentPatch struct {
	Title     Opt[string] `json:"title" rule:"name,min=1,max=100,kept"`
	Issuer    Opt[string] `json:"issuer" rule:"name,min=1,max=100"`
	IssuedOn  Opt[string] `json:"issued_on"`
	ExpiresOn Opt[string] `json:"expires_on"`
}

// editDocument serves PATCH /api/coach/documents/{document_id}.
func (s *Server) editDocument(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "document_id")
	if err != nil {
		return err
	}
	in, f := decode[documentPatch](r)
	if in.Title.Null {
		f.add("/title", "invalid_type", "This cannot be cleared.")
	}
	patch := coach.DocumentPatch{
		Title: cleared(in.Title), Issuer: cleared(in.Issuer),
		IssuedOn: clearedDate(in.IssuedOn, "/issued_on", &f), ExpiresOn: clearedDate(in.ExpiresOn, "/expires_on", &f),
	}
	if len(f) > 0 {
		if _, err := s.documents.Document(r.Context(), caller(r), id); err != nil {
			return err // what is not the caller's is not found before it is invalid
		}
		return f.err()
	}
	d, err := s.documents.Edit(r.Context(), caller(r), id, patch)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, newDocumentResponse(d))
}

// clearedDate is cleared for a day; in a patch an empty one is a fault.
func clearedDate(o Opt[string], at string, f *faults) *coach.Date {
	text := cleared(o)
	if text == nil {
		return nil
	}
	if !o.Null && *text == "" {
		f.add(at, "invalid_date", "This must be a day that exists, as YYYY-MM-DD, or null.")
	}
	d := documentDate(*text, at, f)
	return &d
}

type documentDeletedResponse struct {
	ProfileComplete bool     `json:"profile_complete"`
	Missing         []string `json:"missing"`
	KYCState        string   `json:"kyc_state"`
}

// deleteDocument serves DELETE /api/coach/documents/{document_id}.
func (s *Server) deleteDocument(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "document_id")
	if err != nil {
		return err
	}
	removed, err := s.documents.Remove(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	missing := s.coaches.Missing(removed.Filled)
	return encode(w, http.StatusOK, documentDeletedResponse{len(missing) == 0, missing, s.kycState(removed.KYC)})
}

// kycState is the state of a verification as answers say it.
func (s *Server) kycState(state coach.KYCState) string {
	return string(s.subscriptions.Tiers.KYCState(state))
}
