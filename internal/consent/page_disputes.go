package consent

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// maxDisputes is more disputes than a family has.
const maxDisputes = 200

// dispute serves GET /me/{role}/players/{player_id}/not-me: it asks a signed-in party to
// confirm that the question reached the wrong person.
func (p pages) dispute(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if !d.CanAnswer() {
		return web.Redirect(d.Path), nil
	}
	v := p.site.SignedInView(r, "not_me.title", by)
	v.Data = d
	return web.Page("dispute", v), nil
}

// fileDispute serves POST …/not-me: it ends the question. The same form sent twice has the
// same effect.
func (p pages) fileDispute(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if d.Disputed {
		return web.Redirect(d.Path), nil
	}
	if request := r.Value("request"); request != "" && request == d.RequestID {
		var w approval.Wording
		if w, err = p.wording(r, "question-text", d); err == nil {
			w.Version = seenVersion(r)
			_, err = p.Dispute(ctx, by, request, w)
		}
	} else {
		err = fault.New(fault.Conflict, "request_superseded", "That request is no longer open.")
	}
	switch {
	case err == nil:
		return web.Redirect(d.Path), nil
	case fault.KindOf(err) == fault.Conflict:
		return p.changedMeanwhile(ctx, r, by)
	}
	return web.Response{}, err
}

// disputes serves GET /me/{role}/disputes: what the caller disputed, also about removed
// players.
func (p pages) disputes(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	list, err := p.ownDisputes(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.SignedInView(r, "disputes.title", by)
	v.Data = map[string]any{"Home": web.Home(by.Role), "List": list}
	return web.Page("disputes", v), nil
}

func (p pages) ownDisputes(ctx context.Context, by actor.Actor) ([]approval.DisputedRequest, error) {
	list, err := p.Disputes(ctx, by, approval.Page{Limit: maxDisputes})
	for i := range list {
		list[i].StudentName, list[i].CoachName = message.Name(list[i].StudentName, ""), message.Name(list[i].CoachName, "")
	}
	return list, err
}

// liftPage serves GET /me/{role}/disputes/{request_id}: it asks to confirm that a dispute
// ends.
func (p pages) liftPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	list, err := p.ownDisputes(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	for _, d := range list {
		if d.RequestID == r.PathValue("request_id") {
			v := p.site.SignedInView(r, "disputes.title", by)
			v.Data = map[string]any{"Home": web.Home(by.Role), "Dispute": d}
			return web.Page("lift_dispute", v), nil
		}
	}
	return web.Redirect(web.Home(by.Role) + "/disputes"), nil // lifted already, or never the caller's
}

// lift serves POST /me/{role}/disputes/{request_id}: it ends the dispute for which the form was
// made, and no later one of the same request. The session ends with it if no player names the
// account any longer, so the next page needs no session.
func (p pages) lift(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	err := p.LiftShown(ctx, by, r.PathValue("request_id"), r.Time("disputed"))
	if fault.CodeOf(err) == "request_superseded" {
		return web.Redirect(web.Home(by.Role) + "/disputes"), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/me/dispute-ended"), nil
}

// lifted serves GET /me/dispute-ended: what follows when a dispute has ended.
func (p pages) lifted(_ context.Context, r *web.Request) (web.Response, error) {
	return web.Page("dispute_ended", p.site.NewView(r, "disputes.title")), nil
}
