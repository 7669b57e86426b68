package training

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

const (
	// nextDays is how many days after today the pages of a coach show.
	nextDays = 6
	// batchDays is how many days the page of a batch shows.
	batchDays = 14
	// nextShown limits the trainings of the next days.
	nextShown = 30
	// familyDays is how many days a family sees.
	familyDays = 14
)

// Days are the trainings of a coach, for the template trainings-today.
type Days struct{ Today, Next []*Training }

// Today returns the trainings of open batches of the calling coach on the current day of each batch, and on
// the days after it.
func (s *Service) Today(ctx context.Context, by actor.Actor, open []*team.Batch) (d Days, err error) {
	if len(open) == 0 {
		return Days{}, nil
	}
	now := s.Now()
	// The days of all time zones of the earth.
	from, to := team.DateOf(now.Add(-12*time.Hour), time.UTC), team.DateOf(now.Add(14*time.Hour), time.UTC).AddDays(nextDays)
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		d = Days{}
		all, err := readPlan(ctx, tx, by.AccountID, open, from, to)
		if err != nil {
			return err
		}
		for _, t := range all {
			switch today := team.DateOf(now, t.zone()); {
			case t.Date == today:
				d.Today = append(d.Today, t)
			case t.Date > today && t.Date <= today.AddDays(nextDays) && len(d.Next) < nextShown:
				d.Next = append(d.Next, t)
			}
		}
		return countAnswers(ctx, tx, by.AccountID, slices.Concat(d.Today, d.Next))
	})
	return d, err
}

// Sheet returns the sheet of the day of the training, or nil. today are the sheets of the current day.
func (t *Training) Sheet(today []team.Today) *team.SheetSummary {
	for _, d := range today {
		if d.Batch.ID == t.Batch.ID && d.Date == t.Date {
			return d.Sheet
		}
	}
	return nil
}

// Others returns the sheets of today of batches that have no training today.
func (d Days) Others(today []team.Today) []team.Today {
	return slices.DeleteFunc(slices.Clone(today), func(o team.Today) bool {
		return o.Sheet == nil || slices.ContainsFunc(d.Today, func(t *Training) bool { return t.Batch.ID == o.Batch.ID })
	})
}

// OfBatch lists the trainings of a batch of the calling coach from today, for the template
// batch-trainings.
func (s *Service) OfBatch(ctx context.Context, by actor.Actor, b *team.Batch) ([]*Training, error) {
	today := team.DateOf(s.Now(), team.Zone(b.TimeZone))
	return s.List(ctx, by, b.ID, Period{today, today.AddDays(batchDays - 1)})
}

// Upcoming returns the trainings of batches of a coach that take place and end after now, on the next
// days days, earliest first.
func Upcoming(ctx context.Context, q database.Querier, coachID string, batches []*team.Batch, now time.Time, days int) ([]team.Training, error) {
	from, to := team.DateOf(now.Add(-12*time.Hour), time.UTC), team.DateOf(now.Add(14*time.Hour), time.UTC).AddDays(days)
	trainings, err := readPlan(ctx, q, coachID, batches, from, to)
	if err != nil {
		return nil, err
	}
	return takePlace(trainings, now, days), nil
}

// takePlace returns the trainings that take place and end after now, on the next days days.
func takePlace(trainings []*Training, now time.Time, days int) (all []team.Training) {
	for _, t := range trainings {
		if today := team.DateOf(now, t.zone()); t.State() == Planned && !t.Over(now) && t.Date < today.AddDays(days) {
			b := *t.Batch
			b.Venue = t.Venue
			all = append(all, team.Training{Batch: &b, Date: t.Date, Slot: team.Slot{Weekday: t.Date.Weekday(), Start: t.Start, End: t.End}})
		}
	}
	return all
}

// OfFamily lists the trainings of a player that are not over, for the calling guardian or student and the
// template family-trainings. Error: see team.Access.
func (s *Service) OfFamily(ctx context.Context, by actor.Actor, playerID string) ([]OfPlayer, error) {
	all, err := s.upcoming(ctx, by, playerID, func(today team.Date) Period { return Period{today.AddDays(-1), today.AddDays(familyDays)} })
	return slices.DeleteFunc(all, func(t OfPlayer) bool { return t.Over(s.Now()) }), err
}

// Next returns the next training of each of these players that has one, with the cancelled ones before
// it, for the calling guardian or student and the template next-training. It leaves out players that the
// caller may not see.
func (s *Service) Next(ctx context.Context, by actor.Actor, playerIDs []string) (next map[string][]OfPlayer, err error) {
	next = map[string][]OfPlayer{}
	if len(playerIDs) == 0 {
		return next, nil
	}
	now := s.Now()
	from, to := team.DateOf(now.Add(-36*time.Hour), time.UTC), team.DateOf(now, time.UTC).AddDays(familyDays)
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		clear(next)
		playerIDs, err := s.Consent.Granted(ctx, tx, by, playerIDs, team.App)
		if err != nil || len(playerIDs) == 0 {
			return err
		}
		batches, err := batchesOf(ctx, tx, by, playerIDs)
		if err != nil {
			return err
		}
		answers, err := answersOfAll(ctx, tx, playerIDs, from, to)
		if err != nil {
			return err
		}
		for _, coachID := range slices.Sorted(maps.Keys(batches)) {
			trainings, err := readPlan(ctx, tx, coachID, batches[coachID].open, from, to)
			if err != nil {
				return err
			}
			for _, playerID := range batches[coachID].players {
				next[playerID] = nextOf(trainings, batches[coachID].of[playerID], answers[playerID], by, now)
			}
		}
		return nil
	})
	return next, err
}

