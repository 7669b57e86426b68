package player

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Access decides from the consents that a transaction reads.
type Access struct{ approval.Rules }

// Access returns the rules of s for features.
func (s *Service) Access() Access { return Access{s.Rules} }

// Enabled returns the decisions about the services of players from their consents as this
// transaction reads them.
func (r Access) Enabled(ctx context.Context, tx *store.Tx, playerIDs []string) (team.Enabled, error) {
	statuses, err := consentStatuses(ctx, tx, playerIDs)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]approval.ConsentStatus, len(statuses))
	for _, s := range statuses {
		byID[s.PlayerID] = s
	}
	return func(playerID string, party actor.Role, guardianID string, service team.AppService) team.Access {
		s, found := byID[playerID]
		s = s.As(guardianID)
		if !found || !s.HasParty(party) {
			return team.NotLinked
		}
		return access(r.Rules, s, party, service, tx.Now)
	}, nil
}

// Granted returns those of the players whose party the calling guardian or student is, and who have the service for it.
func (r Access) Granted(ctx context.Context, tx *store.Tx, by actor.Actor, playerIDs []string, service team.AppService) (granted []string, err error) {
	if len(playerIDs) == 0 {
		return nil, nil
	}
	rs, err := tx.Query(ctx, `
		SELECT player_id FROM parties WHERE account_id = $1 AND role = $2 AND deleted_at IS NULL AND player_id IN (`+database.Params(3, len(playerIDs))+`)`,
		append([]any{by.AccountID, string(by.Role)}, database.TextArgs(playerIDs)...)...)
	linked, err := database.Collect(rs, err, func(row database.Scanner) (id string, err error) { return id, row.Scan(&id) })
	if err != nil || len(linked) == 0 {
		return nil, err
	}
	statuses, err := consentStatuses(ctx, tx, linked)
	if err != nil {
		return nil, err
	}
	for _, s := range statuses {
		s = s.SeenBy(by)
		if s.HasParty(by.Role) && access(r.Rules, s, by.Role, service, tx.Now) == team.Granted {
			granted = append(granted, s.PlayerID)
		}
	}
	return granted, nil
}

// SinceFactor is 0 if the setting APP_HISTORY is all, else 1: the factor of the time of an approval in a statement that
// reads what several parties see.
func (r Access) SinceFactor() int {
	if r.WholeHistory {
		return 0
	}
	return 1
}

// access returns whether party has a service of the player with these consents.
func access(r approval.Rules, s approval.ConsentStatus, party actor.Role, service team.AppService, now time.Time) team.Access {
	return team.Access(s.AppAccess(party, string(service), r, now))
}

// Link returns a player of the calling guardian or student who has the service. It returns
// not_found for other players, then the error of team.Access together with the link: a caller that
// looks for something of the player judges not_found first.
func (r Access) Link(ctx context.Context, tx *store.Tx, by actor.Actor, playerID string, service team.AppService) (*team.Link, error) {
	l := &team.Link{PlayerID: playerID}
	rs, err := tx.Query(ctx, `
		SELECT `+statusColumns+`, p.student_name, p.coach_id, c.time_zone, a.changed_at
		FROM players p JOIN parties a ON a.player_id = p.id LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.id = $1 AND p.deleted_at IS NULL AND EXISTS (SELECT 1 FROM parties o WHERE o.player_id = p.id AND o.role = $2 AND o.account_id = $3)
		ORDER BY a.role, a.position`, playerID, string(by.Role), by.AccountID)
	rows := statusRows{}
	err = database.Each(rs, err, func(row database.Scanner) error {
		var changedAt time.Time
		role, account, err := rows.scan(row, &l.StudentName, &l.CoachID, database.IntoText(&l.CoachZone), database.IntoTime(&changedAt))
		if role == by.Role && account == by.AccountID {
			l.ApprovedAt = changedAt
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(rows.list) == 0 {
		return nil, fault.Missing()
	}
	for _, g := range rows.list[0].Guardians {
		if by.Role == actor.Guardian && g.AccountID == by.AccountID {
			l.GuardianID = g.ID
		}
	}
	l.CoachZone = tx.ZoneOf(l.CoachZone)
	return l, access(r.Rules, rows.list[0].SeenBy(by), by.Role, service, tx.Now).Err(service)
}

// VisibleSince returns the time from which a linked party sees what the coach adds: the approval, or the
// beginning if the setting APP_HISTORY is all.
func (r Access) VisibleSince(l *team.Link) int64 {
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
