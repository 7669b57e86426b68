package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Entry is one message of a conversation about a player, as a guardian, a student or an
// operator reads it.
type Entry struct {
	ID string
	// FromCoach is false for a reply.
	FromCoach bool
	// Parties are the recipients, or the author alone.
	Parties []actor.Role
	// Copy is true for a message to the student that the guardian also got.
	Copy      bool
	Text      string
	CreatedAt time.Time
}

// from returns who wrote the entry.
func (e Entry) from() actor.Role {
	if e.FromCoach {
		return actor.Coach
	}
	return e.Parties[0]
}

// newestEntries merges two parts of a conversation. The ids rise with time. A message that
// went to both parties becomes one entry.
func newestEntries(a, b []Entry, limit int) []Entry {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y Entry) int { return cmp.Compare(y.ID, x.ID) })
	var list []Entry
	for _, e := range all {
		if n := len(list); n > 0 && list[n-1].ID == e.ID {
			list[n-1].Parties = append(e.Parties, list[n-1].Parties...)
			list[n-1].Copy = list[n-1].Copy || e.Copy
			continue
		}
		list = append(list, e)
	}
	return list[:min(len(list), limit)]
}

// Conversation lists what the calling guardian or student may read of the conversation about a player
// before an entry with an id, newest first: the messages to the account and its replies, after its
// approval unless the setting APP_HISTORY is all.
func (s *Service) Conversation(ctx context.Context, by actor.Actor, playerID, before string, limit int) (list []Entry, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		l, err := s.Consent.Link(ctx, tx, by, playerID, team.TeamCommunications)
		if err != nil {
			return err
		}
		since := s.Consent.VisibleSince(l)
		rs, err := tx.Query(ctx, `
			SELECT m.id, TRUE, r.party, r.is_copy, m.body, m.created_at
			FROM team_recipients r JOIN team_messages m ON m.id = r.message_id
			WHERE r.account_id = $1 AND r.player_id = $2 AND r.message_id < $3 AND m.created_at >= $4
			ORDER BY r.message_id DESC LIMIT $5`, by.AccountID, playerID, database.Before(before), since, limit)
		messages, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read a conversation: %w", err)
		}
		rs, err = tx.Query(ctx, `
			SELECT id, FALSE, party, FALSE, body, created_at FROM team_replies
			WHERE account_id = $1 AND player_id = $2 AND id < $3 AND created_at >= $4
			ORDER BY id DESC LIMIT $5`, by.AccountID, playerID, database.Before(before), since, limit)
		replies, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read a conversation: %w", err)
		}
		list = newestEntries(messages, replies, limit)
		return nil
	})
	return list, err
}

func scanEntry(row database.Scanner) (e Entry, err error) {
	var party actor.Role
	err = row.Scan(&e.ID, &e.FromCoach, &party, &e.Copy, &e.Text, database.IntoTime(&e.CreatedAt))
	e.Parties = []actor.Role{party}
	return e, err
}
