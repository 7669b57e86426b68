package training

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// feature is the feature of a tier without which a coach changes no trainings. Reading and answering
// need none.
const feature = "roster"

// Service reads and changes trainings and answers. A training, batch or player of another coach is
// not_found.
type Service struct {
	DB *store.DB
	// Consent are the rules that decide who has which service of a player.
	Consent      player.Access
	CheckFeature team.CheckFeature
	// Secrets derives the secrets of addresses, which begin with PublicURL.
	Secrets   vault.Sealer
	PublicURL string
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

// Period is a range of days, at most MaxDays.
type Period struct{ From, To team.Date }

// List lists the trainings of a batch of the calling coach with the counts of the answers, earliest
// first.
func (s *Service) List(ctx context.Context, by actor.Actor, batchID string, p Period) (all []*Training, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		b, err := tx.Batch(ctx, by.AccountID, batchID)
		if err != nil {
			return err
		}
		if all, err = readPlan(ctx, tx, by.AccountID, []*team.Batch{b}, p.From, p.To); err != nil {
			return err
		}
		return countAnswers(ctx, tx, by.AccountID, all)
	})
	return all, err
}

// Telling returns who was told of the last change of a training of the calling coach, or nil.
func (s *Service) Telling(ctx context.Context, by actor.Actor, id string) (*notice.Telling, error) {
	return notice.ReadTelling(ctx, s.DB, by.AccountID, id, "")
}

// Training returns a training of the calling coach and the players of its batch by name, with their
// answers.
func (s *Service) Training(ctx context.Context, by actor.Actor, id string) (t *Training, players []PlayerAnswer, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		t, err = find(ctx, tx, by.AccountID, id, func(batchID string) (*team.Batch, error) { return tx.Batch(ctx, by.AccountID, batchID) })
		if err != nil {
			return err
		}
		players, err = answered(ctx, tx, by.AccountID, t)
		return err
	})
	return t, players, err
}

// answered reads the players of the batch of t with their answers, and counts them.
func answered(ctx context.Context, tx *store.Tx, coachID string, t *Training) (players []PlayerAnswer, err error) {
	members, err := tx.BatchPlayers(ctx, coachID, t.Batch.ID)
	if err != nil {
		return nil, err
	}
	answers, err := answersTo(ctx, tx, coachID, t.ID)
	if err != nil {
		return nil, err
	}
	t.Counts = Counts{}
	for _, m := range members {
		a := answers[m.PlayerID]
		switch {
		case a == nil:
			t.Counts.NoAnswer++
		case a.Attending:
			t.Counts.Comes++
		default:
			t.Counts.CannotCome++
		}
		players = append(players, PlayerAnswer{PlayerID: m.PlayerID, StudentName: m.StudentName, Answer: a})
	}
	return players, nil
}

// Add adds a single training to a batch of the calling coach, and tells the families. One that has an id
// keeps it, so that a form that is sent twice adds one; Add returns idempotency_key_reused if the form
// had other content the first time.
func (s *Service) Add(ctx context.Context, by actor.Actor, batchID string, n New) (t *Training, err error) {
	if n.ID == "" {
		n.ID = s.NewID()
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: n.ID, New: true}); err != nil {
			return err
		}
		parties, playerIDs, err := s.lockParties(ctx, tx, by.AccountID, batchID)
		if err != nil {
			return err
		}
		b, err := tx.LockBatch(ctx, by.AccountID, batchID)
		if err != nil {
			return err
		}
		c, err := tx.TeamCoach(ctx, by.AccountID)
		if err != nil {
			return err
		}
		t, err = find(ctx, tx, by.AccountID, n.ID, func(string) (*team.Batch, error) { return b, nil })
		if fault.KindOf(err) != fault.NotFound {
			return err
		}
		if err := b.CheckOpen(); err != nil {
			return err
		}
		if err := s.CheckFeature(c.Tier, feature); err != nil {
			return err
		}
		if err := s.checkTitle(&n.Title); err != nil {
			return err
		}
		now := s.Now()
		if err := n.check(b, now); err != nil {
			return err
		}
		var sameDay int
		err = tx.QueryRow(ctx, `SELECT count(*) FROM trainings t WHERE t.batch_id = $1 AND t.date = $2`, b.ID, string(n.Date)).Scan(&sameDay)
		if err != nil {
			return fmt.Errorf("count trainings: %w", err)
		}
		if sameDay >= MaxPerDay {
			return fault.Validation([]fault.Field{{Pointer: "/date", Code: "too_many", Detail: fmt.Sprintf("A batch has at most %d trainings on a day.", MaxPerDay)}})
		}
		t = &Training{ID: n.ID, Batch: b}
		t.apply(n.record(b.ID, now))
		t.Counts = Counts{NoAnswer: b.PlayerCount}
		if err := save(ctx, tx, by.AccountID, t.stored, 0); err != nil {
			return err
		}
		_, err = s.tell(ctx, tx, parties, playerIDs, t, added)
		return err
	})
	if database.IsUnique(err) {
		return nil, team.ErrSentBefore()
	}
	if err != nil {
		return nil, err
	}
	if !n.equals(t) {
		return t, team.ErrSentBefore()
	}
	return t, nil
}

