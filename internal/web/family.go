package web

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
)

func (p *Pages) familyRoutes() []Route {
	routes := []Route{{Method: "GET", Pattern: "/me", Handle: p.me}}
	for _, role := range approval.Parties {
		base := "/me/" + string(role)
		one := base + "/players/{player_id}"
		routes = append(
			routes,
			Route{Method: "GET", Pattern: base, Handle: p.signedIn(role, p.permissions)},
			Route{Method: "GET", Pattern: one, Handle: p.signedIn(role, p.permission)},
			Route{Method: "GET", Pattern: one + "/answer", Handle: p.signedIn(role, p.answer)},
			Route{Method: "POST", Pattern: one + "/check", Handle: p.signedIn(role, p.check)},
			Route{Method: "POST", Pattern: one + "/decide", Handle: p.signedIn(role, p.decide), Urgent: true},
			Route{Method: "GET", Pattern: one + "/done", Handle: p.signedIn(role, p.done)},
		)
	}
	return routes
}

// playerPath returns the page of a player for a party.
func playerPath(role actor.Role, playerID string) string {
	return "/me/" + string(role) + "/players/" + playerID
}

// me serves GET /me: it goes to the role in which this browser is signed in, and lets a
// person choose who is signed in as both or as none.
func (p *Pages) me(_ context.Context, r *Request) (Response, error) {
	_, guardian := r.Actor(actor.Guardian)
	_, student := r.Actor(actor.Student)
	switch {
	case guardian && student:
		return redirect("/"), nil
	case guardian:
		return redirect("/me/guardian"), nil
	case student:
		return redirect("/me/student"), nil
	}
	return redirect("/sign-in/family"), nil
}

// answerPage is the data of the pages of one question to the caller.
type answerPage struct {
	ID       string
	Path     string
	Coach    string
	Student  string
	Guardian bool
	Adult    bool
	State    approval.State
	Consent  approval.Consent
	Services []string
	// RequestID is the open request that the page shows, or empty. A decision names it, so
	// that it is refused if the coach has changed the question meanwhile.
	RequestID string
	Disputed  bool
	Action    approval.Trigger
	Reason    string
	History   []approval.Record
}

// load returns the page data of a player that the caller may see.
func (p *Pages) load(ctx context.Context, r *Request, by actor.Actor) (answerPage, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return answerPage{}, err
	}
	player, history, err := p.Approvals.Status(ctx, by, id)
	if err != nil {
		return answerPage{}, err
	}
	return p.newAnswerPage(by, player, history), nil
}

func (p *Pages) newAnswerPage(by actor.Actor, player *approval.Player, history []approval.Record) answerPage {
	approver := player.Approver(by.Role)
	d := answerPage{
		ID: player.ID, Path: playerPath(by.Role, player.ID), Coach: player.CoachName, Student: player.Student.FullName,
		Guardian: by.Role == actor.Guardian, Adult: player.Adult(p.Now()), State: approver.Consent.State, Consent: approver.Consent,
		Services: approval.AppServices,
	}
	if open := approver.OpenRequest(); open != nil {
		d.RequestID = open.ID
	}
	d.Disputed = approver.Request != nil && approver.Request.State == approval.RequestDisputed
	for _, record := range history {
		if record.Party == by.Role {
			d.History = append(d.History, record)
		}
	}
	return d
}

// CanAnswer reports whether there is a question to answer.
func (d answerPage) CanAnswer() bool { return d.State == approval.Pending && d.RequestID != "" }

// permissions serves GET /me/{role}: all children and coaches, open questions first.
func (p *Pages) permissions(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	players, err := p.Approvals.Links(ctx, by, approval.Page{Limit: maxLinks})
	if err != nil {
		return Response{}, err
	}
	var waiting, answered []answerPage
	for _, player := range players {
		d := p.newAnswerPage(by, player, nil)
		if d.CanAnswer() {
			waiting = append(waiting, d)
		} else {
			answered = append(answered, d)
		}
	}
	v := p.signedInView(r, "permissions.title", by)
	v.Data = map[string]any{"Waiting": waiting, "Answered": answered, "Guardian": by.Role == actor.Guardian}
	return page("permissions", v), nil
}

// maxLinks is more links than a family has.
const maxLinks = 200

// permission serves GET /me/{role}/players/{player_id}: the answer for one child, what is
// on, and every change.
func (p *Pages) permission(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.answerPage(ctx, r, by, "permission", "permission.title")
}

// answer serves GET …/answer: the question with its two answers.
func (p *Pages) answer(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.load(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	if !d.CanAnswer() {
		return redirect(d.Path), nil
	}
	v := p.signedInView(r, "question.title", by)
	v.InlineStyle = true
	v.Data = d
	return page("answer", v), nil
}

// done serves GET …/done: what the caller decided and what happens now.
func (p *Pages) done(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.answerPage(ctx, r, by, "done", "done.title")
}

func (p *Pages) answerPage(ctx context.Context, r *Request, by actor.Actor, template, title string) (Response, error) {
	d, err := p.load(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	v := p.signedInView(r, title, by)
	v.Data = d
	return page(template, v), nil
}

// check serves POST …/check: it shows what the caller is about to say. It changes nothing.
func (p *Pages) check(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.load(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	d.Action, d.Reason = approval.Trigger(r.Value("action")), r.Value("reason")
	if _, err := d.State.Next(d.Action); err != nil {
		return redirect(d.Path), nil
	}
	if d.Action == approval.Approve && !p.fresh(r, by.Role) {
		return p.proveAgain(ctx, r, by, d)
	}
	v := p.signedInView(r, "check.title", by)
	v.Data = d
	return page("check", v), nil
}

// proveAgain sends a code to a caller whose last one is too old to approve, and then
// comes back to the answer.
func (p *Pages) proveAgain(ctx context.Context, r *Request, by actor.Actor, d answerPage) (Response, error) {
	pending := pendingSignIn{Role: by.Role, Number: by.Number, Next: d.Path + "/answer"}
	if err := p.sendCode(ctx, r, pending); err != nil {
		return Response{}, err
	}
	return p.toCode(pending)
}

// decide serves POST …/decide: it records the answer. The same form sent twice has the
// same effect.
func (p *Pages) decide(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return Response{}, err
	}
	d := approval.Decision{Action: approval.Trigger(r.Value("action")), RequestID: r.Value("request"), Reason: r.Value("reason")}
	path := playerPath(by.Role, id)
	switch d.Action {
	case approval.Reject, approval.Revoke:
	case approval.Approve:
		if !p.fresh(r, by.Role) {
			return p.proveAgain(ctx, r, by, answerPage{Path: path})
		}
	default:
		return redirect(path + "/answer"), nil
	}
	_, _, err = p.Approvals.Decide(ctx, by, id, d)
	switch {
	case err == nil:
		return redirect(path + "/done"), nil
	case fault.KindOf(err) == fault.Conflict:
		return p.changedMeanwhile(ctx, r, by, err)
	}
	return Response{}, err
}

// changedMeanwhile shows how the question stands now, after an answer came too late.
func (p *Pages) changedMeanwhile(ctx context.Context, r *Request, by actor.Actor, cause error) (Response, error) {
	d, err := p.load(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	v := p.signedInView(r, "permission.title", by)
	v.Data = d
	v.Form.Add("", p.errorText(r, cause))
	return page("permission", v).with(http.StatusConflict), nil
}
