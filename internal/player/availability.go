package player

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// statusColumns are the columns of a player and one of its parties that statusRows reads.
const statusColumns = `p.id, p.changes, p.date_of_birth, p.guardian_rule, c.tier, p.deleted_at IS NOT NULL,
		a.role, a.guardian_id, a.position, a.account_id, a.state, a.refused, a.name IS NOT NULL, a.number IS NOT NULL`

// statusRows collects the rows of statusColumns, the guardians of a player in their order.
type statusRows struct {
	list []approval.ConsentStatus
	byID map[string]int
}

// scan adds a row, and scans what follows statusColumns into more. It returns the role and the account of the party.
func (r *statusRows) scan(row database.Scanner, more ...any) (role actor.Role, account string, err error) {
	var s approval.ConsentStatus
	var g approval.GuardianConsent
	var born string
	var position int
	var deleted, named, number bool
	err = row.Scan(append([]any{
		&s.PlayerID, &s.Sequence, &born, (*string)(&s.Rule), database.IntoText(&s.CoachTier), &deleted,
		&role, &g.ID, &position, database.IntoText(&g.AccountID), (*string)(&g.State), &g.Refused, &named, &number,
	}, more...)...)
	if err != nil || deleted {
		return role, g.AccountID, err
	}
	if r.byID == nil {
		r.byID = map[string]int{}
	}
	i, known := r.byID[s.PlayerID]
	if !known {
		s.DateOfBirth, err = approval.ParseDate(born)
		if err != nil {
			return role, g.AccountID, fmt.Errorf("player %s: %w", s.PlayerID, err)
		}
		i = len(r.list)
		r.byID[s.PlayerID], r.list = i, append(r.list, s)
	}
	status := &r.list[i]
	switch {
	case role == actor.Student:
		status.Student, status.HasStudentNumber = g.State, number
	case position == 1:
		status.Guardian, status.HasGuardian = g.State, named
	}
	if role == actor.Guardian && named {
		status.Guardians = append(status.Guardians, g)
	}
	return role, g.AccountID, nil
}

// ReadConsentStatus reads the consents of a player by primary key, as by sees them, or returns
// not_found if by may not see the player.
func ReadConsentStatus(ctx context.Context, db *store.DB, by actor.Actor, playerID string) (approval.ConsentStatus, error) {
	statuses, err := readStatuses(db.Query(ctx, statusSelect+`
		WHERE p.id = $1 AND p.deleted_at IS NULL AND CASE WHEN CAST($2 AS TEXT) = 'coach' THEN p.coach_id = $3
			ELSE EXISTS (SELECT 1 FROM parties o WHERE o.player_id = p.id AND o.role = $2 AND o.account_id = $3) END
		ORDER BY a.role, a.position`, playerID, string(by.Role), by.AccountID))
	if err != nil {
		return approval.ConsentStatus{}, err
	}
	if len(statuses) == 0 {
		return approval.ConsentStatus{}, fault.Missing()
	}
	return statuses[0].SeenBy(by), nil
}

// maxStatusesOfNumber limits the players of one number that other services read.
const maxStatusesOfNumber = 200

const statusSelect = `
	SELECT ` + statusColumns + `
	FROM players p JOIN parties a ON a.player_id = p.id LEFT JOIN coaches c ON c.id = p.coach_id `

// readStatuses reads the rows of statusSelect. It leaves deleted players out.
func readStatuses(rs *database.Rows, err error) ([]approval.ConsentStatus, error) {
	rows := statusRows{}
	err = database.Each(rs, err, func(row database.Scanner) error {
		_, _, err := rows.scan(row)
		return err
	})
	return rows.list, err
}

// ConsentStatuses reads the consents of players for other services, in no order. Unknown
// and deleted players are left out.
func ConsentStatuses(ctx context.Context, db *store.DB, playerIDs []string) ([]approval.ConsentStatus, error) {
	return consentStatuses(ctx, db, playerIDs)
}

// consentStatuses has no condition on deleted_at: with one, PostgreSQL without statistics of the
// table takes a partial index of players that are not deleted for small, and reads all of it.
func consentStatuses(ctx context.Context, q database.Querier, playerIDs []string) ([]approval.ConsentStatus, error) {
	args := database.PaddedIDs(playerIDs)
	statuses, err := readStatuses(q.Query(ctx, statusSelect+`WHERE p.id IN (`+database.Params(1, len(args))+`) ORDER BY a.position`, args...))
	return statuses, fault.Wrap(err, "read the consents of %d players", len(playerIDs))
}

// ConsentStatusesOfNumber reads the consents of the players that name a number in a role,
// newest first, and adds an audit entry without the number. It reads at most 200.
func ConsentStatusesOfNumber(ctx context.Context, db *store.DB, by actor.Operator, number phone.Number, role actor.Role) ([]approval.ConsentStatus, error) {
	var statuses []approval.ConsentStatus
	err := db.Write(ctx, func(tx *store.Tx) error {
		var err error
		statuses, err = readStatuses(tx.Query(ctx, statusSelect+`
			WHERE p.id IN (
				SELECT a.player_id FROM parties a
				WHERE a.account_id = (SELECT id FROM accounts WHERE mobile_number = $1 AND role = $3) AND a.deleted_at IS NULL
				ORDER BY a.player_id DESC LIMIT $2)
			ORDER BY a.position`, string(number), maxStatusesOfNumber, string(role)))
		if err != nil {
			return fmt.Errorf("read the consents of a number: %w", err)
		}
		slices.SortFunc(statuses, func(a, b approval.ConsentStatus) int { return strings.Compare(b.PlayerID, a.PlayerID) })
		return tx.Record(ctx, by, operator.AvailabilityFound, "player", "", "as "+string(role))
	})
	return statuses, err
}
