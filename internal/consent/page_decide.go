package consent

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/signin"
	"github.com/touchline/touchline/internal/web"
)

// answer serves GET …/answer: the question with its two answers.
func (p pages) answer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if !d.MayAnswer() {
		return web.Redirect(d.Path), nil
	}
	f := &web.Form{Values: url.Values{"reason": {p.site.DraftReason(r, by, d.ID)}}}
	if !d.Shows(seenVersion(r)) { // it changed between the link and the sign-in
		p.addChanges(r, f, d.Coach)
	}
	return p.answerForm(r, by, d, f), nil
}

// seenVersion returns the version of the request that the caller saw, or 0.
func seenVersion(r *web.Request) int64 {
	version, err := strconv.ParseInt(r.Value("version"), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, version)
}

// addChanges says in a form what has changed since the version that the caller saw: the name of the coach, which is coach
// now, or something else.
func (p pages) addChanges(r *web.Request, f *web.Form, coach string) {
	v := p.site.NewView(r, "")
	if seen := message.Name(r.Value("coach"), ""); r.Value("coach") != "" && seen != coach {
		f.Add("", v.MustT("question.changed.coach", "Before", cmp.Or(seen, v.MustT("question.the_coach")), "Coach", cmp.Or(coach, v.MustT("question.the_coach"))))
		return
	}
	f.Add("", v.MustT("question.changed"))
}

// changed shows the question again, after an answer to an older version of it, and says what has changed.
func (p pages) changed(r *web.Request, by actor.Actor, d web.Question) web.Response {
	f := &web.Form{Values: r.Form}
	p.addChanges(r, f, d.Coach)
	return p.answerForm(r, by, d, f).With(http.StatusConflict)
}

func (p pages) answerForm(r *web.Request, by actor.Actor, d web.Question, f *web.Form) web.Response {
	v := p.site.SignedInView(r, "question.title", by)
	v.InlineStyle = true
	v.Form = f
	v.Path = d.Path + "/answer"
	if d.Guardian {
		d.Providers, d.ProofHow = p.Providers(), proofHow(r)
	}
	v.Data = d
	return web.FormPage("answer", v)
}

// proofEndings are how an attempt to prove an adult can end: see package identity.
var proofEndings = []string{"valid", "cancelled", "away", "untrusted", "no_age", "wrong_date", "minor", "too_soon"}

// proofHow returns how an attempt ended from which the caller comes back, or "".
func proofHow(r *web.Request) string {
	if ended := r.URL.Query().Get("proof"); slices.Contains(proofEndings, ended) {
		return ended
	}
	return ""
}

// toAnswer serves GET …/decide, which a browser opens after a sign-in or by the back button.
func (p pages) toAnswer(_ context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return web.Redirect(web.PlayerPath(by.Role, r.PathValue("player_id")) + "/answer"), nil
}

// readReason reads the reason of a form, with the rules of the API. Faults are added to f.
func (p pages) readReason(r *web.Request, f *web.Form) string {
	var faults wire.Faults
	reason := wire.ParseRules("lines,max=500").Text(r.Form.Get("reason"), "/reason", &faults)
	p.site.AddFaults(r, f, faults.Err(), nil)
	return reason
}

// beginCheck serves POST …/check: it keeps the reason and goes to the check page, so that
// the back button never meets the response to a form.
func (p pages) beginCheck(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	d.Action = approval.Trigger(r.Value("action"))
	if !d.MayCheck() {
		return web.Redirect(d.Path), nil
	}
	if d.Action == approval.Approve && !d.Shows(seenVersion(r)) {
		return p.changed(r, by, d), nil
	}
	if d.Action == approval.Approve && d.NeedsProof() {
		return web.Redirect(d.Path+"/answer", p.site.KeepDraft(r)...), nil
	}
	if d.Action == approval.Approve && !p.site.HasRecentOTP(r, by.Role) {
		return p.proveAgain(ctx, r, by, d)
	}
	f := &web.Form{Values: r.Form}
	r.Form.Set("reason", p.readReason(r, f))
	if len(f.Faults) > 0 && d.MayAnswer() {
		return p.answerForm(r, by, d, f), nil
	}
	return web.Redirect(d.Path+"/check?"+url.Values{"action": {string(d.Action)}, "version": {strconv.FormatInt(d.Version, 10)}}.Encode(), p.site.KeepDraft(r)...), nil
}

// check serves GET …/check: it shows what the caller is about to say.
func (p pages) check(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	d.Action = approval.Trigger(r.Value("action"))
	switch {
	case d.Action == "" || d.Action == approval.Approve && (d.NeedsProof() || !p.site.HasRecentOTP(r, by.Role)):
		return web.Redirect(d.Path + "/answer"), nil
	case !d.MayCheck():
		return web.Redirect(d.Path), nil
	}
	if d.Action == approval.Approve && !d.Shows(seenVersion(r)) {
		return p.changed(r, by, d), nil
	}
	return p.checkForm(r, by, d, &web.Form{Values: url.Values{"reason": {p.site.DraftReason(r, by, d.ID)}}}), nil
}

func (p pages) checkForm(r *web.Request, by actor.Actor, d web.Question, f *web.Form) web.Response {
	v := p.site.SignedInView(r, "check.title", by)
	v.Form = f
	v.Data = d
	return web.FormPage("check", v)
}

