package document

import (
	"context"
	"embed"
	"net/http"
	"net/url"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/coaching"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

const (
	documentsPath    = "/coach/documents"
	verificationPath = "/coach/verification"
)

// The fields of the form that adds a document, and of the form that describes it.
var (
	documentFields    = upload.Fields{Texts: []string{"kind", "title", "issuer", "issued_on", "expires_on"}}
	descriptionFields = upload.Fields{Texts: documentFields.Texts[1:]}
)

// pages serves the pages about documents.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the pages of a coach's picture and certificates.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const one = documentsPath + "/{document_id}"
	coach := func(h func(context.Context, *web.Request, actor.Actor) (web.Response, error)) web.Handler {
		return site.SignedIn(actor.Coach, h)
	}
	return []web.Route{
		{Method: "POST", Pattern: coaching.ProfilePath + "/picture", Handle: coach(site.WithUpload(web.UploadForm{Fields: upload.Fields{Texts: coaching.ProfileFields}, Handle: p.savePicture})), Upload: true},
		{Method: "GET", Pattern: documentsPath + "/add", Handle: coach(p.addPage)},
		{Method: "POST", Pattern: documentsPath + "/add", Handle: coach(site.WithUpload(web.UploadForm{Fields: documentFields, Handle: p.add})), Upload: true},
		{Method: "GET", Pattern: one, Handle: coach(p.show)},
		{Method: "POST", Pattern: one, Handle: coach(p.edit)},
		{Method: "POST", Pattern: one + "/file", Handle: coach(site.WithUpload(web.UploadForm{Fields: descriptionFields, Handle: p.replaceFile})), Upload: true},
		{Method: "POST", Pattern: one + "/delete", Handle: coach(p.remove)},
		{Method: "GET", Pattern: one + "/content", Handle: coach(p.content)},
	}
}

// savePicture serves POST /coach/profile/picture: it adds the picture of the profile, or
// replaces the earlier one. The form also has the other fields of the profile, which it does not save.
func (p pages) savePicture(ctx context.Context, r *web.Request, by actor.Actor, form *upload.Form) (web.Response, error) {
	profile, err := p.Profiles.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	file := newUpload(form, coach.ProfilePicture)
	for _, name := range coaching.ProfileFields {
		delete(form.Texts, name) // they may differ when the same picture is sent again
	}
	if err = form.Faults.Err(); err == nil {
		if old := profile.Picture(); old != nil {
			_, _, err = p.Replace(ctx, by, old.ID, file)
		} else {
			err = p.site.Once(ctx, r, by, form, func(ctx context.Context) error {
				_, err := p.Add(ctx, by, file)
				return err
			})
		}
	}
	if err != nil {
		f := coaching.ProfileValues(profile)
		if r.Form.Has("name") {
			f.Values = r.Form
		}
		if !p.addFaults(r, f, err, map[string]string{"/file": "picture"}) {
			return web.Response{}, err
		}
		return p.Profiles.Form(ctx, p.site, r, by, profile, f)
	}
	return p.site.KeepTyped(r, web.Redirect(coaching.ProfilePath+"?done=picture"), coaching.ProfilePath, coaching.ProfileValues(profile).Values), nil
}

// newUpload returns the file of a form as a document of a kind.
func newUpload(form *upload.Form, kind coach.DocumentKind) Upload {
	u := Upload{Kind: kind, FileName: form.FileName}
	if form.File != nil {
		u.File = form.File
	}
	return u
}

// addFaults adds the faults of an upload that the coach can correct. It returns false for
// other errors.
func (p pages) addFaults(r *web.Request, f *web.Form, err error, fields map[string]string) bool {
	if p.site.AddFaults(r, f, err, fields) {
		return true
	}
	switch fault.KindOf(err) {
	case fault.Forbidden, fault.Conflict:
		p.site.AddError(r, f, "", err)
		return true
	}
	return false
}

// addPage serves GET /coach/documents/add.
func (p pages) addPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	kind := r.Value("kind")
	if kind == "" {
		kind = string(coach.Certification)
	}
	return p.addForm(ctx, r, by, r.Restored(&web.Form{Values: url.Values{"kind": {kind}}}))
}

func (p pages) addForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "profile", "documents.add.title", by)
	kinds := []coach.DocumentKind{coach.Certification, coach.Qualification}
	if p.Profiles.Subscriptions.Tiers.KYC {
		kinds = append(kinds, coach.Identity)
	}
	v.Form, v.Path = f, documentsPath+"/add"
	v.Data = map[string]any{"Kinds": kinds, "RequestID": p.NewID()}
	return web.FormPage("document_add", v), nil
}

