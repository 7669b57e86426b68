package conversation

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
)

// mayReply checks that the caller may reply before anything else about the call, so that a
// party that took its approval back does not get a stored response either.
func (h handlers) mayReply(next endpoint.Handler[api.Caller]) endpoint.Handler[api.Caller] {
	serve := next.Serve
	next.Serve = func(ctx context.Context, m api.Meta, body endpoint.Body) (api.Response, error) {
		id, err := m.PathID("player_id")
		if err == nil {
			err = h.CheckReply(ctx, m.Caller.Actor, id)
		}
		if err != nil {
			return api.Response{}, err
		}
		return serve(ctx, m, body)
	}
	return next
}

// reply serves POST /api/me/players/{player_id}/messages.
func (h handlers) reply(ctx context.Context, r api.Request[replyRequest], playerID string) (api.Response, error) {
	text := readText(r.Body.Text, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	return replied(h.Reply(ctx, r.Caller.Actor, playerID, text))
}

// rebuildReply returns the response of reply again.
func (h handlers) rebuildReply(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	id, _ := m.PathID("player_id")
	return replied(h.ReplyBy(ctx, m.Caller.Actor, id, w.ID))
}

func replied(r Reply, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	entry := Entry{ID: r.ID, Parties: []actor.Role{r.Party}, Text: r.Text, CreatedAt: r.CreatedAt}
	return endpoint.Created("/api/me/players/"+r.PlayerID+"/messages", newEntryResponse(entry)).WithSubject(r.PlayerID), nil
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

func newEntryResponse(e Entry) entryResponse {
	return entryResponse{e.ID, e.from(), e.Copy, e.Text, wire.Timestamp(e.CreatedAt)}
}

// conversation serves GET /api/me/players/{player_id}/messages, newest first.
func (h handlers) conversation(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	page := h.api.Page(r.Meta, &r.Faults)
	list, err := h.Conversation(ctx, r.Caller.Actor, playerID, page.After.ID, page.ReadLimit())
	if err == nil { // report a fault of the query only if the caller may see the player
		err = r.Faults.Err()
	}
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, newEntryResponse, func(e Entry) api.Keyset { return api.Keyset{ID: e.ID} }), nil
}

// replyResponse is the Reply of openapi.yaml.
type replyResponse struct {
	ReplyID     string     `json:"reply_id"`
	PlayerID    string     `json:"player_id"`
	StudentName string     `json:"student_name"`
	Party       actor.Role `json:"party"`
	Name        *string    `json:"name"`
	Text        string     `json:"text"`
	Channel     Channel    `json:"channel"`
	CreatedAt   string     `json:"created_at"`
	ReadAt      *string    `json:"read_at"`
}

func newReplyResponse(r Reply) replyResponse {
	return replyResponse{r.ID, r.PlayerID, r.StudentName, r.Party, wire.OrNull(r.Name), r.Text, r.Channel, wire.Timestamp(r.CreatedAt), wire.TimestampOrNull(r.ReadAt)}
}

// listReplies serves GET /api/messages/replies, newest first.
func (h handlers) listReplies(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	unread := api.QueryText(r.Query, "unread", &r.Faults, wire.ParseRules("oneof=true|false"))
	page := h.api.Page(r.Meta, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	list, err := h.Replies(ctx, r.Caller.Actor, unread == "true", page.After.ID, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, newReplyResponse, func(r Reply) api.Keyset { return api.Keyset{ID: r.ID} }), nil
}

// markRepliesRead serves POST /api/messages/replies/read.
func (h handlers) markRepliesRead(ctx context.Context, r api.Request[api.MarkReadRequest]) (api.Response, error) {
	r.Body.Check(&r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	unread, err := h.ReadReplies(ctx, r.Caller.Actor, r.Body.IDs)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(api.UnreadResponse{Unread: unread}), nil
}
