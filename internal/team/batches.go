package team

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// RosterFeature is the feature of a tier without which a coach changes no batches. Reading needs
// none, so a coach with a smaller tier still sees everything.
const RosterFeature = "roster"

// Coach has the facts about a coach that rules need.
type Coach struct {
	// Tier is the stored name of the tier.
	Tier string
	// TimeZone is an IANA name, the default one if the coach chose none.
	TimeZone string
	// OpenBatches counts the batches that are not archived. Only BatchStore.AddBatch sets it.
	OpenBatches int
}

// CheckFeature returns a tier_limit unless the tier with a stored name has a feature.
type CheckFeature func(tier, feature string) error

// Membership is a player in a batch.
type Membership struct {
	PlayerID    string
	StudentName string
	JoinedAt    time.Time
	// LeftAt is zero while the player is in the batch.
	LeftAt time.Time
	// Earlier are the stays that ended before the player joined again at JoinedAt.
	Earlier []Stay
}

// Stay is the time of a player in a batch, until before LeftAt.
type Stay struct{ JoinedAt, LeftAt time.Time }

// RejoinWithin is how long after leaving a player who joins again counts as never having left. The
// player was then in the batch on each day in between.
const RejoinWithin = 24 * time.Hour

// BatchStore stores batches; package store implements it. Every call names the coach, and
// returns not_found for a batch or player of another coach. fn runs in the transaction and may
// run more than once.
type BatchStore interface {
	AddBatch(ctx context.Context, b *Batch, fn func(Coach) error) error
	Batch(ctx context.Context, coachID, id string) (*Batch, error)
	// Batches lists batches with an id below after, newest first. after "" starts with the newest.
	Batches(ctx context.Context, coachID string, archived bool, after string, limit int) ([]*Batch, error)
	// BatchNames lists the newest open batches.
	BatchNames(ctx context.Context, coachID string, limit int) ([]BatchName, error)
	// UpdateBatch loads a batch, lets fn change it, and saves it unless it was changed
	// meanwhile.
	UpdateBatch(ctx context.Context, coachID, id string, fn func(*Batch, Coach) error) error
	// JoinBatch adds a player, or does nothing if the player is in the batch already. The
	// batch and the player belong to the coach.
	JoinBatch(ctx context.Context, coachID, id, playerID string, fn func(*Batch, Coach) error) error
	// LeaveBatch ends a membership, or does nothing if there is none.
	LeaveBatch(ctx context.Context, coachID, id, playerID string, fn func(*Batch) error) error
	// BatchPlayers lists the players of a batch by name.
	BatchPlayers(ctx context.Context, coachID, id string) ([]Membership, error)
	// Schedule lists the open batches of a player of the calling guardian or student, if the
	// party has the app.
	Schedule(ctx context.Context, by actor.Actor, playerID string) (*Link, []*Batch, error)
}

// Batches are the batches of coaches.
type Batches struct {
	Store        BatchStore
	CheckFeature CheckFeature
	Now          func() time.Time
	NewID        func() string
}

func (s *Batches) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Add adds a batch of the calling coach.
func (s *Batches) Add(ctx context.Context, by actor.Actor, p BatchPatch) (*Batch, error) {
	return s.AddOnce(ctx, by, s.NewID(), p)
}

// AddOnce is Add for a batch with this id. It returns the coach's batch with the id if there
// is one already, so that a form that is sent twice makes one batch. With another patch it
// returns idempotency_key_reused.
func (s *Batches) AddOnce(ctx context.Context, by actor.Actor, id string, p BatchPatch) (*Batch, error) {
	now := s.now()
	b := &Batch{ID: id, CoachID: by.AccountID, Version: 1, CreatedAt: now}
	b.Apply(p, now)
	sent := *b
	err := s.Store.AddBatch(ctx, b, func(c Coach) error {
		if b.TimeZone = sent.TimeZone; b.TimeZone == "" {
			b.TimeZone = c.TimeZone
		}
		if err := s.CheckFeature(c.Tier, RosterFeature); err != nil {
			return err
		}
		return checkBatches(c.OpenBatches)
	})
	if err != nil {
		return nil, err
	}
	return b, checkSame(b.Name == sent.Name && b.Sport == sent.Sport && b.Venue == sent.Venue && slices.Equal(b.Schedule, sent.Schedule) &&
		(sent.TimeZone == "" || b.TimeZone == sent.TimeZone))
}

