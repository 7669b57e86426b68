package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
)

// CloseAccount judges the code and, where it is right, uses it up and closes the
// coach's account, all in one transaction however many players there are: nobody
// ever sees a part of it.
func (db *DB) CloseAccount(ctx context.Context, c auth.Closing) (auth.Tried, error) {
	var tried auth.Tried
	c.Try.Use = true
	err := db.write(ctx, func(tx *tx) (err error) {
		if tried, err = tx.try(ctx, c.Try); err != nil || tried.Verdict != auth.RightCode {
			return judged(tried, err)
		}
		return tx.closeAccount(ctx, c.By)
	})
	if errors.Is(err, errNothingTried) {
		err = nil
	}
	return tried, err
}

// closeAccount ends everything that is the coach's.
//
// The row in coaches comes first, for whoever adds a player or changes a document
// holds it and then looks at the account. Players come before the account: who
// decides about one holds it and then wants the account's tray. After the account
// come the players that were added just now, so that none is overlooked.
func (tx *tx) closeAccount(ctx context.Context, by actor.Actor) error {
	if _, err := tx.holdCoach(ctx, by.AccountID); err != nil {
		return fmt.Errorf("close account: %w", err)
	}
	var name string
	err := tx.QueryRow(ctx, `SELECT name FROM coaches WHERE id = $1`, by.AccountID).Scan(intoText(&name))
	if isNone(err) {
		return auth.ErrEnded()
	}
	if err != nil {
		return err
	}
	left := &leaving{tx: tx, by: by, name: name}
	for _, step := range []func(context.Context) error{
		left.endPlayers, left.freeNumber, left.endPlayers, left.endSessions,
		left.closeRequests, left.forgetPeople, left.forgetSelf, left.tellPeople,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("close account: %w", err)
		}
	}
	return nil
}

// leaving is a closing under way, with what it has ended so far.
type leaving struct {
	tx   *tx
	by   actor.Actor
	name string

	players []any // ids
	parties []farewell
}

// freeNumber parts the account from its number, which stays sealed for the proof.
func (l *leaving) freeNumber(ctx context.Context) error {
	sealed, err := l.tx.db.sealNumber(l.by)
	if err != nil {
		return err
	}
	err = l.tx.ExecOne(ctx, `
		UPDATE accounts SET mobile_number = $3, closed_at = $4, closed_number = $5
		WHERE id = $1 AND mobile_number = $2 AND role = 'coach' AND closed_at IS NULL`,
		l.by.AccountID, string(l.by.Number), l.gone(), micros(l.tx.Now), sealed)
	if errors.Is(err, database.ErrStale) {
		return auth.ErrEnded() // another session closed it, or changed the number
	}
	return err
}

// endSessions ends every session of the account and the devices of the number, and
// parts those that ended before from it, too. The caller's must live still: who was
// signed out just now closes nothing.
func (l *leaving) endSessions(ctx context.Context) error {
	err := l.tx.ExecOne(ctx, `
		UPDATE sessions SET revoked_at = $3 WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL`,
		l.by.SessionID, l.by.AccountID, micros(l.tx.Now))
	if errors.Is(err, database.ErrStale) {
		return auth.ErrEnded()
	}
	if err != nil {
		return err
	}
	coach, now, gone := l.by.AccountID, micros(l.tx.Now), l.gone()
	return l.each(ctx,
		statement{query: `
			UPDATE sessions SET mobile_number = $2, device_name = NULL
			WHERE account_id = $1 AND revoked_at IS NOT NULL`, args: []any{coach, gone}},
		statement{query: `
			UPDATE sessions SET mobile_number = $2, device_name = NULL, revoked_at = $3
			WHERE account_id = $1 AND revoked_at IS NULL`, args: []any{coach, gone, now}},
		statement{query: `DELETE FROM devices WHERE mobile_number = $1`, args: []any{string(l.by.Number)}},
	)
}

// gone stands where a number was. It is none, so that nobody can have it.
func (l *leaving) gone() string { return "closed:" + l.by.AccountID }

// closeRequests cancels what is still open and drops what has not left yet.
func (l *leaving) closeRequests(ctx context.Context) error {
	coach, now := l.by.AccountID, micros(l.tx.Now)
	return l.each(ctx,
		statement{query: `
			UPDATE deliveries SET state = 'failed', reason = 'request_closed', lease = NULL, updated_at = $2
			WHERE state = 'queued' AND request_id IN (SELECT id FROM requests WHERE coach_id = $1 AND state = 'pending')`, args: []any{coach, now}},
		statement{query: `UPDATE requests SET state = 'cancelled', closed_at = $2 WHERE coach_id = $1 AND state = 'pending'`, args: []any{coach, now}},
		statement{query: `DELETE FROM digests WHERE coach_id = $1`, args: []any{coach}},
	)
}

// forgetSelf removes what the coach told and kept. Whoever changes documents or
// verification waits for the row in coaches, and finds it gone afterwards.
func (l *leaving) forgetSelf(ctx context.Context) error {
	coach, now := l.by.AccountID, micros(l.tx.Now)
	return l.each(ctx,
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

// statement is one statement with its arguments.
type statement struct {
	query string
	args  []any
}

// each runs statements on whose answers nothing depends.
func (l *leaving) each(ctx context.Context, statements ...statement) error {
	for _, s := range statements {
		if err := l.tx.Defer(ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}
