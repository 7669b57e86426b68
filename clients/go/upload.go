package touchline

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
)

// Document is an uploaded file of a coach.
type Document struct {
	DocumentID string `json:"document_id"`
	Kind       string `json:"kind"`
	Title      string `json:"title"`
	MediaType  string `json:"media_type"`
	Size       int64  `json:"size"`
}

// UploadDocument uploads a file with its fields, such as kind and title. onProgress may be nil; it is called with the bytes that were
// sent and their total. A broken upload is repeated from its beginning with the same key, so that the service stores the file once.
func (c *Client) UploadDocument(ctx context.Context, fields map[string]string, name string, file []byte, onProgress func(sent, total int64)) (*Document, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for field, value := range fields {
		if err := w.WriteField(field, value); err != nil {
			return nil, err
		}
	}
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		return nil, err
	}
	if _, err := part.Write(file); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	body := func() (io.ReadCloser, error) {
		return io.NopCloser(&progress{Reader: bytes.NewReader(form.Bytes()), total: int64(form.Len()), report: onProgress}), nil
	}
	first, _ := body()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/coach/documents", first)
	if err != nil {
		return nil, err
	}
	req.GetBody, req.ContentLength = body, int64(form.Len())
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Idempotency-Key", rand.Text())
	document := new(Document)
	if err := decode(c.signed, req, document); err != nil {
		return nil, fmt.Errorf("upload %s: %w", name, err)
	}
	return document, nil
}

type progress struct {
	io.Reader
	sent, total int64
	report      func(sent, total int64)
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.sent += int64(n)
	if p.report != nil && n > 0 {
		p.report(p.sent, p.total)
	}
	return n, err
}
