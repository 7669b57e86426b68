package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// CoachRenaming is store.Hooks.CoachRenaming: it tells each approved party that the coach wants to be called after from a
// time on.
func (Hooks) CoachRenaming(ctx context.Context, tx *store.Tx, coachID, before, after string, from time.Time) error {
	rs, err := tx.Query(ctx, `
		SELECT id, version, student_name, date_of_birth, student_number, student_id, student_state,
			guardian_name, guardian_relationship, guardian_number, guardian_email, guardian_id, guardian_state
		FROM players WHERE coach_id = $1 AND deleted_at IS NULL`, coachID)
	var events []event.Event
	err = database.Each(rs, err, func(row database.Scanner) error {
		p, err := scanKnown(row)
		if err != nil {
			return err
		}
		p.CoachID, p.CoachName = coachID, after
		for _, party := range Parties {
			if a := p.Approver(party); a.Consent.State == Approved && a.AccountID != "" {
				e := p.newEvent(event.CoachRenaming, party)
				e.FormerCoach, e.Day = before, from.UTC().Format(time.DateOnly)
				events = append(events, e)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("find who knows coach %s: %w", coachID, err)
	}
	return notifyApproved(ctx, tx, coachID, events)
}
