package api

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/wire"
)

// DocumentResponse is a document in a response of its coach.
type DocumentResponse struct {
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

// NewDocumentResponse returns the response of a document.
func NewDocumentResponse(d coach.Document) DocumentResponse {
	out := DocumentResponse{
		DocumentID: d.ID, Kind: string(d.Kind), Title: d.Title, Issuer: wire.OrNull(d.Issuer),
		IssuedOn: wire.OrNull(string(d.IssuedOn)), ExpiresOn: wire.OrNull(string(d.ExpiresOn)),
		FileName: d.File.Name, MediaType: d.File.MediaType, Size: d.File.Size, InProfile: d.InProfile,
		ContentURL: ContentURL(d.ID, ""), CreatedAt: wire.Timestamp(d.CreatedAt), UpdatedAt: wire.Timestamp(d.UpdatedAt),
	}
	if d.File.Width > 0 {
		out.Width, out.Height = &d.File.Width, &d.File.Height
	}
	return out
}

// ContentURL returns the path of the content of a document, or of one size of a picture.
func ContentURL(id, size string) string {
	url := "/api/coach/documents/" + id + "/content"
	if size != "" {
		url += "?size=" + size
	}
	return url
}

// PictureResponse is the picture of a profile.
type PictureResponse struct {
	DocumentID string                `json:"document_id"`
	URL        string                `json:"url"`
	Width      int                   `json:"width"`
	Height     int                   `json:"height"`
	Sizes      []PictureSizeResponse `json:"sizes"`
}

// PictureSizeResponse is one size of a picture.
type PictureSizeResponse struct {
	Name   string `json:"name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	URL    string `json:"url"`
}

// NewPictureResponse returns the picture of a profile, or nil.
func NewPictureResponse(d *coach.Document) *PictureResponse {
	if d == nil {
		return nil
	}
	out := &PictureResponse{
		DocumentID: d.ID, URL: ContentURL(d.ID, ""), Width: d.File.Width, Height: d.File.Height, Sizes: []PictureSizeResponse{},
	}
	for _, size := range d.File.Sizes {
		out.Sizes = append(out.Sizes, PictureSizeResponse{size.Name, size.Width, size.Height, ContentURL(d.ID, size.Name)})
	}
	return out
}
