package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/team"
)

var _ team.MessageStore = (*DB)(nil)

// PlanMessage returns the plan of a draft.
func (db *DB) PlanMessage(ctx context.Context, coachID string, d team.Draft) (*team.Plan, team.Sending, error) {
	var plan *team.Plan
	var sending team.Sending
	err := db.View(ctx, func(tx *Tx) (err error) {
		if sending, err = tx.sending(ctx, coachID); err != nil {
			return err
		}
		_, plan, err = tx.planMessage(ctx, coachID, sending.CoachName, d)
		return err
	})
	return plan, sending, err
}

// AcceptMessage saves a message as one row and counts its segments for the limit of the
// tier, in one transaction. The coach's row is locked first, so that the coach's messages
// are counted one after the other.
func (db *DB) AcceptMessage(ctx context.Context, m *team.Message, network string, check func(*team.Plan, team.Sending) error) error {
	return orSentBefore(db.Write(ctx, func(tx *Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: m.ID, New: true}); err != nil {
			return err
		}
		if _, err := tx.LockCoach(ctx, m.CoachID); err != nil {
			return err
		}
		before, err := scanMessage(tx.QueryRow(ctx, `SELECT `+messageColumns+` FROM team_messages WHERE id = $1 AND coach_id = $2`, m.ID, m.CoachID))
		if err == nil {
			*m = before
			return nil
		}
		if !database.IsNoRows(err) {
			return fmt.Errorf("read message %s: %w", m.ID, err)
		}
		sending, err := tx.sending(ctx, m.CoachID)
		if err != nil {
			return err
		}
		players, plan, err := tx.planMessage(ctx, m.CoachID, sending.CoachName, m.Draft)
		if err != nil {
			return err
		}
		if err := check(plan, sending); err != nil {
			return err
		}
		m.CreatedAt = tx.Now
		list, err := json.Marshal(players)
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `
			INSERT INTO team_messages (id, coach_id, batch_id, to_all, players, audience, channels, body, network,
				recipients, left_out, segments, people, people_left_out, next_player, next_position, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, 1, $15)`,
			m.ID, m.CoachID, database.Text(m.To.BatchID), m.To.All, string(list), string(m.Audience), joinTeamChannels(m.Channels), m.Text, database.Text(network),
			m.Recipients, m.LeftOut, m.Segments, m.People, m.PeopleLeftOut, database.Micros(tx.Now))
		if err != nil {
			return fmt.Errorf("save message: %w", err)
		}
		if m.Segments > 0 {
			counts := []message.Count{{Counter: message.TeamCounter(m.CoachID), Size: int64(m.Segments)}}
			if err := message.AddCounts(ctx, tx.Tx, counts); err != nil {
				return err
			}
		}
		tx.AfterCommit(tx.db.options.OnMessage)
		return nil
	}))
}

