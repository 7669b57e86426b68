package web

import (
	"context"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

const verificationPath = "/coach/verification"

func (p *Pages) verificationRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: verificationPath, Handle: p.SignedIn(actor.Coach, p.verification)},
		{Method: "POST", Pattern: verificationPath, Handle: p.SignedIn(actor.Coach, p.submitVerification)},
	}
}

// verification serves GET /coach/verification: the state of the identity check (KYC), and
// the form if the coach can submit.
func (p *Pages) verification(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.verificationForm(ctx, r, by, r.Restored(nil))
}

func (p *Pages) verificationForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	state, submission, err := p.Verifications.State(ctx, by)
	if err != nil {
		return Response{}, err
	}
	if state == coach.Disabled {
		return Response{}, fault.Missing()
	}
	documents, err := p.Documents.List(ctx, by, coach.Identity, "", coach.MaxDocuments)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "settings", "verification.title", by)
	if err != nil {
		return Response{}, err
	}
	stored := verificationValues(submission, documents)
	if f == nil {
		f = &Form{Values: stored}
	} else if f.Restored && !f.Values.Has("document") {
		f.Values["document"] = stored["document"] // also one that was added meanwhile
	}
	v.Form, v.Path = f, verificationPath
	v.Data = map[string]any{
		"State": string(state), "Submission": submission, "Documents": documents, "Chosen": f.Values["document"],
		"CanSubmit": slices.Contains(state.Allowed(false), coach.Submit),
	}
	return FormPage("verification", v), nil
}

// verificationValues returns the fields of the form: the name of an earlier submission and all documents.
func verificationValues(submission coach.Submission, documents []coach.Document) url.Values {
	values := url.Values{"legal_name": {submission.LegalName}}
	for _, d := range documents {
		values.Add("document", d.ID)
	}
	return values
}

// openAddDocument goes to the form of a document and keeps what the coach wrote. A choice of all
// documents is not kept, so that it includes the new one.
func (p *Pages) openAddDocument(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	_, submission, err := p.Verifications.State(ctx, by)
	if err != nil {
		return Response{}, err
	}
	documents, err := p.Documents.List(ctx, by, coach.Identity, "", coach.MaxDocuments)
	if err != nil {
		return Response{}, err
	}
	stored := verificationValues(submission, documents)
	if lines(r.Form["document"]) == lines(stored["document"]) {
		delete(stored, "document")
	}
	return p.KeepTyped(r, Redirect(documentsPath+"/add?kind=identity"), verificationPath, stored), nil
}

// submitVerification serves POST /coach/verification. Sent twice, it submits once: the
// state allows no second submission.
func (p *Pages) submitVerification(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if r.Form.Has("open") {
		return p.openAddDocument(ctx, r, by)
	}
	var faults wire.Faults
	name := wire.ParseRules("name,min=1,max=100").Text(r.Value("legal_name"), "/legal_name", &faults)
	ids := slices.Compact(slices.Sorted(slices.Values(r.Form["document"])))
	switch {
	case len(ids) == 0:
		faults.Add("/document_ids", "no_document", "Choose a document.")
	case len(ids) > coach.MaxKYCDocuments:
		faults.Add("/document_ids", "too_many", "Choose fewer documents.")
	}
	err := faults.Err()
	if err == nil {
		_, _, err = p.Verifications.Submit(ctx, by, name, ids)
	}
	if fault.CodeOf(err) == "invalid_transition" {
		return Redirect(verificationPath), nil // it is submitted or decided: the page shows it
	}
	if err != nil {
		f := &Form{Values: r.Form}
		fields := map[string]string{"/document_ids": "document"}
		for i := range ids {
			fields[wire.PointTo("/document_ids", i)] = "document"
		}
		if !p.AddFaults(r, f, err, fields) {
			return Response{}, err
		}
		return p.verificationForm(ctx, r, by, f)
	}
	return Redirect(verificationPath), nil
}