// add serves POST /coach/documents/add.
func (p pages) add(ctx context.Context, r *web.Request, by actor.Actor, form *upload.Form) (web.Response, error) {
	faults := form.Faults
	document := readUpload(form, &faults)
	if document.Kind == coach.ProfilePicture {
		return web.Response{}, fault.Missing() // it has its own form
	}
	_, invalid, err := p.Check(ctx, by, document)
	if err != nil {
		return web.Response{}, err
	}
	for _, field := range invalid {
		faults.Add(field.Pointer, field.Code, field.Detail)
	}
	if err = faults.Err(); err == nil {
		err = p.site.Once(ctx, r, by, form, func(ctx context.Context) error {
			_, err := p.Add(ctx, by, document)
			return err
		})
	}
	if err != nil {
		f := &web.Form{Values: r.Form}
		if !p.addFaults(r, f, err, nil) {
			return web.Response{}, err
		}
		return p.addForm(ctx, r, by, f)
	}
	if document.Kind == coach.Identity {
		return web.Redirect(verificationPath), nil
	}
	return web.Redirect(coaching.ProfilePath + "?done=added#certificates"), nil
}

// show serves GET /coach/documents/{document_id}: the description, the file, and what
// the coach can do with it.
func (p pages) show(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.own(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.page(ctx, r, by, d, r.Restored(valuesOf(d)))
}

// own returns the document in the path, or not_found.
func (p pages) own(ctx context.Context, r *web.Request, by actor.Actor) (coach.Document, error) {
	return p.Document(ctx, by, r.PathValue("document_id"))
}

func valuesOf(d coach.Document) *web.Form {
	return &web.Form{Values: url.Values{"title": {d.Title}, "issuer": {d.Issuer}, "issued_on": {string(d.IssuedOn)}, "expires_on": {string(d.ExpiresOn)}}}
}

func (p pages) page(ctx context.Context, r *web.Request, by actor.Actor, d coach.Document, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "profile", "document.title", by)
	v.Form, v.Path = f, pathOf(d.ID)
	v.Data = map[string]any{"Document": d, "Done": r.URL.Query().Get("done")}
	return web.FormPage("document", v), nil
}

func pathOf(id string) string { return documentsPath + "/" + id }

// edit serves POST /coach/documents/{document_id}: it changes the description.
func (p pages) edit(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.own(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	title := wire.ParseRules("name,min=1,max=100").Text(r.Value("title"), "/title", &faults)
	issuer := r.Value("issuer")
	if issuer != "" {
		issuer = wire.ParseRules("name,max=100").Text(issuer, "/issuer", &faults)
	}
	issued, expires := readDate(r.Value("issued_on"), "/issued_on", &faults), readDate(r.Value("expires_on"), "/expires_on", &faults)
	if err = faults.Err(); err == nil {
		_, err = p.Edit(ctx, by, d.ID, Patch{Title: &title, Issuer: &issuer, IssuedOn: &issued, ExpiresOn: &expires})
	}
	if err != nil {
		f := &web.Form{Values: r.Form}
		if !p.site.AddFaults(r, f, err, nil) {
			return web.Response{}, err
		}
		return p.page(ctx, r, by, d, f)
	}
	return web.Redirect(pathOf(d.ID) + "?done=saved"), nil
}

// replaceFile serves POST /coach/documents/{document_id}/file. Sent twice, it has the same
// effect.
func (p pages) replaceFile(ctx context.Context, r *web.Request, by actor.Actor, form *upload.Form) (web.Response, error) {
	d, err := p.own(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if err = form.Faults.Err(); err == nil {
		_, _, err = p.Replace(ctx, by, d.ID, newUpload(form, d.Kind))
	}
	if err != nil {
		f := valuesOf(d)
		if r.Form.Has("title") {
			f.Values = r.Form
		}
		if !p.addFaults(r, f, err, nil) {
			return web.Response{}, err
		}
		return p.page(ctx, r, by, d, f)
	}
	return p.site.KeepTyped(r, web.Redirect(pathOf(d.ID)+"?done=replaced"), pathOf(d.ID), valuesOf(d).Values), nil
}

// remove serves POST /coach/documents/{document_id}/delete. It is no error if the
// document is gone.
func (p pages) remove(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.own(ctx, r, by)
	if err == nil {
		_, err = p.Remove(ctx, by, d.ID)
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return web.Response{}, err
	}
	switch d.Kind {
	case coach.Identity:
		return web.Redirect(verificationPath), nil
	case coach.ProfilePicture:
		profile, err := p.Profiles.Coaches.Profile(ctx, by)
		return p.site.KeepTyped(r, web.Redirect(coaching.ProfilePath+"?done=deleted"), coaching.ProfilePath, coaching.ProfileValues(profile).Values), err
	}
	return web.Redirect(coaching.ProfilePath + "?done=deleted#certificates"), nil
}

// content serves GET /coach/documents/{document_id}/content: the file, to its owner.
func (p pages) content(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("document_id")
	size := r.Value("size")
	content, err := p.Open(context.WithoutCancel(ctx), by, id, size)
	if fault.KindOf(err) == fault.Invalid {
		err = fault.Missing() // an unknown size
	}
	if err != nil {
		return web.Response{}, err
	}
	file := content.Document.File
	return web.Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		defer func() { _ = content.Close() }() // it was only read
		return httpx.File{
			Name: file.Name, MediaType: file.MediaType, ETag: file.SHA256 + size,
			Attachment: file.MediaType == picture.PDF, Content: content,
		}.Serve(w, r)
	}}, nil
}
