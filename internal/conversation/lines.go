package conversation

import (
	"context"
	"math"
	"slices"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// Line is an entry in the coach's list of messages: a conversation with one party of a player, or a message to several players.
type Line struct {
	// Summary is the conversation, zero but for LastAt if Broadcast is set. LastAt is the time of the line.
	Summary
	Broadcast *Message
	// Text is what was written last, and FromCoach says by whom.
	Text      string
	FromCoach bool
}

// LinesAfter is the position behind the last conversation and the last broadcast of a page; the zero position is the start.
type LinesAfter struct {
	Conversation api.Keyset
	Broadcast    string
}

// Lines lists the conversations and broadcasts of the calling coach, the newest line first. A conversation counts from a reply or a message
// to this player alone, so that a broadcast is one line.
func (s *Service) Lines(ctx context.Context, by actor.Actor, after LinesAfter, limit int) ([]Line, error) {
	if after.Conversation == (api.Keyset{}) {
		after.Conversation.At = math.MaxInt64
	}
	rs, err := s.DB.Query(ctx, `
		SELECT c.player_id, p.student_name, c.party, c.guardian_id, CASE WHEN c.party = 'student' THEN p.student_name ELSE a.name END, c.line_at,
			(SELECT count(*) FROM (SELECT 1 FROM team_replies r
				WHERE r.player_id = c.player_id AND r.party = c.party AND r.guardian_id = c.guardian_id AND r.read_at IS NULL LIMIT $5) unread),
			coalesce(m.body, l.body), m.id IS NOT NULL
		FROM conversations c JOIN players p ON p.id = c.player_id
		JOIN parties a ON a.player_id = c.player_id AND a.role = c.party AND a.guardian_id = c.guardian_id
		LEFT JOIN team_messages m ON m.id = c.line_id
		LEFT JOIN team_replies l ON l.id = c.line_id
		WHERE c.coach_id = $1 AND c.ended = FALSE AND c.line_at IS NOT NULL AND (c.line_at, c.player_id, c.party, c.guardian_id) < ($2, $3, CAST($4 AS TEXT), CAST($7 AS TEXT))
		ORDER BY c.line_at DESC, c.player_id DESC, c.party DESC, c.guardian_id DESC LIMIT $6`,
		by.AccountID, after.Conversation.At, after.Conversation.ID, string(after.Conversation.Party), notice.MaxUnread, limit, after.Conversation.GuardianID)
	lines, err := database.Collect(rs, err, func(row database.Scanner) (l Line, err error) {
		return l, row.Scan(&l.PlayerID, &l.StudentName, &l.Party, &l.GuardianID, database.IntoText(&l.Name), database.IntoTime(&l.LastAt), &l.Unread, database.IntoText(&l.Text), &l.FromCoach)
	})
	if err != nil {
		return nil, err
	}
	rs, err = s.DB.Query(ctx, `
		SELECT `+messageColumns+` FROM team_messages WHERE coach_id = $1 AND broadcast = TRUE AND id < $2 ORDER BY id DESC LIMIT $3`,
		by.AccountID, database.Before(after.Broadcast), limit)
	broadcasts, err := database.Collect(rs, err, scanMessage)
	if err != nil {
		return nil, err
	}
	for i := range broadcasts {
		m := &broadcasts[i]
		at := m.CreatedAt
		if i > 0 && at.After(lines[len(lines)-1].LastAt) { // the id of a form can be older than the message: the order is that of the ids
			at = lines[len(lines)-1].LastAt
		}
		lines = append(lines, Line{Summary: Summary{LastAt: at}, Broadcast: m, Text: m.Text, FromCoach: true})
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return b.LastAt.Compare(a.LastAt) })
	return lines[:min(len(lines), limit)], nil
}

// behind returns the position behind the lines, of which after was the position before.
func behind(lines []Line, after LinesAfter) LinesAfter {
	for _, l := range lines {
		if l.Broadcast != nil {
			after.Broadcast = l.Broadcast.ID
		} else {
			after.Conversation = api.Keyset{At: l.LastAt.UnixMicro(), ID: l.PlayerID, Party: l.Party, GuardianID: l.GuardianID}
		}
	}
	return after
}
