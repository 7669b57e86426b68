package conversation

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
)

// handlers serves messages as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of messages, replies and templates.
func (s *Service) Operations(a *api.Server) []api.Route {
	const family, conversation = "/api/me/players/{player_id}/messages", "/api/conversations/{player_id}/{party}"
	h := handlers{s, a}
	return []api.Route{
		{Method: "POST", Pattern: "/api/messages", Handle: a.Idempotent(endpoint.Handle(h.send), h.rebuild), Authorize: a.CompleteCoach(), Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/messages", Handle: endpoint.Handle(h.list), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/messages/preview", Handle: endpoint.Handle(h.preview), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/messages/{message_id}", Handle: endpoint.HandleID("message_id", h.get), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/messages/replies", Handle: endpoint.Handle(h.listReplies), Authorize: api.CoachOnly, Query: endpoint.Paged("unread")},
		{Method: "POST", Pattern: "/api/messages/replies/read", Handle: endpoint.Handle(h.markRepliesRead), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/messages/templates", Handle: a.Idempotent(endpoint.Handle(h.addTemplate), h.rebuildTemplate), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/messages/templates", Handle: endpoint.Handle(h.listTemplates), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "DELETE", Pattern: "/api/messages/templates/{template_id}", Handle: endpoint.HandleID("template_id", h.deleteTemplate), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: "/api/conversations", Handle: endpoint.Handle(h.listConversations), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: conversation, Handle: endpoint.Handle(h.readConversation), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: conversation, Handle: a.Idempotent(endpoint.Handle(h.answer), h.rebuild), Authorize: a.CompleteCoach(), Body: endpoint.JSON},
		{Method: "GET", Pattern: family, Handle: endpoint.HandleID("player_id", h.conversation), Authorize: api.PartyOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: family, Handle: h.mayReply(a.Idempotent(endpoint.HandleID("player_id", h.reply), h.rebuildReply)), Authorize: api.PartyOnly, Body: endpoint.JSON},
	}
}

// send serves POST /api/messages.
func (h handlers) send(ctx context.Context, r api.Request[messageRequest]) (api.Response, error) {
	draft, err := h.draft(ctx, r)
	if err != nil {
		return api.Response{}, err
	}
	return sent(h.Send(ctx, r.Caller.Actor, draft))
}

// rebuild returns the response of send again.
func (h handlers) rebuild(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	return sent(h.Message(ctx, m.Caller.Actor, w.ID))
}

func sent(m Message, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/messages/"+m.ID, newMessageResponse(m)), nil
}

// draft returns the draft of a request. Players and a batch that are not the coach's are
// not_found, whatever the faults of the body.
func (h handlers) draft(ctx context.Context, r api.Request[messageRequest]) (Draft, error) {
	draft := r.Body.read(&r.Faults)
	for _, id := range draft.To.PlayerIDs {
		if !endpoint.IsID(id) {
			return draft, fault.Missing()
		}
	}
	if draft.To.BatchID != "" && !endpoint.IsID(draft.To.BatchID) {
		return draft, fault.Missing()
	}
	if len(r.Faults) == 0 {
		return draft, nil
	}
	// A preview of any text returns not_found if a player or the batch is not the coach's.
	if draft.To.checkTarget() == nil {
		whole := Draft{To: draft.To, Audience: ToBoth, Text: "?", Channels: []Channel{InApp}}
		if _, _, err := h.Preview(ctx, r.Caller.Actor, whole); fault.KindOf(err) == fault.NotFound {
			return draft, err
		}
	}
	return draft, r.Faults.Err()
}

// preview serves POST /api/messages/preview.
func (h handlers) preview(ctx context.Context, r api.Request[messageRequest]) (api.Response, error) {
	draft, err := h.draft(ctx, r)
	if err != nil {
		return api.Response{}, err
	}
	plan, allowed, err := h.Preview(ctx, r.Caller.Actor, draft)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newPreviewResponse(plan, allowed)), nil
}

// list serves GET /api/messages, newest first.
func (h handlers) list(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	page := h.api.Page(r.Meta, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	list, err := h.Messages(ctx, r.Caller.Actor, page.After.ID, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, newMessageResponse, func(m Message) api.Keyset { return api.Keyset{ID: m.ID} }), nil
}

// get serves GET /api/messages/{message_id} with a page of its recipients.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	m, err := h.Message(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	page := h.api.Page(r.Meta, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	recipients, err := h.Recipients(ctx, r.Caller.Actor, id, int(page.After.Seq), page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	counts, err := h.CountStates(ctx, r.Caller.Actor, m)
	if err != nil {
		return api.Response{}, err
	}
	body := messageDetailResponse{
		messageResponse: newMessageResponse(m), Recipients: []recipientResponse{},
		Counts: countsResponse{counts[Queued], counts[Sent], counts[Delivered], counts[Failed], counts[LeftOut]},
	}
	if n := page.Limit(); len(recipients) > n {
		recipients = recipients[:n]
		next := page.Cursor(api.Keyset{Seq: int64(recipients[n-1].Position)})
		body.NextCursor = &next
	}
	for _, recipient := range recipients {
		body.Recipients = append(body.Recipients, newRecipientResponse(recipient))
	}
	return endpoint.OK(body), nil
}

// templateResponse is the MessageTemplate of openapi.yaml.
type templateResponse struct {
	TemplateID string `json:"template_id"`
	Title      string `json:"title"`
	Text       string `json:"text"`
	CreatedAt  string `json:"created_at"`
}

func newTemplateResponse(t Template) templateResponse {
	return templateResponse{t.ID, t.Title, t.Text, wire.Timestamp(t.CreatedAt)}
}

func templateAdded(t Template, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/messages/templates/"+t.ID, newTemplateResponse(t)), nil
}

// addTemplate serves POST /api/messages/templates.
func (h handlers) addTemplate(ctx context.Context, r api.Request[templateRequest]) (api.Response, error) {
	text := readText(r.Body.Text, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	return templateAdded(h.AddTemplate(ctx, r.Caller.Actor, r.Body.Title, text))
}

// rebuildTemplate returns the response of addTemplate again.
func (h handlers) rebuildTemplate(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	return templateAdded(h.Template(ctx, m.Caller.Actor, w.ID))
}

// listTemplates serves GET /api/messages/templates, newest first.
func (h handlers) listTemplates(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	page := h.api.Page(r.Meta, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	list, err := h.Templates(ctx, r.Caller.Actor, page.After.ID, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, newTemplateResponse, func(t Template) api.Keyset { return api.Keyset{ID: t.ID} }), nil
}

// deleteTemplate serves DELETE /api/messages/templates/{template_id}.
func (h handlers) deleteTemplate(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	return endpoint.NoContent(), h.DeleteTemplate(ctx, r.Caller.Actor, id)
}
