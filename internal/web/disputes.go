package web

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// maxDisputes is more disputes than a family has.
const maxDisputes = 200

// dispute serves GET /me/{role}/players/{player_id}/not-me: it asks a signed-in party to
// confirm that the question reached the wrong person.
func (p *Pages) dispute(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	if !d.CanAnswer() {
		return Redirect(d.Path), nil
	}
	v := p.SignedInView(r, "not_me.title", by)
	v.Data = d
	return Page("dispute", v), nil
}

// fileDispute serves POST …/not-me: it ends the question. The same form sent twice has the
// same effect.
func (p *Pages) fileDispute(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	if d.Disputed {
		return Redirect(d.Path), nil
	}
	if request := r.Value("request"); request != "" && request == d.RequestID {
		_, err = p.Approvals.Dispute(ctx, by, request)
	} else {
		err = fault.New(fault.Conflict, "request_superseded", "That request is no longer open.")
	}
	switch {
	case err == nil:
		return Redirect(d.Path), nil
	case fault.KindOf(err) == fault.Conflict:
		return p.changedMeanwhile(ctx, r, by)
	}
	return Response{}, err
}

// disputes serves GET /me/{role}/disputes: what the caller disputed, also about removed
// players.
func (p *Pages) disputes(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	list, err := p.ownDisputes(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v := p.SignedInView(r, "disputes.title", by)
	v.Data = map[string]any{"Home": home(by.Role), "List": list}
	return Page("disputes", v), nil
}

func (p *Pages) ownDisputes(ctx context.Context, by actor.Actor) ([]approval.DisputedRequest, error) {
	list, err := p.Approvals.Disputes(ctx, by, approval.Page{Limit: maxDisputes})
	for i := range list {
		list[i].StudentName, list[i].CoachName = message.Name(list[i].StudentName, ""), message.Name(list[i].CoachName, "")
	}
	return list, err
}

// liftPage serves GET /me/{role}/disputes/{request_id}: it asks to confirm that a dispute
// ends.
func (p *Pages) liftPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	list, err := p.ownDisputes(ctx, by)
	if err != nil {
		return Response{}, err
	}
	for _, d := range list {
		if d.RequestID == r.PathValue("request_id") {
			v := p.SignedInView(r, "disputes.title", by)
			v.Data = map[string]any{"Home": home(by.Role), "Dispute": d}
			return Page("lift_dispute", v), nil
		}
	}
	return Redirect(home(by.Role) + "/disputes"), nil // lifted already, or never the caller's
}

// lift serves POST /me/{role}/disputes/{request_id}: it ends the dispute for which the form was
// made, and no later one of the same request. The session ends with it if no player names the
// account any longer, so the next page needs no session.
func (p *Pages) lift(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("request_id")
	if err != nil {
		return Response{}, err
	}
	err = p.Approvals.LiftShown(ctx, by, id, r.Time("disputed"))
	if fault.CodeOf(err) == "request_superseded" {
		return Redirect(home(by.Role) + "/disputes"), nil
	}
	if err != nil {
		return Response{}, err
	}
	return Redirect("/me/dispute-ended"), nil
}

// lifted serves GET /me/dispute-ended: what follows when a dispute has ended.
func (p *Pages) lifted(_ context.Context, r *Request) (Response, error) {
	return Page("dispute_ended", p.NewView(r, "disputes.title")), nil
}
