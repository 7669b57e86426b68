package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

const disputeSelect = `
	SELECT d.request_id, d.coach_id, c.name, r.approver_type, d.created_at
	FROM disputes d JOIN requests r ON r.id = d.request_id LEFT JOIN coaches c ON c.id = d.coach_id `

// FindDisputes returns disputes, newest first, and audits the access.
func FindDisputes(ctx context.Context, db *store.DB, by actor.Operator, search approval.DisputeSearch, limit int) ([]approval.Dispute, error) {
	var found []approval.Dispute
	err := db.Write(ctx, func(tx *store.Tx) error {
		how, rs, err := findDisputes(ctx, tx, search, limit)
		found, err = database.Collect(rs, err, func(s database.Scanner) (approval.Dispute, error) {
			var d approval.Dispute
			err := s.Scan(&d.RequestID, &d.CoachID, database.IntoText(&d.CoachName), &d.Party, database.IntoTime(&d.At))
			return d, err
		})
		if err != nil {
			return fmt.Errorf("find disputes: %w", err)
		}
		return tx.Record(ctx, by, operator.DisputesListed, "request", "", how)
	})
	return found, err
}

func findDisputes(ctx context.Context, tx *store.Tx, s approval.DisputeSearch, limit int) (how string, rs *database.Rows, err error) {
	before := database.UntilMicros(s.After.At)
	switch {
	case s.Number != "":
		rs, err = tx.Query(ctx, disputeSelect+`
			WHERE d.number_hash IN ($1, $2) AND (d.created_at, d.request_id) < ($3, $4)
			ORDER BY d.created_at DESC, d.request_id DESC LIMIT $5`,
			numberHash(tx.DB(), actor.Guardian, s.Number), numberHash(tx.DB(), actor.Student, s.Number), before, s.After.RequestID, limit)
		return "by number", rs, err
	case s.CoachID != "":
		rs, err = tx.Query(ctx, disputeSelect+`
			WHERE d.coach_id = $1 AND (d.created_at, d.request_id) < ($2, $3)
			ORDER BY d.created_at DESC, d.request_id DESC LIMIT $4`, s.CoachID, before, s.After.RequestID, limit)
		return "of coach " + s.CoachID, rs, err
	default:
		rs, err = tx.Query(ctx, disputeSelect+`
			WHERE (d.created_at, d.request_id) < ($1, $2)
			ORDER BY d.created_at DESC, d.request_id DESC LIMIT $3`, before, s.After.RequestID, limit)
		return "", rs, err
	}
}

// disputed returns a request with a dispute that has not been lifted, or not_found.
func (s *Service) disputed(ctx context.Context, requestID string) (*approval.Request, error) {
	r := approval.Request{ID: requestID, State: approval.RequestDisputed}
	err := s.DB.QueryRow(ctx, `
		SELECT d.player_id, d.coach_id, d.approver_id, r.approver_type
		FROM disputes d JOIN requests r ON r.id = d.request_id
		WHERE d.request_id = $1`, requestID).Scan(&r.PlayerID, &r.CoachID, &r.PartyID, &r.Party)
	if err != nil {
		return nil, database.OrMissing(err, "read dispute of request "+requestID)
	}
	return &r, nil
}
