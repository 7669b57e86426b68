package player

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/team"
)

// PlayersByName lists the players of a coach that match f in alphabetical order, and those with equal names by birth
// date.
func (s *Service) PlayersByName(ctx context.Context, by actor.Actor, f approval.Filter, page approval.NamePage) ([]*approval.Player, error) {
	var sortKey, nameKey, born string
	if page.From != "" {
		sortKey = team.SortKey(team.FoldName(page.From))
	}
	if page.After != "" {
		err := s.DB.QueryRow(ctx, `SELECT p.sort_key, p.student_key, p.date_of_birth FROM players p WHERE p.id = $1 AND p.coach_id = $2`, page.After, by.AccountID).
			Scan(&sortKey, &nameKey, &born)
		if err != nil {
			return nil, database.OrMissing(err, "read player "+page.After)
		}
	}
	rs, err := s.DB.Query(ctx, `SELECT p.id`+filtered+`
		AND (p.sort_key, p.student_key, p.date_of_birth) > ($9, $10, $11) ORDER BY p.sort_key, p.student_key, p.date_of_birth LIMIT $12`,
		filterArgs(by, f, sortKey, nameKey, born, page.Limit)...)
	ids, err := database.CollectTexts(rs, err)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	players, err := s.PlayersByID(ctx, by, ids)
	slices.SortFunc(players, func(a, b *approval.Player) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return players, err
}

// CountByName counts the players of a coach that match f. It reads all of them.
func (s *Service) CountByName(ctx context.Context, by actor.Actor, f approval.Filter) (c approval.NameCount, err error) {
	rs, err := s.DB.Query(ctx, `SELECT substr(p.student_name, 1, 1), count(*)`+filtered+` GROUP BY substr(p.student_name, 1, 1)`, filterArgs(by, f)...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
		var first string
		var n int
		err := row.Scan(&first, &n)
		c.Total += n
		if letter := team.FirstLetter(first); letter != "" && !slices.Contains(c.Letters, letter) {
			c.Letters = append(c.Letters, letter)
		}
		return struct{}{}, err
	})
	if err != nil {
		return c, fmt.Errorf("count players: %w", err)
	}
	slices.SortFunc(c.Letters, func(a, b string) int { return team.CompareNames(a, a, b, b) })
	return c, nil
}

// PlayerNames lists the first players of the calling coach by id and name, in alphabetical order.
func (s *Service) PlayerNames(ctx context.Context, by actor.Actor, limit int) ([]approval.PlayerName, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT p.id, p.student_name FROM players p WHERE p.coach_id = $1 AND p.deleted_at IS NULL ORDER BY p.sort_key, p.student_key, p.date_of_birth LIMIT $2`, by.AccountID, limit)
	return database.Collect(rs, err, scanPlayerName)
}

// NamesOf returns those of the players with these ids that the calling coach has, in alphabetical order.
func (s *Service) NamesOf(ctx context.Context, by actor.Actor, ids []string) ([]approval.PlayerName, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rs, err := s.DB.Query(ctx, `
		SELECT p.id, p.student_name FROM players p
		WHERE p.coach_id = $1 AND p.id IN (`+database.Params(2, len(ids))+`) AND p.deleted_at IS NULL ORDER BY p.sort_key, p.id`,
		append([]any{by.AccountID}, database.TextArgs(ids)...)...)
	return database.Collect(rs, err, scanPlayerName)
}

func scanPlayerName(s database.Scanner) (n approval.PlayerName, err error) {
	return n, s.Scan(&n.ID, &n.Name)
}
