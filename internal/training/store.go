package training

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

const recordColumns = `t.id, t.batch_id, t.version, t.date, t.starts, t.ends, t.kind, t.title, t.venue, t.opponent, t.cancelled_at, t.reason, t.asked_at, t.created_at, t.updated_at`

func scanRecord(row database.Scanner) (r record, err error) {
	var start, end *int64
	err = row.Scan(&r.id, &r.batchID, &r.version, &r.date, &start, &end, &r.kind, database.IntoText(&r.title), database.IntoText(&r.venue), database.IntoText(&r.opponent),
		database.IntoTime(&r.cancelledAt), database.IntoText(&r.reason), database.IntoTime(&r.askedAt), database.IntoTime(&r.createdAt), database.IntoTime(&r.updatedAt))
	r.start, r.end = timeOfDay(start), timeOfDay(end)
	return r, err
}

func timeOfDay(minutes *int64) *team.TimeOfDay {
	if minutes == nil {
		return nil
	}
	t := team.TimeOfDay(*minutes)
	return &t
}

func minutes(t *team.TimeOfDay) any {
	if t == nil {
		return nil
	}
	return int64(*t)
}

// readPlan reads the trainings of batches of a coach on the days from from to to.
func readPlan(ctx context.Context, q database.Querier, coachID string, batches []*team.Batch, from, to team.Date) ([]*Training, error) {
	if len(batches) == 0 {
		return nil, nil
	}
	ids := make([]string, len(batches))
	for i, b := range batches {
		ids[i] = b.ID
	}
	padded := database.PaddedIDs(ids)
	rs, err := q.Query(ctx, `
		SELECT `+recordColumns+` FROM trainings t
		WHERE t.coach_id = $1 AND t.date >= $2 AND t.date <= $3 AND t.batch_id IN (`+database.Params(4, len(padded))+`)`,
		append([]any{coachID, string(from), string(to)}, padded...)...)
	records, err := database.Collect(rs, err, scanRecord)
	if err != nil {
		return nil, fmt.Errorf("read trainings: %w", err)
	}
	return plan(batches, records, from, to), nil
}

// find reads a training of a batch of the coach, or returns not_found. The batch is read by readBatch. A
// schedule has no end, so that a day more than MaxDaysAhead after today is not found either.
func find(ctx context.Context, tx *store.Tx, coachID, id string, readBatch func(batchID string) (*team.Batch, error)) (*Training, error) {
	batchID, date, _, scheduled := parseSlotID(id)
	if !scheduled {
		if !endpoint.IsID(id) {
			return nil, fault.Missing()
		}
		err := tx.QueryRow(ctx, `SELECT t.batch_id, t.date FROM trainings t WHERE t.coach_id = $1 AND t.id = $2`, coachID, id).Scan(&batchID, &date)
		if err != nil {
			return nil, database.OrMissing(err, "read training "+id)
		}
	}
	if date > team.DateOf(tx.Now, time.UTC).AddDays(MaxDaysAhead+1) {
		return nil, fault.Missing()
	}
	b, err := readBatch(batchID)
	if err != nil {
		return nil, err
	}
	if !scheduled {
		// The lock of the batch may have waited for a change of the day.
		err := tx.QueryRow(ctx, `SELECT t.date FROM trainings t WHERE t.coach_id = $1 AND t.id = $2`, coachID, id).Scan(&date)
		if err != nil {
			return nil, database.OrMissing(err, "read training "+id)
		}
	}
	all, err := readPlan(ctx, tx, coachID, []*team.Batch{b}, date, date)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.ID == id {
			return t, nil
		}
	}
	return nil, fault.Missing()
}

// save saves the row of a training, whose batch is locked and whose version was before.
func save(ctx context.Context, tx *store.Tx, coachID string, r record, before int64) error {
	err := tx.DeferOne(ctx, `
		INSERT INTO trainings (id, coach_id, batch_id, version, date, starts, ends, kind, title, venue, opponent, cancelled_at, reason, created_at, updated_at, asked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $17)
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, date = excluded.date, starts = excluded.starts, ends = excluded.ends, kind = excluded.kind,
			title = excluded.title, venue = excluded.venue, opponent = excluded.opponent, cancelled_at = excluded.cancelled_at,
			reason = excluded.reason, updated_at = excluded.updated_at, asked_at = excluded.asked_at
		WHERE trainings.version = $16 AND trainings.coach_id = $2`,
		r.id, coachID, r.batchID, r.version, string(r.date), minutes(r.start), minutes(r.end), string(r.kind), database.Text(r.title), database.Text(r.venue), database.Text(r.opponent),
		database.Micros(r.cancelledAt), database.Text(r.reason), database.Micros(r.createdAt), database.Micros(r.updatedAt), before, database.Micros(r.askedAt))
	return fault.Wrap(err, "save training")
}

