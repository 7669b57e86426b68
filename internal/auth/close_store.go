package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// CloseAccount evaluates the code. If it is correct, it consumes the code and
// closes the account in the same transaction, however many players the coach has.
func (db Store) CloseAccount(ctx context.Context, c CloseRequest) (VerificationResult, error) {
	var result VerificationResult
	c.Attempt.Consume = true
	err := db.DB.Write(ctx, func(tx *store.Tx) (err error) {
		result, err = db.verifyOTP(ctx, tx, c.Attempt)
		if err != nil || result.Outcome != CorrectCode {
			return rollbackUnlessEvaluated(result, err)
		}
		return db.closeAccount(ctx, tx, c.By)
	})
	if err := ignoreNotEvaluated(err); err != nil {
		return result, err
	}
	ids := []slog.Attr{account(c.By.AccountID), session(c.By.SessionID)}
	db.attempt(ctx, result, ids...)
	if result.Outcome == CorrectCode {
		db.sessions("ended_all", 1)
		db.event(ctx, "account_closed", ids...)
	}
	return result, nil
}

// CloseAccountOf closes the account of a coach without a code and without a session, for an operator. also runs in the same
// transaction.
func (db Store) CloseAccountOf(ctx context.Context, by actor.Actor, also func(context.Context, *store.Tx) error) error {
	by.SessionID = ""
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		if err := db.closeAccount(ctx, tx, by); err != nil {
			return err
		}
		return also(ctx, tx)
	})
	if err != nil {
		return err
	}
	db.sessions("ended_all", 1)
	db.event(ctx, "account_closed", account(by.AccountID))
	return nil
}

// closeAccount closes the account of a coach and ends everything that belongs to it.
//
// Lock order: the coach's row, players, the account. Adding a player and changing a
// document lock the coach's row before the account; a decision locks the player
// before the account. Players that were added before the account was locked are
// ended in a second run of EndPlayers.
func (db Store) closeAccount(ctx context.Context, tx *store.Tx, by actor.Actor) error {
	if _, err := tx.LockCoach(ctx, by.AccountID); err != nil {
		return fmt.Errorf("close account: %w", err)
	}
	var name string
	err := tx.QueryRow(ctx, `SELECT name FROM coaches WHERE id = $1`, by.AccountID).Scan(database.IntoText(&name))
	if database.IsNoRows(err) {
		return fault.SessionEnded()
	}
	if err != nil {
		return err
	}
	c := &accountClosure{db: db, tx: tx, by: by}
	players := db.DB.Hooks().Consents.CloseCoach(by, name)
	of := func(step func(context.Context, *store.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return step(ctx, tx) }
	}
	for _, step := range []func(context.Context) error{
		of(players.EndPlayers), c.releaseNumber, of(players.EndPlayers), c.endSessions, c.deletePreferences,
		of(players.EndRequests), c.deleteTeam, c.deleteMessages, c.deleteCoach, of(players.Notify),
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("close account: %w", err)
		}
	}
	return nil
}

// accountClosure is a closure in progress.
type accountClosure struct {
	db Store
	tx *store.Tx
	by actor.Actor
}

// releaseNumber replaces the account's number, so that it can register again. The
// number stays encrypted in closed_number, because the history must name it.
func (c *accountClosure) releaseNumber(ctx context.Context) error {
	sealed, err := c.db.DB.SealNumber(c.by)
	if err != nil {
		return err
	}
	err = c.tx.ExecOne(ctx, `
		UPDATE accounts SET mobile_number = $3, closed_at = $4, closed_number = $5
		WHERE id = $1 AND mobile_number = $2 AND role = 'coach' AND closed_at IS NULL`,
		c.by.AccountID, string(c.by.Number), c.closedNumber(), database.Micros(c.tx.Now), sealed)
	if errors.Is(err, database.ErrStale) {
		return fault.SessionEnded() // another session closed it, or changed the number
	}
	if err != nil {
		return err
	}
	if err := c.tx.RecordErasure(ctx, c.by.Role, c.by.AccountID); err != nil {
		return err
	}
	return c.db.addFormerNumber(ctx, c.tx, c.by, true)
}

