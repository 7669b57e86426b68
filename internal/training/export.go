package training

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// exportPage is the number of rows that EachChanged reads at a time.
const exportPage = 200

// EachChanged calls fn with the single trainings of the calling coach and the days of schedules that the
// coach changed. It skips a day whose schedule has no training any more.
func (s *Service) EachChanged(ctx context.Context, by actor.Actor, fn func(*Training) error) error {
	batches := map[string]*team.Batch{}
	for after := ""; ; {
		rs, err := s.DB.Query(ctx, `
			SELECT `+recordColumns+` FROM trainings t WHERE t.coach_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3`, by.AccountID, after, exportPage)
		records, err := database.Collect(rs, err, scanRecord)
		if err != nil {
			return fmt.Errorf("export trainings: %w", err)
		}
		for _, r := range records {
			b := batches[r.batchID]
			if b == nil {
				if b, err = store.BatchOf(ctx, s.DB, by.AccountID, r.batchID); err != nil {
					return err
				}
				batches[r.batchID] = b
			}
			for _, t := range plan([]*team.Batch{b}, []record{r}, r.date, r.date) {
				if t.ID != r.id {
					continue
				}
				if err := fn(t); err != nil {
					return err
				}
			}
			after = r.id
		}
		if len(records) < exportPage {
			return nil
		}
	}
}

// ExportedAnswer is an answer with its day, batch and player.
type ExportedAnswer struct {
	Answer
	BatchID, StudentName string
	Date                 team.Date
}

// AllAnswers lists the answers to the calling coach after the given one, by player and training.
func (s *Service) AllAnswers(ctx context.Context, by actor.Actor, after ExportedAnswer, limit int) ([]ExportedAnswer, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT `+answerColumns+`, a.batch_id, a.date, p.student_name
		FROM training_answers a JOIN players p ON p.id = a.player_id
		WHERE a.coach_id = $1 AND (a.player_id, a.training_id) > ($2, $3) ORDER BY a.player_id, a.training_id LIMIT $4`,
		by.AccountID, after.PlayerID, after.TrainingID, limit)
	return database.Collect(rs, err, func(row database.Scanner) (e ExportedAnswer, err error) {
		return e, row.Scan(&e.TrainingID, &e.PlayerID, &e.Attending, database.IntoText(&e.Reason), &e.Party, &e.AccountID, database.IntoTime(&e.AnsweredAt), &e.BatchID, &e.Date, &e.StudentName)
	})
}
