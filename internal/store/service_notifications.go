package store

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/team"
)

// deleteServiceNotifications deletes the notifications of app services about a player, and drops
// their copies, for the parties that no longer have the app, after a change of a consent. A party that had not approved
// before has none. A notification that is sent at the same time locks the player's row: it commits
// before and is deleted, or finds no approval.
func (tx *Tx) deleteServiceNotifications(ctx context.Context, p *approval.Player, before approval.ConsentStatus, c approval.Change) error {
	if len(c.StatusChanges) == 0 {
		return nil
	}
	status := p.ConsentStatus()
	for _, party := range approval.Parties {
		account := p.Approver(party).AccountID
		if account == "" || !before.Approved(party) || tx.access(status, party, team.App) == team.Granted {
			continue
		}
		if err := tx.endNotifications(ctx, p.ID, account, message.OfServices...); err != nil {
			return err
		}
	}
	return nil
}
