package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

// documentColumns are the columns of scanDocument.
const documentColumns = `d.id, d.coach_id, d.kind, d.title, d.issuer, d.issued_on, d.expires_on, d.file_name, d.media_type, d.size, d.sha256,
	d.width, d.height, d.variants, d.blob, d.in_profile, d.notice_at, d.version, d.created_at, d.updated_at`

// variant is the JSON form of one size of a picture.
type variant struct {
	Name   string `json:"name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int64  `json:"size"`
	Blob   string `json:"blob"`
}

func scanDocument(s database.Scanner) (d coach.Document, err error) {
	var width, height sql.NullInt64
	var variants []variant
	err = s.Scan(&d.ID, &d.CoachID, &d.Kind, &d.Title, database.IntoText(&d.Issuer), database.IntoText((*string)(&d.IssuedOn)), database.IntoText((*string)(&d.ExpiresOn)),
		&d.File.Name, &d.File.MediaType, &d.File.Size, &d.File.SHA256, &width, &height, database.IntoJSON(&variants), &d.File.Blob, &d.InProfile,
		database.IntoTime(&d.NotifyAt), &d.Version, database.IntoTime(&d.CreatedAt), database.IntoTime(&d.UpdatedAt))
	d.File.Width, d.File.Height = int(width.Int64), int(height.Int64)
	for _, v := range variants {
		d.File.Sizes = append(d.File.Sizes, coach.PictureSize(v))
	}
	return d, err
}

func encodeSizes(f coach.StoredFile) (string, error) {
	variants := []variant{}
	for _, size := range f.Sizes {
		variants = append(variants, variant(size))
	}
	text, err := json.Marshal(variants)
	return string(text), err
}

// nullIfZero returns nil, NULL in SQL, for 0.
func nullIfZero(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// Documents implements coach.DocumentStore.
func (db *DB) Documents(ctx context.Context, coachID string, kind coach.DocumentKind, last string, n int) ([]coach.Document, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT `+documentColumns+`
		FROM documents d
		WHERE d.coach_id = $1 AND d.id < $2 AND (CAST($3 AS TEXT) IS NULL OR d.kind = $3)
		ORDER BY d.id DESC LIMIT $4`, coachID, database.Before(last), database.Text(string(kind)), n)
	return database.Collect(rs, err, scanDocument)
}

// Document returns a document of the coach, or not_found.
func (db *DB) Document(ctx context.Context, coachID, id string) (coach.Document, error) {
	return document(ctx, db.sql, coachID, id)
}

func document(ctx context.Context, q database.Querier, coachID, id string) (coach.Document, error) {
	d, err := scanDocument(q.QueryRow(ctx, `SELECT `+documentColumns+` FROM documents d WHERE d.coach_id = $1 AND d.id = $2`, coachID, id))
	if database.IsNoRows(err) {
		return d, fault.Missing()
	}
	return d, err
}

// DocumentByID returns a document of any coach, or not_found.
func (db *DB) DocumentByID(ctx context.Context, id string) (coach.Document, error) {
	d, err := scanDocument(db.sql.QueryRow(ctx, `SELECT `+documentColumns+` FROM documents d WHERE d.id = $1`, id))
	if database.IsNoRows(err) {
		return d, fault.Missing()
	}
	return d, err
}