// nextOf returns the next planned training of a player, and the cancelled ones before it.
func nextOf(trainings []*Training, batchIDs []string, answers map[string]*Answer, by actor.Actor, now time.Time) (next []OfPlayer) {
	for _, t := range trainings {
		if t.Over(now) || !slices.Contains(batchIDs, t.Batch.ID) {
			continue
		}
		next = append(next, OfPlayer{t, answers[t.ID].seenBy(by)})
		if t.State() == Planned {
			break
		}
	}
	return next
}

// familyBatches are the open batches of players of one coach.
type familyBatches struct {
	open    []*team.Batch
	players []string
	of      map[string][]string // ids of batches by player
}

// batchesOf reads the open batches of players of the calling guardian or student by coach.
func batchesOf(ctx context.Context, tx *store.Tx, by actor.Actor, playerIDs []string) (map[string]*familyBatches, error) {
	padded := database.PaddedIDs(playerIDs)
	byCoach := map[string]*familyBatches{}
	seen := map[string]bool{}
	rs, err := tx.Query(ctx, `
		SELECT m.player_id, b.id, b.coach_id, b.name, b.venue, b.schedule, b.time_zone, b.created_at
		FROM players p
		JOIN batch_players m ON m.player_id = p.id AND m.left_at IS NULL
		JOIN batches b ON b.id = m.batch_id AND b.archived_at IS NULL
		WHERE EXISTS (SELECT 1 FROM parties a WHERE a.player_id = p.id AND a.account_id = $1) AND p.deleted_at IS NULL AND p.id IN (`+database.Params(2, len(padded))+`)`,
		append([]any{by.AccountID}, padded...)...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (playerID string, err error) {
		b := &team.Batch{}
		var schedule string
		err = row.Scan(&playerID, &b.ID, &b.CoachID, &b.Name, database.IntoText(&b.Venue), &schedule, &b.TimeZone, database.IntoTime(&b.CreatedAt))
		if err == nil {
			err = json.Unmarshal([]byte(schedule), &b.Schedule)
		}
		f := byCoach[b.CoachID]
		if f == nil {
			f = &familyBatches{of: map[string][]string{}}
			byCoach[b.CoachID] = f
		}
		if !seen[b.ID] {
			f.open, seen[b.ID] = append(f.open, b), true
		}
		if f.of[playerID] == nil {
			f.players = append(f.players, playerID)
		}
		f.of[playerID] = append(f.of[playerID], b.ID)
		return playerID, err
	})
	return byCoach, fault.Wrap(err, "read batches of players")
}

// answersOfAll reads the answers about players that the caller may see, by player and training.
func answersOfAll(ctx context.Context, tx *store.Tx, playerIDs []string, from, to team.Date) (map[string]map[string]*Answer, error) {
	padded := database.PaddedIDs(playerIDs)
	all := map[string]map[string]*Answer{}
	rs, err := tx.Query(ctx, `
		SELECT `+answerColumns+` FROM training_answers a
		WHERE a.date >= $1 AND a.date <= $2 AND a.player_id IN (`+database.Params(3, len(padded))+`)`, append([]any{string(from), string(to)}, padded...)...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (a Answer, err error) {
		a, err = scanAnswer(row)
		if all[a.PlayerID] == nil {
			all[a.PlayerID] = map[string]*Answer{}
		}
		all[a.PlayerID][a.TrainingID] = &a
		return a, err
	})
	return all, fault.Wrap(err, "read answers of players")
}

// CannotCome returns the players of a batch of the coach who cannot come on a day and come to no training
// of it, for its sheet of attendance.
func CannotCome(ctx context.Context, tx *store.Tx, coachID, batchID string, date team.Date) (map[string]bool, error) {
	rs, err := tx.Query(ctx, `
		SELECT a.player_id FROM training_answers a
		WHERE a.coach_id = $1 AND a.batch_id = $2 AND a.date = $3 GROUP BY a.player_id HAVING count(*) FILTER (WHERE a.attending = TRUE) = 0`,
		coachID, batchID, string(date))
	players := map[string]bool{}
	_, err = database.Collect(rs, err, func(row database.Scanner) (id string, err error) {
		err = row.Scan(&id)
		players[id] = true
		return id, err
	})
	return players, fault.Wrap(err, "read players who cannot come")
}
