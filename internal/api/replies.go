package api

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// mayReply checks that the caller may reply before anything else about the call, so that a
// party that took its approval back does not get a stored response either.
func (s *Server) mayReply(next endpoint.Handler[Caller]) endpoint.Handler[Caller] {
	return func(ctx context.Context, m Meta, body endpoint.Body) (Response, error) {
		id, err := m.PathID("player_id")
		if err == nil {
			err = s.Messages.CheckReply(ctx, m.Caller.Actor, id)
		}
		if err != nil {
			return Response{}, err
		}
		return next(ctx, m, body)
	}
}

// reply serves POST /api/me/players/{player_id}/messages.
func (s *Server) reply(ctx context.Context, r Request[input.Reply], playerID string) (Response, error) {
	in, f := r.Body, r.Faults
	text := in.Read(&f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	reply, err := s.Messages.Reply(ctx, r.Caller.Actor, playerID, text)
	if err != nil {
		return Response{}, err
	}
	return repliedResponse(reply), nil
}

// rebuildReply returns the response of reply again.
func (s *Server) rebuildReply(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	id, _ := m.PathID("player_id")
	reply, err := s.Messages.ReplyBy(ctx, m.Caller.Actor, id, w.ID)
	if err != nil {
		return Response{}, err
	}
	return repliedResponse(reply), nil
}

func repliedResponse(r *team.Reply) Response {
	entry := team.Entry{ID: r.ID, Parties: []actor.Role{r.Party}, Text: r.Text, CreatedAt: r.CreatedAt}
	return endpoint.Created("/api/me/players/"+r.PlayerID+"/messages", newEntryResponse(entry)).WithSubject(r.PlayerID)
}

// entryResponse is the ConversationEntry of openapi.yaml.
type entryResponse struct {
	MessageID string `json:"message_id"`
	// From is coach, guardian or student.
	From      actor.Role `json:"from"`
	Copy      bool       `json:"copy"`
	Text      string     `json:"text"`
	CreatedAt string     `json:"created_at"`
}

func newEntryResponse(e team.Entry) entryResponse {
	from := actor.Coach
	if !e.FromCoach {
		from = e.Parties[0]
	}
	return entryResponse{MessageID: e.ID, From: from, Copy: e.Copy, Text: e.Text, CreatedAt: wire.Timestamp(e.CreatedAt)}
}

// conversation serves GET /api/me/players/{player_id}/messages, newest first.
func (s *Server) conversation(ctx context.Context, r Request[NoBody], playerID string) (Response, error) {
	page, failure := s.teamPage(r.Meta, r.Faults)
	if failure != nil {
		if err := s.Messages.CheckReply(ctx, r.Caller.Actor, playerID); err != nil {
			return Response{}, err
		}
		return Response{}, failure
	}
	list, err := s.Messages.Conversation(ctx, r.Caller.Actor, playerID, page.team())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page.page, list, newEntryResponse, func(e team.Entry) Keyset { return Keyset{ID: e.ID} }), nil
}

// replyResponse is the Reply of openapi.yaml.
type replyResponse struct {
	ReplyID     string     `json:"reply_id"`
	PlayerID    string     `json:"player_id"`
	StudentName string     `json:"student_name"`
	Party       actor.Role `json:"party"`
	Name        *string    `json:"name"`
	Text        string     `json:"text"`
	CreatedAt   string     `json:"created_at"`
	ReadAt      *string    `json:"read_at"`
}

func newReplyResponse(r team.Reply) replyResponse {
	return replyResponse{
		ReplyID: r.ID, PlayerID: r.PlayerID, StudentName: r.StudentName, Party: r.Party, Name: wire.OrNull(r.Name), Text: r.Text,
		CreatedAt: wire.Timestamp(r.CreatedAt), ReadAt: wire.TimestampOrNull(r.ReadAt),
	}
}

// listReplies serves GET /api/messages/replies, newest first.
func (s *Server) listReplies(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	unread := QueryText(r.Query, "unread", &f, wire.ParseRules("oneof=true|false"))
	page := listPage{s.Page(r.Meta, &f)}
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	list, err := s.Messages.Replies(ctx, r.Caller.Actor, unread == "true", page.team())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page.page, list, newReplyResponse, func(r team.Reply) Keyset { return Keyset{ID: r.ID} }), nil
}

// markRepliesRead serves POST /api/messages/replies/read.
func (s *Server) markRepliesRead(ctx context.Context, r Request[markReadRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	in.check(&f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	unread, err := s.Messages.ReadReplies(ctx, r.Caller.Actor, in.IDs)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(unreadResponse{unread}), nil
}
