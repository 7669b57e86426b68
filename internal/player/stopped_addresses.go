package player

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// StopAddressOfLink ends mail to the address to which a link left. The mails of its request to
// this address then count as failed, so that the coach is notified and may use another channel at
// once. The request stays open.
func StopAddressOfLink(ctx context.Context, db *store.DB, linkHash []byte, now time.Time) (stopped bool, err error) {
	err = db.Write(ctx, func(tx *store.Tx) error {
		var address, requestID string
		err := tx.QueryRow(ctx, `SELECT address, request_id FROM request_links WHERE hash = $1 AND ends_at > $2`, linkHash, database.Micros(now)).
			Scan(database.IntoText(&address), &requestID)
		if err != nil && !database.IsNoRows(err) {
			return err
		}
		stopped = address != ""
		if !stopped {
			return nil // the link left by SMS, or is not valid
		}
		if err := outbox.StopAddress(ctx, tx.Tx, address); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			UPDATE deliveries SET state = 'failed', reason = $3, updated_at = $4
			WHERE request_id = $1 AND recipient = $2 AND state IN ('sent', 'delivered')
			RETURNING `+outbox.DeliveryColumns, requestID, address, message.ReasonAddressStopped, database.Micros(tx.Now))
		failed, err := database.Collect(rs, err, outbox.ScanDelivery)
		if err != nil {
			return err
		}
		for _, d := range failed {
			if d.Kind == message.Request {
				if err := deliveryFailed(ctx, tx, d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return stopped, fault.Wrap(err, "stop the address of a link")
}

// StoppedAddresses returns which of the addresses of an account get no mail, sorted.
func StoppedAddresses(ctx context.Context, db *store.DB, by actor.Actor) ([]string, error) {
	own, err := addressesOf(ctx, db, by)
	if err != nil || len(own) == 0 {
		return nil, err
	}
	return outbox.StoppedAmong(ctx, db, own)
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
			SELECT DISTINCT email FROM parties WHERE account_id = $1 AND deleted_at IS NULL AND email IS NOT NULL AND state = 'approved' LIMIT $2`
	case actor.Student:
		return nil, nil
	}
	rs, err := q.Query(ctx, query, by.AccountID, maxAddresses)
	addresses, err := database.CollectTexts(rs, err)
	return addresses, fault.Wrap(err, "read addresses")
}
