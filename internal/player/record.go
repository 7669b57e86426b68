package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/store"
)

// recordConsents records the changes of c. Only the statement that saves an approval says on whose device it was made.
func (w *saving) recordConsents(ctx context.Context) error {
	consents := w.p.ConsentChanges(w.old, w.c, w.s.DB.NewID, w.tx.Now)
	if h := w.c.History; h != nil && h.SessionID != "" {
		if err := w.tx.Flush(); err != nil {
			return fmt.Errorf("add history record: %w", err)
		}
		for i := range consents {
			consents[i].CoachDevice = consents[i].ID == h.ID && h.CoachDevice
		}
	}
	return w.s.Hooks.recordConsents(ctx, w.tx, consents)
}

// recordConsents runs Hooks.ConsentChanged.
func (h Hooks) recordConsents(ctx context.Context, tx *store.Tx, changes []approval.ConsentChange) error {
	if h.ConsentChanged == nil || len(changes) == 0 {
		return nil
	}
	if err := h.ConsentChanged(ctx, tx, changes); err != nil {
		return fmt.Errorf("record changes of consents: %w", err)
	}
	return nil
}
