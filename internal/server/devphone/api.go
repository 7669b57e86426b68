package devphone

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// handlers serves the phones as JSON.
type handlers struct {
	*Phones
	api *api.Server
}

// Operations returns the operations for tests of apps.
func (s *Phones) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	return []api.Route{
		{Method: "GET", Pattern: "/dev/messages", Handle: endpoint.Handle(h.list), Authenticate: onlyLocal, Query: []string{"number"}},
		{Method: "POST", Pattern: "/dev/consents", Handle: endpoint.Handle(h.force), Authenticate: onlyLocal, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/dev/clock", Handle: endpoint.Handle(h.advance), Authenticate: onlyLocal, Body: endpoint.JSON},
	}
}

// messageResponse is a Message.
type messageResponse struct {
	ID      string           `json:"message_id"`
	Channel message.Channel  `json:"channel"`
	Sent    bool             `json:"sent_by_phone"`
	Text    string           `json:"text"`
	Code    *string          `json:"code"`
	Links   []string         `json:"links"`
	Buttons []buttonResponse `json:"buttons"`
	At      string           `json:"at"`
}

// buttonResponse is a button of a message.
type buttonResponse struct {
	ID   string `json:"button_id"`
	Text string `json:"text"`
}

// list serves GET /dev/messages.
func (h handlers) list(_ context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	number, err := h.api.Phones.Parse(r.Query.Get("number"))
	if err != nil {
		f.Add("/number", "invalid_value", "Must be a mobile number.")
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	items := []messageResponse{}
	for _, m := range h.Messages(number) {
		item := messageResponse{m.ID, m.Channel, m.Sent, m.Text, wire.OrNull(m.Code), []string{}, []buttonResponse{}, wire.Timestamp(m.At)}
		for _, part := range m.Parts() {
			if part.Link {
				item.Links = append(item.Links, part.Text)
			}
		}
		for _, b := range m.Buttons {
			item.Buttons = append(item.Buttons, buttonResponse(b))
		}
		items = append(items, item)
	}
	return endpoint.OK(wire.List[messageResponse]{Items: items}).WithHeader("Cache-Control", "no-store"), nil
}

type clockRequest struct {
	Advance string `json:"advance" rule:"required,min=1,max=32"`
}

type clockResponse struct {
	Now string `json:"now"`
}

// maxAdvance is how far one call moves the clock.
const maxAdvance = 366 * 24 * time.Hour

// advance serves POST /dev/clock.
func (h handlers) advance(_ context.Context, r api.Request[clockRequest]) (api.Response, error) {
	f := r.Faults
	d, err := time.ParseDuration(r.Body.Advance)
	if err != nil || d < 0 || d > maxAdvance {
		f.Add("/advance", "invalid_value", "Must be a duration such as 48h, at most 8784h. The clock never goes back.")
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	h.Advance(d)
	return endpoint.OK(clockResponse{wire.Timestamp(h.Now())}), nil
}
