package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// Conversation lists what a guardian or student may read of the conversation about a player,
// newest first: the messages to the account and its replies, after its approval unless the
// setting APP_HISTORY is all.
func (db *DB) Conversation(ctx context.Context, by actor.Actor, playerID string, page team.Page) ([]team.Entry, error) {
	var list []team.Entry
	err := db.View(ctx, func(tx *Tx) error {
		l, err := tx.Link(ctx, by, playerID, team.TeamCommunications)
		if err != nil {
			return err
		}
		since := tx.VisibleSince(l)
		rs, err := tx.Query(ctx, `
			SELECT m.id, TRUE, r.party, r.is_copy, m.body, m.created_at
			FROM team_recipients r JOIN team_messages m ON m.id = r.message_id
			WHERE r.account_id = $1 AND r.player_id = $2 AND r.message_id < $3 AND m.created_at >= $4
			ORDER BY r.message_id DESC LIMIT $5`, by.AccountID, playerID, database.Before(page.After), since, page.Limit)
		messages, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read a conversation: %w", err)
		}
		rs, err = tx.Query(ctx, `
			SELECT id, FALSE, party, FALSE, body, created_at FROM team_replies
			WHERE account_id = $1 AND player_id = $2 AND id < $3 AND created_at >= $4
			ORDER BY id DESC LIMIT $5`, by.AccountID, playerID, database.Before(page.After), since, page.Limit)
		replies, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read a conversation: %w", err)
		}
		list = team.NewestEntries(messages, replies, page.Limit)
		return nil
	})
	return list, err
}

func scanEntry(s database.Scanner) (e team.Entry, err error) {
	var party actor.Role
	err = s.Scan(&e.ID, &e.FromCoach, &party, &e.Copy, &e.Text, database.IntoTime(&e.CreatedAt))
	e.Parties = []actor.Role{party}
	return e, err
}

// PlayerConversation returns the whole conversation about a player with all parties, newest
// first, and writes the operator's audit log entry with the reason.
func (db *DB) PlayerConversation(ctx context.Context, by actor.Operator, playerID, reason string, page team.Page) ([]team.Entry, error) {
	const maxParties = 2 // of a player: a message to both is two rows and one entry
	var list []team.Entry
	err := db.Write(ctx, func(tx *Tx) error {
		var one int
		if err := tx.QueryRow(ctx, `SELECT 1 FROM players WHERE id = $1`, playerID).Scan(&one); database.IsNoRows(err) {
			return fault.Missing()
		} else if err != nil {
			return fmt.Errorf("read player %s: %w", playerID, err)
		}
		rs, err := tx.Query(ctx, `
			SELECT m.id, TRUE, r.party, r.is_copy, m.body, m.created_at
			FROM team_recipients r JOIN team_messages m ON m.id = r.message_id
			WHERE r.player_id = $1 AND r.message_id < $2
			ORDER BY r.message_id DESC, r.position DESC LIMIT $3`, playerID, database.Before(page.After), maxParties*page.Limit)
		messages, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read the conversation about a player: %w", err)
		}
		rs, err = tx.Query(ctx, `
			SELECT id, FALSE, party, FALSE, body, created_at FROM team_replies
			WHERE player_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, playerID, database.Before(page.After), page.Limit)
		replies, err := database.Collect(rs, err, scanEntry)
		if err != nil {
			return fmt.Errorf("read the conversation about a player: %w", err)
		}
		list = team.NewestEntries(messages, replies, page.Limit)
		return tx.Record(ctx, by, operator.ConversationRead, "player", playerID, reason)
	})
	return list, err
}
