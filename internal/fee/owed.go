package fee

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Owed is what is still to pay for a player, in the currency of the fee that is due first.
type Owed struct {
	Amount   int64
	Currency string
	// DueOn is the first day on which it is due.
	DueOn   team.Date
	Overdue bool
}

// Owed returns what is still to pay for players: of the calling coach, or for the calling guardian or student whom they have
// approved. The result leaves out players for whom nothing is due, and those of others.
func (s *Service) Owed(ctx context.Context, by actor.Actor, playerIDs []string) (owed map[string]Owed, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		ids, coachID := playerIDs, by.AccountID
		if by.Role != actor.Coach {
			coachID = ""
			if ids, err = s.Consent.Granted(ctx, tx, by, playerIDs, team.App); err != nil {
				return err
			}
		}
		owed = map[string]Owed{}
		if len(ids) == 0 {
			return nil
		}
		rs, err := tx.Query(ctx, `
			SELECT f.player_id, f.currency, c.time_zone, CAST(sum(f.amount - f.paid) AS BIGINT), min(f.due_on)
			FROM fees f LEFT JOIN coaches c ON c.id = f.coach_id
			WHERE f.player_id IN (`+database.Params(2, len(ids))+`) AND f.status = 'open' AND (CAST($1 AS TEXT) = '' OR f.coach_id = $1)
			GROUP BY f.player_id, f.currency, c.time_zone`, append([]any{coachID}, database.TextArgs(ids)...)...)
		err = database.Each(rs, err, func(row database.Scanner) error {
			var o Owed
			var playerID, zone string
			if err := row.Scan(&playerID, &o.Currency, database.IntoText(&zone), &o.Amount, &o.DueOn); err != nil {
				return err
			}
			o.Overdue = o.DueOn < team.DateOf(s.Now(), team.Zone(tx.ZoneOf(zone)))
			if first, found := owed[playerID]; !found || o.before(first) {
				owed[playerID] = o
			}
			return nil
		})
		return fault.Wrap(err, "add up the fees of players")
	})
	return owed, err
}

// before says which of two currencies counts.
func (o Owed) before(other Owed) bool {
	return o.DueOn < other.DueOn || o.DueOn == other.DueOn && o.Currency < other.Currency
}
