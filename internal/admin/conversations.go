package admin

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

type conversationRequest struct {
	PlayerID string  `json:"player_id" rule:"required"`
	Reason   string  `json:"reason" rule:"required"`
	Limit    *int    `json:"limit" rule:"min=1"`
	Cursor   *string `json:"cursor" rule:"secret,min=1,max=512"`
}

type conversationEntryResponse struct {
	MessageID string `json:"message_id"`
	// From is coach, guardian or student.
	From actor.Role `json:"from"`
	// To are the parties that a message of the coach was for; empty for a reply.
	To        []actor.Role `json:"to"`
	Copy      bool         `json:"copy"`
	Text      string       `json:"text"`
	CreatedAt string       `json:"created_at"`
}

func newConversationEntryResponse(e team.Entry) conversationEntryResponse {
	out := conversationEntryResponse{MessageID: e.ID, From: actor.Coach, To: e.Parties, Copy: e.Copy, Text: e.Text, CreatedAt: wire.Timestamp(e.CreatedAt)}
	if !e.FromCoach {
		out.From, out.To = e.Parties[0], []actor.Role{}
	}
	return out
}

// readConversation serves POST /api/admin/safeguarding/conversations: what a coach and the
// parties of a player wrote, newest first. It is a POST because a URL must not hold the reason.
func (s *Server) readConversation(ctx context.Context, r Request[conversationRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	page := s.bodyPage(r.Meta, in.Limit, in.Cursor, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	if !endpoint.IsID(in.PlayerID) {
		return Response{}, fault.Missing()
	}
	list, err := s.Safeguarding.Conversation(ctx, r.Caller.Operator(), in.PlayerID, in.Reason, team.Page{After: page.After.ID, Limit: page.ReadLimit()})
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, list, newConversationEntryResponse, func(e team.Entry) Keyset { return Keyset{ID: e.ID} }), nil
}
