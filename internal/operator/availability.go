package operator

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Availability says which services the parties of a player have. It names no person.
type Availability struct {
	PlayerID string
	// Sequence is the number of status changes of the player so far.
	Sequence    int64
	GuardianApp bool
	StudentApp  bool
	// HasChat is true if the service has a transport for the chat.
	HasChat  bool
	Services []ServiceAccess
}

// ServiceAccess is one service and the parties that have it.
type ServiceAccess struct {
	Name     string
	Guardian bool
	Student  bool
	// Reason is "tier" if the tier of the coach does not have the service, or empty.
	Reason string
}

// AvailabilityReader reads availabilities for other services. The rule is in package
// approval; package server connects it.
type AvailabilityReader interface {
	// OfPlayers returns the availability of players in the order of playerIDs, each once.
	// Unknown and deleted players are left out.
	OfPlayers(ctx context.Context, playerIDs []string) ([]Availability, error)
	// OfNumber returns the availability of up to 200 players that name number in role,
	// newest first, and adds an audit entry.
	OfNumber(ctx context.Context, by actor.Operator, number phone.Number, role actor.Role) ([]Availability, error)
}
