package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

// AddPlayer saves a new player with the change that fn returns, in one transaction. It
// sets the accounts of both parties, the coach's name and the disputes. fn gets the coach's
// roster with p in it, and may run more than once. A live player of the same coach,
// name and birth date is a conflict, player_exists.
func (db *DB) AddPlayer(ctx context.Context, p *approval.Player, fn func(approval.Roster) (approval.Change, error)) error {
	return db.Write(ctx, func(tx *Tx) error {
		p.GuardianApprover.AccountID, p.StudentApprover.AccountID = "", "" // of an earlier attempt
		if err := tx.Complete(ctx, idempotency.Work{ID: p.ID, New: true}); err != nil {
			return err
		}
		if err := tx.findOrAddAccounts(ctx, p); err != nil {
			return err
		}
		// Lock order: see lockCoach. fn checks the roster.
		var roster approval.Roster
		if err := tx.registerPlayer(ctx, p.CoachID, &roster); err != nil {
			return err
		}
		if added := db.options.Hooks.PlayerAdded; added != nil {
			if err := added(ctx, tx, p.ID); err != nil {
				return err
			}
		}
		if err := tx.lockBatches(ctx, p); err != nil {
			return err
		}
		added, err := tx.insertPlayer(ctx, p)
		if err != nil {
			return err
		}
		if !added {
			// A contact_conflict comes before player_exists. Only the store knows the former numbers.
			if err := tx.disputes(ctx, p); err != nil {
				return err
			}
			if _, err := fn(roster); fault.KindOf(err) == fault.Invalid {
				return err
			}
			id, err := samePlayer(ctx, tx, p)
			if database.IsNoRows(err) {
				return database.ErrStale // it was removed concurrently
			}
			if err != nil {
				return err
			}
			return approval.ErrPlayerExists(id)
		}
		// Load the disputes after the insert: it waits for a concurrent removal of the same
		// player, whose disputes must be visible.
		if err := tx.disputes(ctx, p); err != nil {
			return err
		}
		c, err := fn(roster)
		if err != nil {
			return err
		}
		for _, b := range p.Batches {
			if err := tx.JoinBatch(ctx, p.CoachID, b.ID, p.ID); err != nil {
				return fmt.Errorf("add player to batch: %w", err)
			}
		}
		if len(c.Opened)+len(c.StatusChanges) > 0 {
			if err := tx.setRequests(ctx, p, len(c.StatusChanges)); err != nil {
				return err
			}
		}
		if err := message.ChooseLanguages(ctx, tx.Tx, p.Languages(), nil); err != nil {
			return err
		}
		return tx.apply(ctx, p, c, approval.LoadOptions{})
	})
}

// maxRenameAttempts limits the attempts of a rename, each of which conflicted with a player
// that was then removed.
const maxRenameAttempts = 3

// UpdatePlayer loads a player, lets fn change it, and saves the player, the history, the
// requests, the messages and the notifications in one transaction. It saves nothing if fn
// returns the zero Change. fn may run more than once. The name and birth date of another
// live player are a conflict, player_exists.
func (db *DB) UpdatePlayer(ctx context.Context, id string, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	for attempt := 1; ; attempt++ {
		var p *storedPlayer
		err := db.Write(ctx, func(tx *Tx) (err error) {
			if p, err = tx.player(ctx, id, load); err != nil {
				return err
			}
			return tx.change(ctx, p, load, fn)
		})
		if !database.IsUnique(err) {
			return err
		}
		// The transaction has failed, so find the conflicting player outside of it.
		other, missing := samePlayer(ctx, db.sql, p.Player)
		switch {
		case missing == nil && other != id:
			return approval.ErrPlayerExists(other)
		case missing != nil && !database.IsNoRows(missing):
			return missing
		case attempt == maxRenameAttempts:
			return err
		}
	}
}