// sending reads what the messages of a coach depend on.
func (tx *Tx) sending(ctx context.Context, coachID string) (team.Sending, error) {
	var s team.Sending
	err := tx.QueryRow(ctx, `SELECT name, tier FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&s.CoachName), database.IntoText(&s.Tier))
	if database.IsNoRows(err) {
		return s, auth.ErrSessionEnded() // the account has closed since the session was read
	}
	if err != nil {
		return s, fmt.Errorf("read coach %s: %w", coachID, err)
	}
	limit := message.Limit{Counter: message.TeamCounter(coachID), Window: team.Day}
	windows, err := message.ReadWindows(ctx, tx.Tx, limit)
	counted := windows[message.WindowOf(limit)]
	s.Sent, s.Oldest = int(counted.Size), counted.Oldest
	return s, err
}

// planMessage returns the players of a draft and its plan.
func (tx *Tx) planMessage(ctx context.Context, coachID, coachName string, d team.Draft) ([]string, *team.Plan, error) {
	players, err := tx.targetPlayers(ctx, coachID, d.To)
	if err != nil {
		return nil, nil, err
	}
	plan := tx.db.options.Settings.TeamMessages.NewPlan(coachName, d)
	found := 0
	for batch := range slices.Chunk(players[:min(len(players), team.MaxPlayers)], factsBatch) {
		facts, err := tx.playerFacts(ctx, coachID, batch, "", false)
		if err != nil {
			return nil, nil, err
		}
		found += len(facts)
		for _, p := range facts {
			plan.Add(p)
		}
	}
	if found < min(len(players), team.MaxPlayers) {
		return nil, nil, fault.Missing() // player_ids names players of others
	}
	return players, plan, team.CheckSize(len(players))
}

// messageColumns are the columns that scanMessage scans. They have the players only of a
// message that names each player.
const messageColumns = `id, coach_id, batch_id, to_all, CASE WHEN batch_id IS NULL AND to_all = FALSE THEN players END, audience, channels, body,
	recipients, left_out, segments, COALESCE(people, recipients - left_out), COALESCE(people_left_out, left_out), created_at, expanded_at, expanded_at IS NULL AND expand_at IS NULL`

func scanMessage(s database.Scanner) (m team.Message, err error) {
	return m, s.Scan(&m.ID, &m.CoachID, database.IntoText(&m.To.BatchID), &m.To.All, database.IntoJSON(&m.To.PlayerIDs), &m.Audience, database.IntoWords(&m.Channels), &m.Text,
		&m.Recipients, &m.LeftOut, &m.Segments, &m.People, &m.PeopleLeftOut, database.IntoTime(&m.CreatedAt), database.IntoTime(&m.ExpandedAt), &m.GivenUp)
}

// joinTeamChannels returns channels in the order of team.Channels with commas between them.
func joinTeamChannels(channels []team.Channel) string {
	return joinChannels(slices.DeleteFunc(slices.Clone(team.Channels), func(c team.Channel) bool { return !slices.Contains(channels, c) }))
}

// Messages lists the messages of a coach, newest first.
func (db *DB) Messages(ctx context.Context, coachID string, page team.Page) ([]team.Message, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT `+messageColumns+` FROM team_messages WHERE coach_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
		coachID, database.Before(page.After), page.Limit)
	list, err := database.Collect(rs, err, scanMessage)
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return list, nil
}

// Message returns a message of a coach, or not_found.
func (db *DB) Message(ctx context.Context, coachID, id string) (team.Message, error) {
	m, err := scanMessage(db.sql.QueryRow(ctx, `SELECT `+messageColumns+` FROM team_messages WHERE id = $1 AND coach_id = $2`, id, coachID))
	return m, database.OrMissing(err, "read message "+id)
}

// Recipients lists the recipients of a message after a position. A former guardian of the player has no
// name: the one that the player has is of another person.
func (db *DB) Recipients(ctx context.Context, coachID, id string, after, limit int) ([]team.RecipientState, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT r.position, r.player_id, p.student_name, r.party,
			CASE WHEN r.party = 'student' THEN p.student_name WHEN r.account_id IS NULL OR r.account_id = p.guardian_id THEN p.guardian_name END,
			r.is_copy, d.channel, d.state, d.reason, d.updated_at
		FROM deliveries d
		JOIN team_recipients r ON r.message_id = d.team_message_id AND r.position = d.team_position
		JOIN players p ON p.id = r.player_id
		WHERE d.team_message_id = $1 AND d.team_position > $3 AND d.team_position <= $4
			AND EXISTS (SELECT 1 FROM team_messages m WHERE m.id = $1 AND m.coach_id = $2)
		ORDER BY d.team_position, d.id`, id, coachID, after, after+limit)
	var list []team.RecipientState
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var r team.RecipientState
		var c team.SendState
		var channel string
		var updated time.Time
		err := s.Scan(&r.Position, &r.PlayerID, &r.StudentName, &r.Party, database.IntoText(&r.Name), &r.Copy, &channel, &c.State, database.IntoText(&c.Reason), database.IntoTime(&updated))
		c.Channel, c.At = teamChannel(channel), updated
		if n := len(list); n == 0 || list[n-1].Position != r.Position {
			list = append(list, r)
		}
		last := &list[len(list)-1]
		last.Channels = append(last.Channels, c)
		return struct{}{}, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the recipients of message %s: %w", id, err)
	}
	return list, nil
}

// CountStates counts the recipients of a message by the best state of their channels.
func (db *DB) CountStates(ctx context.Context, coachID, id string) (map[team.State]int, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT d.team_position, d.state
		FROM team_messages m JOIN deliveries d ON d.team_message_id = m.id
		WHERE m.id = $1 AND m.coach_id = $2`, id, coachID)
	byPosition := map[int]*team.RecipientState{}
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var position int
		var c team.SendState
		err := s.Scan(&position, &c.State)
		if byPosition[position] == nil {
			byPosition[position] = &team.RecipientState{}
		}
		byPosition[position].Channels = append(byPosition[position].Channels, c)
		return struct{}{}, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the recipients of message %s: %w", id, err)
	}
	counts := map[team.State]int{}
	for _, r := range byPosition {
		counts[r.Best().State]++
	}
	return counts, nil
}
