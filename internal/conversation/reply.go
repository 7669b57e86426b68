package conversation

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// MaxRepliesPerDay limits the replies of one party of a player in 24 h.
const MaxRepliesPerDay = 50

// Reply is a message of a guardian or student to the coach.
type Reply struct {
	ID          string
	CoachID     string
	PlayerID    string
	StudentName string
	Party       actor.Role
	GuardianID  string
	AccountID   string
	// Name is the name of the guardian or student as the coach entered it. It is empty if the
	// party has another number since.
	Name string
	Text string
	// Channel is how the reply arrived.
	Channel   Channel
	CreatedAt time.Time
	// ReadAt is when the coach read it; zero before.
	ReadAt time.Time
	// Removed is true if the coach removed the player.
	Removed bool
}

// event returns the event that notifies the coach.
func (r Reply) event() event.Event {
	return event.Event{
		Type: event.TeamReply, Party: r.Party, GuardianID: r.GuardianID, CoachID: r.CoachID, PlayerID: r.PlayerID, MessageID: r.ID,
		StudentName: r.StudentName, GuardianName: r.Name,
	}
}

// checkReplies returns message_limit if a party wrote as many replies in the last 24 h as
// it may, the first of them at oldest.
func checkReplies(count int, oldest, now time.Time) error {
	if count < MaxRepliesPerDay {
		return nil
	}
	return fault.New(fault.TooMany, "message_limit", "You wrote %d messages in the last 24 hours. You can write again later.", count).
		With("limit", "replies_per_day").With("limit_value", MaxRepliesPerDay).With("allowed_now", 0).
		With("ends_at", oldest.Add(day)).After(max(oldest.Add(day).Sub(now), time.Second))
}

// Reply saves a reply of the calling guardian or student.
func (s *Service) Reply(ctx context.Context, by actor.Actor, playerID, text string) (Reply, error) {
	return s.ReplyOnce(ctx, by, s.NewID(), playerID, text)
}

// ReplyOnce is Reply for a reply with this id, so that a form that is sent twice saves one. It returns
// idempotency_key_reused if the reply with the id has another text. It notifies the coach. No reply
// commits after the party has revoked its approval. Replies about a player run one after the other, so
// that MaxRepliesPerDay holds.
func (s *Service) ReplyOnce(ctx context.Context, by actor.Actor, id, playerID, text string) (r Reply, err error) {
	r = Reply{ID: id, PlayerID: playerID, Party: by.Role, AccountID: by.AccountID, Text: text, Channel: InApp}
	err = orSentBefore(s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: r.ID, New: true}); err != nil {
			return err
		}
		err := tx.Defer(ctx, `
			UPDATE players SET version = version WHERE id = $1 AND EXISTS (SELECT 1 FROM parties a WHERE a.player_id = players.id AND a.account_id = $2)`, r.PlayerID, by.AccountID)
		if err != nil {
			return fmt.Errorf("lock player %s: %w", r.PlayerID, err)
		}
		l, err := s.Consent.Link(ctx, tx, by, r.PlayerID, team.TeamCommunications)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT body, created_at FROM team_replies WHERE id = $1 AND account_id = $2 AND player_id = $3`, r.ID, by.AccountID, r.PlayerID).
			Scan(&r.Text, database.IntoTime(&r.CreatedAt))
		if !database.IsNoRows(err) {
			return err // the reply was saved before
		}
		count, oldest, err := countReplies(ctx, tx, by.AccountID, r.PlayerID)
		if err != nil {
			return err
		}
		if err := checkReplies(count, oldest, tx.Now); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT CASE WHEN a.role = 'student' THEN p.student_name ELSE a.name END, a.guardian_id
			FROM players p JOIN parties a ON a.player_id = p.id AND a.role = $2 AND a.account_id = $3 WHERE p.id = $1`, r.PlayerID, string(by.Role), by.AccountID).
			Scan(database.IntoText(&r.Name), &r.GuardianID)
		if err != nil {
			return fmt.Errorf("read player %s: %w", r.PlayerID, err)
		}
		r.CoachID, r.StudentName = l.CoachID, l.StudentName
		return saveReply(ctx, tx, &r)
	}))
	if err == nil && r.Text != text {
		err = team.ErrSentBefore()
	}
	return r, err
}