// Storage returns the number and bytes of a coach's documents, and the tier status.
func (db *DB) Storage(ctx context.Context, coachID string) (documents int, bytes int64, status coach.TierStatus, err error) {
	err = db.sql.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM documents d WHERE d.coach_id = c.id), c.stored_bytes, c.tier, c.kyc_state
		FROM coaches c WHERE c.id = $1`, coachID).Scan(&documents, &bytes, database.IntoText(&status.Tier), &status.KYC)
	if database.IsNoRows(err) {
		err = auth.ErrSessionEnded()
	}
	return documents, bytes, status, err
}

// storageUsage is the storage that a coach uses after a change, and the tier status.
type storageUsage struct {
	bytes  int64
	status coach.TierStatus
}

// updateUsage adds more bytes, which may be negative, to a coach's usage and locks
// the coach's row. Every change of documents calls it first, so that they run one
// after the other. The new version makes concurrent edits of the profile fail.
// showsInProfile also updates the profile's time.
func (tx *Tx) updateUsage(ctx context.Context, coachID string, more int64, showsInProfile bool) (s storageUsage, err error) {
	var updatedAt any
	if showsInProfile {
		updatedAt = database.Micros(tx.Now)
	}
	err = tx.QueryRow(ctx, `
		UPDATE coaches SET stored_bytes = stored_bytes + $2, version = version + 1, updated_at = COALESCE(CAST($3 AS BIGINT), updated_at)
		WHERE id = $1
		RETURNING stored_bytes, tier, kyc_state`, coachID, more, updatedAt).Scan(&s.bytes, database.IntoText(&s.status.Tier), &s.status.KYC)
	if database.IsNoRows(err) {
		err = auth.ErrSessionEnded()
	}
	return s, err
}

// check calls allow with the usage before updateUsage added more bytes.
func (s storageUsage) check(allow coach.StorageCheck, more int64) error {
	if allow == nil || more <= 0 {
		return nil
	}
	return allow(s.status, s.bytes-more, more)
}

// AddDocument saves d and makes its blobs permanent, if check allows the size. A
// new picture becomes the profile picture.
func (db *DB) AddDocument(ctx context.Context, d coach.Document, check coach.StorageCheck) (coach.Document, error) {
	return d, db.Write(ctx, func(tx *Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: d.ID, New: true}); err != nil {
			return err
		}
		s, err := tx.updateUsage(ctx, d.CoachID, d.File.Size, d.InProfile)
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM documents WHERE coach_id = $1`, d.CoachID).Scan(&n); err != nil {
			return err
		}
		if err := coach.CheckDocuments(n); err != nil {
			return err
		}
		if err := s.check(check, d.File.Size); err != nil {
			return err
		}
		if err := tx.keepBlobs(ctx, d.CoachID, d.File.Blobs()); err != nil {
			return err
		}
		if err := tx.insertDocument(ctx, d); err != nil {
			return err
		}
		if d.Kind == coach.ProfilePicture {
			if err := tx.setPicture(ctx, d.CoachID, d.ID); err != nil {
				return err
			}
		}
		return tx.ReindexListing(ctx, d.CoachID)
	})
}

func (tx *Tx) insertDocument(ctx context.Context, d coach.Document) error {
	sizes, err := encodeSizes(d.File)
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		INSERT INTO documents (id, coach_id, kind, title, issuer, issued_on, expires_on, file_name, media_type, size, sha256,
			width, height, variants, blob, in_profile, notice_at, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
		d.ID, d.CoachID, string(d.Kind), d.Title, database.Text(d.Issuer), database.Text(string(d.IssuedOn)), database.Text(string(d.ExpiresOn)), d.File.Name, d.File.MediaType,
		d.File.Size, d.File.SHA256, nullIfZero(d.File.Width), nullIfZero(d.File.Height), sizes, d.File.Blob, d.InProfile, database.Micros(d.NotifyAt), d.Version,
		database.Micros(d.CreatedAt), database.Micros(d.UpdatedAt))
	if err != nil {
		return fmt.Errorf("add document %s: %w", d.ID, err)
	}
	return nil
}

// UpdateDocument loads a document, lets fn change it, and saves it unless it was
// changed meanwhile. fn may run more than once.
func (db *DB) UpdateDocument(ctx context.Context, coachID, id string, fn func(coach.Document) (coach.Document, error)) error {
	return db.Write(ctx, func(tx *Tx) error {
		d, err := document(ctx, tx, coachID, id)
		if err != nil {
			return err
		}
		if d, err = fn(d); err != nil {
			return err
		}
		if d.InProfile {
			if _, err := tx.updateUsage(ctx, coachID, 0, true); err != nil {
				return err
			}
		}
		err = tx.ExecOne(ctx, `
			UPDATE documents SET title = $4, issuer = $5, issued_on = $6, expires_on = $7, notice_at = $8, updated_at = $9, version = version + 1
			WHERE coach_id = $1 AND id = $2 AND version = $3`,
			coachID, id, d.Version, d.Title, database.Text(d.Issuer), database.Text(string(d.IssuedOn)), database.Text(string(d.ExpiresOn)), database.Micros(d.NotifyAt), database.Micros(d.UpdatedAt))
		if err != nil || !d.InProfile {
			return err
		}
		return tx.ReindexListing(ctx, coachID)
	})
}
