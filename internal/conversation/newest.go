package conversation

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// NewestEntries returns the newest entry of the conversation about each player that the calling guardian or student may read.
func (s *Service) NewestEntries(ctx context.Context, by actor.Actor, playerIDs []string) (newest map[string]Entry, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		newest = map[string]Entry{}
		ids, err := s.Consent.Granted(ctx, tx, by, playerIDs, team.TeamCommunications)
		if err != nil || len(ids) == 0 {
			return err
		}
		add := func(row database.Scanner) error {
			var playerID string
			var e Entry
			err := row.Scan(&playerID, &e.ID, &e.FromCoach, &e.Text, database.IntoTime(&e.CreatedAt))
			if e.ID > newest[playerID].ID {
				newest[playerID] = e
			}
			return err
		}
		args := append([]any{s.Consent.SinceFactor(), string(by.Role), by.AccountID}, database.TextArgs(ids)...)
		rs, err := tx.Query(ctx, `
			SELECT n.player_id, m.id, TRUE, m.body, m.created_at
			FROM (SELECT a.player_id, a.changed_at, (SELECT max(r.message_id) FROM team_recipients r WHERE r.account_id = a.account_id AND r.player_id = a.player_id) AS id
				FROM parties a WHERE a.role = $2 AND a.account_id = $3 AND a.player_id IN (`+database.Params(4, len(ids))+`)) AS n
			JOIN team_messages m ON m.id = n.id WHERE m.created_at >= n.changed_at * CAST($1 AS BIGINT)`, args...)
		if err := database.Each(rs, err, add); err != nil {
			return fmt.Errorf("read the newest messages: %w", err)
		}
		rs, err = tx.Query(ctx, `
			SELECT n.player_id, r.id, FALSE, r.body, r.created_at
			FROM (SELECT a.player_id, a.changed_at, (SELECT max(r.id) FROM team_replies r WHERE r.account_id = a.account_id AND r.player_id = a.player_id) AS id
				FROM parties a WHERE a.role = $2 AND a.account_id = $3 AND a.player_id IN (`+database.Params(4, len(ids))+`)) AS n
			JOIN team_replies r ON r.id = n.id WHERE r.created_at >= n.changed_at * CAST($1 AS BIGINT)`, args...)
		if err := database.Each(rs, err, add); err != nil {
			return fmt.Errorf("read the newest replies: %w", err)
		}
		return nil
	})
	return newest, err
}
