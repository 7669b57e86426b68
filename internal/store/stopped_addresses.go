package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

var (
	_ message.AddressStore = (*DB)(nil)
	_ operator.MailStore   = (*DB)(nil)
)

// StopAddress ends mail to an address. It may be repeated.
func (db *DB) StopAddress(ctx context.Context, address string) error {
	err := db.Write(ctx, func(tx *Tx) error { return tx.stopAddress(ctx, address) })
	if err != nil {
		return fmt.Errorf("stop an address: %w", err)
	}
	return nil
}

func (tx *Tx) stopAddress(ctx context.Context, address string) error {
	return tx.Defer(ctx, `
		INSERT INTO stopped_addresses (address, stopped_at) VALUES ($1, $2)
		ON CONFLICT (address) DO NOTHING`, message.FoldAddress(address), database.Micros(tx.Now))
}

// StopAddressOfLink ends mail to the address to which a link left. The mails of its request to
// this address then count as failed, so that the coach is notified and may use another channel at
// once. The request stays open.
func (db *DB) StopAddressOfLink(ctx context.Context, linkHash []byte, now time.Time) (stopped bool, err error) {
	err = db.Write(ctx, func(tx *Tx) error {
		var address, requestID string
		err := tx.QueryRow(ctx, `SELECT address, request_id FROM request_links WHERE hash = $1 AND ends_at > $2`, linkHash, database.Micros(now)).
			Scan(database.IntoText(&address), &requestID)
		if err != nil && !database.IsNoRows(err) {
			return err
		}
		if stopped = address != ""; !stopped {
			return nil // the link left by SMS, or is not valid
		}
		if err := tx.stopAddress(ctx, address); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			UPDATE deliveries SET state = 'failed', reason = $3, updated_at = $4
			WHERE request_id = $1 AND recipient = $2 AND state IN ('sent', 'delivered')
			RETURNING `+deliveryColumns, requestID, address, message.ReasonAddressStopped, database.Micros(tx.Now))
		failed, err := database.Collect(rs, err, scanDelivery)
		if err != nil {
			return err
		}
		for _, d := range failed {
			if d.Kind == message.Request {
				if err := tx.markFailed(ctx, d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("stop the address of a link: %w", err)
	}
	return stopped, nil
}

// StoppedAddresses returns which of the addresses of an account get no mail, sorted.
func (db *DB) StoppedAddresses(ctx context.Context, by actor.Actor) ([]string, error) {
	own, err := addressesOf(ctx, db.sql, by)
	if err != nil || len(own) == 0 {
		return nil, err
	}
	args := make([]any, len(own))
	for i, address := range own {
		args[i] = message.FoldAddress(address)
	}
	rs, err := db.sql.Query(ctx, `SELECT address FROM stopped_addresses WHERE address IN (`+database.Params(1, len(args))+`) ORDER BY address`, args...)
	return database.CollectTexts(rs, err)
}

// maxAddresses bounds the addresses that are read of one account.
const maxAddresses = 200

// addressesOf returns the e-mail addresses of an account. A guardian learns the address that a
// coach entered only from a player that the guardian approved: the number may be a wrong one.
func addressesOf(ctx context.Context, q database.Querier, by actor.Actor) ([]string, error) {
	query := `SELECT email FROM coaches WHERE id = $1 AND email IS NOT NULL LIMIT $2`
	switch by.Role {
	case actor.Guardian:
		query = `
			SELECT DISTINCT guardian_email FROM players
			WHERE guardian_id = $1 AND deleted_at IS NULL AND guardian_email IS NOT NULL AND guardian_state = 'approved' LIMIT $2`
	case actor.Student:
		return nil, nil
	}
	rs, err := q.Query(ctx, query, by.AccountID, maxAddresses)
	addresses, err := database.CollectTexts(rs, err)
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}
	return addresses, nil
}

// AddressStopped reports whether an address gets no mail.
func (db *DB) AddressStopped(ctx context.Context, address string) (stopped bool, err error) {
	err = db.sql.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM stopped_addresses WHERE address = $1)`, message.FoldAddress(address)).Scan(&stopped)
	if err != nil {
		return false, fmt.Errorf("read a stopped address: %w", err)
	}
	return stopped, nil
}

// AllowAddress ends StopAddress. It may be repeated.
func (db *DB) AllowAddress(ctx context.Context, address string) error {
	_, err := db.sql.Exec(ctx, `DELETE FROM stopped_addresses WHERE address = $1`, message.FoldAddress(address))
	if err != nil {
		return fmt.Errorf("allow an address: %w", err)
	}
	return nil
}

// AllowAddressForOperator is AllowAddress with an audit entry. It returns not_found if mail to the
// address was not stopped.
func (db *DB) AllowAddressForOperator(ctx context.Context, by actor.Operator, address, reason string) error {
	err := db.Write(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM stopped_addresses WHERE address = $1`, message.FoldAddress(address))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Missing()
		}
		return tx.Record(ctx, by, operator.MailAllowed, "address", "", reason)
	})
	if err != nil {
		return fmt.Errorf("allow an address for an operator: %w", err)
	}
	return nil
}
