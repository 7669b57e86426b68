package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/fault"
)

// AddPlayer saves a new player with what first returns, in one transaction. It
// fills in the accounts of both parties, the coach's name and the disputes.
// first is given the coach's roster with p in it and may run more than once. A
// live player of the same coach, name and birth date is a conflict, player_exists.
func (db *DB) AddPlayer(ctx context.Context, p *approval.Player, first func(approval.Roster) (approval.Change, error)) error {
	return db.write(ctx, func(tx *tx) error {
		p.GuardianApprover.AccountID, p.StudentApprover.AccountID = "", "" // of a run that was undone
		if err := tx.accounts(ctx, p); err != nil {
			return err
		}
		// The coach's row comes before players and the coach's account, as everywhere
		// (see holdCoach); what is counted is judged by first.
		roster, err := tx.registerPlayer(ctx, p.CoachID)
		if err != nil {
			return err
		}
		added, err := tx.insertPlayer(ctx, p)
		if err != nil {
			return err
		}
		if !added {
			id, err := twin(ctx, tx, p)
			if errors.Is(err, sql.ErrNoRows) {
				return database.ErrStale // it was removed this moment
			}
			if err != nil {
				return err
			}
			return errExists(id)
		}
		// After the insert, which waited for whoever removed the player before: so
		// the disputes about that one are all to be seen.
		if err := tx.disputes(ctx, p); err != nil {
			return err
		}
		c, err := first(roster)
		if err != nil {
			return err
		}
		if len(c.Opened) > 0 {
			if err := tx.linkRequests(ctx, p); err != nil {
				return err
			}
		}
		return tx.apply(ctx, p, c)
	})
}

// renameTries bounds how often a rename is tried whose twin vanished.
const renameTries = 3

// UpdatePlayer loads a player, lets fn change it, and saves the player, the
// history, the requests, the messages and the notifications in one transaction;
// nothing at all where fn returns the zero Change. fn may run more than once. A
// new name that another live player has is a conflict, player_exists.
func (db *DB) UpdatePlayer(ctx context.Context, id string, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	for try := 1; ; try++ {
		var p *stored
		err := db.write(ctx, func(tx *tx) (err error) {
			if p, err = tx.player(ctx, id, load); err != nil {
				return err
			}
			return tx.change(ctx, p, fn)
		})
		if !database.IsUnique(err) {
			return err
		}
		// The transaction was dead by then, so the twin is looked for here.
		other, missing := twin(ctx, db.sql, p.Player)
		switch {
		case missing == nil && other != id:
			return errExists(other)
		case missing != nil && !errors.Is(missing, sql.ErrNoRows):
			return missing
		case try == renameTries:
			return err
		}
	}
}

// player loads a player with what else is asked for.
func (tx *tx) player(ctx context.Context, id string, load approval.LoadOptions) (*stored, error) {
	p, err := tx.db.scanStored(tx.QueryRow(ctx, playerSelect+`WHERE p.id = $1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.Missing()
	}
	if err != nil {
		return nil, fmt.Errorf("load player: %w", err)
	}
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

func (tx *tx) change(ctx context.Context, p *stored, fn func(*approval.Player) (approval.Change, error)) error {
	child, live := studentOf(p.Player), p.DeletedAt.IsZero()
	c, err := fn(p.Player)
	if err != nil || !c.Save {
		return err
	}
	if err := tx.accounts(ctx, p.Player); err != nil {
		return err
	}
	if live && !p.DeletedAt.IsZero() { // before the player's row, as everywhere
		if err := tx.unregisterPlayer(ctx, p.CoachID); err != nil {
			return err
		}
	}
	// Whatever follows is safe from rivals: they wait for this row and are stale.
	if err := tx.savePlayer(ctx, p); err != nil {
		return err
	}
	if studentOf(p.Player) != child && len(c.Opened) > 0 {
		// fn knew the disputes about the child that the player was. Those about the
		// one that it is now are all to be seen, as in AddPlayer.
		if err := tx.disputes(ctx, p.Player); err != nil {
			return err
		}
		if err := p.CheckDisputes(c.Opened); err != nil {
			return err
		}
	}
	return tx.apply(ctx, p.Player, c)
}

// apply writes everything of a change but the player itself. What rivals for
// other players may wait for, the caps and the trays, comes last.
func (tx *tx) apply(ctx context.Context, p *approval.Player, c approval.Change) error {
	steps := []func() error{
		func() error { return tx.closeRequests(ctx, c.Closed) },
		func() error { return tx.addHistory(ctx, c.History) },
		func() error { return tx.openRequests(ctx, p, c.Opened) },
		func() error { return tx.resendRequests(ctx, c.Resent) },
		func() error { return tx.addReminder(ctx, p, c.Reminded) },
		func() error { return tx.addDispute(ctx, p, c.Dispute) },
		func() error { return tx.liftDispute(ctx, p, c.Lift) },
		func() error { return tx.queue(ctx, p, c) },
		func() error { return tx.deleteNotifications(ctx, p.ID, c.ForgetNotifications) },
		func() error {
			return tx.notify(ctx, c.Events, func(role actor.Role) string {
				if role == actor.Coach {
					return p.CoachID
				}
				return p.Approver(role).AccountID
			}, c.ForgetNotifications...)
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
