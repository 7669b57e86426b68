package training

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// addLinks gives parties a link with which each answers about a training without a sign-in. A link stays
// the same during one approval. The messages that carry it derive its secret: see LinkURL.
func (s *Service) addLinks(ctx context.Context, tx *store.Tx, parties []party, trainingID, coachID string) error {
	values := make([]any, 0, 9*len(parties))
	for _, p := range parties {
		id := s.NewID()
		values = append(values, trainingID, p.playerID, p.accountID, id, hashOf(s.secretOf("answer", id)), string(p.role), coachID, database.SinceMicros(p.approvedAt), database.Micros(tx.Now))
	}
	if len(values) == 0 {
		return nil
	}
	err := tx.Defer(ctx, `
		INSERT INTO training_links (training_id, player_id, account_id, id, hash, role, coach_id, approved_at, created_at)
		VALUES `+database.RowsOf(len(parties), 9)+`
		ON CONFLICT (training_id, player_id, account_id) DO UPDATE SET id = excluded.id, hash = excluded.hash, role = excluded.role,
			approved_at = excluded.approved_at, created_at = excluded.created_at
		WHERE training_links.approved_at <> excluded.approved_at`, values...)
	return fault.Wrap(err, "add links of training %s", trainingID)
}

// LinkURL returns the address of the link that an answerable copy of a notification carries, or "".
func (s *Service) LinkURL(ctx context.Context, c message.Copy) (string, error) {
	var id string
	err := s.DB.QueryRow(ctx, `SELECT l.id FROM training_links l WHERE l.training_id = $1 AND l.player_id = $2 AND l.account_id = $3`,
		c.Data.TrainingID, c.Data.PlayerID, c.AccountID).Scan(&id)
	if database.IsNoRows(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read link of training %s: %w", c.Data.TrainingID, err)
	}
	return s.PublicURL + "/t/" + s.secretOf("answer", id), nil
}

// Linked is what the holder of a link sees.
type Linked struct {
	OfPlayer
	By                   actor.Actor
	PlayerID             string
	CoachName, FirstName string
}

// ByLink returns the training of a link. It is not_found once the training has begun, or the approval
// during which the link was made has ended.
func (s *Service) ByLink(ctx context.Context, secret string) (l Linked, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		l, err = s.linked(ctx, tx, secret)
		return err
	})
	return l, err
}

func (s *Service) linked(ctx context.Context, tx *store.Tx, secret string) (l Linked, err error) {
	var id string
	var approvedAt int64
	err = tx.QueryRow(ctx, `
		SELECT l.training_id, l.player_id, l.account_id, l.role, l.approved_at, (SELECT c.name FROM coaches c WHERE c.id = l.coach_id),
			(SELECT p.student_name FROM players p WHERE p.id = l.player_id)
		FROM training_links l WHERE l.hash = $1`, hashOf(secret)).
		Scan(&id, &l.PlayerID, &l.By.AccountID, &l.By.Role, &approvedAt, database.IntoText(&l.CoachName), database.IntoText(&l.FirstName))
	if err != nil {
		return Linked{}, database.OrMissing(err, "read link")
	}
	t, link, err := s.findOfPlayer(ctx, tx, l.By, l.PlayerID, id, "")
	switch {
	case fault.KindOf(err) == fault.Forbidden && err != nil:
		return Linked{}, fault.Missing()
	case err != nil:
		return Linked{}, err
	case database.SinceMicros(link.ApprovedAt) != approvedAt, fault.CodeOf(t.CheckAnswer(s.Now())) == "training_begun":
		return Linked{}, fault.Missing()
	}
	answers, err := answersOf(ctx, tx, link.CoachID, l.PlayerID, t.Date, t.Date)
	l.OfPlayer = OfPlayer{t, answers[id].seenBy(l.By)}
	l.CoachName = message.Name(l.CoachName, "")
	l.FirstName, _, _ = strings.Cut(message.Name(l.FirstName, ""), " ")
	return l, err
}

// AnswerByLink saves the answer of the holder of a link, like Answer.
func (s *Service) AnswerByLink(ctx context.Context, secret string, attending bool, reason string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		l, err := s.linked(ctx, tx, secret)
		if err != nil {
			return err
		}
		_, err = s.answer(ctx, tx, l.By, l.PlayerID, l.ID, attending, reason)
		return err
	})
}

// askEvery is how long a coach waits before asking about a training again.
const askEvery = 12 * time.Hour

// Ask asks the parties of the players without an answer whether they come, and returns how many people it
// asked. It returns reminder_limit if the coach asked less than askEvery ago.
func (s *Service) Ask(ctx context.Context, by actor.Actor, id string) (t *Training, asked int, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		t, asked = nil, 0
		batchID, err := batchOf(ctx, tx, by.AccountID, id)
		if err != nil {
			return err
		}
		parties, playerIDs, err := s.lockParties(ctx, tx, by.AccountID, batchID)
		if err != nil {
			return err
		}
		t, err = find(ctx, tx, by.AccountID, id, func(batchID string) (*team.Batch, error) { return tx.LockBatch(ctx, by.AccountID, batchID) })
		if err != nil {
			return err
		}
		now := s.Now()
		if err := t.Batch.CheckOpen(); err != nil {
			return err
		}
		if err := t.CheckAnswer(now); err != nil {
			return err
		}
		if ends := t.stored.askedAt.Add(askEvery); now.Before(ends) {
			return fault.New(fault.TooMany, "reminder_limit", "You have asked these families already. Wait, or call them.").
				After(ends.Sub(now)).With("limit", "training_asks").With("ends_at", ends)
		}
		answers, err := answersTo(ctx, tx, by.AccountID, id)
		if err != nil {
			return err
		}
		playerIDs = slices.DeleteFunc(playerIDs, func(id string) bool { return answers[id] != nil })
		open := parties[:0:0]
		for _, p := range parties {
			if answers[p.playerID] == nil {
				open = append(open, p)
			}
		}
		told, err := s.tell(ctx, tx, open, playerIDs, t, askedToAnswer)
		if asked = told.People; err != nil || asked == 0 {
			return err
		}
		if err := tx.Complete(ctx, idempotency.Work{ID: id, Number: asked}); err != nil {
			return err
		}
		r := t.row(now)
		before := r.version
		r.version++
		r.askedAt = now
		return save(ctx, tx, by.AccountID, r, before)
	})
	return t, asked, err
}

// Expired are links and answers that no page needs any more. An answer may have a reason about a child.
var Expired = []store.Expired{
	{
		What:  "links of trainings",
		Query: `DELETE FROM training_links WHERE id IN (SELECT id FROM training_links WHERE created_at < $1 ORDER BY created_at LIMIT $2)`,
		Kept:  (MaxDaysAhead + 30) * 24 * time.Hour,
	},
	{
		What: "answers about trainings",
		Query: `DELETE FROM training_answers WHERE (training_id, player_id) IN (
			SELECT training_id, player_id FROM training_answers WHERE answered_at < $1 ORDER BY answered_at LIMIT $2)`,
		Kept: (MaxDaysAhead + 180) * 24 * time.Hour,
	},
}