// Edit applies a patch to a training of the calling coach, and tells the families what changed. A patch
// that changes nothing writes nothing.
func (s *Service) Edit(ctx context.Context, by actor.Actor, id string, p Patch) (t *Training, players []PlayerAnswer, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
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
		c, err := tx.TeamCoach(ctx, by.AccountID)
		if err != nil {
			return err
		}
		if players, err = answered(ctx, tx, by.AccountID, t); err != nil {
			return err
		}
		if err := s.CheckFeature(c.Tier, feature); err != nil {
			return err
		}
		if err := s.checkTitle(p.Title); err != nil {
			return err
		}
		now := s.Now()
		what, err := t.edit(p, now)
		if err != nil || what == unchanged {
			return err
		}
		before := t.stored.version - 1
		if err := save(ctx, tx, by.AccountID, t.stored, before); err != nil {
			return err
		}
		err = tx.Defer(ctx, `UPDATE training_answers SET date = $3 WHERE coach_id = $1 AND training_id = $2 AND date <> $3`, by.AccountID, id, string(t.Date))
		if err != nil {
			return err
		}
		_, err = s.tell(ctx, tx, parties, playerIDs, t, what)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return t, players, nil
}

// batchOf returns the batch that a training id of the coach names, or not_found.
func batchOf(ctx context.Context, tx *store.Tx, coachID, id string) (batchID string, err error) {
	if batchID, _, _, scheduled := parseSlotID(id); scheduled {
		return batchID, nil
	}
	err = tx.QueryRow(ctx, `SELECT t.batch_id FROM trainings t WHERE t.coach_id = $1 AND t.id = $2`, coachID, id).Scan(&batchID)
	return batchID, database.OrMissing(err, "read training "+id)
}

// upcoming lists the trainings of a player for the calling guardian or student with its answers,
// earliest first. period returns the days from the current day of the coach. Error: see team.Access.
func (s *Service) upcoming(ctx context.Context, by actor.Actor, playerID string, period func(today team.Date) Period) (all []OfPlayer, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		all, err = s.listOfPlayer(ctx, tx, by, playerID, period)
		return err
	})
	return all, err
}

func (s *Service) listOfPlayer(ctx context.Context, tx *store.Tx, by actor.Actor, playerID string, period func(today team.Date) Period) ([]OfPlayer, error) {
	link, err := s.Consent.Link(ctx, tx, by, playerID, team.App)
	if err != nil {
		return nil, err
	}
	batches, err := tx.BatchesOfPlayer(ctx, playerID)
	if err != nil {
		return nil, err
	}
	p := period(team.DateOf(s.Now(), team.Zone(link.CoachZone)))
	trainings, err := readPlan(ctx, tx, link.CoachID, batches, p.From, p.To)
	if err != nil {
		return nil, err
	}
	answers, err := answersOf(ctx, tx, link.CoachID, playerID, p.From, p.To)
	if err != nil {
		return nil, err
	}
	all := make([]OfPlayer, len(trainings))
	for i, t := range trainings {
		all[i] = OfPlayer{t, answers[t.ID].seenBy(by)}
	}
	return all, nil
}

