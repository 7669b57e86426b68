package player

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// loadRefused sets Consent.Refused of the guardians who have another account than before, if the newest answer of that account about
// this player was a no or took a yes back: a guardian who is removed and added again, or whose number is corrected there and back.
// A new account has no answers.
func (w *saving) loadRefused(ctx context.Context) error {
	refused := false
	for i := range w.p.Parties {
		a := &w.p.Parties[i]
		was := w.old.Find(a.Role, a.GuardianID)
		if a.Role != actor.Guardian || a.AccountID == "" || a.Consent.Refused || was != nil && was.AccountID == a.AccountID || slices.Contains(w.newAccounts, a.AccountID) {
			continue
		}
		err := w.tx.QueryRow(ctx, `
			SELECT action <> 'approved' FROM approval_history WHERE player_id = $1 AND approver_id = $2 ORDER BY decided_at DESC, id DESC LIMIT 1`,
			w.p.ID, a.AccountID).Scan(&a.Consent.Refused)
		if err != nil && !database.IsNoRows(err) {
			return fmt.Errorf("read the newest answer of guardian %s: %w", a.GuardianID, err)
		}
		refused = refused || a.Consent.Refused
	}
	if refused && len(w.c.StatusChanges) == 0 { // the services of the student alone can change
		w.c.StatusChanges = w.p.StatusChanges(w.old.ConsentStatus(), w.s.Rules, w.tx.Now)
	}
	return nil
}
