package auth

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// Store stores accounts, challenges, sessions and limits of sign-in. It is safe for concurrent use.
type Store struct {
	DB *store.DB
	Observer
}

func scanSession(s database.Scanner) (*Session, error) {
	v := new(Session)
	return v, s.Scan(sessionDest(v)...)
}

// sessionColumns are the columns that sessionDest scans.
const sessionColumns = `id, account_id, role, mobile_number, device_id, device_name, generation,
	used_at, used_before, used_earlier, created_at, last_used_at, idle_at, ends_at, revoked_at, page_idle, passkey`

func sessionDest(v *Session) []any {
	return []any{
		&v.ID, &v.AccountID, &v.Role, &v.Number, &v.DeviceID, database.IntoText(&v.DeviceName), &v.Generation,
		database.IntoTime(&v.UsedAt), database.IntoTime(&v.UsedBefore[0]), database.IntoTime(&v.UsedBefore[1]),
		database.IntoTime(&v.CreatedAt), database.IntoTime(&v.LastUsedAt), database.IntoTime(&v.IdleAt),
		database.IntoTime(&v.EndsAt), database.IntoTime(&v.RevokedAt), database.IntoDuration(&v.PageIdle), &v.Passkey,
	}
}

// Session returns a session, even one that has ended, or nil. The caller's token
// names its ID, so it needs no account.
func (db Store) Session(ctx context.Context, id string) (*Session, error) {
	s, err := scanSession(db.DB.QueryRow(ctx, `
		SELECT `+sessionColumns+` FROM sessions WHERE id = $1`, id))
	if database.IsNoRows(err) {
		return nil, nil
	}
	return s, err
}

// SessionOfToken is Session with the fields that authenticate a caller: each request reads it.
func (db Store) SessionOfToken(ctx context.Context, id string) (*Session, error) {
	s := &Session{ID: id}
	err := db.DB.QueryRow(ctx, `
		SELECT account_id, role, mobile_number, generation, used_at, created_at, ends_at, revoked_at, passkey FROM sessions WHERE id = $1`, id).
		Scan(&s.AccountID, &s.Role, &s.Number, &s.Generation, database.IntoTime(&s.UsedAt), database.IntoTime(&s.CreatedAt), database.IntoTime(&s.EndsAt), database.IntoTime(&s.RevokedAt), &s.Passkey)
	if database.IsNoRows(err) {
		return nil, nil
	}
	return s, err
}

// PageSession returns a session of pages with this token, even one that has ended, or nil.
func (db Store) PageSession(ctx context.Context, id string, tokenHash []byte) (*Session, error) {
	s := new(Session)
	err := db.DB.QueryRow(ctx, `
		SELECT `+sessionColumns+`, (SELECT tray_seq FROM accounts a WHERE a.id = account_id)
		FROM sessions WHERE id = $1 AND refresh_hash = $2 AND page_idle IS NOT NULL`, id, tokenHash).
		Scan(append(sessionDest(s), &s.NotificationSeq)...)
	if database.IsNoRows(err) {
		return nil, nil
	}
	return s, err
}

// ExtendPageSession saves a use of the session at now and moves the end of its idle time,
// unless it has ended or was used after notAfter. It cannot revive a session that a
// concurrent transaction ends.
func (db Store) ExtendPageSession(ctx context.Context, id string, now, idleAt, notAfter time.Time) error {
	_, err := db.DB.Exec(ctx, `
		UPDATE sessions SET last_used_at = $2, idle_at = $3
		WHERE id = $1 AND last_used_at <= $4 AND revoked_at IS NULL AND idle_at > $2 AND ends_at > $2`,
		id, database.Micros(now), database.Micros(idleAt), database.Micros(notAfter))
	return fault.Wrap(err, "extend page session")
}

