package training

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// party is a party of a player that sees trainings.
type party struct {
	playerID, studentName string
	role                  actor.Role
	guardianID            string
	accountID, email      string
	approvedAt            time.Time
}

// toldAtOnce is how many parties get their notifications in one statement.
const toldAtOnce = 200

// lockParties reads the players of a batch, and their parties that have the app. It locks the players in
// the order of their ids, so that a decision of a party commits before, or waits until this
// transaction has committed.
func (s *Service) lockParties(ctx context.Context, tx *store.Tx, coachID, batchID string) (parties []party, playerIDs []string, err error) {
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.student_name, a.role, a.guardian_id, a.account_id, a.email, a.changed_at
		FROM batch_players m JOIN players p ON p.id = m.player_id AND p.deleted_at IS NULL JOIN parties a ON a.player_id = p.id
		WHERE m.coach_id = $1 AND m.batch_id = $2 AND m.left_at IS NULL ORDER BY m.player_id `+tx.ForShare("p, a"), coachID, batchID)
	all, err := database.Collect(rs, err, func(row database.Scanner) (a party, err error) {
		return a, row.Scan(&a.playerID, &a.studentName, &a.role, &a.guardianID, database.IntoText(&a.accountID), database.IntoText(&a.email), database.IntoTime(&a.approvedAt))
	})
	if err != nil {
		return nil, nil, fmt.Errorf("lock players of batch: %w", err)
	}
	var ids []string
	for _, a := range all {
		if n := len(ids); n == 0 || ids[n-1] != a.playerID {
			ids = append(ids, a.playerID)
		}
	}
	enabled, err := s.Consent.Enabled(ctx, tx, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range all {
		if a.accountID != "" && enabled(a.playerID, a.role, a.guardianID, team.App) == team.Granted && enabled(a.playerID, a.role, a.guardianID, team.InAppNotifications) == team.Granted {
			parties = append(parties, a)
		}
	}
	// Notifications lock the accounts, so all transactions take them in one order.
	slices.SortFunc(parties, func(a, b party) int { return strings.Compare(a.accountID+a.playerID, b.accountID+b.playerID) })
	return parties, ids, nil
}

// tell notifies the parties of what the coach did to a training, and records who of the families of the
// players learns of it.
func (s *Service) tell(ctx context.Context, tx *store.Tx, parties []party, playerIDs []string, t *Training, what change) (notice.Telling, error) {
	told, err := s.notify(ctx, tx, parties, t, map[change]event.Type{
		added: event.TrainingAdded, edited: event.TrainingChanged, cancelled: event.TrainingCancelled, restored: event.TrainingRestored, askedToAnswer: event.TrainingAsked,
	}[what])
	if err != nil {
		return notice.Telling{}, err
	}
	return notice.Record(ctx, tx, t.Batch.CoachID, t.ID, tellings[what], playerIDs, told)
}

// tellings name in the records of package notice what the coach did.
var tellings = map[change]string{added: "training_added", edited: "training_changed", cancelled: "training_cancelled", restored: "training_restored", askedToAnswer: "training_asked"}

// notify sends notifications about a training to the parties. Their open pages load again. All but
// messages about a cancelled training have a link to answer.
func (s *Service) notify(ctx context.Context, tx *store.Tx, parties []party, t *Training, kind event.Type) (notice.Told, error) {
	told := notice.Told{}
	name, suspended, err := tx.ActiveCoach(ctx, t.Batch.CoachID)
	if err != nil || suspended {
		return told, err
	}
	e := event.Event{
		Type: kind, CoachID: t.Batch.CoachID, CoachName: name, BatchNames: []string{t.Batch.Name},
		Training: event.Training{
			ID: t.ID, Kind: string(t.Kind), Title: t.Title, Opponent: t.Opponent, Venue: t.Venue, Day: string(t.Date),
			Start: t.Start.String(), Reason: t.Reason, StartsAt: t.StartsAt(),
		},
	}
	for chunk := range slices.Chunk(parties, toldAtOnce) {
		events := make([]event.Event, len(chunk))
		for i, p := range chunk {
			events[i] = e
			events[i].Party, events[i].GuardianID, events[i].PartyID, events[i].PlayerID, events[i].StudentName, events[i].GuardianEmail = p.role, p.guardianID, p.accountID, p.playerID, p.studentName, p.email
		}
		if kind != event.TrainingCancelled {
			if err := s.addLinks(ctx, tx, chunk, t.ID, t.Batch.CoachID); err != nil {
				return told, err
			}
		}
		some, err := notice.Tell(ctx, tx, events)
		if err != nil {
			return told, err
		}
		told.Add(some)
	}
	return told, nil
}
