package training

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// linkPage serves GET /t/{secret}: the training with two equal buttons. It changes nothing, because
// phones and scanners fetch links.
func (p pages) linkPage(ctx context.Context, r *web.Request) (web.Response, error) {
	l, err := p.ByLink(ctx, r.PathValue("secret"))
	if fault.IsMissing(err) {
		return p.deadLink(r), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "training.title")
	v.InlineStyle = true
	v.Data = map[string]any{"Link": l, "Student": l.By.Role == actor.Student, "Path": "/t/" + r.PathValue("secret"), "NotSaved": r.Value("answered")}
	return web.Page("training_link", v), nil
}

// deadLink is the page of each link that does not work. It is the same for all of them, also if no such
// link ever existed.
func (p pages) deadLink(r *web.Request) web.Response {
	v := p.site.NewView(r, "training.dead")
	v.InlineStyle, v.HidePath, v.Path = true, true, "/"
	return web.Page("training_link_dead", v).With(http.StatusNotFound)
}

// answerByLink serves POST /t/{secret}.
func (p pages) answerByLink(ctx context.Context, r *web.Request) (web.Response, error) {
	path := "/t/" + r.PathValue("secret")
	in, ok := readAnswer(r)
	if !ok {
		return web.Redirect(path + "?answered=invalid"), nil
	}
	err := p.AnswerByLink(ctx, r.PathValue("secret"), in.Attending, in.Reason.Value)
	switch code := fault.CodeOf(err); {
	case fault.IsMissing(err) || code == "training_begun":
		return p.deadLink(r), nil
	case code == "training_cancelled":
		return web.Redirect(path), nil
	}
	return web.Redirect(path), err
}

// ask serves POST …/ask: the families without an answer are asked.
func (p pages) ask(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id, err := inPath(r)
	if err != nil {
		return web.Response{}, err
	}
	_, _, err = p.Ask(ctx, by, id)
	done := "asked"
	switch code := fault.CodeOf(err); {
	case code == "reminder_limit":
		done = "asked_before"
	case fault.KindOf(err) == fault.Conflict && err != nil:
		done = "not_asked"
	case err != nil:
		return web.Response{}, err
	}
	return web.Redirect(pathOf(id) + "?done=" + done), nil
}

// coachCalendar serves GET /coach/calendar.
func (p pages) coachCalendar(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	c, err := p.CalendarOf(ctx, by, "")
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "batches", "calendar.title", by)
	v.Data = map[string]any{"Calendar": c, "Back": "/coach/batches", "Action": "/coach/calendar", "Coach": true, "Student": ""}
	return web.Page("calendar", v), nil
}

// familyCalendar serves GET /me/{role}/players/{player_id}/calendar.
func (p pages) familyCalendar(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.site.FamilyPage(ctx, r, by, "calendar", "", func(d web.Question) (map[string]any, error) {
		c, err := p.CalendarOf(ctx, by, d.ID)
		return map[string]any{"Calendar": c, "Action": d.Path + "/calendar", "Coach": false}, err
	})
}

// changeCalendar serves POST …/calendar: it makes an address, or ends it with end=yes.
func (p pages) changeCalendar(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	playerID := ""
	if by.Role != actor.Coach {
		playerID = r.PathValue("player_id")
	}
	var err error
	if r.Value("end") == "yes" {
		err = p.EndCalendar(ctx, by, playerID)
	} else {
		_, err = p.NewCalendar(ctx, by, playerID)
	}
	if fault.KindOf(err) == fault.Forbidden && err != nil { // the page says why
		err = nil
	}
	return web.Redirect(r.URL.Path), err
}