// Rotate moves a session to its next generation. It returns nil unless the session is
// live and r has its newest token.
func (db Store) Rotate(ctx context.Context, r Rotation) (*Session, error) {
	rotated := new(Session)
	err := db.DB.ExecRow(ctx, func(row database.Scanner) error {
		return row.Scan(append(sessionDest(rotated), database.IntoWords(&rotated.FilledFields))...)
	}, `
		UPDATE sessions
		SET generation = generation + 1, refresh_hash = $4, used_at = NULL, used_before = COALESCE(used_at, $5), used_earlier = used_before,
			last_used_at = $5, idle_at = $6
		WHERE id = $1 AND generation = $2 AND refresh_hash = $3
			AND revoked_at IS NULL AND idle_at > $5 AND ends_at > $5
		RETURNING `+sessionColumns+`, `+store.FilledBy+`sessions.account_id)`,
		r.SessionID, r.Generation, r.OldHash, r.NewHash, database.Micros(r.Now), database.Micros(r.IdleAt))
	if database.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rotate session: %w", err)
	}
	db.sessions("refreshed", 1)
	return rotated, nil
}

// MarkUsed saves the first use of a generation's tokens. Later uses change nothing. On a standby it saves nothing: there the
// service only reads, and the previous refresh token stays valid until a use on the primary.
func (db Store) MarkUsed(ctx context.Context, id string, generation int64, now time.Time) error {
	_, err := db.DB.Exec(ctx, `
		UPDATE sessions SET used_at = $3, last_used_at = $3
		WHERE id = $1 AND generation = $2 AND used_at IS NULL`, id, generation, database.Micros(now))
	if database.IsReadOnly(err) {
		return nil
	}
	return err
}

