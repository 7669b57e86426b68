package approval

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// deleteServiceNotifications deletes the notifications of app services about a player, and drops
// their copies, for the parties that no longer have the app, after a change of a consent. A party that had not approved
// before has none. A notification that is sent at the same time locks the player's row: it commits
// before and is deleted, or finds no approval.
func (s *Service) deleteServiceNotifications(ctx context.Context, tx *store.Tx, p *Player, before ConsentStatus, c Change) error {
	if len(c.StatusChanges) == 0 {
		return nil
	}
	status := p.ConsentStatus()
	for _, party := range Parties {
		account := p.Approver(party).AccountID
		if account == "" || !before.Approved(party) || s.Rules.access(status, party, team.App, tx.Now) == team.Granted {
			continue
		}
		if err := tx.EndNotifications(ctx, p.ID, account, message.OfServices...); err != nil {
			return err
		}
	}
	return nil
}
