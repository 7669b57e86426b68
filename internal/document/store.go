package document

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// List returns up to n documents of the caller, newest first, of one kind unless kind is "", after the
// id before unless that is "".
func (s *Service) List(ctx context.Context, by actor.Actor, kind coach.DocumentKind, before string, n int) ([]coach.Document, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT `+coach.DocumentColumns+`
		FROM documents d
		WHERE d.coach_id = $1 AND d.id < $2 AND (CAST($3 AS TEXT) IS NULL OR d.kind = $3)
		ORDER BY d.id DESC LIMIT $4`, by.AccountID, database.Before(before), database.Text(string(kind)), n)
	return database.Collect(rs, err, coach.ScanDocument)
}

// read returns a document of the coach, or not_found.
func read(ctx context.Context, q database.Querier, coachID, id string) (coach.Document, error) {
	d, err := coach.ScanDocument(q.QueryRow(ctx, `SELECT `+coach.DocumentColumns+` FROM documents d WHERE d.coach_id = $1 AND d.id = $2`, coachID, id))
	if database.IsNoRows(err) {
		return d, fault.Missing()
	}
	return d, err
}

// readAny returns a document of any coach, or not_found.
func readAny(ctx context.Context, q database.Querier, id string) (coach.Document, error) {
	d, err := coach.ScanDocument(q.QueryRow(ctx, `SELECT `+coach.DocumentColumns+` FROM documents d WHERE d.id = $1`, id))
	if database.IsNoRows(err) {
		return d, fault.Missing()
	}
	return d, err
}

// count returns the number of documents of a coach.
func count(ctx context.Context, tx *store.Tx, coachID string) (n int, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*) FROM documents WHERE coach_id = $1`, coachID).Scan(&n)
	return n, err
}

// usage is the storage that a coach uses, and the tier status.
type usage struct {
	bytes  int64
	status coach.TierStatus
}

// storage returns the number of a coach's documents and the usage.
func storage(ctx context.Context, q database.Querier, coachID string) (documents int, u usage, err error) {
	err = q.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM documents d WHERE d.coach_id = c.id), c.stored_bytes, c.tier, c.kyc_state
		FROM coaches c WHERE c.id = $1`, coachID).Scan(&documents, &u.bytes, database.IntoText(&u.status.Tier), &u.status.KYC)
	if database.IsNoRows(err) {
		err = fault.SessionEnded()
	}
	return documents, u, err
}

// updateUsage adds more bytes, which may be negative, to a coach's usage and locks the coach's row. Every
// change of documents calls it first, so that they run one after the other. The new version makes
// concurrent edits of the profile fail. showsInProfile also updates the profile's time.
func updateUsage(ctx context.Context, tx *store.Tx, coachID string, more int64, showsInProfile bool) (u usage, err error) {
	var updatedAt any
	if showsInProfile {
		updatedAt = database.Micros(tx.Now)
	}
	err = tx.QueryRow(ctx, `
		UPDATE coaches SET stored_bytes = stored_bytes + $2, version = version + 1, updated_at = COALESCE(CAST($3 AS BIGINT), updated_at)
		WHERE id = $1
		RETURNING stored_bytes, tier, kyc_state`, coachID, more, updatedAt).Scan(&u.bytes, database.IntoText(&u.status.Tier), &u.status.KYC)
	if database.IsNoRows(err) {
		err = fault.SessionEnded()
	}
	return u, err
}

// nullIfZero returns nil, NULL in SQL, for 0.
func nullIfZero(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// encodeSizes returns the sizes of a picture as they are stored.
func encodeSizes(f coach.StoredFile) (string, error) {
	if f.Sizes == nil {
		return "[]", nil
	}
	text, err := json.Marshal(f.Sizes)
	return string(text), err
}

func insert(ctx context.Context, tx *store.Tx, d coach.Document) error {
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
	return fault.Wrap(err, "add document %s", d.ID)
}

func saveFile(ctx context.Context, tx *store.Tx, d coach.Document) error {
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

func saveDescription(ctx context.Context, tx *store.Tx, d coach.Document) error {
	return tx.ExecOne(ctx, `
		UPDATE documents SET title = $4, issuer = $5, issued_on = $6, expires_on = $7, notice_at = $8, updated_at = $9, version = version + 1
		WHERE coach_id = $1 AND id = $2 AND version = $3`,
		d.CoachID, d.ID, d.Version, d.Title, database.Text(d.Issuer), database.Text(string(d.IssuedOn)), database.Text(string(d.ExpiresOn)), database.Micros(d.NotifyAt), database.Micros(d.UpdatedAt))
}

// SendExpiryNotifications notifies the coaches of up to n certificates whose expiry notification is due,
// and returns how many it found. Each one is sent in a transaction that checks the document's version,
// so that only one replica sends it.
func (s *Service) SendExpiryNotifications(ctx context.Context, n int) (int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT `+coach.DocumentColumns+`
		FROM documents d WHERE d.notice_at <= $1 ORDER BY d.notice_at, d.id LIMIT $2`, database.Micros(s.Now()), n)
	due, err := database.Collect(rs, err, coach.ScanDocument)
	if err != nil {
		return 0, fmt.Errorf("find due expiry notifications: %w", err)
	}
	what := func(d coach.Document) string { return "send expiry notification of document " + d.ID }
	return len(due), store.WriteEach(ctx, s.DB, due, what, func(tx *store.Tx, d coach.Document) error {
		changed, err := tx.Exec(ctx, `UPDATE documents SET notice_at = $3, version = version + 1 WHERE id = $1 AND version = $2`,
			d.ID, d.Version, database.Micros(d.NextExpiryNotification(tx.Now)))
		if err != nil || changed == 0 { // another replica or the coach changed it meanwhile
			return err
		}
		return notice.Notify(ctx, tx, []event.Event{{Type: event.CertificateExpiring, CoachID: d.CoachID, DocumentID: d.ID, Title: d.Title, Day: string(d.ExpiresOn)}})
	})
}

// Stored is the file of a document: its name in the file store and the SHA-256 of what was uploaded, in hexadecimal.
type Stored struct{ ID, Blob, SHA256 string }

// ReadStored returns the files of all documents, for the verification of a backup.
func ReadStored(ctx context.Context, db database.Querier) ([]Stored, error) {
	rs, err := db.Query(ctx, `SELECT id, blob, sha256 FROM documents`)
	return database.Collect(rs, err, func(s database.Scanner) (c Stored, err error) {
		return c, s.Scan(&c.ID, &c.Blob, &c.SHA256)
	})
}