// player loads a player with the related rows that load names.
func (tx *Tx) player(ctx context.Context, id string, load approval.LoadOptions) (*storedPlayer, error) {
	var p *storedPlayer
	err := tx.DeferRow(ctx, func(row database.Scanner) (err error) {
		p, err = tx.db.scanStored(row)
		return err
	}, playerSelect+`WHERE p.id = $1`, id)
	var decided []approval.Record
	if err == nil && load.History {
		decided, err = history(ctx, tx, id) // sends both statements
	}
	if err == nil {
		err = tx.Flush()
	}
	if err != nil {
		return nil, database.OrMissing(err, "load player")
	}
	p.History = decided
	if load.Disputes {
		if err := tx.disputes(ctx, p.Player); err != nil {
			return nil, err
		}
	}
	if !load.RemindersSince.IsZero() {
		if err := tx.reminders(ctx, p.Player, load.RemindersSince); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (tx *Tx) change(ctx context.Context, p *storedPlayer, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	before, live, languages := p.Identity(), p.DeletedAt.IsZero(), p.Languages()
	consents := p.ConsentStatus()
	c, err := fn(p.Player)
	if err != nil || !c.Save {
		return err
	}
	if err := tx.Complete(ctx, workOf(p.Player, c)); err != nil {
		return err
	}
	if err := tx.findOrAddAccounts(ctx, p.Player); err != nil {
		return err
	}
	if live && !p.DeletedAt.IsZero() { // lock order: see lockCoach
		if err := tx.unregisterPlayer(ctx, p.CoachID); err != nil {
			return err
		}
	}
	// From here on, concurrent changes of this player wait for its row and get ErrStale.
	if err := tx.savePlayer(ctx, p, len(c.StatusChanges)); err != nil {
		return err
	}
	if live && !p.DeletedAt.IsZero() {
		if err := tx.endTeam(ctx, p.Player); err != nil {
			return fmt.Errorf("end what the coach noted about player %s: %w", p.ID, err)
		}
	}
	if p.Identity() != before && len(c.Opened) > 0 {
		// fn saw the disputes about the previous name and birth date. Check those about the
		// new ones too.
		if err := tx.disputes(ctx, p.Player); err != nil {
			return err
		}
		if err := p.CheckDisputes(c.Opened); err != nil {
			return err
		}
	}
	if err := message.ChooseLanguages(ctx, tx.Tx, p.Languages(), languages); err != nil {
		return err
	}
	if err := tx.deleteServiceNotifications(ctx, p.Player, consents, c); err != nil {
		return err
	}
	return tx.apply(ctx, p.Player, c, load)
}

// workOf returns the work of a change, for the response to its Idempotency-Key.
func workOf(p *approval.Player, c approval.Change) idempotency.Work {
	switch {
	case c.Reminded != "":
		return idempotency.Work{ID: p.Approver(c.Reminded).Request.ID, Number: c.RemindersLeft}
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

// apply saves a change without the player's own row. It locks last the rows that changes of
// other players lock too: the message limits and the accounts.
func (tx *Tx) apply(ctx context.Context, p *approval.Player, c approval.Change, load approval.LoadOptions) error {
	steps := []func() error{
		func() error { return tx.addStatusChanges(ctx, p.ID, c.StatusChanges) },
		func() error { return tx.closeRequests(ctx, c.Closed) },
		func() error { return tx.addHistory(ctx, p, c.History) },
		func() error { return tx.holdRepeated(ctx, p, c) },
		func() error { return tx.openRequests(ctx, p, c.Opened) },
		func() error { return tx.reopenRequest(ctx, c.Reopened) },
		func() error { return tx.resendRequests(ctx, c.Resent) },
		func() error { return tx.addReminder(ctx, p, c.Reminded) },
		func() error { return tx.saveFollowUp(ctx, c.FollowedUp) },
		func() error { return tx.addDispute(ctx, p, c.Dispute) },
		func() error { return tx.liftDispute(ctx, p, c.Lift, c.LiftedBy) },
		func() error { return tx.queue(ctx, p, c) },
		func() error { // before notify, whose first statement sends the deferred ones
			if !load.Deliveries {
				return nil
			}
			return tx.loadDeliveries(ctx, p.NewestRequests())
		},
		func() error { return tx.deleteNotifications(ctx, p.ID, c.ForgetNotifications) },
		func() error {
			for i, e := range c.Events {
				if e.PartyID == "" && e.Party != "" { // findOrAddAccounts added the account
					c.Events[i].PartyID = p.Approver(e.Party).AccountID
				}
			}
			return tx.Notify(ctx, c.Events, c.ForgetNotifications...)
		},
		func() error { return tx.endSessionsWithoutRole(ctx, c.ForgetNotifications) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
