package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// answer serves GET …/answer: the question with its two answers.
func (p *Pages) answer(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	if !d.CanAnswer() {
		return Redirect(d.Path), nil
	}
	return p.answerForm(r, by, d, &Form{Values: url.Values{"reason": {p.draftReason(r, by, d.ID)}}}), nil
}

func (p *Pages) answerForm(r *Request, by actor.Actor, d Question, f *Form) Response {
	v := p.SignedInView(r, "question.title", by)
	v.InlineStyle = true
	v.Form = f
	v.Path = d.Path + "/answer"
	v.Data = d
	return FormPage("answer", v)
}

// toAnswer serves GET …/decide, which a browser opens after a sign-in or by the back button.
func (p *Pages) toAnswer(_ context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return Response{}, err
	}
	return Redirect(playerPath(by.Role, id) + "/answer"), nil
}

// readReason reads the reason of a form, with the rules of the API. Faults are added to f.
func (p *Pages) readReason(r *Request, f *Form) string {
	var faults wire.Faults
	reason := wire.ParseRules("lines,max=500").Text(r.Form.Get("reason"), "/reason", &faults)
	p.AddFaults(r, f, faults.Err(), nil)
	return reason
}

// beginCheck serves POST …/check: it keeps the reason and goes to the check page, so that
// the back button never meets the response to a form.
func (p *Pages) beginCheck(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	d.Action = approval.Trigger(r.Value("action"))
	if !d.MayCheck() {
		return Redirect(d.Path), nil
	}
	if d.Action == approval.Approve && !p.HasRecentOTP(r, by.Role) {
		return p.proveAgain(ctx, r, by, d)
	}
	f := &Form{Values: r.Form}
	r.Form.Set("reason", p.readReason(r, f))
	if len(f.Faults) > 0 && d.CanAnswer() {
		return p.answerForm(r, by, d, f), nil
	}
	return Redirect(d.Path+"/check?"+url.Values{"action": {string(d.Action)}}.Encode(), p.KeepDraft(r)...), nil
}

// check serves GET …/check: it shows what the caller is about to say.
func (p *Pages) check(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	d.Action = approval.Trigger(r.Value("action"))
	switch {
	case d.Action == "" || d.Action == approval.Approve && !p.HasRecentOTP(r, by.Role):
		return Redirect(d.Path + "/answer"), nil
	case !d.MayCheck():
		return Redirect(d.Path), nil
	}
	return p.checkForm(r, by, d, &Form{Values: url.Values{"reason": {p.draftReason(r, by, d.ID)}}}), nil
}

func (p *Pages) checkForm(r *Request, by actor.Actor, d Question, f *Form) Response {
	v := p.SignedInView(r, "check.title", by)
	v.Form = f
	v.Data = d
	return FormPage("check", v)
}

// proveAgain sends a code to a caller whose last one is too old to approve, and then
// comes back to the answer. The new session lasts as long as the one that it replaces.
func (p *Pages) proveAgain(ctx context.Context, r *Request, by actor.Actor, d Question) (Response, error) {
	session := r.Sessions[by.Role]
	pending := pendingSignIn{
		Role: by.Role, Number: by.Number, SignedIn: true, Next: d.Path + "/answer",
		FromLink: session.PageIdle <= auth.LinkIdle, Remember: session.EndsAt.Sub(session.CreatedAt) > auth.PageLifetime,
	}
	if err := p.sendCode(ctx, r, pending); err != nil {
		if !isLimit(err) {
			return Response{}, err
		}
		f := &Form{Values: r.Form}
		p.AddError(r, f, "", err)
		return p.answerForm(r, by, d, f), nil
	}
	return p.toCode(pending, p.KeepDraft(r)...)
}

// decide serves POST …/decide: it records the answer. The same form sent twice has the
// same effect.
func (p *Pages) decide(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	d.Action = approval.Trigger(r.Value("action"))
	switch d.Action {
	case approval.Reject, approval.Revoke:
	case approval.Approve:
		switch {
		case r.Value("request") == "" && d.CanAnswer():
			return Redirect(d.Path + "/answer"), nil
		case r.Value("request") == "":
			// Without its question a yes would answer the one that the coach asks at this moment.
			return p.changedMeanwhile(ctx, r, by)
		case p.HasRecentOTP(r, by.Role):
		case d.CanAnswer():
			return p.proveAgain(ctx, r, by, d)
		case d.State != approval.Approved:
			// An older OTP may only repeat the same answer to the same question.
			return p.changedMeanwhile(ctx, r, by)
		}
	default:
		return Redirect(d.Path + "/answer"), nil
	}
	f := &Form{Values: r.Form}
	decision := approval.Decision{Action: d.Action, RequestID: r.Value("request"), Reason: p.readReason(r, f)}
	if len(f.Faults) > 0 {
		return p.checkForm(r, by, d, f), nil
	}
	_, _, err = p.Approvals.Decide(ctx, by, d.ID, decision)
	switch {
	case err == nil:
		return Redirect(d.Path+"/done", p.cookies.remove(p.cookies.name(draftCookie))), nil
	case fault.KindOf(err) == fault.Conflict:
		return p.changedMeanwhile(ctx, r, by)
	}
	return Response{}, err
}

// changedMeanwhile shows the state of the question, after an answer that came too late.
func (p *Pages) changedMeanwhile(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	v := p.SignedInView(r, "permission.title", by)
	v.Data = d
	switch {
	case d.CanAnswer():
		v.Form.Add("", v.MustT("fault.request_superseded"))
	case d.State == approval.Pending:
		v.Form.Add("", v.MustT("fault.no_open_request"))
	default:
		v.Form.Add("", v.MustT("answered_meanwhile"))
	}
	return Page("permission", v).with(http.StatusConflict), nil
}
