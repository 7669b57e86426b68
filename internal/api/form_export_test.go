package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
)

// Form is an upload that was read.
type Form struct {
	Texts       map[string]string
	FileName    string
	File        coach.Spool
	Faults      []fault.Field
	Fingerprint []byte
}

// ReadForm reads an upload as a handler does.
func ReadForm(w http.ResponseWriter, r *http.Request, spool func() (coach.Spool, error), names ...string) (*Form, error) {
	s := &Server{Config: Config{UploadStallTimeout: uploadStallTimeout, UploadTimeout: uploadTimeout}}
	upload := endpoint.Upload{Reader: r.Body, Control: http.NewResponseController(w)}
	fr := &formReader{body: s.uploadBody(upload), names: names, spool: spool}
	f, err := fr.read(r.Header)
	if err != nil {
		return nil, err
	}
	return &Form{f.texts, f.fileName, f.file, f.faults, f.fingerprint()}, nil
}
