package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/team"
)

// deleteServiceNotifications deletes the notifications of app services about a player for the
// parties that no longer have the app, after a change of a consent. A party that had not approved
// before has none. A notification that is sent at the same time locks the player's row: it commits
// before and is deleted, or finds no approval.
func (tx *tx) deleteServiceNotifications(ctx context.Context, p *approval.Player, before approval.ConsentStatus, c approval.Change) error {
	if len(c.StatusChanges) == 0 {
		return nil
	}
	status := p.ConsentStatus()
	for _, party := range approval.Parties {
		account := p.Approver(party).AccountID
		if account == "" || !before.Approved(party) || tx.access(status, party, team.App) == team.Granted {
			continue
		}
		args := []any{p.ID, account}
		for _, t := range notify.OfServices {
			args = append(args, string(t))
		}
		err := tx.Defer(ctx, `
			DELETE FROM notifications WHERE player_id = $1 AND account_id = $2 AND type IN (`+params(3, len(notify.OfServices))+`)`, args...)
		if err != nil {
			return fmt.Errorf("delete notifications of app services: %w", err)
		}
	}
	return nil
}
