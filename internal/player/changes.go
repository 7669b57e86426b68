package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// addPlayer saves a new player of by with its first requests, in one transaction. A live player of the same coach,
// name and birth date is a conflict, player_exists.
func (s *Service) addPlayer(ctx context.Context, by actor.Actor, p *approval.Player, op approval.Operation) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		for i := range p.Parties {
			p.Parties[i].AccountID, p.Parties[i].Request = "", nil // of an earlier attempt
		}
		if err := tx.Complete(ctx, idempotency.Work{ID: p.ID, New: true}); err != nil {
			return err
		}
		accounts, err := s.findOrAddAccounts(ctx, tx, p)
		if err != nil {
			return err
		}
		// Lock order: coaches before players. OpenFirstRequests checks the roster.
		var roster approval.Roster
		if err := registerPlayer(ctx, tx, p.CoachID, &roster); err != nil {
			return err
		}
		if added := s.Hooks.PlayerAdded; added != nil {
			if err := added(ctx, tx, p.ID); err != nil {
				return err
			}
		}
		if err := lockBatches(ctx, tx, p); err != nil {
			return err
		}
		added, err := s.insertPlayer(ctx, tx, p)
		if err != nil {
			return err
		}
		// Load the disputes after the insert: it waits for a concurrent removal of the same
		// player, whose disputes must be visible.
		if err := s.loadDisputes(ctx, tx, p); err != nil {
			return err
		}
		c, err := p.OpenFirstRequests(s.Rules, op, roster)
		if !added && fault.KindOf(err) != fault.Invalid { // a contact_conflict comes before player_exists
			return errPlayerExists(ctx, tx, p)
		}
		if err != nil {
			return err
		}
		c.By, c.StatusChanges = by, p.FirstChanges(op.Now)
		for _, b := range p.Batches {
			if err := tx.JoinBatch(ctx, p.CoachID, b.ID, p.ID); err != nil {
				return fmt.Errorf("add player to batch: %w", err)
			}
		}
		all := make([]int, len(p.Parties))
		for i := range all {
			all[i] = i
		}
		if err := insertParties(ctx, tx, p, all); err != nil {
			return err
		}
		if err := outbox.ChooseLanguages(ctx, tx.Tx, p.Languages(), nil); err != nil {
			return err
		}
		return (&saving{s: s, tx: tx, p: p, c: c, newAccounts: accounts}).run(ctx, saveSteps)
	})
}

// errPlayerExists returns player_exists with the id of the live player with the name and birth date of p.
func errPlayerExists(ctx context.Context, tx *store.Tx, p *approval.Player) error {
	id, err := samePlayer(ctx, tx, p)
	switch {
	case database.IsNoRows(err):
		return database.ErrStale // it was removed concurrently
	case err != nil:
		return err
	}
	return approval.ErrPlayerExists(id)
}

// maxRenameAttempts limits the attempts of a rename, each of which conflicted with a player
// that was then removed.
const maxRenameAttempts = 3

// updatePlayer loads a player, lets fn change it, and saves the player, the history, the
// requests, the messages and the notifications in one transaction. It saves nothing if fn
// returns the zero Change. fn may run more than once. The name and birth date of another
// live player are a conflict, player_exists.
func (s *Service) updatePlayer(ctx context.Context, id string, load loadOptions, fn changer) (*approval.Player, approval.Change, error) {
	for attempt := 1; ; attempt++ {
		var p *storedPlayer
		var c approval.Change
		err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			p, err = s.loadPlayer(ctx, tx, id, load)
			if err != nil {
				return err
			}
			c, err = s.changePlayer(ctx, tx, p, load, fn)
			return err
		})
		if err == nil {
			return p.Player, c, nil
		}
		if !database.IsUnique(err) {
			return nil, c, err
		}
		// The transaction has failed, so find the conflicting player outside of it.
		other, missing := samePlayer(ctx, s.DB, p.Player)
		switch {
		case missing == nil && other != id:
			return nil, c, approval.ErrPlayerExists(other)
		case missing != nil && !database.IsNoRows(missing):
			return nil, c, missing
		case attempt == maxRenameAttempts:
			return nil, c, err
		}
	}
}

// player loads a player with the related rows that load names.
func (s *Service) loadPlayer(ctx context.Context, tx *store.Tx, id string, load loadOptions) (*storedPlayer, error) {
	rows := s.newPlayerRows()
	err := tx.DeferRows(ctx, rows.scan, playerSelect+`WHERE p.id = $1`, id)
	var decided []approval.Record
	if err == nil && load.History {
		decided, err = readHistory(ctx, tx, id) // sends both statements
	}
	if err == nil {
		err = tx.Flush()
	}
	if err != nil {
		return nil, err
	}
	if len(rows.players) == 0 {
		return nil, fault.Missing()
	}
	p := rows.players[0]
	p.History = decided
	if load.Medical {
		p.Student.Medical, err = s.DB.Unseal(vault.ForMedical, p.sealed, p.ID)
		if err != nil {
			return nil, fmt.Errorf("player %s: %w", p.ID, err)
		}
	}
	p.read = p.Copy()
	if load.Disputes {
		if err := s.loadDisputes(ctx, tx, p.Player); err != nil {
			return nil, err
		}
	}
	if load.CallFacts {
		if err := s.loadCallFacts(ctx, tx, p.Player, tx.Now); err != nil {
			return nil, err
		}
	}
	if !load.RemindersSince.IsZero() {
		if err := loadReminders(ctx, tx, p.Player, load.RemindersSince); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// changePlayer lets fn change a loaded player, and saves it. Each run has a new Operation, so that after a lost race
// the later change has the later time.
func (s *Service) changePlayer(ctx context.Context, tx *store.Tx, p *storedPlayer, load loadOptions, fn changer) (approval.Change, error) {
	op, old := s.operation(), p.read
	c, err := fn(p.Player, op)
	if err != nil || !c.Save {
		return c, err
	}
	if old.DeletedAt.IsZero() {
		c.StatusChanges = p.StatusChanges(old.ConsentStatus(), s.Rules, op.Now)
	}
	return c, (&saving{s: s, tx: tx, p: p.Player, c: c, stored: p, old: old, load: load}).run(ctx, changeSteps, saveSteps)
}
