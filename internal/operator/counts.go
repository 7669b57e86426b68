package operator

import (
	"context"
	"time"
)

// MaxCount limits each of Counts: an overview shows "more than 99".
const MaxCount = 100

// failedWithin is how old the failed messages of Counts are at most.
const failedWithin = 24 * time.Hour

// Counts are what waits for operators. They name no person.
type Counts struct {
	// Verifications and TierRequests wait for a decision.
	Verifications, TierRequests int
	// FailedDeliveries are the messages that failed in the last 24 h.
	FailedDeliveries int
}

// Counts returns what waits for operators. It is not in the audit log, because it is about no person.
func (s *Service) Counts(ctx context.Context) (Counts, error) {
	return s.Store.Counts(ctx, s.Now().Add(-failedWithin))
}
