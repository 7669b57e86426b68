package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// saving is a change of a player in the transaction that saves it.
type saving struct {
	s    *Service
	tx   *store.Tx
	p    *approval.Player
	c    approval.Change
	load loadOptions
	// stored is the loaded player, and old the player as it was read; nil for a new one.
	stored *storedPlayer
	old    *approval.Player
	// newAccounts are those that this transaction added.
	newAccounts []string
}

// step saves a part of a change, or nothing if the change has no such part. Its name is in the error.
type step struct {
	name string
	save func(*saving, context.Context) error
}

// changeSteps save the rows of a changed player, before saveSteps.
var changeSteps = []step{
	{"note the work", (*saving).complete},
	{"find the accounts", (*saving).findAccounts},
	{"find earlier answers", (*saving).loadRefused},
	{"count the players of the coach", (*saving).unregister}, // lock order: coaches before players
	{"save", (*saving).savePlayer},                           // from here on, concurrent changes of this player wait for its row and get ErrStale
	{"end the team", (*saving).endTeam},
	{"check the disputes", (*saving).checkDisputes},
	{"choose languages", (*saving).chooseLanguages},
	{"delete notifications of services", (*saving).deleteServiceNotifications},
}

// saveSteps save the rest of a change, also of a new player. Last are the steps that lock rows which changes of
// other players lock too: the message limits and the accounts.
var saveSteps = []step{
	{"add status changes", (*saving).addStatusChanges},
	{"close requests", (*saving).closeRequests},
	{"save an answered request", (*saving).saveAnswered},
	{"add history", (*saving).addHistory},
	{"plan the second message", (*saving).planSecondMessage},
	{"record consents", (*saving).recordConsents},
	{"hold repeated messages", (*saving).holdRepeated},
	{"open requests", (*saving).openRequests},
	{"reopen a request", (*saving).reopenRequest},
	{"resend requests", (*saving).resendRequests},
	{"add a reminder", (*saving).addReminder},
	{"save a follow-up", (*saving).saveFollowUp},
	{"add a dispute", (*saving).addDispute},
	{"lift a dispute", (*saving).liftDispute},
	{"queue messages", (*saving).queueMessages},
	{"load deliveries", (*saving).loadDeliveries}, // before notify, whose first statement sends the deferred ones
	{"forget notifications", (*saving).forgetNotifications},
	{"notify", (*saving).notify},
	{"keep the former guardian", (*saving).keepFormerGuardian}, // after notify, which locks the account
	{"end sessions", (*saving).endSessions},
}

func (w *saving) run(ctx context.Context, lists ...[]step) error {
	for _, steps := range lists {
		for _, step := range steps {
			if err := step.save(w, ctx); err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
		}
	}
	return nil
}

// removed reports whether the change removes the player.
func (w *saving) removed() bool { return w.old.DeletedAt.IsZero() && !w.p.DeletedAt.IsZero() }

func (w *saving) complete(ctx context.Context) error {
	return w.tx.Complete(ctx, workOf(w.c))
}

// workOf returns the work of a change, for the response to its Idempotency-Key.
func workOf(c approval.Change) idempotency.Work {
	switch {
	case c.Reminded != nil:
		return idempotency.Work{ID: c.Reminded.ID, Number: c.RemindersLeft}
	case len(c.Opened) > 0:
		return idempotency.Work{ID: c.Opened[0].ID, New: true}
	case len(c.Resent) > 0:
		return idempotency.Work{ID: c.Resent[0].ID}
	case c.FollowedUp != nil:
		return idempotency.Work{ID: c.FollowedUp.ID}
	case len(c.Closed) > 0:
		return idempotency.Work{ID: c.Closed[0].ID}
	}
	return idempotency.Work{}
}

func (w *saving) findAccounts(ctx context.Context) (err error) {
	w.newAccounts, err = w.s.findOrAddAccounts(ctx, w.tx, w.p)
	return err
}

func (w *saving) unregister(ctx context.Context) error {
	if !w.removed() {
		return nil
	}
	return unregisterPlayer(ctx, w.tx, w.p.CoachID)
}

func (w *saving) savePlayer(ctx context.Context) error {
	return w.s.savePlayer(ctx, w.tx, w.stored, len(w.c.StatusChanges))
}

// endTeam ends the memberships of a player who is removed, and runs the hooks of features. Attendance
// and fees stay in the coach's lists. The player's row is locked, so no concurrent transaction adds
// anything.
func (w *saving) endTeam(ctx context.Context) error {
	if !w.removed() {
		return nil
	}
	err := w.tx.Defer(ctx, `UPDATE batch_players SET left_at = $2 WHERE player_id = $1 AND left_at IS NULL`, w.p.ID, database.Micros(w.tx.Now))
	if err != nil {
		return fmt.Errorf("end the batches of player %s: %w", w.p.ID, err)
	}
	for _, hook := range w.s.Hooks.PlayerRemoved {
		if err := hook(ctx, w.tx, w.p.CoachID, w.p.ID); err != nil {
			return fmt.Errorf("end what the coach noted about player %s: %w", w.p.ID, err)
		}
	}
	return nil
}

// checkDisputes checks the disputes again that the change did not see: those about another name or birth date, and
// those of a number that had no account.
func (w *saving) checkDisputes(ctx context.Context) error {
	if len(w.c.Opened) == 0 || w.p.Identity() == w.old.Identity() && len(w.newAccounts) == 0 {
		return nil
	}
	if err := w.s.loadDisputes(ctx, w.tx, w.p); err != nil {
		return err
	}
	return w.p.CheckDisputes(w.c.Opened)
}

func (w *saving) chooseLanguages(ctx context.Context) error {
	return outbox.ChooseLanguages(ctx, w.tx.Tx, w.p.Languages(), w.old.Languages())
}

// deleteServiceNotifications deletes the notifications of app services about a player, and drops
// their copies, for the parties that no longer have the app, after a change of a consent. A party that had not approved
// before has none. A notification that is sent at the same time locks the player's row: it commits
// before and is deleted, or finds no approval.
func (w *saving) deleteServiceNotifications(ctx context.Context) error {
	if len(w.c.StatusChanges) == 0 {
		return nil
	}
	before, status := w.old.ConsentStatus(), w.p.ConsentStatus()
	for _, a := range w.p.Parties {
		if a.AccountID == "" || !before.As(a.GuardianID).Approved(a.Role) || access(w.s.Rules, status.As(a.GuardianID), a.Role, team.App, w.tx.Now) == team.Granted {
			continue
		}
		if err := notice.End(ctx, w.tx, w.p.ID, a.AccountID, message.OfServices...); err != nil {
			return err
		}
	}
	return nil
}

func (w *saving) loadDeliveries(ctx context.Context) error {
	if !w.load.Deliveries {
		return nil
	}
	return loadDeliveries(ctx, w.tx, w.p.NewestRequests())
}

func (w *saving) forgetNotifications(ctx context.Context) error {
	for _, account := range w.c.ForgetNotifications {
		if err := notice.End(ctx, w.tx, w.p.ID, account); err != nil {
			return err
		}
	}
	return nil
}

func (w *saving) notify(ctx context.Context) error {
	for i, e := range w.c.Events {
		if e.PartyID == "" && e.Party != "" { // findAccounts added the account
			w.c.Events[i].PartyID = w.p.Find(e.Party, e.GuardianID).AccountID
		}
	}
	return notice.Notify(ctx, w.tx, w.c.Events, w.c.ForgetNotifications...)
}

func (w *saving) endSessions(ctx context.Context) error {
	return auth.EndSessionsWithoutRole(ctx, w.tx, w.c.ForgetNotifications)
}
