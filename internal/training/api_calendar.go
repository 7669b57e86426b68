package training

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
)

// mediaCalendar is the media type of a calendar.
const mediaCalendar = "text/calendar; charset=utf-8"

// calendarOperations returns the operations of calendars.
func (h handlers) calendarOperations() []api.Route {
	const coach, family = "/api/calendar", "/api/me/players/{player_id}/calendar"
	rebuild := func(ctx context.Context, m api.Meta, _ idempotency.Work) (api.Response, error) {
		playerID, _ := m.PathID("player_id")
		c, err := h.CalendarOf(ctx, m.Caller.Actor, playerID)
		if err == nil && c == nil { // ended meanwhile
			err = fault.Missing()
		}
		return addressed(c, err)
	}
	return []api.Route{
		{Method: "POST", Pattern: coach, Handle: h.api.Idempotent(endpoint.Handle(func(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
			if err := r.Faults.Err(); err != nil {
				return api.Response{}, err
			}
			return addressed(h.NewCalendar(ctx, r.Caller.Actor, ""))
		}), rebuild), Authorize: api.CoachOnly, Body: endpoint.OptionalJSON},
		{Method: "DELETE", Pattern: coach, Handle: endpoint.Handle(func(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
			return ended(h.EndCalendar, ctx, r.Caller.Actor, "")
		}), Authorize: api.CoachOnly},
		{Method: "POST", Pattern: family, Handle: h.mayRead(h.api.Idempotent(endpoint.HandleID("player_id", func(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
			if err := r.Faults.Err(); err != nil {
				return api.Response{}, err
			}
			return addressed(h.NewCalendar(ctx, r.Caller.Actor, playerID))
		}), rebuild)), Authorize: api.PartyOnly, Body: endpoint.OptionalJSON},
		{Method: "DELETE", Pattern: family, Handle: endpoint.HandleID("player_id", func(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
			return ended(h.EndCalendar, ctx, r.Caller.Actor, playerID)
		}), Authorize: api.PartyOnly},
		{Method: "GET", Pattern: "/calendars/{secret}", Handle: endpoint.Handle(h.feed), Authenticate: endpoint.Public[api.Caller], Produces: endpoint.AnyMedia},
	}
}

// mayRead checks that the caller may read the trainings of the player before anything else about the call, so that a party
// that took its approval back does not get a stored address either.
func (h handlers) mayRead(next endpoint.Handler[api.Caller]) endpoint.Handler[api.Caller] {
	serve := next.Serve
	next.Serve = func(ctx context.Context, m api.Meta, body endpoint.Body) (api.Response, error) {
		id, err := m.PathID("player_id")
		if err == nil {
			err = h.CheckCalendar(ctx, m.Caller.Actor, id)
		}
		if err != nil {
			return api.Response{}, err
		}
		return serve(ctx, m, body)
	}
	return next
}

// calendarResponse is the Calendar of openapi.yaml.
type calendarResponse struct {
	URL       string `json:"url"`
	CreatedAt string `json:"created_at"`
}

func addressed(c *Calendar, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(calendarResponse{c.URL, wire.Timestamp(c.CreatedAt)}), nil
}

func ended(end func(context.Context, actor.Actor, string) error, ctx context.Context, by actor.Actor, playerID string) (api.Response, error) {
	if err := end(ctx, by, playerID); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}

// calendarMaxAge is how long a program shows a calendar without asking again, in seconds. Programs ask
// with the ETag afterwards.
const calendarMaxAge = "300"

// feed serves GET /calendars/{secret}.ics.
func (h handlers) feed(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	calendar, err := h.Feed(ctx, strings.TrimSuffix(r.PathPart("secret"), ".ics"))
	if err != nil {
		return api.Response{}, err
	}
	hash := sha256.Sum256(calendar)
	tag := `"` + base64.RawURLEncoding.EncodeToString(hash[:16]) + `"`
	header := http.Header{"Cache-Control": {"private, max-age=" + calendarMaxAge}, "Etag": {tag}, "X-Robots-Tag": {"noindex"}}
	if wire.ETagMatches(strings.Join(r.Header.Values("If-None-Match"), ","), tag) {
		return api.Response{Status: http.StatusNotModified, Header: header}, nil
	}
	header.Set("Content-Type", mediaCalendar)
	return api.Response{Header: header, Raw: calendar}, nil
}
