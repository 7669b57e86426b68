package team

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	minReason = 10
	maxReason = 500
)

// SafeguardingStore reads conversations for operators; package store implements it.
type SafeguardingStore interface {
	// PlayerConversation returns the conversation of a coach with all parties about a player,
	// newest first. The player may have been removed. It writes the operator's audit log entry with the
	// reason in the same transaction. Without such a player it returns not_found.
	PlayerConversation(ctx context.Context, by actor.Operator, playerID, reason string, page Page) ([]Entry, error)
}

// Safeguarding lets operators read what a coach and a family wrote, for a reason that is
// audited.
type Safeguarding struct{ Store SafeguardingStore }

// Conversation returns the conversation about a player, newest first.
func (s *Safeguarding) Conversation(ctx context.Context, by actor.Operator, playerID, reason string, page Page) ([]Entry, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n < minReason || n > maxReason || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' }) {
		return nil, fault.Validation([]fault.Field{{Pointer: "/reason", Code: "invalid_value", Detail: "Say in 10 to 500 characters, on one line, why you read this. The audit log keeps it."}})
	}
	return s.Store.PlayerConversation(ctx, by, playerID, reason, page)
}
