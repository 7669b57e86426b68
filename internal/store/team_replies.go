package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/team"
)

// AddReply saves a reply of a guardian or student and notifies the coach. No reply commits after
// the party has revoked its approval. Replies about a player run one after the other, so that
// MaxRepliesPerDay holds.
func (db *DB) AddReply(ctx context.Context, by actor.Actor, r *team.Reply) error {
	return orSentBefore(db.Write(ctx, func(tx *Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: r.ID, New: true}); err != nil {
			return err
		}
		err := tx.Defer(ctx, `
			UPDATE players SET version = version WHERE id = $1 AND (guardian_id = $2 OR student_id = $2)`, r.PlayerID, by.AccountID)
		if err != nil {
			return fmt.Errorf("lock player %s: %w", r.PlayerID, err)
		}
		l, err := tx.Link(ctx, by, r.PlayerID, team.TeamCommunications)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT body, created_at FROM team_replies WHERE id = $1 AND account_id = $2 AND player_id = $3`, r.ID, by.AccountID, r.PlayerID).
			Scan(&r.Text, database.IntoTime(&r.CreatedAt))
		if !database.IsNoRows(err) {
			return err // the reply was saved before
		}
		var count int
		var oldest time.Time
		err = tx.QueryRow(ctx, `
			SELECT count(*), min(created_at) FROM (
				SELECT created_at FROM team_replies WHERE account_id = $1 AND player_id = $2 AND created_at > $3 ORDER BY id DESC LIMIT $4) newest`,
			by.AccountID, r.PlayerID, database.Micros(tx.Now.Add(-team.Day)), team.MaxRepliesPerDay).Scan(&count, database.IntoTime(&oldest))
		if err != nil {
			return fmt.Errorf("count replies: %w", err)
		}
		if err := team.CheckReplies(count, oldest, tx.Now); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT CASE WHEN $2 = 'guardian' THEN guardian_name ELSE student_name END FROM players WHERE id = $1`, r.PlayerID, string(by.Role)).
			Scan(database.IntoText(&r.Name))
		if err != nil {
			return fmt.Errorf("read player %s: %w", r.PlayerID, err)
		}
		r.CoachID, r.StudentName, r.CreatedAt = l.CoachID, l.StudentName, tx.Now
		err = tx.Defer(ctx, `
			INSERT INTO team_replies (id, coach_id, player_id, party, account_id, body, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			r.ID, r.CoachID, r.PlayerID, string(r.Party), r.AccountID, r.Text, database.Micros(tx.Now))
		if err != nil {
			return fmt.Errorf("save reply: %w", err)
		}
		return tx.Notify(ctx, []event.Event{r.Event()})
	}))
}

// CheckReply returns not_found unless by is linked to the player, and else why it has no team
// communications, or nil.
func (db *DB) CheckReply(ctx context.Context, by actor.Actor, playerID string) error {
	return db.View(ctx, func(tx *Tx) error {
		_, err := tx.Link(ctx, by, playerID, team.TeamCommunications)
		return err
	})
}

// ReplyBy returns a reply of the account about the player, if it has team communications.
func (db *DB) ReplyBy(ctx context.Context, by actor.Actor, playerID, id string) (*team.Reply, error) {
	r := &team.Reply{ID: id, PlayerID: playerID, Party: by.Role, AccountID: by.AccountID}
	err := db.View(ctx, func(tx *Tx) error {
		l, err := tx.Link(ctx, by, playerID, team.TeamCommunications)
		if err != nil {
			return err
		}
		r.CoachID, r.StudentName = l.CoachID, l.StudentName
		err = tx.QueryRow(ctx, `SELECT body, created_at FROM team_replies WHERE id = $1 AND account_id = $2 AND player_id = $3`, id, by.AccountID, playerID).
			Scan(&r.Text, database.IntoTime(&r.CreatedAt))
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		return err
	})
	return r, err
}

// Replies lists the replies to a coach, newest first. A reply of an account that is no longer the
// party of the player has no name: the names of the player are those of other people.
func (db *DB) Replies(ctx context.Context, coachID string, unreadOnly bool, page team.Page) ([]team.Reply, error) {
	const columns = `
		SELECT r.id, r.coach_id, r.player_id, p.student_name, r.party, r.account_id,
			CASE WHEN r.party = 'guardian' AND r.account_id = p.guardian_id THEN p.guardian_name
				WHEN r.party = 'student' AND r.account_id = p.student_id THEN p.student_name END, r.body, r.created_at, r.read_at
		FROM team_replies r JOIN players p ON p.id = r.player_id `
	var rs *database.Rows
	var err error
	if unreadOnly {
		rs, err = db.sql.Query(ctx, columns+`
			WHERE r.coach_id = $1 AND r.id < $2 AND r.read_at IS NULL ORDER BY r.id DESC LIMIT $3`, coachID, database.Before(page.After), page.Limit)
	} else {
		rs, err = db.sql.Query(ctx, columns+`
			WHERE r.coach_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3`, coachID, database.Before(page.After), page.Limit)
	}
	list, err := database.Collect(rs, err, func(s database.Scanner) (r team.Reply, err error) {
		return r, s.Scan(&r.ID, &r.CoachID, &r.PlayerID, &r.StudentName, &r.Party, &r.AccountID, database.IntoText(&r.Name), &r.Text, database.IntoTime(&r.CreatedAt), database.IntoTime(&r.ReadAt))
	})
	if err != nil {
		return nil, fmt.Errorf("list replies: %w", err)
	}
	return list, nil
}

// ReadReplies marks the coach's replies among ids as read, or all if ids is nil. It returns
// how many are unread, at most message.MaxUnread.
func (db *DB) ReadReplies(ctx context.Context, coachID string, ids []string) (int, error) {
	unread := 0
	err := db.Write(ctx, func(tx *Tx) error {
		var err error
		if ids == nil {
			err = tx.Defer(ctx, `UPDATE team_replies SET read_at = $2 WHERE coach_id = $1 AND read_at IS NULL`, coachID, database.Micros(tx.Now))
		} else {
			args := append([]any{coachID, database.Micros(tx.Now)}, database.PaddedIDs(ids)...)
			err = tx.Defer(ctx, `
				UPDATE team_replies SET read_at = $2 WHERE coach_id = $1 AND read_at IS NULL AND id IN (`+database.Params(3, len(args)-2)+`)`, args...)
		}
		if err != nil {
			return fmt.Errorf("mark replies as read: %w", err)
		}
		unread, err = unreadReplies(ctx, tx, coachID)
		return err
	})
	return unread, err
}

// UnreadReplies counts the unread replies to a coach, at most message.MaxUnread.
func (db *DB) UnreadReplies(ctx context.Context, coachID string) (int, error) {
	return unreadReplies(ctx, db.sql, coachID)
}

// unreadReplies counts the unread replies to a coach, at most message.MaxUnread.
func unreadReplies(ctx context.Context, q database.Querier, coachID string) (n int, err error) {
	err = q.QueryRow(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM team_replies WHERE coach_id = $1 AND read_at IS NULL LIMIT $2) unread`, coachID, message.MaxUnread).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count unread replies: %w", err)
	}
	return n, nil
}
