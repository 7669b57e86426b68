package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/database"
)

// ReplaceFile implements coach.DocumentStore.
func (db *DB) ReplaceFile(ctx context.Context, coachID, id string, file coach.StoredFile, now time.Time, check coach.StorageCheck) (coach.Document, coach.KYCState, error) {
	var d coach.Document
	var kyc coach.KYCState
	err := db.Write(ctx, func(tx *Tx) error {
		var err error
		if d, err = document(ctx, tx, coachID, id); err != nil {
			return err
		}
		more := file.Size - d.File.Size
		s, err := tx.updateUsage(ctx, coachID, more, d.InProfile)
		if err != nil {
			return err
		}
		if err := s.check(check, more); err != nil {
			return err
		}
		if err := tx.keepBlobs(ctx, coachID, file.Blobs()); err != nil {
			return err
		}
		if err := tx.expireBlobs(ctx, d.File.Blobs()); err != nil {
			return err
		}
		d.File, d.UpdatedAt = file, now
		if err := tx.saveFile(ctx, d); err != nil {
			return err
		}
		if kyc, err = tx.withdrawIfIdentity(ctx, d, s.status.KYC); err != nil {
			return err
		}
		return tx.ReindexListing(ctx, coachID)
	})
	return d, kyc, err
}

func (tx *Tx) saveFile(ctx context.Context, d coach.Document) error {
	sizes, err := encodeSizes(d.File)
	if err != nil {
		return err
	}
	return tx.ExecOne(ctx, `
		UPDATE documents SET file_name = $4, media_type = $5, size = $6, sha256 = $7, width = $8, height = $9, variants = $10, blob = $11,
			updated_at = $12, version = version + 1
		WHERE coach_id = $1 AND id = $2 AND version = $3`,
		d.CoachID, d.ID, d.Version, d.File.Name, d.File.MediaType, d.File.Size, d.File.SHA256, nullIfZero(d.File.Width), nullIfZero(d.File.Height),
		sizes, d.File.Blob, database.Micros(d.UpdatedAt))
}

// RemoveDocument deletes a document and every reference to it.
func (db *DB) RemoveDocument(ctx context.Context, coachID, id string) (coach.RemovedDocument, error) {
	var out coach.RemovedDocument
	err := db.Write(ctx, func(tx *Tx) error {
		d, err := document(ctx, tx, coachID, id)
		if err != nil {
			return err
		}
		s, err := tx.updateUsage(ctx, coachID, -d.File.Size, d.InProfile)
		if err != nil {
			return err
		}
		if err := tx.ExecOne(ctx, `DELETE FROM documents WHERE coach_id = $1 AND id = $2 AND version = $3`, coachID, id, d.Version); err != nil {
			return err
		}
		if d.Kind == coach.ProfilePicture && d.InProfile {
			if err := tx.setPicture(ctx, coachID, ""); err != nil {
				return err
			}
		}
		if err := tx.expireBlobs(ctx, d.File.Blobs()); err != nil {
			return err
		}
		if out.KYC, err = tx.withdrawIfIdentity(ctx, d, s.status.KYC); err != nil {
			return err
		}
		if err := tx.ReindexListing(ctx, coachID); err != nil {
			return err
		}
		out.Filled, err = filled(ctx, tx, coachID)
		return err
	})
	return out, err
}

// setPicture sets the coach's profile picture; "" removes it.
func (tx *Tx) setPicture(ctx context.Context, coachID, id string) error {
	err := tx.Defer(ctx, `UPDATE coaches SET picture_id = $2 WHERE id = $1`, coachID, database.Text(id))
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		UPDATE documents SET in_profile = (id = $2), version = version + 1
		WHERE coach_id = $1 AND kind = 'profile_picture' AND in_profile <> (id = $2)`, coachID, id)
	return err
}

// withdrawIfIdentity withdraws the submission of d, if d is an identity document,
// and returns the coach's KYC state, which was kyc before.
func (tx *Tx) withdrawIfIdentity(ctx context.Context, d coach.Document, kyc coach.KYCState) (coach.KYCState, error) {
	if d.Kind != coach.Identity {
		return kyc, nil
	}
	withdrawn, err := tx.withdrawKYC(ctx, d.CoachID, d.ID)
	if withdrawn {
		kyc = coach.NotStarted
	}
	return kyc, err
}

// withdrawKYC withdraws the undecided submission that contains the document,
// because an operator could no longer check the document. An earlier decision stands.
func (tx *Tx) withdrawKYC(ctx context.Context, coachID, documentID string) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE kyc_submissions SET state = 'withdrawn', decided_at = $3
		WHERE coach_id = $1 AND state = 'submitted'
			AND id IN (SELECT submission_id FROM kyc_documents WHERE document_id = $2)`, coachID, documentID, database.Micros(tx.Now))
	if err != nil || n == 0 {
		return false, err
	}
	err = tx.Defer(ctx, `UPDATE coaches SET kyc_state = 'not_started' WHERE id = $1 AND kyc_state = 'submitted'`, coachID)
	return err == nil, err
}
