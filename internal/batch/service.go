// Package batch owns batches: their changes, players and schedule with SQL, JSON, pages, templates and
// texts. The type of a batch is team.Batch, which features below this one use too.
package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/claims"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// feature is the feature of a tier without which a coach changes no batches. Reading needs none, so a
// coach with a smaller tier still sees everything.
const feature = "roster"

// Service reads and changes batches. A batch or player of another coach is not_found.
type Service struct {
	DB        *store.DB
	Approvals *player.Service
	// Consent are the rules that decide who has which service of a player.
	Consent      player.Access
	CheckFeature team.CheckFeature
	// Claims are the names that no batch may have.
	Claims claims.List
	// Upcoming returns the trainings of batches of a coach that take place and end after now, on the next
	// days days, earliest first.
	Upcoming func(ctx context.Context, q database.Querier, coachID string, batches []*team.Batch, now time.Time, days int) ([]team.Training, error)
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

// Add adds a batch of the calling coach.
func (s *Service) Add(ctx context.Context, by actor.Actor, p Patch) (*team.Batch, error) {
	return s.AddOnce(ctx, by, s.NewID(), p)
}

// AddOnce is Add for a batch with this id. It returns the coach's batch with the id if there
// is one already, so that a form that is sent twice makes one batch. With another patch it
// returns idempotency_key_reused.
func (s *Service) AddOnce(ctx context.Context, by actor.Actor, id string, p Patch) (*team.Batch, error) {
	if err := s.checkName(p); err != nil {
		return nil, err
	}
	now := s.Now()
	sent := team.Batch{ID: id, CoachID: by.AccountID, Version: 1, CreatedAt: now}
	p.apply(&sent, now)
	var b *team.Batch
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: id, New: true}); err != nil {
			return err
		}
		// Concurrent requests wait for this lock, so that MaxBatches holds.
		if _, err := tx.LockCoach(ctx, by.AccountID); err != nil {
			return fmt.Errorf("lock coach %s: %w", by.AccountID, err)
		}
		c, err := tx.TeamCoach(ctx, by.AccountID)
		if err != nil {
			return err
		}
		if b, err = tx.Batch(ctx, by.AccountID, id); fault.KindOf(err) != fault.NotFound {
			return err
		}
		added := sent
		b = &added
		b.TimeZone = cmp.Or(b.TimeZone, c.TimeZone)
		var open int
		err = tx.QueryRow(ctx, `SELECT count(*) FROM batches WHERE coach_id = $1 AND archived_at IS NULL`, by.AccountID).Scan(&open)
		if err != nil {
			return fmt.Errorf("count batches: %w", err)
		}
		if err := s.CheckFeature(c.Tier, feature); err != nil {
			return err
		}
		if open >= team.MaxBatches {
			return fault.Validation([]fault.Field{{Code: "too_many", Detail: fmt.Sprintf("You have %d batches. Archive one first.", open)}})
		}
		return insert(ctx, tx, b)
	})
	if database.IsUnique(err) {
		return nil, team.ErrSentBefore()
	}
	if err != nil {
		return nil, err
	}
	if b.Name != sent.Name || b.Sport != sent.Sport || b.Venue != sent.Venue || !slices.Equal(b.Schedule, sent.Schedule) ||
		sent.TimeZone != "" && b.TimeZone != sent.TimeZone {
		return b, team.ErrSentBefore()
	}
	return b, nil
}

