package approval

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// DisputedRequest is a request that its recipient disputed and may lift.
type DisputedRequest struct {
	RequestID  string
	DisputedAt time.Time
	// CoachName is empty if the profile has no name.
	CoachName string
	// PlayerID and StudentName are empty if the recipient is no longer a party of the player:
	// the coach deleted the player or corrected the number.
	PlayerID    string
	StudentName string
}

// Disputes lists the disputed requests of the calling guardian or student, newest first, also
// those about players that by can no longer see. Lift ends such a dispute.
func (s *Service) Disputes(ctx context.Context, by actor.Actor, page Page) ([]DisputedRequest, error) {
	return s.Store.DisputesOf(ctx, by.AccountID, page)
}
