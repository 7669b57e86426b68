package web

import (
	"context"
	"strconv"

	"github.com/touchline/touchline/internal/platform/actor"
)

// remindAllPage serves GET /coach/players/remind: how many parties get a reminder, and why
// others get none.
func (p *Pages) remindAllPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	counts, err := p.Approvals.CountRemindable(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "remind_all.title", by)
	if err != nil {
		return Response{}, err
	}
	begun := r.time("begun")
	running := !begun.IsZero()
	if !running {
		begun = p.Now()
	}
	v.Path = "/coach/players/remind"
	v.Data = map[string]any{"Counts": counts, "Begun": begun, "Running": running}
	return Page("remind_all", v), nil
}

// remindAll serves POST /coach/players/remind: one step of reminders. The form carries when
// it was rendered: no party gets two reminders after that time, however often it is sent.
func (p *Pages) remindAll(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	begun := r.time("begun")
	if begun.IsZero() || begun.After(p.Now()) {
		return Redirect("/coach/players/remind"), nil
	}
	if err := p.Coaches.Complete(ctx, by); err != nil {
		return Response{}, err
	}
	more, err := p.Approvals.RemindAll(ctx, by, begun)
	if err != nil {
		return Response{}, err
	}
	if more {
		return Redirect("/coach/players/remind?begun=" + strconv.FormatInt(begun.UnixMicro(), 10)), nil
	}
	return Redirect("/coach/players?done=reminded"), nil
}
