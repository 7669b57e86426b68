package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// UnansweredPlayers is the query of up to $3 players whose coach was warned before $1, and who have been pending since
// before $2.
const UnansweredPlayers = `
	SELECT id FROM players
	WHERE deleted_at IS NULL AND erased_at IS NULL AND unanswered_warned_at < $1 AND unanswered_warned_at >= unanswered_since AND unanswered_since < $2
	ORDER BY unanswered_warned_at, id LIMIT $3`

// EndUnanswered removes the players whose parties have both been pending for longer than kept, and before that warns
// their coaches, once; 0 does nothing. Package privacy erases them. Each change checks the player again, so that one
// replica makes it.
func (s *Service) EndUnanswered(ctx context.Context, kept time.Duration) (total int64, err error) {
	if kept == 0 {
		return 0, nil
	}
	for last := ""; ; {
		n, end, warned, err := s.warnUnanswered(ctx, kept, last)
		if total += warned; err != nil {
			return total, err
		}
		last = end
		if n < unansweredBatch {
			break
		}
	}
	for {
		n, err := s.removeUnanswered(ctx, kept)
		if total += int64(n); err != nil || n < unansweredBatch {
			return total, err
		}
	}
}

// warnUnanswered warns the coaches of up to unansweredBatch players after the one with the id last. It returns how many
// it found, the last of them, and how many coaches were told of. It reads the primary key: an index of unanswered_since
// would cost the first answer an entry in each index of players.
func (s *Service) warnUnanswered(ctx context.Context, kept time.Duration, last string) (found int, end string, warned int64, err error) {
	before := s.DB.Now().Add(UnansweredWarning - kept)
	rs, err := s.DB.Query(ctx, `
		SELECT id, coach_id FROM players
		WHERE id > $1 AND deleted_at IS NULL AND unanswered_since < $2 AND (unanswered_warned_at IS NULL OR unanswered_warned_at < unanswered_since)
		ORDER BY id LIMIT $3`, last, database.Micros(before), unansweredBatch)
	seen := map[string]bool{}
	var coaches []string
	list, err := database.Collect(rs, err, func(s database.Scanner) (coach string, err error) {
		err = s.Scan(&end, &coach)
		if err == nil && !seen[coach] {
			seen[coach] = true
			coaches = append(coaches, coach)
		}
		return coach, err
	})
	if err != nil {
		return 0, "", 0, fmt.Errorf("find players without an answer: %w", err)
	}
	what := func(id string) string { return "warn coach " + id + " of players without an answer" }
	err = store.WriteEach(ctx, s.DB, coaches, what, func(tx *store.Tx, id string) error {
		n, err := warnCoach(ctx, tx, id, before.Add(unansweredTogether))
		warned += n
		return err
	})
	return len(list), end, warned, err
}

// warnCoach marks the players of a coach who have been pending since before, and notifies the coach of them.
func warnCoach(ctx context.Context, tx *store.Tx, coachID string, before time.Time) (int64, error) {
	rs, err := tx.Query(ctx, `
		UPDATE players SET unanswered_warned_at = $3 WHERE id IN (
			SELECT id FROM players
			WHERE coach_id = $1 AND deleted_at IS NULL AND unanswered_since < $2 AND (unanswered_warned_at IS NULL OR unanswered_warned_at < unanswered_since)
			ORDER BY id LIMIT $4)
			AND deleted_at IS NULL AND unanswered_since IS NOT NULL AND (unanswered_warned_at IS NULL OR unanswered_warned_at < unanswered_since)
		RETURNING id, student_name`, coachID, database.Micros(before), database.Micros(tx.Now), unansweredBatch)
	type player struct{ id, name string }
	players, err := database.Collect(rs, err, func(row database.Scanner) (p player, err error) { return p, row.Scan(&p.id, &p.name) })
	if err != nil || len(players) == 0 {
		return 0, err
	}
	var coachZone string
	err = tx.QueryRow(ctx, `SELECT time_zone FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&coachZone))
	if err != nil && !database.IsNoRows(err) {
		return 0, err
	}
	zone, err := time.LoadLocation(tx.ZoneOf(coachZone))
	if err != nil {
		return 0, err
	}
	e := event.Event{
		Type: event.UnansweredEnding, CoachID: coachID, Count: len(players),
		Day: tx.Now.Add(UnansweredWarning).In(zone).Format(time.DateOnly),
	}
	if len(players) == 1 {
		e.PlayerID, e.StudentName = players[0].id, players[0].name
	}
	return int64(len(players)), notice.Notify(ctx, tx, []event.Event{e})
}

// removeUnanswered removes up to unansweredBatch players whose coach was warned UnansweredWarning ago.
func (s *Service) removeUnanswered(ctx context.Context, kept time.Duration) (int, error) {
	now := s.DB.Now()
	rs, err := s.DB.Query(ctx, UnansweredPlayers, database.Micros(now.Add(-UnansweredWarning)), database.Micros(now.Add(-kept)), unansweredBatch)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return 0, fmt.Errorf("find players without an answer: %w", err)
	}
	for _, id := range ids {
		_, err := s.update(ctx, id, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
			return p.RemoveUnanswered(now.Add(-kept), op), nil
		})
		if err != nil {
			return 0, fmt.Errorf("remove player %s without an answer: %w", id, err)
		}
	}
	return len(ids), nil
}

const (
	// UnansweredWarning is how long before the data of a player without an answer is erased its coach is warned.
	UnansweredWarning = 14 * 24 * time.Hour
	// unansweredTogether is how much earlier a coach is warned of players who follow the first one, so that one
	// notification names all players of a day.
	unansweredTogether = 24 * time.Hour
	// unansweredBatch limits the players of one statement.
	unansweredBatch = 500
)
