package conversation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// readSending reads what the messages of a coach depend on.
func readSending(ctx context.Context, tx *store.Tx, coachID string) (Sending, error) {
	var s Sending
	err := tx.QueryRow(ctx, `SELECT name, tier FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&s.CoachName), database.IntoText(&s.Tier))
	if database.IsNoRows(err) {
		return s, fault.SessionEnded() // the account has closed since the session was read
	}
	if err != nil {
		return s, fmt.Errorf("read coach %s: %w", coachID, err)
	}
	limit := message.Limit{Counter: message.TeamCounter(coachID), Window: day}
	windows, err := outbox.ReadWindows(ctx, tx.Tx, limit)
	counted := windows[message.WindowOf(limit)]
	s.Sent, s.Oldest = int(counted.Size), counted.Oldest
	return s, err
}

// plan returns the players of a draft and its plan.
func (s *Service) plan(ctx context.Context, tx *store.Tx, coachID, coachName string, d Draft) ([]string, *Plan, error) {
	players, err := targetPlayers(ctx, tx, coachID, d.To)
	if err != nil {
		return nil, nil, err
	}
	plan := s.newPlan(coachName, d)
	found := 0
	for batch := range slices.Chunk(players[:min(len(players), MaxPlayers)], factsBatch) {
		facts, err := s.readFacts(ctx, tx, coachID, batch, "", false)
		if err != nil {
			return nil, nil, err
		}
		found += len(facts)
		for _, p := range facts {
			plan.add(p)
		}
	}
	if found < min(len(players), MaxPlayers) {
		return nil, nil, fault.Missing() // player_ids names players of others
	}
	return players, plan, checkSize(len(players))
}

// messageColumns are the columns that scanMessage scans. They have the players only of a
// message that names each player.
const messageColumns = `id, coach_id, batch_id, to_all, CASE WHEN batch_id IS NULL AND to_all = FALSE THEN players END, audience, channels, body,
	recipients, left_out, segments, COALESCE(people, recipients - left_out), COALESCE(people_left_out, left_out), created_at, expanded_at, expanded_at IS NULL AND expand_at IS NULL, guardian_id`

func scanMessage(row database.Scanner) (m Message, err error) {
	return m, row.Scan(&m.ID, &m.CoachID, database.IntoText(&m.To.BatchID), &m.To.All, database.IntoJSON(&m.To.PlayerIDs), &m.Audience, database.IntoWords(&m.Channels), &m.Text,
		&m.Recipients, &m.LeftOut, &m.Segments, &m.People, &m.PeopleLeftOut, database.IntoTime(&m.CreatedAt), database.IntoTime(&m.ExpandedAt), &m.GivenUp, database.IntoText(&m.GuardianID))
}

func readMessage(ctx context.Context, q database.Querier, coachID, id string) (Message, error) {
	m, err := scanMessage(q.QueryRow(ctx, `SELECT `+messageColumns+` FROM team_messages WHERE id = $1 AND coach_id = $2`, id, coachID))
	return m, database.OrMissing(err, "read message "+id)
}

// Message returns a message of the calling coach.
func (s *Service) Message(ctx context.Context, by actor.Actor, id string) (Message, error) {
	return readMessage(ctx, s.DB, by.AccountID, id)
}

// Messages lists the messages of the calling coach before the one with an id, newest first.
func (s *Service) Messages(ctx context.Context, by actor.Actor, before string, limit int) ([]Message, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT `+messageColumns+` FROM team_messages WHERE coach_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
		by.AccountID, database.Before(before), limit)
	return database.Collect(rs, err, scanMessage)
}

// recentMessages is how many messages an overview shows.
const recentMessages = 5

// Recent returns the newest messages of the calling coach, and how many replies are unread.
func (s *Service) Recent(ctx context.Context, by actor.Actor) (list []Message, unread int, err error) {
	if list, err = s.Messages(ctx, by, "", recentMessages); err != nil {
		return nil, 0, err
	}
	unread, err = unreadReplies(ctx, s.DB, by.AccountID)
	return list, unread, err
}

// Recipients lists the recipients of a message of the calling coach after a position, in the order of the
// players. A former guardian of the player has no name: the player's name is of another person.
func (s *Service) Recipients(ctx context.Context, by actor.Actor, id string, after, limit int) (list []RecipientState, err error) {
	rs, err := s.DB.Query(ctx, `
		SELECT r.position, r.player_id, p.student_name, r.party, r.guardian_id,
			CASE WHEN r.party = 'student' THEN p.student_name WHEN r.account_id IS NULL OR r.account_id = a.account_id THEN a.name END,
			r.is_copy, d.channel, d.state, d.reason, d.updated_at, d.read_at
		FROM deliveries d
		JOIN team_recipients r ON r.message_id = d.team_message_id AND r.position = d.team_position
		JOIN players p ON p.id = r.player_id
		LEFT JOIN parties a ON a.player_id = r.player_id AND a.role = r.party AND a.guardian_id = r.guardian_id
		WHERE d.team_message_id = $1 AND d.team_position > $3 AND d.team_position <= $4
			AND EXISTS (SELECT 1 FROM team_messages m WHERE m.id = $1 AND m.coach_id = $2)
		ORDER BY d.team_position, d.id`, id, by.AccountID, after, after+limit)
	_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
		var r RecipientState
		var c SendState
		var channel string
		var updated time.Time
		err := row.Scan(&r.Position, &r.PlayerID, &r.StudentName, &r.Party, &r.GuardianID, database.IntoText(&r.Name), &r.Copy, &channel, &c.State, database.IntoText(&c.Reason), database.IntoTime(&updated), database.IntoTime(&c.ReadAt))
		c.Channel, c.At = Channel(channel), updated
		if n := len(list); n == 0 || list[n-1].Position != r.Position {
			list = append(list, r)
		}
		last := &list[len(list)-1]
		last.Channels = append(last.Channels, c)
		return struct{}{}, err
	})
	return list, fault.Wrap(err, "list the recipients of message %s", id)
}

// CountStates counts the recipients of a message by state. Those that have no delivery yet
// count as queued, and as failed if they get none.
func (s *Service) CountStates(ctx context.Context, by actor.Actor, m Message) (map[State]int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT d.team_position, d.state
		FROM team_messages m JOIN deliveries d ON d.team_message_id = m.id
		WHERE m.id = $1 AND m.coach_id = $2`, m.ID, by.AccountID)
	byPosition := map[int]*RecipientState{}
	_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
		var position int
		var c SendState
		err := row.Scan(&position, &c.State)
		if byPosition[position] == nil {
			byPosition[position] = &RecipientState{}
		}
		byPosition[position].Channels = append(byPosition[position].Channels, c)
		return struct{}{}, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the recipients of message %s: %w", m.ID, err)
	}
	counts := map[State]int{}
	for _, r := range byPosition {
		counts[r.Best().State]++
	}
	if !m.ExpandedAt.IsZero() {
		return counts, nil
	}
	missing := m.Recipients
	for _, n := range counts {
		missing -= n
	}
	state := Queued
	if m.GivenUp {
		state = Failed
	}
	counts[state] += max(0, missing)
	return counts, nil
}
