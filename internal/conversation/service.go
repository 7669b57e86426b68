// Package conversation owns the messages of coaches to families, their replies and the templates: rules,
// SQL, JSON, pages and texts. The outbox, package message, delivers what leaves the service.
package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/telemetry"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Service sends the messages of coaches, and keeps the replies of families and the templates. Objects of
// other accounts are not_found.
type Service struct {
	DB            *store.DB
	Approvals     *player.Service
	Coaches       *coach.Service
	Subscriptions *coach.Subscriptions
	// Consent are the rules that decide who has which service of a player.
	Consent player.Access
	Rules
	// PerDay returns how many segments a coach with a stored tier may send in 24 h; 0 means no limit.
	PerDay       func(tier string) int
	CheckFeature team.CheckFeature
	// ExpandNow gives the first recipients of an accepted message their deliveries before Send returns,
	// so that the coach can read them at once. The worker gives them to the others.
	ExpandNow bool
	// Wake wakes the worker after a commit that accepted a message; nil does nothing.
	Wake  func()
	Now   func() time.Time
	NewID func() string
}

// day is the window of the tier's limit of messages.
const day = 24 * time.Hour

// Sending has the facts on which a coach's messages depend, read by one transaction.
type Sending struct {
	CoachName string
	// Tier is the stored name of the coach's tier.
	Tier string
	// Sent is how many segments the coach sent in the last 24 h, the first of them at Oldest.
	Sent   int
	Oldest time.Time
}

// Preview returns the plan of Send for a draft, and how many segments the coach may send now;
// -1 means no limit.
func (s *Service) Preview(ctx context.Context, by actor.Actor, d Draft) (plan *Plan, allowed int, err error) {
	if err := d.To.checkTarget(); err != nil {
		return nil, 0, err
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		sending, err := readSending(ctx, tx, by.AccountID)
		if err != nil {
			return err
		}
		if _, plan, err = s.plan(ctx, tx, by.AccountID, sending.CoachName, d); err != nil {
			return err
		}
		allowed = s.allowed(sending)
		return s.checkChannels(sending, d)
	})
	return plan, allowed, err
}

// Send accepts a message of the calling coach. Each recipient gets a delivery.
func (s *Service) Send(ctx context.Context, by actor.Actor, d Draft) (Message, error) {
	return s.SendOnce(ctx, by, s.NewID(), d)
}

// SendOnce is Send for a message with this id. It returns the coach's message with the id if
// there is one already, so that a form that is sent twice sends one message. If that one differs
// from d, it returns idempotency_key_reused.
func (s *Service) SendOnce(ctx context.Context, by actor.Actor, id string, d Draft) (m Message, err error) {
	if err := d.To.checkTarget(); err != nil {
		return m, err
	}
	if m, err = s.accept(ctx, by, id, d); err != nil {
		return m, err
	}
	if s.ExpandNow && m.ExpandedAt.IsZero() {
		// The message is accepted. After an error the worker expands it.
		if expanded, err := s.ExpandAccepted(ctx, by.AccountID, m.ID); err == nil {
			m.ExpandedAt = expanded
		}
	}
	return m, nil
}

// accept saves a message as one row and counts its segments for the limit of the tier, in one
// transaction. The coach's row is locked first, so that the coach's messages are counted one after the
// other.
func (s *Service) accept(ctx context.Context, by actor.Actor, id string, d Draft) (m Message, err error) {
	err = orSentBefore(s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: id, New: true}); err != nil {
			return err
		}
		if _, err := tx.LockCoach(ctx, by.AccountID); err != nil {
			return err
		}
		if m, err = readMessage(ctx, tx, by.AccountID, id); !fault.IsMissing(err) {
			return err // accepted before, unless the read failed
		}
		sending, err := readSending(ctx, tx, by.AccountID)
		if err != nil {
			return err
		}
		players, plan, err := s.plan(ctx, tx, by.AccountID, sending.CoachName, d)
		if err != nil {
			return err
		}
		t := plan.Totals()
		m = Message{
			ID: id, CoachID: by.AccountID, Draft: d, Recipients: t.Recipients, LeftOut: t.LeftOut, Segments: t.Segments,
			People: t.People, PeopleLeftOut: t.PeopleLeftOut, CreatedAt: tx.Now,
		}
		if err := s.checkChannels(sending, d); err != nil {
			return err
		}
		if err := s.checkLimit(sending, t.Segments); err != nil {
			return err
		}
		list, err := json.Marshal(players)
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `
			INSERT INTO team_messages (id, coach_id, batch_id, to_all, players, audience, channels, body, network,
				recipients, left_out, segments, people, people_left_out, next_player, next_position, created_at, trace_parent, guardian_id, broadcast)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, 1, $15, $16, $17, $18)`,
			m.ID, m.CoachID, database.Text(m.To.BatchID), m.To.All, string(list), string(m.Audience), joinChannels(m.Channels), m.Text, database.Text(by.Network),
			m.Recipients, m.LeftOut, m.Segments, m.People, m.PeopleLeftOut, database.Micros(tx.Now), database.Text(telemetry.Parent(ctx)), database.Text(m.GuardianID), m.To.broadcast())
		if err != nil {
			return fmt.Errorf("save message: %w", err)
		}
		if m.Segments > 0 {
			counts := []message.Count{{Counter: message.TeamCounter(m.CoachID), Size: int64(m.Segments)}}
			if err := outbox.AddCounts(ctx, tx.Tx, counts); err != nil {
				return err
			}
		}
		s.wakeAfter(tx)
		return nil
	}))
	if err == nil && !m.equals(d) {
		err = team.ErrSentBefore()
	}
	return m, err
}

// wakeAfter wakes the worker after the commit.
func (s *Service) wakeAfter(tx *store.Tx) {
	if s.Wake != nil {
		tx.AfterCommit(s.Wake)
	}
}

// joinChannels returns the stored form of channels, in the order of Channels.
func joinChannels(channels []Channel) string {
	ordered := slices.DeleteFunc(slices.Clone(Channels), func(c Channel) bool { return !slices.Contains(channels, c) })
	return strings.TrimSuffix(database.JoinWords(ordered), ",")
}

// checkChannels returns a tier_limit unless the coach's tier has the channels that leave the
// service. The plan checks messages in the app for each party.
func (s *Service) checkChannels(sending Sending, d Draft) error {
	for _, c := range d.Channels {
		if c == InApp {
			continue
		}
		if err := s.CheckFeature(sending.Tier, string(c)); err != nil {
			return err
		}
	}
	return nil
}

// allowed returns how many segments the coach may send now, or -1 without a limit.
func (s *Service) allowed(sending Sending) int {
	limit := s.PerDay(sending.Tier)
	if limit == 0 {
		return -1
	}
	return max(0, limit-sending.Sent)
}

// checkLimit returns message_limit if the tier does not allow so many segments now.
func (s *Service) checkLimit(sending Sending, segments int) error {
	allowed := s.allowed(sending)
	if allowed < 0 || segments <= allowed {
		return nil
	}
	limit := s.PerDay(sending.Tier)
	f := fault.New(fault.TooMany, "message_limit",
		"This message takes %d SMS. Your tier allows %d in 24 hours, and %d are left now. Write to fewer people, or write less.", segments, limit, allowed).
		With("limit", "messages_per_day").With("limit_value", limit).With("allowed_now", allowed).With("needed", segments)
	if sending.Sent == 0 || segments > limit {
		return f.After(day) // waiting does not help; the shortest Retry-After would make clients try each second
	}
	ends := sending.Oldest.Add(day)
	return f.With("ends_at", ends).After(max(ends.Sub(s.Now()), time.Second))
}