// Batch returns a batch of the calling coach.
func (s *Batches) Batch(ctx context.Context, by actor.Actor, id string) (*Batch, error) {
	return s.Store.Batch(ctx, by.AccountID, id)
}

// List lists the batches of the calling coach, newest first: those that are open, or the
// archived ones.
func (s *Batches) List(ctx context.Context, by actor.Actor, archived bool, after string, limit int) ([]*Batch, error) {
	return s.Store.Batches(ctx, by.AccountID, archived, after, limit)
}

// eachPage is how many objects the Each methods load at a time.
const eachPage = 200

// BatchName is a batch in a list of choices.
type BatchName struct{ ID, Name string }

// Names lists the newest open batches of the calling coach by name only.
func (s *Batches) Names(ctx context.Context, by actor.Actor, limit int) ([]BatchName, error) {
	return s.Store.BatchNames(ctx, by.AccountID, limit)
}

// Each calls fn with the batches of the calling coach, newest first, until fn fails.
func (s *Batches) Each(ctx context.Context, by actor.Actor, archived bool, fn func(*Batch) error) error {
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
func (s *Batches) Edit(ctx context.Context, by actor.Actor, id string, p BatchPatch) (*Batch, error) {
	return s.update(ctx, by, id, func(b *Batch, c Coach) error {
		if err := b.CheckOpen(); err != nil {
			return err
		}
		if err := s.CheckFeature(c.Tier, RosterFeature); err != nil {
			return err
		}
		b.Apply(p, s.now())
		if b.TimeZone == "" {
			b.TimeZone = c.TimeZone
		}
		return nil
	})
}

// Archive archives a batch of the calling coach.
func (s *Batches) Archive(ctx context.Context, by actor.Actor, id string) error {
	_, err := s.update(ctx, by, id, func(b *Batch, _ Coach) error { return b.Archive(s.now()) })
	return err
}

func (s *Batches) update(ctx context.Context, by actor.Actor, id string, fn func(*Batch, Coach) error) (*Batch, error) {
	var saved *Batch
	err := s.Store.UpdateBatch(ctx, by.AccountID, id, func(b *Batch, c Coach) error {
		saved = b
		return fn(b, c)
	})
	return saved, err
}

// Join adds a player of the calling coach to a batch.
func (s *Batches) Join(ctx context.Context, by actor.Actor, id, playerID string) error {
	return s.Store.JoinBatch(ctx, by.AccountID, id, playerID, func(b *Batch, c Coach) error {
		if err := b.CheckOpen(); err != nil {
			return err
		}
		if err := s.CheckFeature(c.Tier, RosterFeature); err != nil {
			return err
		}
		return b.CheckPlayers("/player_id")
	})
}

// Leave takes a player of the calling coach out of a batch.
func (s *Batches) Leave(ctx context.Context, by actor.Actor, id, playerID string) error {
	return s.Store.LeaveBatch(ctx, by.AccountID, id, playerID, (*Batch).CheckOpen)
}

// Players lists the players of a batch of the calling coach, by name.
func (s *Batches) Players(ctx context.Context, by actor.Actor, id string) ([]Membership, error) {
	return s.Store.BatchPlayers(ctx, by.AccountID, id)
}

// UpcomingDays is how many days of trainings a family sees.
const UpcomingDays = 7

// Schedule returns the batches of a player of the calling guardian or student, and their next
// trainings. Error: see Access.
func (s *Batches) Schedule(ctx context.Context, by actor.Actor, playerID string) (*Link, []*Batch, []Training, error) {
	link, batches, err := s.Store.Schedule(ctx, by, playerID)
	if err != nil {
		return nil, nil, nil, err
	}
	return link, batches, Upcoming(batches, s.now(), UpcomingDays), nil
}
