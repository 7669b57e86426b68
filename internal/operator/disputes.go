package operator

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Dispute says that the recipient of a request is the wrong person. The coach cannot send
// further requests to this recipient. It names no guardian and no student.
type Dispute struct {
	RequestID string
	CoachID   string
	CoachName string
	// Party is the role of the recipient.
	Party actor.Role
	At    time.Time
}

// DisputeSearch selects disputes: all, or the disputes of a number or of a coach.
type DisputeSearch struct {
	Number  phone.Number
	CoachID string
	After   DisputeCursor
}

// DisputeCursor is a position in the list of disputes.
type DisputeCursor struct {
	At        time.Time
	RequestID string
}

// DisputeStore reads disputes; package store implements it.
type DisputeStore interface {
	// FindDisputes returns disputes, newest first, and adds an audit entry.
	FindDisputes(ctx context.Context, by actor.Operator, s DisputeSearch, limit int) ([]Dispute, error)
}

// DisputeLifter ends disputes; approval.Service implements it.
type DisputeLifter interface {
	// LiftForOperator ends the dispute of a request as its recipient can, and adds an
	// audit entry. It returns not_found if there is no dispute.
	LiftForOperator(ctx context.Context, by actor.Operator, requestID string) error
}

// DisputeAdmin lets operators find and lift disputes, for a recipient who cannot sign in to do
// so. It never changes a consent.
type DisputeAdmin struct {
	Store  DisputeStore
	Lifter DisputeLifter
}

// Find returns disputes, newest first, and audits the access.
func (d *DisputeAdmin) Find(ctx context.Context, by actor.Operator, s DisputeSearch, limit int) ([]Dispute, error) {
	return d.Store.FindDisputes(ctx, by, s, limit)
}

// Lift ends the dispute of a request: the coach may ask this recipient again.
func (d *DisputeAdmin) Lift(ctx context.Context, by actor.Operator, requestID string) error {
	return d.Lifter.LiftForOperator(ctx, by, requestID)
}
