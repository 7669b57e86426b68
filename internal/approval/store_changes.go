package approval

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// addPlayer saves a new player with the change that fn returns, in one transaction. It
// sets the accounts of its parties, the coach's name and the disputes. fn gets the coach's
// roster with p in it, and may run more than once. A live player of the same coach,
// name and birth date is a conflict, player_exists.
func (s *Service) addPlayer(ctx context.Context, p *Player, fn func(Roster) (Change, error)) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		for i := range p.Parties {
			p.Parties[i].AccountID = "" // of an earlier attempt
		}
		if err := tx.Complete(ctx, idempotency.Work{ID: p.ID, New: true}); err != nil {
			return err
		}
		accounts, err := s.findOrAddAccounts(ctx, tx, p)
		if err != nil {
			return err
		}
		// Lock order: see lockCoach. fn checks the roster.
		var roster Roster
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
		if !added {
			// A contact_conflict comes before player_exists. Only the store knows the former numbers.
			if err := s.loadDisputes(ctx, tx, p); err != nil {
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
			return errPlayerExists(id)
		}
		// Load the disputes after the insert: it waits for a concurrent removal of the same
		// player, whose disputes must be visible.
		if err := s.loadDisputes(ctx, tx, p); err != nil {
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
		all := make([]int, len(p.Parties))
		for i := range all {
			all[i] = i
		}
		if err := insertParties(ctx, tx, p, all); err != nil {
			return err
		}
		if err := message.ChooseLanguages(ctx, tx.Tx, p.Languages(), nil); err != nil {
			return err
		}
		c.consents = p.consentChanges(nil, c, s.NewID, tx.Now)
		return s.apply(ctx, tx, p, c, loadOptions{}, accounts)
	})
}

// maxRenameAttempts limits the attempts of a rename, each of which conflicted with a player
// that was then removed.
const maxRenameAttempts = 3

// updatePlayer loads a player, lets fn change it, and saves the player, the history, the
// requests, the messages and the notifications in one transaction. It saves nothing if fn
// returns the zero Change. fn may run more than once. The name and birth date of another
// live player are a conflict, player_exists.
func (s *Service) updatePlayer(ctx context.Context, id string, load loadOptions, fn func(*Player) (Change, error)) error {
	for attempt := 1; ; attempt++ {
		var p *storedPlayer
		err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			if p, err = s.loadPlayer(ctx, tx, id, load); err != nil {
				return err
			}
			return s.changePlayer(ctx, tx, p, load, fn)
		})
		if !database.IsUnique(err) {
			return err
		}
		// The transaction has failed, so find the conflicting player outside of it.
		other, missing := samePlayer(ctx, s.DB, p.Player)
		switch {
		case missing == nil && other != id:
			return errPlayerExists(other)
		case missing != nil && !database.IsNoRows(missing):
			return missing
		case attempt == maxRenameAttempts:
			return err
		}
	}
}

