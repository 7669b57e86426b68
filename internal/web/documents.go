package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
)

const (
	profilePath   = "/coach/profile"
	documentsPath = "/coach/documents"
)

// The fields of the form that adds a document, and of the one that describes it.
var (
	documentFields    = upload.Fields{Texts: []string{"kind", "title", "issuer", "issued_on", "expires_on"}}
	descriptionFields = upload.Fields{Texts: documentFields.Texts[1:]}
)

// documentRoutes lists the pages of a coach's picture and certificates.
func (p *Pages) documentRoutes() []Route {
	one := documentsPath + "/{document_id}"
	return []Route{
		{Method: "POST", Pattern: profilePath + "/picture", Handle: p.SignedIn(actor.Coach, p.WithUpload(UploadForm{Fields: upload.Fields{Texts: profileFields}, Handle: p.savePicture})), Upload: true},
		{Method: "GET", Pattern: documentsPath + "/add", Handle: p.SignedIn(actor.Coach, p.addDocumentPage)},
		{Method: "POST", Pattern: documentsPath + "/add", Handle: p.SignedIn(actor.Coach, p.WithUpload(UploadForm{Fields: documentFields, Handle: p.addDocument})), Upload: true},
		{Method: "GET", Pattern: one, Handle: p.SignedIn(actor.Coach, p.document)},
		{Method: "POST", Pattern: one, Handle: p.SignedIn(actor.Coach, p.editDocument)},
		{Method: "POST", Pattern: one + "/file", Handle: p.SignedIn(actor.Coach, p.WithUpload(UploadForm{Fields: descriptionFields, Handle: p.replaceFile})), Upload: true},
		{Method: "POST", Pattern: one + "/delete", Handle: p.SignedIn(actor.Coach, p.deleteDocument)},
		{Method: "GET", Pattern: one + "/content", Handle: p.SignedIn(actor.Coach, p.documentContent)},
	}
}

// savePicture serves POST /coach/profile/picture: it adds the picture of the profile, or
// replaces the earlier one. The form also has the other fields of the profile, which it does not save.
func (p *Pages) savePicture(ctx context.Context, r *Request, by actor.Actor, form *upload.Form) (Response, error) {
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return Response{}, err
	}
	file := newUpload(form, coach.ProfilePicture)
	for _, name := range profileFields {
		delete(form.Texts, name) // they may differ when the same picture is sent again
	}
	if err = form.Faults.Err(); err == nil {
		if old := profile.Picture(); old != nil {
			_, _, err = p.Documents.Replace(ctx, by, old.ID, file)
		} else {
			err = p.Once(ctx, r, by, form, func(ctx context.Context) error {
				_, err := p.Documents.Add(ctx, by, file)
				return err
			})
		}
	}
	if err != nil {
		f := profileValues(profile)
		if r.Form.Has("name") {
			f.Values = r.Form
		}
		if !p.addUploadFaults(r, f, err, map[string]string{"/file": "picture"}) {
			return Response{}, err
		}
		return p.profileForm(ctx, r, by, profile, f)
	}
	return p.KeepTyped(r, Redirect(profilePath+"?done=picture"), profilePath, profileValues(profile).Values), nil
}

// newUpload returns the file of a form as a document of a kind.
func newUpload(form *upload.Form, kind coach.DocumentKind) coach.Upload {
	u := coach.Upload{Kind: kind, FileName: form.FileName}
	if form.File != nil {
		u.File = form.File
	}
	return u
}

// addUploadFaults adds the faults of an upload that the coach can correct. It returns false for
// other errors.
func (p *Pages) addUploadFaults(r *Request, f *Form, err error, fields map[string]string) bool {
	if p.AddFaults(r, f, err, fields) {
		return true
	}
	switch fault.KindOf(err) {
	case fault.Forbidden, fault.Conflict:
		p.AddError(r, f, "", err)
		return true
	}
	return false
}

// addDocumentPage serves GET /coach/documents/add.
func (p *Pages) addDocumentPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	kind := r.Value("kind")
	if kind == "" {
		kind = string(coach.Certification)
	}
	return p.addDocumentForm(ctx, r, by, r.Restored(&Form{Values: url.Values{"kind": {kind}}}))
}

func (p *Pages) addDocumentForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "profile", "documents.add.title", by)
	if err != nil {
		return Response{}, err
	}
	kinds := []coach.DocumentKind{coach.Certification, coach.Qualification}
	if p.Subscriptions.Tiers.KYC {
		kinds = append(kinds, coach.Identity)
	}
	v.Form, v.Path = f, documentsPath+"/add"
	v.Data = map[string]any{"Kinds": kinds, "RequestID": p.Documents.NewID()}
	return FormPage("document_add", v), nil
}

// addDocument serves POST /coach/documents/add.
func (p *Pages) addDocument(ctx context.Context, r *Request, by actor.Actor, form *upload.Form) (Response, error) {
	faults := form.Faults
	document := form.Document(&faults)
	if document.Kind == coach.ProfilePicture {
		return Response{}, fault.Missing() // it has its own form
	}
	_, invalid, err := p.Documents.Check(ctx, by, document)
	if err != nil {
		return Response{}, err
	}
	for _, field := range invalid {
		faults.Add(field.Pointer, field.Code, field.Detail)
	}
	if err = faults.Err(); err == nil {
		err = p.Once(ctx, r, by, form, func(ctx context.Context) error {
			_, err := p.Documents.Add(ctx, by, document)
			return err
		})
	}
	if err != nil {
		f := &Form{Values: r.Form}
		if !p.addUploadFaults(r, f, err, nil) {
			return Response{}, err
		}
		return p.addDocumentForm(ctx, r, by, f)
	}
	if document.Kind == coach.Identity {
		return Redirect("/coach/verification"), nil
	}
	return Redirect(profilePath + "?done=added#certificates"), nil
}