// saveReply saves a reply and notifies the coach.
func saveReply(ctx context.Context, tx *store.Tx, r *Reply) error {
	r.CreatedAt = tx.Now
	err := tx.Defer(ctx, `
		INSERT INTO team_replies (id, coach_id, player_id, party, account_id, body, channel, created_at, guardian_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		r.ID, r.CoachID, r.PlayerID, string(r.Party), r.AccountID, r.Text, string(r.Channel), database.Micros(tx.Now), r.GuardianID)
	if err != nil {
		return fmt.Errorf("save reply: %w", err)
	}
	if err := noteConversations(ctx, tx, r.CoachID, []Recipient{{PlayerID: r.PlayerID, Party: r.Party, GuardianID: r.GuardianID, AccountID: r.AccountID}}, r.ID); err != nil {
		return err
	}
	return notice.Notify(ctx, tx, []event.Event{r.event()})
}

// orSentBefore returns err, or team.ErrSentBefore if another object has the id of a new one: a form has
// the id of the object that it adds, and the person may change the form and send it again.
func orSentBefore(err error) error {
	if database.IsUnique(err) {
		return team.ErrSentBefore()
	}
	return err
}

// CheckReply returns not_found unless the caller is linked to the player, and else why it has no team
// communications, or nil.
func (s *Service) CheckReply(ctx context.Context, by actor.Actor, playerID string) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		_, err := s.Consent.Link(ctx, tx, by, playerID, team.TeamCommunications)
		return err
	})
}

// ReplyBy returns a reply of the caller about the player. The caller has passed CheckReply.
func (s *Service) ReplyBy(ctx context.Context, by actor.Actor, playerID, id string) (Reply, error) {
	r := Reply{ID: id, PlayerID: playerID, Party: by.Role, AccountID: by.AccountID}
	err := s.DB.QueryRow(ctx, `SELECT body, created_at FROM team_replies WHERE id = $1 AND account_id = $2 AND player_id = $3`, id, by.AccountID, playerID).
		Scan(&r.Text, database.IntoTime(&r.CreatedAt))
	return r, database.OrMissing(err, "read reply "+id)
}

// Replies lists the replies to the calling coach before the one with an id, newest first. A reply of an account that is no longer the
// party of the player has no name: the player's names are names of other people.
func (s *Service) Replies(ctx context.Context, by actor.Actor, unreadOnly bool, before string, limit int) ([]Reply, error) {
	const columns = `
		SELECT r.id, r.coach_id, r.player_id, p.student_name, r.party, r.guardian_id, r.account_id,
			CASE WHEN r.account_id = a.account_id THEN coalesce(a.name, p.student_name) END, r.body, r.channel, r.created_at, r.read_at, p.deleted_at IS NOT NULL
		FROM team_replies r JOIN players p ON p.id = r.player_id LEFT JOIN parties a ON a.player_id = r.player_id AND a.role = r.party AND a.guardian_id = r.guardian_id `
	var rs *database.Rows
	var err error
	if unreadOnly {
		rs, err = s.DB.Query(ctx, columns+`
			WHERE r.coach_id = $1 AND r.id < $2 AND r.read_at IS NULL ORDER BY r.id DESC LIMIT $3`, by.AccountID, database.Before(before), limit)
	} else {
		rs, err = s.DB.Query(ctx, columns+`
			WHERE r.coach_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3`, by.AccountID, database.Before(before), limit)
	}
	return database.Collect(rs, err, func(row database.Scanner) (r Reply, err error) {
		return r, row.Scan(&r.ID, &r.CoachID, &r.PlayerID, &r.StudentName, &r.Party, &r.GuardianID, &r.AccountID, database.IntoText(&r.Name), &r.Text, &r.Channel, database.IntoTime(&r.CreatedAt), database.IntoTime(&r.ReadAt), &r.Removed)
	})
}

// ReadReplies marks the replies to the calling coach among ids as read, or all if ids is nil, and the notifications of
// replies about their players. It returns how many are unread, at most notice.MaxUnread.
func (s *Service) ReadReplies(ctx context.Context, by actor.Actor, ids []string) (unread int, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if ids == nil {
			err = tx.DeferEach(ctx, []string{
				`UPDATE team_replies SET read_at = $2 WHERE coach_id = $1 AND read_at IS NULL`,
				`UPDATE notifications SET read_at = $2 WHERE account_id = $1 AND read_at IS NULL AND type = 'team_reply'`,
			}, by.AccountID, database.Micros(tx.Now))
		} else {
			args := append([]any{by.AccountID, database.Micros(tx.Now)}, database.PaddedIDs(ids)...)
			err = tx.DeferEach(ctx, []string{
				`UPDATE notifications SET read_at = $2 WHERE account_id = $1 AND read_at IS NULL AND type = 'team_reply'
					AND player_id IN (SELECT r.player_id FROM team_replies r WHERE r.coach_id = $1 AND r.read_at IS NULL AND r.id IN (` + database.Params(3, len(args)-2) + `))`,
				`UPDATE team_replies SET read_at = $2 WHERE coach_id = $1 AND read_at IS NULL AND id IN (` + database.Params(3, len(args)-2) + `)`,
			}, args...)
		}
		if err != nil {
			return fmt.Errorf("mark replies as read: %w", err)
		}
		unread, err = unreadReplies(ctx, tx, by.AccountID)
		return err
	})
	return unread, err
}

// NewReply is a reply that the coach has not read.
type NewReply struct {
	// Name is the name of the party, "" if the coach does not know it any more.
	Name, StudentName string
	Party             actor.Role
	Text              string
	At                time.Time
	// Path is the page of the conversation.
	Path string
}

// newReplies is how many unread replies an overview shows.
const newReplies = 3

// NewReplies returns the newest unread replies to the calling coach.
func (s *Service) NewReplies(ctx context.Context, by actor.Actor) ([]NewReply, error) {
	replies, err := s.Replies(ctx, by, true, "", newReplies)
	list := make([]NewReply, len(replies))
	for i, r := range replies {
		line := Line{Summary: Summary{PlayerID: r.PlayerID, Party: r.Party, GuardianID: r.GuardianID}}
		list[i] = NewReply{Name: r.Name, StudentName: r.StudentName, Party: r.Party, Text: r.Text, At: r.CreatedAt, Path: line.Path()}
	}
	return list, err
}

// Unread counts the unread replies to the calling coach, at most notice.MaxUnread.
func (s *Service) Unread(ctx context.Context, by actor.Actor) (int, error) {
	return unreadReplies(ctx, s.DB, by.AccountID)
}

// unreadReplies counts the unread replies to a coach, at most notice.MaxUnread.
func unreadReplies(ctx context.Context, q database.Querier, coachID string) (n int, err error) {
	err = q.QueryRow(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM team_replies WHERE coach_id = $1 AND read_at IS NULL LIMIT $2) unread`, coachID, notice.MaxUnread).Scan(&n)
	return n, fault.Wrap(err, "count unread replies")
}
