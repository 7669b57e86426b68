package api

import (
	"context"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// messageRoutes are messages, replies and templates.
func (s *Server) messageRoutes() []Route {
	completeCoach := s.CompleteCoach()
	const family = "/api/me/players/{player_id}/messages"
	return []Route{
		{Method: "POST", Pattern: "/api/messages", Handle: s.Idempotent(endpoint.Handle(s.sendMessage), s.rebuildMessage), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/messages", Handle: endpoint.Handle(s.listMessages), Authorize: CoachOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/messages/preview", Handle: endpoint.Handle(s.previewMessage), Authorize: CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/messages/{message_id}", Handle: endpoint.HandleID("message_id", s.getMessage), Authorize: CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/messages/replies", Handle: endpoint.Handle(s.listReplies), Authorize: CoachOnly, Query: endpoint.Paged("unread")},
		{Method: "POST", Pattern: "/api/messages/replies/read", Handle: endpoint.Handle(s.markRepliesRead), Authorize: CoachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/messages/templates", Handle: s.Idempotent(endpoint.Handle(s.addTemplate), s.rebuildTemplate), Authorize: CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/messages/templates", Handle: endpoint.Handle(s.listTemplates), Authorize: CoachOnly, Query: endpoint.Paged()},
		{Method: "DELETE", Pattern: "/api/messages/templates/{template_id}", Handle: endpoint.HandleID("template_id", s.deleteTemplate), Authorize: CoachOnly},
		{Method: "GET", Pattern: family, Handle: endpoint.HandleID("player_id", s.conversation), Authorize: PartyOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: family, Handle: s.mayReply(s.Idempotent(endpoint.HandleID("player_id", s.reply), s.rebuildReply)), Authorize: PartyOnly, Body: endpoint.JSON},
	}
}

// sendMessage serves POST /api/messages.
func (s *Server) sendMessage(ctx context.Context, r Request[input.Message]) (Response, error) {
	draft, err := s.draft(ctx, r)
	if err != nil {
		return Response{}, err
	}
	m, err := s.Messages.Send(ctx, r.Caller.Actor, draft)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/messages/"+m.ID, newMessageResponse(*m)), nil
}

// rebuildMessage returns the response of sendMessage again.
func (s *Server) rebuildMessage(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	message, err := s.Messages.Message(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/messages/"+message.ID, newMessageResponse(message)), nil
}

// draft returns the draft of a request. Players and a batch that are not the coach's are
// not_found, whatever the faults of the body.
func (s *Server) draft(ctx context.Context, r Request[input.Message]) (team.Draft, error) {
	in, f := r.Body, r.Faults
	draft := in.Read(&f)
	for _, id := range draft.To.PlayerIDs {
		if !endpoint.IsID(id) {
			return draft, fault.Missing()
		}
	}
	if draft.To.BatchID != "" && !endpoint.IsID(draft.To.BatchID) {
		return draft, fault.Missing()
	}
	if len(f) == 0 {
		return draft, nil
	}
	// A preview of any text returns not_found if a player or the batch is not the coach's.
	if draft.To.CheckTarget() == nil {
		whole := team.Draft{To: draft.To, Audience: team.ToBoth, Text: "?", Channels: []team.Channel{team.InApp}}
		if _, _, err := s.Messages.Preview(ctx, r.Caller.Actor, whole); fault.KindOf(err) == fault.NotFound {
			return draft, err
		}
	}
	return draft, f.Err()
}

// previewMessage serves POST /api/messages/preview.
func (s *Server) previewMessage(ctx context.Context, r Request[input.Message]) (Response, error) {
	draft, err := s.draft(ctx, r)
	if err != nil {
		return Response{}, err
	}
	plan, allowed, err := s.Messages.Preview(ctx, r.Caller.Actor, draft)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newPreviewResponse(plan, allowed)), nil
}

// listMessages serves GET /api/messages, newest first.
func (s *Server) listMessages(ctx context.Context, r Request[NoBody]) (Response, error) {
	page, err := s.teamPage(r.Meta, r.Faults)
	if err != nil {
		return Response{}, err
	}
	list, err := s.Messages.List(ctx, r.Caller.Actor, page.team())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page.page, list, newMessageResponse, func(m team.Message) Keyset { return Keyset{ID: m.ID} }), nil
}

// getMessage serves GET /api/messages/{message_id} with a page of its recipients.
func (s *Server) getMessage(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	m, err := s.Messages.Message(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	page, err := s.teamPage(r.Meta, r.Faults)
	if err != nil {
		return Response{}, err
	}
	recipients, err := s.Messages.Recipients(ctx, r.Caller.Actor, id, int(page.page.After.Seq), page.page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	counts, err := s.Messages.CountStates(ctx, r.Caller.Actor, m)
	if err != nil {
		return Response{}, err
	}
	body := messageDetailResponse{messageResponse: newMessageResponse(m), Counts: newCountsResponse(counts), Recipients: []recipientResponse{}}
	if n := page.page.Limit(); len(recipients) > n {
		recipients = recipients[:n]
		next := page.page.Cursor(Keyset{Seq: int64(recipients[n-1].Position)})
		body.NextCursor = &next
	}
	for _, recipient := range recipients {
		body.Recipients = append(body.Recipients, newRecipientResponse(recipient))
	}
	return endpoint.OK(body), nil
}

// listPage is the page of a list of package team.
type listPage struct{ page page }

func (p listPage) team() team.Page {
	return team.Page{After: p.page.After.ID, Limit: p.page.ReadLimit()}
}

// teamPage returns the page of a list that the query asks for.
func (s *Server) teamPage(m Meta, f wire.Faults) (listPage, error) {
	p := s.Page(m, &f)
	return listPage{p}, f.Err()
}
