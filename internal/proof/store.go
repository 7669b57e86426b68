package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Record is a record in the list of its party.
type Record struct {
	Body   Body
	Claims Claims
	At     time.Time
	// Position is -1 until the record has one.
	Position int64
}

// Receipts lists up to limit records of the calling guardian or student, newest first, after the record with the id after.
func (s *Service) Receipts(ctx context.Context, by actor.Actor, after string, limit int) ([]Record, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT r.id, r.body, r.at, coalesce(r.position, -1), k.sealed
		FROM record_keys k JOIN consent_records r ON r.id = k.record_id
		WHERE k.account_id = $1 AND k.record_id < $2 AND k.sealed IS NOT NULL
		ORDER BY k.record_id DESC LIMIT $3`, by.AccountID, database.Before(after), limit)
	list, err := database.Collect(rs, err, func(row database.Scanner) (e Record, err error) {
		var id string
		var body, sealed []byte
		if err = row.Scan(&id, &body, database.IntoTime(&e.At), &e.Position, &sealed); err != nil {
			return e, err
		}
		o, err := open(s.DB, sealed, id)
		if err != nil {
			return e, err
		}
		e.Claims = o.claims
		return e, json.Unmarshal(body, &e.Body)
	})
	return list, fault.Wrap(err, "list receipts")
}

// Receipt returns the receipt of a record of the calling guardian or student. Errors: not_found, unavailable while the log
// has stopped.
func (s *Service) Receipt(ctx context.Context, by actor.Actor, recordID string) (r Receipt, err error) {
	waiting := func() (waiting bool, err error) {
		err = s.DB.QueryRow(ctx, `
			SELECT r.position IS NULL FROM record_keys k JOIN consent_records r ON r.id = k.record_id
			WHERE k.record_id = $1 AND k.account_id = $2 AND k.sealed IS NOT NULL`, recordID, by.AccountID).Scan(&waiting)
		return waiting, database.OrMissing(err, "read record "+recordID)
	}
	for attempt := 0; ; attempt++ {
		wait, err := waiting()
		if err != nil {
			return r, err
		}
		if !wait {
			break
		}
		n, err := s.Number(ctx)
		if err != nil && n == 0 {
			return r, err // with n > 0 the file of the checkpoint could not be written, which the worker reports
		}
		if n == 0 && attempt > 0 {
			return r, fault.Down(fmt.Errorf("record %s has no position: the log has stopped", recordID))
		}
	}
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		r, err = s.prove(ctx, tx, recordID, by.AccountID)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("prove record %s: %w", recordID, err)
	}
	return r, nil
}

// prove returns the receipt of a record of an account, with a checkpoint that witnesses cosigned, or else with the newest one.
func (s *Service) prove(ctx context.Context, tx *store.Tx, recordID, accountID string) (r Receipt, err error) {
	var sealed []byte
	var size int64
	err = tx.QueryRow(ctx, `
		SELECT r.body, r.position, k.sealed, l.size, l.checkpoint
		FROM record_keys k JOIN consent_records r ON r.id = k.record_id JOIN consent_log l ON l.id = 1
		WHERE k.record_id = $1 AND k.account_id = $2 AND k.sealed IS NOT NULL`, recordID, accountID).
		Scan(&r.Body, &r.Index, &sealed, &size, &r.Checkpoint)
	if database.IsNoRows(err) {
		return r, fault.Down(errNoLog) // Receipt has found the record
	}
	if err != nil {
		return r, err
	}
	o, err := open(tx.DB(), sealed, recordID)
	if err != nil {
		return r, err
	}
	r.Disclosures = o.claims.disclosures(o.key)
	best, err := s.cosigned(ctx, tx, nameOf(r.Checkpoint), func(c cosigned) bool { return c.size > r.Index })
	if err != nil {
		return r, err
	}
	if best.size > 0 {
		size, r.Checkpoint = best.size, best.checkpoint
	}
	r.Proof, err = tlog.ProveRecord(size, r.Index, newTree(ctx, tx, size))
	return r, err
}