// Revoke ends s, whose refresh token was reused, and saves the notifications of e, unless s has ended already.
func (db Store) Revoke(ctx context.Context, s *Session, e event.Event) error {
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`, s.ID, database.Micros(tx.Now))
		if err != nil || n == 0 {
			return err
		}
		if err := notice.EndPush(ctx, tx.Tx, s.ID); err != nil {
			return err
		}
		return notice.Notify(ctx, tx, []event.Event{e})
	})
	if err == nil {
		db.sessions("reused", 1)
		db.event(ctx, "refresh_reused", account(s.AccountID), session(s.ID))
	}
	return err
}

// EndSession ends a live session of the account; false if there is none.
func (db Store) EndSession(ctx context.Context, accountID, id string) (bool, error) {
	ended := false
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `
			UPDATE sessions SET revoked_at = $3
			WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL`, id, accountID, database.Micros(tx.Now))
		ended = n == 1
		if !ended || err != nil {
			return err
		}
		return notice.EndPush(ctx, tx.Tx, id)
	})
	if ended {
		db.sessions("ended", 1)
		db.event(ctx, "logout", account(accountID), session(id))
	}
	return ended, err
}

// EndAllSessions ends every session of the number of by in every role, its devices, its passkeys, and its
// confirmed addresses.
func (db Store) EndAllSessions(ctx context.Context, by actor.Actor) error {
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		err := tx.Defer(ctx, `
			UPDATE sessions SET revoked_at = $2
			WHERE revoked_at IS NULL AND account_id IN (SELECT id FROM accounts WHERE mobile_number = $1)`,
			string(by.Number), database.Micros(tx.Now))
		if err != nil {
			return fmt.Errorf("end all sessions: %w", err)
		}
		err = tx.Defer(ctx, `DELETE FROM push_subscriptions WHERE account_id IN (SELECT id FROM accounts WHERE mobile_number = $1)`, string(by.Number))
		if err != nil {
			return fmt.Errorf("end push messages: %w", err)
		}
		err = tx.Defer(ctx, `DELETE FROM devices WHERE mobile_number = $1`, string(by.Number))
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `DELETE FROM confirmed_addresses WHERE mobile_number = $1`, string(by.Number))
		if err != nil {
			return err
		}
		return tx.Defer(ctx, `DELETE FROM passkeys WHERE account_id IN (SELECT id FROM accounts WHERE mobile_number = $1)`, string(by.Number))
	})
	if err == nil {
		db.sessions("ended_all", 1)
		db.event(ctx, "logout_all", account(by.AccountID), session(by.SessionID))
	}
	return err
}

// Sessions lists the live sessions of an account, newest first, starting after the one
// with the ID after; "" starts with the first.
func (db Store) Sessions(ctx context.Context, accountID string, now time.Time, after string, limit int) ([]*Session, error) {
	rs, err := db.DB.Query(ctx, `
		SELECT `+sessionColumns+` FROM sessions
		WHERE account_id = $1 AND revoked_at IS NULL AND ends_at > $2 AND idle_at > $2 AND id < $3
		ORDER BY id DESC LIMIT $4`, accountID, database.Micros(now), database.Before(after), limit)
	return database.Collect(rs, err, scanSession)
}

// Roles returns the roles that number holds (see RoleFacts).
func (db Store) Roles(ctx context.Context, number phone.Number) ([]actor.Role, error) {
	rs, err := db.DB.Query(ctx, `
		SELECT a.role, `+store.AccountRoles+`
		FROM accounts a WHERE a.mobile_number = $1
		ORDER BY a.role`, string(number))
	var held []actor.Role // in alphabetical order, as in actor.Roles
	_, err = database.Collect(rs, err, func(s database.Scanner) (r actor.Role, err error) {
		var f RoleFacts
		err = s.Scan(&r, &f.Registered, &f.Linked, &f.Kept)
		if err == nil && f.Held() {
			held = append(held, r)
		}
		return r, err
	})
	return held, err
}

// Own is what an account shows of itself.
type Own struct {
	// Roles are those that its number holds.
	Roles []actor.Role
	Name  string
	// FilledFields are the fields of a coach's profile that are set.
	FilledFields []string
	// Unread is the number of unread notifications, at most notice.MaxUnread.
	Unread int
}

// Own returns what the caller's account shows of itself.
func (db Store) Own(ctx context.Context, by actor.Actor) (o Own, err error) {
	rs, err := db.DB.Query(ctx, `
		SELECT a.role, `+store.AccountRoles+`, a.id = $2, CASE WHEN a.id = $2 THEN `+store.NameOf+` END, CASE WHEN a.id = $2 THEN `+store.FilledBy+`a.id) END,
			(SELECT count(*) FROM (SELECT 1 FROM notifications WHERE account_id = $2 AND read_at IS NULL LIMIT $3) AS unread)
		FROM accounts a WHERE a.mobile_number = $1
		ORDER BY a.role`, string(by.Number), by.AccountID, notice.MaxUnread)
	err = database.Each(rs, err, func(s database.Scanner) error {
		var r actor.Role
		var f RoleFacts
		var own bool
		var name string
		var filled []string
		if err := s.Scan(&r, &f.Registered, &f.Linked, &f.Kept, &own, database.IntoText(&name), database.IntoWords(&filled), &o.Unread); err != nil {
			return err
		}
		if f.Held() {
			o.Roles = append(o.Roles, r)
		}
		if own {
			o.Name, o.FilledFields = name, filled
		}
		return nil
	})
	return o, fault.Wrap(err, "read the caller's account")
}

// RevokeSession ends a session for an operator and returns its account, or "" if there
// is no live session with the ID.
func (db Store) RevokeSession(ctx context.Context, by actor.Operator, id string) (string, error) {
	var accountID string
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		accountID = ""
		err := tx.QueryRow(ctx, `
			UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING account_id`, id, database.Micros(tx.Now)).Scan(&accountID)
		if database.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := notice.EndPush(ctx, tx.Tx, id); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.SessionRevoked, "session", id, "")
	})
	if accountID != "" {
		db.event(ctx, "session_revoked", slog.String("operator_id", by.ID), account(accountID), session(id))
	}
	return accountID, err
}
