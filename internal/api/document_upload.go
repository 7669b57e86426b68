package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

// receive reads the upload of r: texts with these names and a file. The form must
// be closed.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, names ...string) (*form, error) {
	body := s.uploadBody(w, r)
	defer body.done()
	fr := &formReader{body: body, names: names, spool: s.documents.NewSpool}
	f, err := fr.read(r.Header)
	if err != nil {
		return nil, refuseUpload(w, err)
	}
	return f, nil
}

// refuseUpload ends a connection whose body is not read to its end.
func refuseUpload(w http.ResponseWriter, err error) error {
	w.Header().Set("Connection", "close")
	return err
}

// addDocument serves POST /api/coach/documents.
func (s *Server) addDocument(w http.ResponseWriter, r *http.Request) error {
	leave, err := s.seats.take(caller(r).AccountID, s.now())
	if err != nil {
		return refuseUpload(w, err)
	}
	defer leave()
	form, err := s.receive(w, r, "kind", "title", "issuer", "issued_on", "expires_on")
	if err != nil {
		return err
	}
	defer form.close()
	r, cancel := working(r)
	defer cancel()
	by := caller(r)
	callOf(r.Context()).raw = form.fingerprint()
	return s.answerOnce(w, r, by.AccountID, keepAnswers, func(w http.ResponseWriter, r *http.Request) error {
		f := slices.Clone(callOf(r.Context()).faults)
		f = append(f, form.faults...)
		draft := form.draft(&f)
		if err := s.checked(draft, f); err != nil {
			return err
		}
		d, err := s.documents.Add(r.Context(), by, draft)
		if err != nil {
			return err
		}
		about(r, d.ID)
		return created(w, "/api/coach/documents/"+d.ID, newDocumentResponse(d))
	}, func(ctx context.Context, id string) error {
		_, err := s.documents.Document(ctx, by, id)
		return err
	})
}

// working returns r with the time that an upload has once it is here.
func working(r *http.Request) (*http.Request, context.CancelFunc) {
	callOf(r.Context()).limit = uploadWork
	ctx, cancel := context.WithTimeout(r.Context(), uploadWork)
	return r.WithContext(ctx), cancel
}

// checked answers every fault of an upload, those of its file among them.
func (s *Server) checked(draft coach.Upload, f faults) error {
	if f.has("/file") {
		return f.err()
	}
	_, more, err := s.documents.Check(draft)
	if err != nil {
		return err
	}
	for _, field := range more {
		f.add(field.Pointer, field.Code, field.Detail)
	}
	return f.err()
}

var (
	kindRules   = wire.ParseRules("required,oneof=certification|qualification|identity|profile_picture")
	titleRules  = wire.ParseRules("name,max=100")
	issuerRules = wire.ParseRules("name,max=100")
)

// draft returns what a form says of a document. A text that is empty is as good as
// none: so browsers send what nobody filled in.
func (form *form) draft(f *faults) coach.Upload {
	d := coach.Upload{FileName: form.fileName}
	if form.file != nil {
		d.File = form.file
	}
	if kind := form.texts["kind"]; kind == "" {
		f.add("/kind", "required", "This is needed.")
	} else {
		d.Kind = coach.DocumentKind(kindRules.Text(kind, "/kind", (*wire.Faults)(f)))
	}
	if title := form.texts["title"]; title != "" {
		d.Title = titleRules.Text(title, "/title", (*wire.Faults)(f))
	}
	if issuer := form.texts["issuer"]; issuer != "" {
		d.Issuer = issuerRules.Text(issuer, "/issuer", (*wire.Faults)(f))
	}
	d.IssuedOn = documentDate(form.texts["issued_on"], "/issued_on", f)
	d.ExpiresOn = documentDate(form.texts["expires_on"], "/expires_on", f)
	addDates(f, d.IssuedOn, d.ExpiresOn)
	return d
}

// documentDate reads a day; "" is none.
func documentDate(text, at string, f *faults) coach.Date {
	if text == "" {
		return ""
	}
	d, ok := coach.ParseDate(text)
	if !ok {
		f.add(at, "invalid_date", "This must be a day that exists, as YYYY-MM-DD.")
		return ""
	}
	return d
}

func addDates(f *faults, issued, expires coach.Date) {
	for _, field := range coach.CheckDates(issued, expires) {
		f.add(field.Pointer, field.Code, field.Detail)
	}
}

// replaceContent serves PUT /api/coach/documents/{document_id}/content.
func (s *Server) replaceContent(w http.ResponseWriter, r *http.Request) error {
	leave, err := s.seats.take(caller(r).AccountID, s.now())
	if err != nil {
		return refuseUpload(w, err)
	}
	defer leave()
	form, err := s.receive(w, r)
	if err != nil {
		return err
	}
	defer form.close()
	r, cancel := working(r)
	defer cancel()
	id, err := pathID(r, "document_id")
	if err != nil {
		return err
	}
	old, err := s.documents.Document(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	draft := coach.Upload{Kind: old.Kind, FileName: form.fileName}
	if form.file != nil {
		draft.File = form.file
	}
	if err := s.checked(draft, form.faults); err != nil {
		return err
	}
	d, kyc, err := s.documents.Replace(r.Context(), caller(r), id, draft)
	if err != nil {
		return err
	}
	out := newDocumentResponse(d)
	state := s.kycState(kyc)
	out.KYCState = &state
	return encode(w, http.StatusOK, out)
}
