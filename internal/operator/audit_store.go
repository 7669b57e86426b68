package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// SQL stores tokens, sessions and the audit log.
type SQL struct {
	DB    *database.DB
	NewID func() string
	// CountWaiting counts what waits for operators, each up to MaxCount, and messages that failed after
	// since.
	CountWaiting func(ctx context.Context, since time.Time) (Counts, error)
}

func (db SQL) addEntry(ctx context.Context, tx *database.Tx, by actor.Operator, action, objectKind, objectID, detail string) error {
	return AddEntry(ctx, tx, db.NewID(), by, action, objectKind, objectID, detail)
}

// Record adds an entry in its own transaction.
func (db SQL) Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error {
	return db.DB.Write(ctx, func(tx *database.Tx) error {
		return AddEntry(ctx, tx, db.NewID(), by, action, objectKind, objectID, detail)
	})
}

// Counts is CountWaiting.
func (db SQL) Counts(ctx context.Context, since time.Time) (Counts, error) {
	return db.CountWaiting(ctx, since)
}

// RecordIntrospections adds each count to the entry of its token and minute, and creates
// the entry if there is none. Replicas may add to the same entry.
func (db SQL) RecordIntrospections(ctx context.Context, all []Introspections) error {
	return db.DB.Write(ctx, func(tx *database.Tx) error {
		for _, i := range all {
			err := tx.Defer(ctx, `
				INSERT INTO audit_log (id, at, operator_id, operator_name, action, object_kind, object_id, detail, count)
				VALUES ($1, $2, $3, $4, 'token.introspect', 'token', $3, '', $5)
				ON CONFLICT (operator_id, at) WHERE action = 'token.introspect' DO UPDATE SET count = audit_log.count + excluded.count`,
				db.NewID(), database.Micros(i.Minute), i.By.ID, i.By.Name, i.Count)
			if err != nil {
				return fmt.Errorf("record introspections: %w", err)
			}
		}
		return nil
	})
}

// Audit lists the entries of one object, or all if objectID is "", newest first. Then it
// adds the entry of this read.
func (db SQL) Audit(ctx context.Context, by actor.Operator, objectID, after string, limit int) ([]Entry, error) {
	var entries []Entry
	err := db.DB.Write(ctx, func(tx *database.Tx) (err error) {
		entries, err = auditEntries(ctx, tx, objectID, after, limit)
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		detail := ""
		if objectID != "" {
			detail = "of object " + objectID
		}
		return db.addEntry(ctx, tx, by, AuditRead, "audit", "", detail)
	})
	return entries, err
}

func auditEntries(ctx context.Context, tx *database.Tx, objectID, after string, limit int) ([]Entry, error) {
	if objectID == "" {
		return collectAudit(tx.Query(ctx, `
			SELECT id, at, operator_id, operator_name, action, object_kind, object_id, detail, count
			FROM audit_log WHERE id < $1 ORDER BY id DESC LIMIT $2`, database.Before(after), limit))
	}
	return collectAudit(tx.Query(ctx, `
		SELECT id, at, operator_id, operator_name, action, object_kind, object_id, detail, count
		FROM audit_log WHERE object_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, objectID, database.Before(after), limit))
}

func collectAudit(rs *database.Rows, err error) ([]Entry, error) {
	return database.Collect(rs, err, func(s database.Scanner) (Entry, error) {
		var e Entry
		err := s.Scan(&e.ID, database.IntoTime(&e.At), database.IntoText(&e.By.ID), &e.By.Name, &e.Action, &e.ObjectKind, &e.ObjectID, &e.Detail, &e.Count)
		return e, err
	})
}