// proveAgain sends a code to a caller whose last one is too old to approve, and then
// comes back to the answer. The new session lasts as long as the session that it replaces.
func (p pages) proveAgain(ctx context.Context, r *web.Request, by actor.Actor, d web.Question) (web.Response, error) {
	session := r.Sessions[by.Role]
	pending := signin.SignIn{
		Role: by.Role, Number: by.Number, SignedIn: true, Next: d.Path + "/answer",
		FromLink: session.PageIdle <= auth.LinkIdle, Remember: session.EndsAt.Sub(session.CreatedAt) > auth.PageLifetime,
	}
	f := &web.Form{Values: r.Form}
	resp, sent, err := p.SignIn.AskForCode(ctx, p.site, r, pending, f, "", p.site.KeepDraft(r)...)
	if err == nil && !sent {
		return p.answerForm(r, by, d, f), nil
	}
	return resp, err
}

// decide serves POST …/decide: it records the answer. The same form sent twice has the
// same effect.
func (p pages) decide(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	d.Action = approval.Trigger(r.Value("action"))
	switch d.Action {
	case approval.Reject, approval.Revoke:
	case approval.Approve:
		switch {
		case r.Value("request") == "" && d.MayAnswer():
			return web.Redirect(d.Path + "/answer"), nil
		case r.Value("request") == "":
			// Without its question a yes would answer the question that the coach asks at this moment.
			return p.changedMeanwhile(ctx, r, by)
		case r.Value("request") == d.RequestID && !d.Shows(seenVersion(r)):
			return p.changed(r, by, d), nil
		case p.site.HasRecentOTP(r, by.Role):
		case d.MayAnswer():
			return p.proveAgain(ctx, r, by, d)
		case d.State != approval.Approved:
			// An older OTP may only repeat the same answer to the same question.
			return p.changedMeanwhile(ctx, r, by)
		}
	default:
		return web.Redirect(d.Path + "/answer"), nil
	}
	f := &web.Form{Values: r.Form}
	decision := approval.Decision{Action: d.Action, RequestID: r.Value("request"), Reason: p.readReason(r, f)}
	if len(f.Faults) > 0 {
		return p.checkForm(r, by, d, f), nil
	}
	part := "question-text"
	if d.Action == approval.Revoke {
		part = "check-text"
	}
	if decision.Wording, err = p.wording(r, part, d); err != nil {
		return web.Response{}, err
	}
	decision.Wording.Version = seenVersion(r)
	if seen := r.Value("coach"); d.Action == approval.Revoke && seen != "" && seen != d.Coach {
		decision.Wording.Version = approval.OtherVersion
	}
	err = p.DecideOnly(ctx, by, d.ID, decision)
	switch {
	case err == nil:
		return web.Redirect(d.Path+"/done", p.site.DropDraft()), nil
	case fault.KindOf(err) == fault.Conflict:
		return p.changedMeanwhile(ctx, r, by)
	case approval.NeedsProof(err): // it ended meanwhile
		return web.Redirect(d.Path+"/answer", p.site.KeepDraft(r)...), nil
	}
	return web.Response{}, err
}

// wording returns what the page shows of a question: the words of a part of its template.
func (p pages) wording(r *web.Request, part string, question any) (approval.Wording, error) {
	text, err := p.site.PartText(part, []any{p.site.NewView(r, ""), question})
	return p.WordingOf(r.Language, text), err
}

// changedMeanwhile shows the state of the question, after an answer that came too late.
func (p pages) changedMeanwhile(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	resp, err := p.ChildPage(ctx, p.site, r, by)
	if err != nil {
		return web.Response{}, err
	}
	v, d := resp.View, resp.View.Data.(interface{ Asked() web.Question }).Asked()
	if d.MayAnswer() && r.Value("request") == d.RequestID {
		return p.changed(r, by, d), nil
	}
	switch {
	case d.MayAnswer():
		v.Form.Add("", v.MustT("fault.request_superseded"))
	case d.State == approval.Pending:
		v.Form.Add("", v.MustT("fault.no_open_request"))
	default:
		v.Form.Add("", v.MustT("answered_meanwhile"))
	}
	return resp.With(http.StatusConflict), nil
}

// done serves GET …/done: what the caller decided and what happens now.
func (p pages) done(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if d.State == approval.Pending { // the coach has asked again
		return web.Redirect(d.Path), nil
	}
	if d.Next, err = p.nextQuestion(ctx, r, by, d.ID); err != nil {
		return web.Response{}, err
	}
	v := p.site.SignedInView(r, "done.title", by)
	v.TitleName = d.Student
	v.Data = d
	return web.Page("done", v), nil
}

// nextQuestion returns an open question to the caller about another player than the one with the id, or nil.
func (p pages) nextQuestion(ctx context.Context, r *web.Request, by actor.Actor, playerID string) (*web.Question, error) {
	waiting, err := p.Links(ctx, by, true, approval.Page{Limit: 2})
	for _, player := range waiting {
		if d := p.site.NewQuestion(r, by, player, nil); d.ID != playerID && d.CanAnswer() {
			return &d, err
		}
	}
	return nil, err
}