// countAnswers sets the counts of trainings of a coach. An answer of a player who has left the batch
// does not count.
func countAnswers(ctx context.Context, q database.Querier, coachID string, trainings []*Training) error {
	if len(trainings) == 0 {
		return nil
	}
	ids := make([]string, len(trainings))
	for i, t := range trainings {
		ids[i] = t.ID
		t.Counts = Counts{NoAnswer: t.Batch.PlayerCount}
	}
	padded := database.PaddedIDs(ids)
	type count struct {
		id string
		Counts
	}
	rs, err := q.Query(ctx, `
		SELECT a.training_id, count(*) FILTER (WHERE a.attending = TRUE), count(*) FILTER (WHERE a.attending = FALSE)
		FROM training_answers a JOIN batch_players m ON m.batch_id = a.batch_id AND m.player_id = a.player_id AND m.left_at IS NULL
		WHERE a.coach_id = $1 AND a.training_id IN (`+database.Params(2, len(padded))+`)
		GROUP BY a.training_id`, append([]any{coachID}, padded...)...)
	counts, err := database.Collect(rs, err, func(row database.Scanner) (c count, err error) { return c, row.Scan(&c.id, &c.Comes, &c.CannotCome) })
	if err != nil {
		return fmt.Errorf("count answers: %w", err)
	}
	for _, c := range counts {
		for _, t := range trainings {
			if t.ID == c.id {
				c.NoAnswer = max(0, t.Batch.PlayerCount-c.Comes-c.CannotCome)
				t.Counts = c.Counts
			}
		}
	}
	return nil
}

const answerColumns = `a.training_id, a.player_id, a.attending, a.reason, a.party, a.account_id, a.answered_at`

func scanAnswer(row database.Scanner) (a Answer, err error) {
	return a, row.Scan(&a.TrainingID, &a.PlayerID, &a.Attending, database.IntoText(&a.Reason), &a.Party, &a.AccountID, database.IntoTime(&a.AnsweredAt))
}

// answersTo reads the answers to a training of a coach by player.
func answersTo(ctx context.Context, q database.Querier, coachID, id string) (map[string]*Answer, error) {
	rs, err := q.Query(ctx, `SELECT `+answerColumns+` FROM training_answers a WHERE a.coach_id = $1 AND a.training_id = $2`, coachID, id)
	return byKey(rs, err, func(a Answer) string { return a.PlayerID })
}

// answersOf reads the answers about a player on the days from from to to by training.
func answersOf(ctx context.Context, q database.Querier, coachID, playerID string, from, to team.Date) (map[string]*Answer, error) {
	rs, err := q.Query(ctx, `
		SELECT `+answerColumns+` FROM training_answers a
		WHERE a.coach_id = $1 AND a.player_id = $2 AND a.date >= $3 AND a.date <= $4`, coachID, playerID, string(from), string(to))
	return byKey(rs, err, func(a Answer) string { return a.TrainingID })
}

func byKey(rs *database.Rows, err error, key func(Answer) string) (map[string]*Answer, error) {
	answers := map[string]*Answer{}
	_, err = database.Collect(rs, err, func(row database.Scanner) (a Answer, err error) {
		a, err = scanAnswer(row)
		answers[key(a)] = &a
		return a, err
	})
	return answers, fault.Wrap(err, "read answers")
}

// CoachLeft deletes the trainings and answers of a coach who closes the account.
func CoachLeft(ctx context.Context, tx *store.Tx, coachID string) error {
	return tx.DeferEach(ctx, []string{
		`DELETE FROM training_answers WHERE coach_id = $1`,
		`DELETE FROM trainings WHERE coach_id = $1`,
		`DELETE FROM calendars WHERE coach_id = $1`,
		`DELETE FROM training_links WHERE coach_id = $1`,
	}, coachID)
}

// PlayerRemoved deletes the answers about a player, and ends its calendars and links.
func PlayerRemoved(ctx context.Context, tx *store.Tx, coachID, playerID string) error {
	return tx.DeferEach(ctx, []string{
		`DELETE FROM calendars WHERE coach_id = $1 AND player_id = $2`,
		`DELETE FROM training_links WHERE coach_id = $1 AND player_id = $2`,
		`DELETE FROM training_answers WHERE coach_id = $1 AND player_id = $2`,
	}, coachID, playerID)
}
