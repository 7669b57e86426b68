package conversation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// expansionBatch is how many recipients at most get their rows in one transaction.
const expansionBatch = 100

// expansion is a message of which some recipients have no rows yet.
type expansion struct {
	id, coachID  string
	coachName    string
	suspended    bool
	network      string
	traceParent  string // of the request of the coach
	players      []string
	draft        Draft
	broadcast    bool
	nextPlayer   int
	nextPosition int
	createdAt    time.Time
	// failures counts the failed attempts since the last recipients got their rows.
	failures int
}

// ExpandNext gives the next recipients of the oldest accepted message their rows and
// deliveries. It returns false if there is no such message. Each message is locked by one
// replica at a time, and its position is saved with the rows, so each recipient gets one. A
// message that fails is tried again later, and meanwhile messages of other coaches are expanded.
func (s *Service) ExpandNext(ctx context.Context) (more bool, err error) {
	var e expansion
	failed := true
	defer func() {
		if failed && e.id != "" { // after a panic too
			err = errors.Join(err, s.postponeExpansion(ctx, e))
		}
	}()
	err = s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if e, more, err = nextExpansion(ctx, tx); err != nil || !more {
			return err
		}
		_, err = s.expand(ctx, tx, e)
		return err
	})
	switch {
	case err != nil && e.id == "":
		return false, fmt.Errorf("find a message to expand: %w", err)
	case err != nil:
		return false, fmt.Errorf("expand message %s, attempt %d: %w", e.id, e.failures+1, err)
	}
	failed = false
	return more, nil
}

// ExpansionAttempts are those at one message. They take about a day: the wait doubles from 1 s to
// maxExpansionWait. Later its text could mislead.
const (
	ExpansionAttempts = 35
	maxExpansionWait  = time.Hour
)

// postponeExpansion makes a message wait after a failed attempt, or ends the attempts. Then the later
// messages of its coach follow.
func (s *Service) postponeExpansion(ctx context.Context, e expansion) error {
	failures := e.failures + 1
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		var next any
		if failures < ExpansionAttempts {
			next = database.Micros(tx.Now.Add(min(maxExpansionWait, time.Second<<e.failures)))
		}
		_, err := tx.Exec(ctx, `
			UPDATE team_messages SET expand_failures = $2, expand_at = $3
			WHERE id = $1 AND expanded_at IS NULL AND expand_failures = $4`, e.id, failures, next, e.failures)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("postpone message %s: %w", e.id, err)
	case failures == ExpansionAttempts:
		return fmt.Errorf("message %s is given up", e.id)
	}
	return nil
}

