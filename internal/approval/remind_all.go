package approval

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// A step of RemindAll sends reminders until remindTime has passed or remindStep are sent.
	remindTime = 2 * time.Second
	remindStep = 100
)

// RemindCounts counts the open requests of a coach by whether they can be reminded of.
type RemindCounts struct {
	// Ready get a reminder. UsedUp have had all reminders of the window. Undelivered are
	// the others whose message waits or failed. Recent are the others that got a message within
	// ReminderPause.
	Ready, UsedUp, Undelivered, Recent int
}

// ReminderQuota is the limit on reminders to one party, as of a time.
type ReminderQuota struct {
	// Since is the start of the window, and Max the number of reminders in it.
	Since time.Time
	Max   int
	// PauseSince is the start of the ReminderPause.
	PauseSince time.Time
}

// Recipient is one party of a player.
type Recipient struct {
	PlayerID string
	Party    actor.Role
}

func (s *Service) reminderQuota() ReminderQuota {
	now := s.operation().Now
	return ReminderQuota{now.Add(-s.Rules.ReminderWindow), s.Rules.RemindersPerWindow, now.Add(-ReminderPause)}
}

// RemindAll sends a reminder to each party of the calling coach that has an open request, a
// delivered message and a reminder left, and no message within ReminderPause or since begun. It stops after about 2 s or
// 100 reminders, and reports whether more remain: the caller repeats it with the same
// begun. It may be repeated at any time: no party gets two reminders after begun.
func (s *Service) RemindAll(ctx context.Context, by actor.Actor, begun time.Time) (more bool, err error) {
	end := s.Now().Add(remindTime)
	recipients, err := s.remindable(ctx, by.AccountID, s.reminderQuota(), begun, remindStep+1)
	if err != nil {
		return false, err
	}
	for i, to := range recipients {
		if i == remindStep || !s.Now().Before(end) {
			return true, nil
		}
		_, err := s.RemindAfter(ctx, by, to.PlayerID, to.Party, begun)
		switch fault.KindOf(err) {
		case fault.Conflict, fault.TooMany, fault.NotFound: // the party answered meanwhile, or the player is gone
			err = nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
