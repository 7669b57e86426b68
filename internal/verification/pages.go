package verification

import (
	"context"
	"embed"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

const (
	pagePath        = "/coach/verification"
	addDocumentPath = "/coach/documents/add?kind=identity"
)

// pages serves a coach's page.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the page of a coach.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	return []web.Route{
		{Method: "GET", Pattern: pagePath, Handle: site.SignedIn(actor.Coach, p.page)},
		{Method: "POST", Pattern: pagePath, Handle: site.SignedIn(actor.Coach, p.save)},
	}
}

// page serves GET /coach/verification: the state of the identity check (KYC), and
// the form if the coach can submit.
func (p pages) page(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.form(ctx, r, by, r.Restored(nil))
}

func (p pages) form(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	state, submission, err := p.State(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	if state == coach.Disabled {
		return web.Response{}, fault.Missing()
	}
	documents, err := p.Documents.List(ctx, by, coach.Identity, "", document.MaxDocuments)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "settings", "verification.title", by)
	stored := values(submission, documents)
	if f == nil {
		f = &web.Form{Values: stored}
	} else if f.Restored && !f.Values.Has("document") {
		f.Values["document"] = stored["document"] // also one that was added meanwhile
	}
	v.Form, v.Path = f, pagePath
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v.Data = map[string]any{
		"Unmarked": profile.Unmarked(),
		"State":    string(state), "Submission": submission, "Documents": documents, "Chosen": f.Values["document"],
		"CanSubmit": slices.Contains(allowed(state, false), Submit),
	}
	return web.FormPage("verification", v), nil
}

// values returns the fields of the form: the name of an earlier submission and all documents.
func values(submission Submission, documents []coach.Document) url.Values {
	values := url.Values{"legal_name": {submission.LegalName}}
	for _, d := range documents {
		values.Add("document", d.ID)
	}
	return values
}

// addDocument goes to the form of a document and keeps what the coach wrote. A choice of all
// documents is not kept, so that it includes the new one.
func (p pages) addDocument(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	_, submission, err := p.State(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	documents, err := p.Documents.List(ctx, by, coach.Identity, "", document.MaxDocuments)
	if err != nil {
		return web.Response{}, err
	}
	stored := values(submission, documents)
	if slices.Equal(r.Form["document"], stored["document"]) {
		delete(stored, "document")
	}
	return p.site.KeepTyped(r, web.Redirect(addDocumentPath), pagePath, stored), nil
}

// save serves POST /coach/verification. Sent twice, it submits once: the
// state allows no second submission.
func (p pages) save(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if r.Form.Has("open") {
		return p.addDocument(ctx, r, by)
	}
	var faults wire.Faults
	name := wire.ParseRules("name,min=1,max=100").Text(r.Value("legal_name"), "/legal_name", &faults)
	ids := slices.Compact(slices.Sorted(slices.Values(r.Form["document"])))
	switch {
	case len(ids) == 0:
		faults.Add("/document_ids", "no_document", "Choose a document.")
	case len(ids) > maxDocuments:
		faults.Add("/document_ids", "too_many", "Choose fewer documents.")
	}
	err := faults.Err()
	if err == nil {
		_, _, err = p.Submit(ctx, by, name, ids)
	}
	if fault.CodeOf(err) == "invalid_transition" {
		return web.Redirect(pagePath), nil // it is submitted or decided: the page shows it
	}
	if err != nil {
		f := &web.Form{Values: r.Form}
		fields := map[string]string{"/document_ids": "document"}
		for i := range ids {
			fields[wire.PointTo("/document_ids", i)] = "document"
		}
		if !p.site.AddFaults(r, f, err, fields) {
			return web.Response{}, err
		}
		return p.form(ctx, r, by, f)
	}
	return web.Redirect(pagePath), nil
}
