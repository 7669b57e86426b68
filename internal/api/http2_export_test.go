package api

import (
	"io"
	"net/http"

	"github.com/touchline/touchline/internal/platform/upload"
)

// NewUploadBody returns the body of an upload request as a handler reads it.
func NewUploadBody(w http.ResponseWriter, r *http.Request) io.Reader {
	return upload.NewBody(r.Body, http.NewResponseController(w), upload.Timeouts{})
}