// nextExpansion locks the oldest message that has recipients without rows. Messages of one
// coach are expanded one after the other, so that the messages of a week are counted.
func nextExpansion(ctx context.Context, tx *store.Tx) (e expansion, found bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT m.id, m.expand_failures, m.coach_id, m.players, m.audience, m.channels, m.body, m.network, m.next_player, m.next_position, m.created_at, m.trace_parent, m.guardian_id, m.broadcast
		FROM team_messages m
		WHERE m.expanded_at IS NULL AND m.expand_at <= $1 AND NOT EXISTS (
			SELECT 1 FROM team_messages o WHERE o.coach_id = m.coach_id AND o.expanded_at IS NULL AND o.expand_at IS NOT NULL AND o.id < m.id)
		ORDER BY m.id LIMIT 1 `+tx.SkipLocked(), database.Micros(tx.Now)).
		Scan(&e.id, &e.failures, &e.coachID, database.IntoJSON(&e.players), &e.draft.Audience, database.IntoWords(&e.draft.Channels), &e.draft.Text, database.IntoText(&e.network), &e.nextPlayer, &e.nextPosition, database.IntoTime(&e.createdAt), database.IntoText(&e.traceParent), database.IntoText(&e.draft.GuardianID), &e.broadcast)
	if database.IsNoRows(err) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	e.coachName, e.suspended, err = tx.ActiveCoach(ctx, e.coachID)
	return e, true, err
}

// ExpandAccepted gives the first recipients of an accepted message their rows and deliveries
// before the worker does. It waits for a worker that is at the message. It does nothing while
// an older message of the coach waits, and if the message was given up. expanded is zero if
// recipients without rows remain: the worker continues. It is tried once, because the coach
// waits for the response: behind a lock all attempts would take 8 s.
func (s *Service) ExpandAccepted(ctx context.Context, coachID, id string) (expanded time.Time, err error) {
	tried := false
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		expanded = time.Time{}
		if tried {
			return errTriedOnce
		}
		tried = true
		e := expansion{id: id, coachID: coachID}
		err := tx.QueryRow(ctx, `
			UPDATE team_messages SET next_position = next_position
			WHERE id = $1 AND coach_id = $2 AND expanded_at IS NULL AND expand_at IS NOT NULL AND NOT EXISTS (
				SELECT 1 FROM team_messages o WHERE o.coach_id = $2 AND o.expanded_at IS NULL AND o.expand_at IS NOT NULL AND o.id < $1)
			RETURNING players, audience, channels, body, network, next_player, next_position, created_at, trace_parent, guardian_id, broadcast`, id, coachID).
			Scan(database.IntoJSON(&e.players), &e.draft.Audience, database.IntoWords(&e.draft.Channels), &e.draft.Text, database.IntoText(&e.network), &e.nextPlayer, &e.nextPosition, database.IntoTime(&e.createdAt), database.IntoText(&e.traceParent), database.IntoText(&e.draft.GuardianID), &e.broadcast)
		if database.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.coachName, e.suspended, err = tx.ActiveCoach(ctx, coachID); err != nil {
			return err
		}
		done, err := s.expand(ctx, tx, e)
		if done {
			expanded = tx.Now
		} else {
			s.wakeAfter(tx) // the worker skipped the row while it was locked
		}
		return err
	})
	return expanded, fault.Wrap(err, "expand message %s", id)
}

var errTriedOnce = errors.New("the first attempt failed, and the worker makes the next one")

// expand saves the next recipients of a message, at most expansionBatch of them. done is
// true if these are the last.
func (s *Service) expand(ctx context.Context, tx *store.Tx, e expansion) (done bool, err error) {
	end := min(len(e.players), e.nextPlayer+expansionBatch/s.recipientsPerPlayer(e.draft.Audience))
	ids := e.players[e.nextPlayer:end]
	facts, err := s.readFacts(ctx, tx, e.coachID, ids, e.id, true)
	if err != nil {
		return false, err
	}
	byID := map[string]playerFacts{}
	for _, p := range facts {
		byID[p.PlayerID] = p
	}
	plan := s.newPlan(e.coachName, e.draft)
	for _, id := range ids {
		p, exists := byID[id]
		if !exists {
			p = playerFacts{PlayerID: id, Removed: true}
		}
		p.Suspended = e.suspended
		plan.add(p)
	}
	if err := s.addRecipients(ctx, tx, e, plan.Recipients); err != nil {
		return false, err
	}
	done = end == len(e.players)
	var expanded any
	if done {
		expanded = database.Micros(tx.Now)
	}
	err = tx.DeferOne(ctx, `
		UPDATE team_messages SET next_player = $3, next_position = $4, expanded_at = $5, expand_failures = 0
		WHERE id = $1 AND next_player = $2`, e.id, e.nextPlayer, end, e.nextPosition+len(plan.Recipients), expanded)
	if err != nil {
		return false, err
	}
	return done, s.notifyRecipients(ctx, tx, e, plan.Recipients)
}

// addRecipients saves recipients with a delivery for each of their channels.
func (s *Service) addRecipients(ctx context.Context, tx *store.Tx, e expansion, recipients []Recipient) error {
	const recipientColumns, deliveryColumns = 7, 19
	var rows, deliveries []any
	lanes := map[message.Lane]bool{}
	for i, r := range recipients {
		position := e.nextPosition + i
		rows = append(rows, e.id, position, r.PlayerID, string(r.Party), database.Text(r.AccountID), r.Copy, r.GuardianID)
		for _, send := range r.Sends {
			channel := send.Channel
			state, to := send.firstState(), ""
			if state == Queued {
				to = string(send.Number)
				lanes[message.Lane{Channel: channel, Kind: message.Team}] = true
			}
			deliveries = append(deliveries, s.NewID(), string(message.Team), string(channel), string(state), database.Text(string(send.Reason)),
				database.Text(r.AccountID), to, string(r.Party), e.coachID, database.Text(e.network), e.id, position,
				database.Micros(tx.Now), database.Micros(tx.Now.Add(message.MessageLifetime)), database.Micros(tx.Now), database.Micros(tx.Now), 0, send.Stays, database.Text(e.traceParent))
		}
	}
	err := tx.InsertRows(ctx, `
		INSERT INTO team_recipients (message_id, position, player_id, party, account_id, is_copy, guardian_id)`, "", recipientColumns, rows)
	if err != nil {
		return fmt.Errorf("save recipients: %w", err)
	}
	err = tx.InsertRows(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, reason, account_id, recipient, role, coach_id, network, team_message_id, team_position,
			due_at, gives_up_at, created_at, updated_at, attempts, stays, trace_parent)`, "", deliveryColumns, deliveries)
	if err != nil {
		return fmt.Errorf("queue deliveries: %w", err)
	}
	line := e.id
	if e.broadcast {
		line = ""
	}
	if err := noteConversations(ctx, tx, e.coachID, recipients, line); err != nil {
		return err
	}
	for lane := range lanes {
		s.DB.Outbox.Wake(tx.Tx, lane)
	}
	return nil
}

// notifyRecipients notifies those recipients whom the message reaches in the app, if they have
// notifications there.
func (s *Service) notifyRecipients(ctx context.Context, tx *store.Tx, e expansion, recipients []Recipient) error {
	reached := reachedInApp(recipients)
	if len(reached) == 0 {
		return nil
	}
	ids := make([]string, len(reached))
	for i, r := range reached {
		ids[i] = r.PlayerID
	}
	enabled, err := s.Consent.Enabled(ctx, tx, ids)
	if err != nil {
		return err
	}
	events := Message{ID: e.id, CoachID: e.coachID}.events(e.coachName, reached, enabled)
	return notice.Notify(ctx, tx, events)
}
