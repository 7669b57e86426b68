package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// Record is operator.AddEntry in the transaction.
func (tx *Tx) Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error {
	return operator.AddEntry(ctx, tx.Tx, tx.db.options.NewID(), by, action, objectKind, objectID, detail)
}

// Record is Tx.Record in its own transaction.
func (db *DB) Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error {
	return db.Write(ctx, func(tx *Tx) error { return tx.Record(ctx, by, action, objectKind, objectID, detail) })
}

// RecordIntrospections adds each count to the entry of its token and minute, and creates
// the entry if there is none. Replicas may add to the same entry.
func (db *DB) RecordIntrospections(ctx context.Context, all []operator.Introspections) error {
	return db.Write(ctx, func(tx *Tx) error {
		for _, i := range all {
			err := tx.Defer(ctx, `
				INSERT INTO audit_log (id, at, operator_id, operator_name, action, object_kind, object_id, detail, count)
				VALUES ($1, $2, $3, $4, 'token.introspect', 'token', $3, '', $5)
				ON CONFLICT (operator_id, at) WHERE action = 'token.introspect' DO UPDATE SET count = audit_log.count + excluded.count`,
				tx.db.options.NewID(), database.Micros(i.Minute), i.By.ID, i.By.Name, i.Count)
			if err != nil {
				return fmt.Errorf("record introspections: %w", err)
			}
		}
		return nil
	})
}

// Audit lists the entries of one object, or all if objectID is "", newest first. Then it
// adds the entry of this read.
func (db *DB) Audit(ctx context.Context, by actor.Operator, objectID, after string, limit int) ([]operator.Entry, error) {
	var entries []operator.Entry
	err := db.Write(ctx, func(tx *Tx) (err error) {
		if entries, err = tx.auditEntries(ctx, objectID, after, limit); err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		detail := ""
		if objectID != "" {
			detail = "of object " + objectID
		}
		return tx.Record(ctx, by, operator.AuditRead, "audit", "", detail)
	})
	return entries, err
}

func (tx *Tx) auditEntries(ctx context.Context, objectID, after string, limit int) ([]operator.Entry, error) {
	if objectID == "" {
		return collectAudit(tx.Query(ctx, `
			SELECT id, at, operator_id, operator_name, action, object_kind, object_id, detail, count
			FROM audit_log WHERE id < $1 ORDER BY id DESC LIMIT $2`, database.Before(after), limit))
	}
	return collectAudit(tx.Query(ctx, `
		SELECT id, at, operator_id, operator_name, action, object_kind, object_id, detail, count
		FROM audit_log WHERE object_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, objectID, database.Before(after), limit))
}

func collectAudit(rs *database.Rows, err error) ([]operator.Entry, error) {
	return database.Collect(rs, err, func(s database.Scanner) (operator.Entry, error) {
		var e operator.Entry
		err := s.Scan(&e.ID, database.IntoTime(&e.At), database.IntoText(&e.By.ID), &e.By.Name, &e.Action, &e.ObjectKind, &e.ObjectID, &e.Detail, &e.Count)
		return e, err
	})
}
