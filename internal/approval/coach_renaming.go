package approval

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/store"
)

// CoachRenaming is store.Hooks.CoachRenaming: it tells each approved party that the coach wants to be called after from a
// time on.
func (Hooks) CoachRenaming(ctx context.Context, tx *store.Tx, coachID, before, after string, from time.Time) error {
	known, err := knownPlayers(ctx, tx, coachID, after)
	if err != nil {
		return err
	}
	var events []event.Event
	for _, id := range slices.Sorted(maps.Keys(known)) {
		p := known[id]
		for _, a := range p.Parties {
			if a.Consent.State == Approved && a.AccountID != "" {
				e := p.newEvent(event.CoachRenaming, &a)
				e.FormerCoach, e.Day = before, from.UTC().Format(time.DateOnly)
				events = append(events, e)
			}
		}
	}
	return notifyApproved(ctx, tx, coachID, events)
}