// document serves GET /coach/documents/{document_id}: the description, the file, and what
// the coach can do with it.
func (p *Pages) document(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.ownDocument(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	return p.documentPage(ctx, r, by, d, r.Restored(documentValues(d)))
}

// ownDocument returns the document in the path, or not_found.
func (p *Pages) ownDocument(ctx context.Context, r *Request, by actor.Actor) (coach.Document, error) {
	id, err := r.PathID("document_id")
	if err != nil {
		return coach.Document{}, err
	}
	return p.Documents.Document(ctx, by, id)
}

func documentValues(d coach.Document) *Form {
	return &Form{Values: url.Values{"title": {d.Title}, "issuer": {d.Issuer}, "issued_on": {string(d.IssuedOn)}, "expires_on": {string(d.ExpiresOn)}}}
}

func (p *Pages) documentPage(ctx context.Context, r *Request, by actor.Actor, d coach.Document, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "profile", "document.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, documentPath(d.ID)
	v.Data = map[string]any{"Document": d, "Done": r.URL.Query().Get("done")}
	return FormPage("document", v), nil
}

func documentPath(id string) string { return documentsPath + "/" + id }

// editDocument serves POST /coach/documents/{document_id}: it changes the description.
func (p *Pages) editDocument(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.ownDocument(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	title := wire.ParseRules("name,min=1,max=100").Text(r.Value("title"), "/title", &faults)
	issuer := r.Value("issuer")
	if issuer != "" {
		issuer = wire.ParseRules("name,max=100").Text(issuer, "/issuer", &faults)
	}
	issued, expires := upload.ReadDate(r.Value("issued_on"), "/issued_on", &faults), upload.ReadDate(r.Value("expires_on"), "/expires_on", &faults)
	if err = faults.Err(); err == nil {
		_, err = p.Documents.Edit(ctx, by, d.ID, coach.DocumentPatch{Title: &title, Issuer: &issuer, IssuedOn: &issued, ExpiresOn: &expires})
	}
	if err != nil {
		f := &Form{Values: r.Form}
		if !p.AddFaults(r, f, err, nil) {
			return Response{}, err
		}
		return p.documentPage(ctx, r, by, d, f)
	}
	return Redirect(documentPath(d.ID) + "?done=saved"), nil
}

// replaceFile serves POST /coach/documents/{document_id}/file. Sent twice, it has the same
// effect.
func (p *Pages) replaceFile(ctx context.Context, r *Request, by actor.Actor, form *upload.Form) (Response, error) {
	d, err := p.ownDocument(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	if err = form.Faults.Err(); err == nil {
		_, _, err = p.Documents.Replace(ctx, by, d.ID, newUpload(form, d.Kind))
	}
	if err != nil {
		f := documentValues(d)
		if r.Form.Has("title") {
			f.Values = r.Form
		}
		if !p.addUploadFaults(r, f, err, nil) {
			return Response{}, err
		}
		return p.documentPage(ctx, r, by, d, f)
	}
	return p.KeepTyped(r, Redirect(documentPath(d.ID)+"?done=replaced"), documentPath(d.ID), documentValues(d).Values), nil
}

// deleteDocument serves POST /coach/documents/{document_id}/delete. It is no error if the
// document is gone.
func (p *Pages) deleteDocument(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.ownDocument(ctx, r, by)
	if err == nil {
		_, err = p.Documents.Remove(ctx, by, d.ID)
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return Response{}, err
	}
	switch d.Kind {
	case coach.Identity:
		return Redirect("/coach/verification"), nil
	case coach.ProfilePicture:
		profile, err := p.Coaches.Profile(ctx, by)
		return p.KeepTyped(r, Redirect(profilePath+"?done=deleted"), profilePath, profileValues(profile).Values), err
	}
	return Redirect(profilePath + "?done=deleted#certificates"), nil
}

// documentContent serves GET /coach/documents/{document_id}/content: the file, to its owner.
func (p *Pages) documentContent(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("document_id")
	if err != nil {
		return Response{}, err
	}
	size := r.Value("size")
	content, err := p.Documents.Open(context.WithoutCancel(ctx), by, id, size)
	if fault.KindOf(err) == fault.Invalid {
		err = fault.Missing() // an unknown size
	}
	if err != nil {
		return Response{}, err
	}
	file := content.Document.File
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		defer func() { _ = content.Close() }() // it was only read
		return httpx.File{
			Name: file.Name, MediaType: file.MediaType, ETag: file.SHA256 + size,
			Attachment: file.MediaType == coach.PDF, Content: content,
		}.Serve(w, r)
	}}, nil
}

// Validity returns whether a certificate is valid, ends soon or has ended.
func (v *View) Validity(d coach.Document) string { return string(d.Validity(v.now)) }

// Day returns a date for people: "12 May", with the year if it is another.
func (v *View) Day(d coach.Date) string {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return string(d)
	}
	return v.Date(time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, v.zone)) // a day may have no midnight
}