func insert(ctx context.Context, tx *store.Tx, b *team.Batch) error {
	schedule, err := json.Marshal(b.Schedule)
	if err != nil {
		return err
	}
	err = tx.DeferOne(ctx, `
			INSERT INTO batches (id, coach_id, version, name, sport, venue, schedule, time_zone, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		b.ID, b.CoachID, b.Version, b.Name, database.Text(b.Sport), database.Text(b.Venue), string(schedule), b.TimeZone, database.Micros(b.CreatedAt), database.Micros(b.UpdatedAt))
	return fault.Wrap(err, "add batch")
}

// Batch returns a batch of the calling coach.
func (s *Service) Batch(ctx context.Context, by actor.Actor, id string) (*team.Batch, error) {
	return store.BatchOf(ctx, s.DB, by.AccountID, id)
}

// List lists the batches of the calling coach with an id below after, newest first: those that are
// open, or the archived ones. after "" starts with the newest.
func (s *Service) List(ctx context.Context, by actor.Actor, archived bool, after string, limit int) ([]*team.Batch, error) {
	return store.BatchesOf(ctx, s.DB, by.AccountID, archived, after, limit)
}

// eachPage is how many objects Each loads at a time.
const eachPage = 200

// Each calls fn with the batches of the calling coach, newest first, until fn fails.
func (s *Service) Each(ctx context.Context, by actor.Actor, archived bool, fn func(*team.Batch) error) error {
	for after := ""; ; {
		batches, err := s.List(ctx, by, archived, after, eachPage)
		if err != nil {
			return err
		}
		for _, b := range batches {
			if err := fn(b); err != nil {
				return err
			}
			after = b.ID
		}
		if len(batches) < eachPage {
			return nil
		}
	}
}

// Edit applies a patch to a batch of the calling coach.
func (s *Service) Edit(ctx context.Context, by actor.Actor, id string, p Patch) (*team.Batch, error) {
	return s.update(ctx, by, id, func(b *team.Batch, c team.Coach) error {
		if err := s.CheckFeature(c.Tier, feature); err != nil {
			return err
		}
		if p.Name != nil && *p.Name != b.Name {
			if err := s.checkName(p); err != nil {
				return err
			}
		}
		p.apply(b, s.Now())
		b.TimeZone = cmp.Or(b.TimeZone, c.TimeZone)
		return nil
	})
}

// Archive archives a batch of the calling coach.
func (s *Service) Archive(ctx context.Context, by actor.Actor, id string) error {
	_, err := s.update(ctx, by, id, func(b *team.Batch, _ team.Coach) error {
		now := s.Now()
		b.ArchivedAt, b.UpdatedAt = now, now
		return nil
	})
	return err
}

// update loads an open batch, lets fn change it, and saves it unless it was changed meanwhile.
func (s *Service) update(ctx context.Context, by actor.Actor, id string, fn func(*team.Batch, team.Coach) error) (b *team.Batch, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if b, err = tx.Batch(ctx, by.AccountID, id); err != nil {
			return err
		}
		c, err := tx.TeamCoach(ctx, by.AccountID)
		if err != nil {
			return err
		}
		if err := b.CheckOpen(); err != nil {
			return err
		}
		name := b.Name
		if err := fn(b, c); err != nil {
			return err
		}
		schedule, err := json.Marshal(b.Schedule)
		if err != nil {
			return err
		}
		err = tx.DeferOne(ctx, `
			UPDATE batches SET version = version + 1, name = $4, sport = $5, venue = $6, schedule = $7, time_zone = $8, updated_at = $9, archived_at = $10
			WHERE coach_id = $1 AND id = $2 AND version = $3`,
			by.AccountID, id, b.Version, b.Name, database.Text(b.Sport), database.Text(b.Venue), string(schedule), b.TimeZone, database.Micros(b.UpdatedAt), database.Micros(b.ArchivedAt))
		if err != nil {
			return fmt.Errorf("save batch %s: %w", id, err)
		}
		b.Version++
		if b.Name != name || !b.ArchivedAt.IsZero() {
			return player.BatchChanged(ctx, tx, id)
		}
		return nil
	})
	return b, err
}

// Join adds a player of the calling coach to a batch. It does nothing if the player is in it.
//
// Lock order: the player, then the batch. A concurrent removal of the player waits and then
// ends the membership.
func (s *Service) Join(ctx context.Context, by actor.Actor, id, playerID string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		b, err := lock(ctx, tx, by, id, playerID)
		if err != nil {
			return err
		}
		var in bool
		err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM batch_players WHERE batch_id = $1 AND player_id = $2 AND left_at IS NULL)`, id, playerID).Scan(&in)
		if err != nil {
			return err
		}
		if in {
			return b.CheckOpen()
		}
		c, err := tx.TeamCoach(ctx, by.AccountID)
		if err != nil {
			return err
		}
		if err := b.CheckOpen(); err != nil {
			return err
		}
		if err := s.CheckFeature(c.Tier, feature); err != nil {
			return err
		}
		if err := b.CheckPlayers("/player_id"); err != nil {
			return err
		}
		if err := tx.JoinBatch(ctx, by.AccountID, id, playerID); err != nil {
			return err
		}
		return player.BatchesChanged(ctx, tx, playerID)
	})
}

// lock locks a player and a batch of the calling coach.
func lock(ctx context.Context, tx *store.Tx, by actor.Actor, id, playerID string) (*team.Batch, error) {
	if err := player.LockPlayer(ctx, tx, by.AccountID, playerID); err != nil {
		return nil, err
	}
	return tx.LockBatch(ctx, by.AccountID, id)
}

// Leave takes a player of the calling coach out of a batch. It does nothing if the player is not in it.
func (s *Service) Leave(ctx context.Context, by actor.Actor, id, playerID string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		b, err := lock(ctx, tx, by, id, playerID)
		if err == nil {
			err = b.CheckOpen()
		}
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `
			UPDATE batch_players SET left_at = $4 WHERE coach_id = $1 AND batch_id = $2 AND player_id = $3 AND left_at IS NULL`,
			by.AccountID, id, playerID, database.Micros(tx.Now))
		if err != nil || n == 0 {
			return err
		}
		return player.BatchesChanged(ctx, tx, playerID)
	})
}

// Players lists the players of a batch of the calling coach, by name.
func (s *Service) Players(ctx context.Context, by actor.Actor, id string) (players []team.Membership, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Batch(ctx, by.AccountID, id); err != nil {
			return err
		}
		players, err = tx.BatchPlayers(ctx, by.AccountID, id)
		return err
	})
	return players, err
}

// upcomingDays is how many days of trainings a family sees.
const upcomingDays = 7

// Schedule returns the open batches of a player of the calling guardian or student, newest first, and
// their next trainings. Error: see team.Access.
func (s *Service) Schedule(ctx context.Context, by actor.Actor, playerID string) (batches []*team.Batch, upcoming []team.Training, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		link, err := s.Consent.Link(ctx, tx, by, playerID, team.App)
		if err != nil {
			return err
		}
		if batches, err = tx.BatchesOfPlayer(ctx, playerID); err != nil {
			return err
		}
		upcoming, err = s.Upcoming(ctx, tx, link.CoachID, batches, s.Now(), upcomingDays)
		return err
	})
	return batches, upcoming, err
}