// player loads a player with the related rows that load names.
func (s *Service) loadPlayer(ctx context.Context, tx *store.Tx, id string, load loadOptions) (*storedPlayer, error) {
	rows := s.newPlayerRows()
	err := tx.DeferRows(ctx, rows.scan, playerSelect+`WHERE p.id = $1`, id)
	var decided []Record
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
		if p.Student.Medical, err = s.DB.Unseal(vault.ForMedical, p.sealed, p.ID); err != nil {
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

func (s *Service) changePlayer(ctx context.Context, tx *store.Tx, p *storedPlayer, load loadOptions, fn func(*Player) (Change, error)) error {
	before, live, languages := p.Identity(), p.DeletedAt.IsZero(), p.Languages()
	old := p.Copy()
	consents := p.ConsentStatus()
	c, err := fn(p.Player)
	if err != nil || !c.Save {
		return err
	}
	if err := tx.Complete(ctx, workOf(p.Player, c)); err != nil {
		return err
	}
	accounts, err := s.findOrAddAccounts(ctx, tx, p.Player)
	if err != nil {
		return err
	}
	if live && !p.DeletedAt.IsZero() { // lock order: see lockCoach
		if err := unregisterPlayer(ctx, tx, p.CoachID); err != nil {
			return err
		}
	}
	// From here on, concurrent changes of this player wait for its row and get ErrStale.
	if err := s.savePlayer(ctx, tx, p, len(c.StatusChanges)); err != nil {
		return err
	}
	if live && !p.DeletedAt.IsZero() {
		if err := s.endTeam(ctx, tx, p.Player); err != nil {
			return fmt.Errorf("end what the coach noted about player %s: %w", p.ID, err)
		}
	}
	if (p.Identity() != before || len(accounts) > 0) && len(c.Opened) > 0 {
		// fn saw the disputes about the previous name and birth date, and none of a number without an account.
		if err := s.loadDisputes(ctx, tx, p.Player); err != nil {
			return err
		}
		if err := p.CheckDisputes(c.Opened); err != nil {
			return err
		}
	}
	if err := message.ChooseLanguages(ctx, tx.Tx, p.Languages(), languages); err != nil {
		return err
	}
	if err := s.deleteServiceNotifications(ctx, tx, p.Player, consents, c); err != nil {
		return err
	}
	c.consents = p.consentChanges(old, c, s.NewID, tx.Now)
	return s.apply(ctx, tx, p.Player, c, load, accounts)
}

// workOf returns the work of a change, for the response to its Idempotency-Key.
func workOf(p *Player, c Change) idempotency.Work {
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

// apply saves a change without the player's own row. It locks last the rows that changes of
// other players lock too: the message limits and the accounts. newAccounts are those that this transaction added.
func (s *Service) apply(ctx context.Context, tx *store.Tx, p *Player, c Change, load loadOptions, newAccounts []string) error {
	steps := []func() error{
		func() error { return addStatusChanges(ctx, tx, p, c.StatusChanges) },
		func() error { return closeRequests(ctx, tx, c.Closed) },
		func() error { return addHistory(ctx, tx, p, c.History) },
		func() error { return s.planSecondMessage(ctx, tx, p, c.History) },
		func() error { return s.recordConsents(ctx, tx, c) },
		func() error { return s.holdRepeated(ctx, tx, p, c, newAccounts) },
		func() error { return s.openRequests(ctx, tx, p, c.Opened) },
		func() error { return s.reopenRequest(ctx, tx, c.Reopened) },
		func() error { return resendRequests(ctx, tx, c.Resent) },
		func() error { return s.addReminder(ctx, tx, p, c.Reminded) },
		func() error { return saveFollowUp(ctx, tx, c.FollowedUp) },
		func() error { return addDispute(ctx, tx, p, c.Dispute) },
		func() error { return liftDispute(ctx, tx, p, c.Lift, c.LiftedBy) },
		func() error { return s.queueMessages(ctx, tx, p, c) },
		func() error { // before notify, whose first statement sends the deferred ones
			if !load.Deliveries {
				return nil
			}
			return loadDeliveries(ctx, tx, p.NewestRequests())
		},
		func() error {
			for _, account := range c.ForgetNotifications {
				if err := notice.End(ctx, tx, p.ID, account); err != nil {
					return err
				}
			}
			return nil
		},
		func() error {
			for i, e := range c.Events {
				if e.PartyID == "" && e.Party != "" { // findOrAddAccounts added the account
					c.Events[i].PartyID = p.Find(e.Party, e.GuardianID).AccountID
				}
			}
			return notice.Notify(ctx, tx, c.Events, c.ForgetNotifications...)
		},
		func() error { return keepFormerGuardian(ctx, tx, p.ID, c.FormerGuardian) }, // after notify, which locks the account
		func() error { return auth.EndSessionsWithoutRole(ctx, tx, c.ForgetNotifications) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// endTeam ends the memberships of a player who is removed, and runs the hooks of features. Attendance
// and fees stay in the coach's lists. The player's row is locked, so no concurrent transaction adds
// anything.
func (s *Service) endTeam(ctx context.Context, tx *store.Tx, p *Player) error {
	err := tx.Defer(ctx, `UPDATE batch_players SET left_at = $2 WHERE player_id = $1 AND left_at IS NULL`, p.ID, database.Micros(tx.Now))
	if err != nil {
		return err
	}
	for _, hook := range s.Hooks.PlayerRemoved {
		if err := hook(ctx, tx, p.CoachID, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// deleteServiceNotifications deletes the notifications of app services about a player, and drops
// their copies, for the parties that no longer have the app, after a change of a consent. A party that had not approved
// before has none. A notification that is sent at the same time locks the player's row: it commits
// before and is deleted, or finds no approval.
func (s *Service) deleteServiceNotifications(ctx context.Context, tx *store.Tx, p *Player, before ConsentStatus, c Change) error {
	if len(c.StatusChanges) == 0 {
		return nil
	}
	status := p.ConsentStatus()
	for _, a := range p.Parties {
		if a.AccountID == "" || !before.As(a.GuardianID).Approved(a.Role) || s.Rules.access(status.As(a.GuardianID), a.Role, team.App, tx.Now) == team.Granted {
			continue
		}
		if err := notice.End(ctx, tx, p.ID, a.AccountID, message.OfServices...); err != nil {
			return err
		}
	}
	return nil
}
