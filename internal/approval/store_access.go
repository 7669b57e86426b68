package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Enabled returns the decisions about the services of players from their consents as this
// transaction reads them.
func (r Rules) Enabled(ctx context.Context, tx *store.Tx, playerIDs []string) (team.Enabled, error) {
	statuses, err := consentStatuses(ctx, tx, playerIDs)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]ConsentStatus, len(statuses))
	for _, s := range statuses {
		byID[s.PlayerID] = s
	}
	return func(playerID string, party actor.Role, service team.AppService) team.Access {
		s, found := byID[playerID]
		if !found || !s.HasParty(party) {
			return team.NotLinked
		}
		return r.access(s, party, service, tx.Now)
	}, nil
}

// access returns whether party has a service of the player with these consents.
func (r Rules) access(s ConsentStatus, party actor.Role, service team.AppService, now time.Time) team.Access {
	return team.Access(s.AppAccess(party, string(service), r, now))
}

// Link returns a player of the calling guardian or student who has the service. It returns
// not_found for other players, then the error of team.Access.
func (r Rules) Link(ctx context.Context, tx *store.Tx, by actor.Actor, playerID string, service team.AppService) (*team.Link, error) {
	l := &team.Link{PlayerID: playerID}
	s := ConsentStatus{PlayerID: playerID}
	var born string
	row := tx.QueryRow(ctx, `
		SELECT p.student_name, p.coach_id, c.time_zone, g.state, s.state, CASE WHEN CAST($2 AS TEXT) = 'student' THEN s.changed_at ELSE g.changed_at END,
			p.date_of_birth, g.name IS NOT NULL, s.number IS NOT NULL, c.tier
		FROM players p`+store.WithParties+` LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.id = $1 AND p.deleted_at IS NULL AND CASE CAST($2 AS TEXT) WHEN 'guardian' THEN g.account_id WHEN 'student' THEN s.account_id END = $3`, playerID, string(by.Role), by.AccountID)
	if err := scanLink(row, l, &s, &born); err != nil {
		return nil, err
	}
	var err error
	if s.DateOfBirth, err = ParseDate(born); err != nil {
		return nil, fmt.Errorf("player %s: %w", playerID, err)
	}
	if err := r.access(s, by.Role, service, tx.Now).Err(service); err != nil {
		return nil, err
	}
	l.CoachZone = tx.ZoneOf(l.CoachZone)
	return l, nil
}

func scanLink(row database.Scanner, l *team.Link, s *ConsentStatus, born *string) error {
	err := row.Scan(&l.StudentName, &l.CoachID, database.IntoText(&l.CoachZone), (*string)(&s.Guardian), (*string)(&s.Student), database.IntoTime(&l.ApprovedAt),
		born, &s.HasGuardian, &s.HasStudentNumber, database.IntoText(&s.CoachTier))
	if database.IsNoRows(err) {
		return fault.Missing()
	}
	return err
}

// VisibleSince returns the time from which a linked party sees what the coach adds: the approval, or the
// beginning if the setting APP_HISTORY is all.
func (r Rules) VisibleSince(l *team.Link) int64 {
	if r.WholeHistory {
		return 0
	}
	return database.SinceMicros(l.ApprovedAt)
}

// CheckPlayer returns not_found unless the coach has the player.
func CheckPlayer(ctx context.Context, tx *store.Tx, coachID, playerID string) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM players WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL`, playerID, coachID).Scan(&one)
	return database.OrMissing(err, "read player "+playerID)
}

// LockPlayer locks a live player of a coach until the transaction ends, or returns not_found.
func LockPlayer(ctx context.Context, tx *store.Tx, coachID, playerID string) error {
	var one int
	err := tx.QueryRow(ctx, `
		UPDATE players SET version = version WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL RETURNING 1`, playerID, coachID).Scan(&one)
	if database.IsNoRows(err) {
		return fault.Missing()
	}
	return err
}
