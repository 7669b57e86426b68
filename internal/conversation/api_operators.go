package conversation

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/approval"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
)

// operators serves conversations as JSON to operators.
type operators struct {
	*Service
	admin *admin.Server
}

// OperatorOperations returns the operations of operators.
func (s *Service) OperatorOperations(a *admin.Server) []admin.Route {
	return []admin.Route{
		{Method: "POST", Pattern: "/api/admin/safeguarding/conversations", Handle: endpoint.Handle(operators{s, a}.conversation), Authorize: a.Scope(operator.Safeguarding), Body: endpoint.JSON},
	}
}

type conversationRequest struct {
	PlayerID string  `json:"player_id" rule:"required"`
	Reason   string  `json:"reason" rule:"required"`
	Limit    *int    `json:"limit" rule:"min=1"`
	Cursor   *string `json:"cursor" rule:"secret,min=1,max=512"`
}

type operatorEntryResponse struct {
	MessageID string `json:"message_id"`
	// From is coach, guardian or student.
	From actor.Role `json:"from"`
	// To are the parties that a message of the coach was for; empty for a reply.
	To        []actor.Role `json:"to"`
	Copy      bool         `json:"copy"`
	Text      string       `json:"text"`
	CreatedAt string       `json:"created_at"`
}

func newOperatorEntryResponse(e Entry) operatorEntryResponse {
	out := operatorEntryResponse{e.ID, e.from(), e.Parties, e.Copy, e.Text, wire.Timestamp(e.CreatedAt)}
	if !e.FromCoach {
		out.To = []actor.Role{}
	}
	return out
}

// conversation serves POST /api/admin/safeguarding/conversations: what a coach and the parties of a
// player wrote, newest first. It is a POST because a URL must not hold the reason.
func (h operators) conversation(ctx context.Context, r admin.Request[conversationRequest]) (admin.Response, error) {
	in := r.Body
	page := h.admin.BodyPage(r.Meta, in.Limit, in.Cursor, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return admin.Response{}, err
	}
	if !endpoint.IsID(in.PlayerID) {
		return admin.Response{}, fault.Missing()
	}
	list, err := h.PlayerConversation(ctx, r.Caller.Operator(), in.PlayerID, in.Reason, page.After.ID, page.ReadLimit())
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.PageResponse(page, list, newOperatorEntryResponse, func(e Entry) admin.Keyset { return admin.Keyset{ID: e.ID} }), nil
}

const (
	minReason = 10
	maxReason = 500
)

// PlayerConversation lists what a coach and all parties of a player wrote before an entry with an id,
// newest first. The player may have been removed. The audit log records the read with its reason.
func (s *Service) PlayerConversation(ctx context.Context, by actor.Operator, playerID, reason, before string, limit int) (list []Entry, err error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n < minReason || n > maxReason || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' }) {
		return nil, fault.Validation([]fault.Field{{Pointer: "/reason", Code: "invalid_value", Detail: "Say in 10 to 500 characters, on one line, why you read this. The audit log keeps it."}})
	}
	const maxParties = approval.MaxGuardians + 1 // of a player: a message to all is a row for each and one entry
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		var one int
		if err := tx.QueryRow(ctx, `SELECT 1 FROM players WHERE id = $1`, playerID).Scan(&one); err != nil {
			return database.OrMissing(err, "read player "+playerID)
		}
		rs, err := tx.Query(ctx, `
			SELECT m.id, TRUE, r.party, r.is_copy, m.body, m.created_at
			FROM team_recipients r JOIN team_messages m ON m.id = r.message_id
			WHERE r.player_id = $1 AND r.message_id < $2
			ORDER BY r.message_id DESC, r.position DESC LIMIT $3`, playerID, database.Before(before), maxParties*limit)
		messages, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read the conversation about a player: %w", err)
		}
		rs, err = tx.Query(ctx, `
			SELECT id, FALSE, party, FALSE, body, created_at FROM team_replies
			WHERE player_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, playerID, database.Before(before), limit)
		replies, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read the conversation about a player: %w", err)
		}
		list = newestEntries(messages, replies, limit)
		return tx.Record(ctx, by, operator.ConversationRead, "player", playerID, reason)
	})
	return list, err
}