// endSessions ends every session of the account and deletes the devices of the
// number. It also removes the number from sessions that ended before. The caller's
// session must still be active; an operator has none.
func (c *accountClosure) endSessions(ctx context.Context) error {
	if c.by.SessionID != "" {
		err := c.tx.ExecOne(ctx, `
			UPDATE sessions SET revoked_at = $3 WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL`,
			c.by.SessionID, c.by.AccountID, database.Micros(c.tx.Now))
		if errors.Is(err, database.ErrStale) {
			return fault.SessionEnded()
		}
		if err != nil {
			return err
		}
	}
	coach, now, number := c.by.AccountID, database.Micros(c.tx.Now), c.closedNumber()
	return c.each(ctx,
		statement{query: `
			UPDATE sessions SET mobile_number = $2, device_name = NULL
			WHERE account_id = $1 AND revoked_at IS NOT NULL`, args: []any{coach, number}},
		statement{query: `
			UPDATE sessions SET mobile_number = $2, device_name = NULL, revoked_at = $3
			WHERE account_id = $1 AND revoked_at IS NULL`, args: []any{coach, number, now}},
		statement{query: `DELETE FROM devices WHERE mobile_number = $1`, args: []any{string(c.by.Number)}},
		statement{query: `DELETE FROM push_subscriptions WHERE account_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM passkeys WHERE account_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM coach_devices WHERE coach_id = $1`, args: []any{coach}},
	)
}

// deletePreferences deletes the preferences of the number that was released, and its confirmed address.
func (c *accountClosure) deletePreferences(ctx context.Context) error {
	if err := c.db.removeAddress(ctx, c.tx, c.by.Number, c.by.Role); err != nil {
		return err
	}
	return outbox.DeleteUnusedPreferences(ctx, c.tx.Tx, c.by.Number, c.db.DB.KeptNumber(c.by.Number))
}

// closedNumber replaces the number. It is not a number, so no one can register it.
func (c *accountClosure) closedNumber() string { return "closed:" + c.by.AccountID }

// deleteTeam deletes what the coach noted about players and ends what recurs. Fees and
// payments are retained for the accounts, with the names of their batches, and messages and
// replies for safeguarding.
func (c *accountClosure) deleteTeam(ctx context.Context) error {
	coach, now := c.by.AccountID, database.Micros(c.tx.Now)
	err := c.each(ctx,
		statement{query: `DELETE FROM superseded_marks WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM attendance_marks WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM attendance_sheets WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM batch_players WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM earlier_memberships WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `UPDATE batches SET archived_at = $2, updated_at = $2 WHERE coach_id = $1 AND archived_at IS NULL`, args: []any{coach, now}},
	)
	if err != nil {
		return err
	}
	for _, hook := range c.db.DB.Hooks().CoachLeft {
		if err := hook(ctx, c.tx, coach); err != nil {
			return err
		}
	}
	return nil
}

// deleteMessages deletes what was sent to the coach, and the counts that name a number or address of the coach.
func (c *accountClosure) deleteMessages(ctx context.Context) error {
	coach := c.by.AccountID
	return c.each(ctx,
		statement{query: `
			DELETE FROM message_counts WHERE (counter, counted_at) IN (
				SELECT m.counter, m.counted_at FROM deliveries d JOIN message_counts m ON m.counter IN ('number/' || d.recipient, 'number/' || lower(d.recipient))
				WHERE d.account_id = $1 AND d.request_id IS NULL AND d.recipient <> '')`, args: []any{coach}},
		statement{query: `DELETE FROM deliveries WHERE account_id = $1 AND request_id IS NULL`, args: []any{coach}},
		statement{query: `DELETE FROM deliveries WHERE recipient = $1 AND recipient <> '' AND role = 'coach'`, args: []any{string(c.by.Number)}},
	)
}

// deleteCoach deletes the profile, documents, verification and listing. Concurrent
// changes of them wait for the coach's row and then find it deleted.
func (c *accountClosure) deleteCoach(ctx context.Context) error {
	coach, now := c.by.AccountID, database.Micros(c.tx.Now)
	return c.each(ctx,
		statement{query: `DELETE FROM coaches WHERE id = $1`, args: []any{coach}},
		statement{query: `UPDATE blobs SET ends_at = $2 WHERE coach_id = $1 AND ends_at IS NULL`, args: []any{coach, now}},
		statement{query: `DELETE FROM documents WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM kyc_documents WHERE submission_id IN (SELECT id FROM kyc_submissions WHERE coach_id = $1)`, args: []any{coach}},
		statement{query: `DELETE FROM kyc_submissions WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM listing_terms WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM listings WHERE coach_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM notifications WHERE account_id = $1`, args: []any{coach}},
		statement{query: `DELETE FROM kept_answers WHERE owner = $1`, args: []any{coach}},
	)
}

// statement is a statement with its arguments.
type statement struct {
	query string
	args  []any
}

// each defers statements whose results are not needed.
func (c *accountClosure) each(ctx context.Context, statements ...statement) error {
	for _, s := range statements {
		if err := c.tx.Defer(ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}
