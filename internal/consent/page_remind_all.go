package consent

import (
	"context"
	"strconv"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// remindAllPage serves GET /coach/players/remind: how many parties get a reminder, and why
// others get none.
func (p pages) remindAllPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	counts, err := p.CountRemindable(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "remind_all.title", by)
	begun := r.Time("begun")
	running := !begun.IsZero()
	if !running {
		begun = p.Now()
	}
	v.Path = "/coach/players/remind"
	v.Data = map[string]any{"Counts": counts, "Begun": begun, "Running": running}
	return web.Page("remind_all", v), nil
}

// remindAll serves POST /coach/players/remind: one step of reminders. The form carries when
// it was rendered: no party gets two reminders after that time, however often it is sent.
func (p pages) remindAll(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	begun := r.Time("begun")
	if begun.IsZero() || begun.After(p.Now()) {
		return web.Redirect("/coach/players/remind"), nil
	}
	if err := p.Coaches.Complete(ctx, by); err != nil {
		return web.Response{}, err
	}
	more, err := p.RemindAll(ctx, by, begun)
	if err != nil {
		return web.Response{}, err
	}
	if more {
		return web.Redirect("/coach/players/remind?begun=" + strconv.FormatInt(begun.UnixMicro(), 10)), nil
	}
	return web.Redirect("/coach/players?done=reminded"), nil
}
