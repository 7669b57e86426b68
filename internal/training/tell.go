package training

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
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
	accountID, email      string
	approvedAt            time.Time
}

// toldAtOnce is how many parties get their notifications in one statement.
const toldAtOnce = 200

// lockParties reads the players of a batch, and their parties that have the app. It locks the players in
// the order of their ids, so that a decision of a party commits before, or waits until this
// transaction has committed.
func (s *Service) lockParties(ctx context.Context, tx *store.Tx, coachID, batchID string) (parties []party, playerIDs []string, err error) {
	type player struct {
		party
		guardian, student     string
		guardianAt, studentAt time.Time
	}
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.student_name, g.account_id, s.account_id, g.email, g.changed_at, s.changed_at
		FROM batch_players m JOIN players p ON p.id = m.player_id AND p.deleted_at IS NULL`+store.WithParties+`
		WHERE m.coach_id = $1 AND m.batch_id = $2 AND m.left_at IS NULL ORDER BY m.player_id `+tx.ForShare("p, g, s"), coachID, batchID)
	players, err := database.Collect(rs, err, func(row database.Scanner) (p player, err error) {
		return p, row.Scan(&p.playerID, &p.studentName, database.IntoText(&p.guardian), database.IntoText(&p.student), database.IntoText(&p.email), database.IntoTime(&p.guardianAt), database.IntoTime(&p.studentAt))
	})
	if err != nil {
		return nil, nil, fmt.Errorf("lock players of batch: %w", err)
	}
	ids := make([]string, len(players))
	for i, p := range players {
		ids[i] = p.playerID
	}
	enabled, err := s.Consent.Enabled(ctx, tx, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range players {
		for _, role := range approval.Parties {
			p.role, p.accountID, p.approvedAt = role, p.guardian, p.guardianAt
			if role == actor.Student {
				p.accountID, p.approvedAt = p.student, p.studentAt
			}
			if p.accountID != "" && enabled(p.playerID, role, team.App) == team.Granted && enabled(p.playerID, role, team.InAppNotifications) == team.Granted {
				parties = append(parties, p.party)
			}
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
			events[i].Party, events[i].PartyID, events[i].PlayerID, events[i].StudentName, events[i].GuardianEmail = p.role, p.accountID, p.playerID, p.studentName, p.email
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