// Answer saves whether a player of the calling guardian or student comes, until the training begins.
// The same answer again changes nothing. Of concurrent answers the last one counts.
//
// Lock order: the player, then the batch. A revocation waits, or is seen; so is a change of the
// training, which locks the batch.
func (s *Service) Answer(ctx context.Context, by actor.Actor, playerID, id string, attending bool, reason string) (t OfPlayer, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		t, err = s.answer(ctx, tx, by, playerID, id, attending, reason)
		return err
	})
	return t, err
}

func (s *Service) answer(ctx context.Context, tx *store.Tx, by actor.Actor, playerID, id string, attending bool, reason string) (OfPlayer, error) {
	err := tx.QueryRow(ctx, `SELECT 1 FROM players p WHERE p.id = $1 AND p.deleted_at IS NULL `+tx.ForShare("p"), playerID).Scan(new(int))
	if err != nil {
		return OfPlayer{}, database.OrMissing(err, "lock player "+playerID)
	}
	t, link, err := s.findOfPlayer(ctx, tx, by, playerID, id, tx.ForShare("b"))
	if err != nil {
		return OfPlayer{}, err
	}
	now := s.Now()
	answers, err := answersOf(ctx, tx, link.CoachID, playerID, t.Date, t.Date)
	if err != nil {
		return OfPlayer{}, err
	}
	if old := answers[id]; old != nil && old.Attending == attending && old.Reason == reason && old.AccountID == by.AccountID {
		return OfPlayer{t, old}, nil
	}
	if err := t.CheckAnswer(now); err != nil {
		return OfPlayer{}, err
	}
	a := &Answer{TrainingID: id, PlayerID: playerID, Attending: attending, Reason: reason, Party: by.Role, AccountID: by.AccountID, AnsweredAt: now}
	err = tx.DeferOne(ctx, `
		INSERT INTO training_answers (training_id, player_id, coach_id, batch_id, date, attending, reason, party, account_id, answered_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (training_id, player_id) DO UPDATE SET attending = excluded.attending, reason = excluded.reason, party = excluded.party,
			account_id = excluded.account_id, answered_at = excluded.answered_at`,
		id, playerID, link.CoachID, t.Batch.ID, string(t.Date), attending, database.Text(reason), string(by.Role), by.AccountID, database.Micros(now))
	if err != nil {
		return OfPlayer{}, fmt.Errorf("save answer: %w", err)
	}
	return OfPlayer{t, a}, nil
}

// OfPlayer returns a training of a player for the calling guardian or student.
func (s *Service) OfPlayer(ctx context.Context, by actor.Actor, playerID, id string) (seen OfPlayer, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		t, link, err := s.findOfPlayer(ctx, tx, by, playerID, id, "")
		if err != nil {
			return err
		}
		answers, err := answersOf(ctx, tx, link.CoachID, playerID, t.Date, t.Date)
		seen = OfPlayer{t, answers[id].seenBy(by)}
		return err
	})
	return seen, err
}

// findOfPlayer reads a training of a batch that the player is in, for the calling guardian or student.
// A missing training is not_found, also for a party that has not approved. lock is "" or the lock of
// the batch b.
func (s *Service) findOfPlayer(ctx context.Context, tx *store.Tx, by actor.Actor, playerID, id, lock string) (*Training, *team.Link, error) {
	link, refused := s.Consent.Link(ctx, tx, by, playerID, team.App)
	if link == nil {
		return nil, nil, refused
	}
	t, err := find(ctx, tx, link.CoachID, id, func(batchID string) (*team.Batch, error) {
		err := tx.QueryRow(ctx, `
			SELECT 1 FROM batches b JOIN batch_players m ON m.batch_id = b.id AND m.left_at IS NULL
			WHERE b.id = $1 AND b.coach_id = $2 AND b.archived_at IS NULL AND m.player_id = $3 `+lock, batchID, link.CoachID, playerID).Scan(new(int))
		if err != nil {
			return nil, database.OrMissing(err, "read batch "+batchID)
		}
		return tx.Batch(ctx, link.CoachID, batchID)
	})
	return t, link, cmp.Or(err, refused)
}
