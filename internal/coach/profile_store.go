package coach

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Store stores profiles, tiers and listings of coaches, and reads their dashboards.
type Store struct {
	DB *store.DB
	// Event writes a security event after a commit; nil writes none.
	Event func(ctx context.Context, name string, attrs ...slog.Attr)
}

func (db Store) event(ctx context.Context, name string, attrs ...slog.Attr) {
	if db.Event != nil {
		db.Event(ctx, name, attrs...)
	}
}

// changed writes the security event of a changed setting.
func (db Store) changed(ctx context.Context, coachID string, attrs ...slog.Attr) {
	db.event(ctx, "setting_changed", append([]slog.Attr{slog.String("account_id", coachID)}, attrs...)...)
}

// Profile returns a coach's profile.
func (db Store) Profile(ctx context.Context, coachID string) (Profile, error) {
	return profile(ctx, db.DB, coachID)
}

// ReadProfile is Store.Profile in a transaction.
func ReadProfile(ctx context.Context, tx *store.Tx, coachID string) (Profile, error) {
	return profile(ctx, tx, coachID)
}

func profile(ctx context.Context, q database.Querier, coachID string) (Profile, error) {
	var p Profile
	var years sql.NullInt64
	err := q.QueryRow(ctx, `
		SELECT c.id, a.mobile_number, c.name, c.email, c.bio, c.experience_years, c.sports, c.visible, c.shown, c.tier, c.kyc_state, c.version, c.created_at, c.updated_at, c.time_zone, c.upi_id, c.upi_changed_at,
			c.completed, c.former_names, c.name_pending, c.name_takes_effect_at, c.confirmed_name, c.confirmed_picture
		FROM coaches c JOIN accounts a ON a.id = c.id
		WHERE c.id = $1`, coachID).
		Scan(&p.ID, &p.Number, database.IntoText(&p.Name), database.IntoText(&p.Email), database.IntoText(&p.Bio), &years, database.IntoJSON(&p.Sports), &p.Visible, database.IntoJSON(&p.Show), database.IntoText(&p.Tier), &p.KYC, &p.Version,
			database.IntoTime(&p.CreatedAt), database.IntoTime(&p.UpdatedAt), database.IntoText(&p.TimeZone), database.IntoText(&p.UPIID), database.IntoTime(&p.UPIChangedAt),
			&p.Completed, database.IntoJSON(&p.FormerNames), database.IntoText(&p.NamePending), database.IntoTime(&p.NameTakesEffectAt), database.IntoText(&p.ConfirmedName), database.IntoText(&p.ConfirmedPicture))
	if database.IsNoRows(err) {
		return p, fault.SessionEnded() // the account has closed since the session was read
	}
	if err != nil {
		return p, err
	}
	if years.Valid {
		n := int(years.Int64)
		p.Experience = &n
	}
	rs, err := q.Query(ctx, `
		SELECT `+DocumentColumns+`
		FROM documents d WHERE d.coach_id = $1 AND d.kind <> 'identity' ORDER BY d.id DESC`, coachID)
	p.Documents, err = database.Collect(rs, err, ScanDocument)
	return p, err
}

// UpdateProfile loads a profile, lets fn change it, and saves it unless it has changed
// meanwhile. fn may run more than once.
func (db Store) UpdateProfile(ctx context.Context, coachID string, fn func(Profile) (Profile, error)) error {
	return db.DB.Write(ctx, func(tx *store.Tx) error { return UpdateProfile(ctx, tx, coachID, fn) })
}

// UpdateProfile is Store.UpdateProfile in a transaction.
func UpdateProfile(ctx context.Context, tx *store.Tx, coachID string, fn func(Profile) (Profile, error)) error {
	old, err := profile(ctx, tx, coachID)
	if err != nil {
		return err
	}
	p, err := fn(old)
	if err != nil {
		return err
	}
	if err := confirmLegalName(ctx, tx, old, &p); err != nil {
		return err
	}
	if p.Sports == nil {
		p.Sports = []string{}
	}
	sports, err := json.Marshal(p.Sports)
	if err != nil {
		return err
	}
	if p.FormerNames == nil {
		p.FormerNames = []FormerName{}
	}
	former, err := json.Marshal(p.FormerNames)
	if err != nil {
		return err
	}
	var years any
	if p.Experience != nil {
		years = *p.Experience
	}
	err = tx.ExecOne(ctx, `
		UPDATE coaches
		SET name = $3, email = $4, bio = $5, experience_years = $6, sports = $7, updated_at = $8, name_key = $9, time_zone = $10, upi_id = $11, upi_changed_at = $12, version = version + 1,
			completed = $13, former_names = $14, name_pending = $15, name_takes_effect_at = $16, confirmed_name = $17, confirmed_picture = $18
		WHERE id = $1 AND version = $2`,
		coachID, p.Version, database.Text(p.Name), database.Text(p.Email), database.Text(p.Bio), years, string(sports), database.Micros(p.UpdatedAt), nameKey(p.Name), database.Text(p.TimeZone),
		database.Text(p.UPIID), database.Micros(p.UPIChangedAt), p.Completed, string(former), database.Text(p.NamePending), database.Micros(p.NameTakesEffectAt),
		database.Text(p.ConfirmedName), database.Text(p.ConfirmedPicture))
	if err != nil {
		return err
	}
	if err := saveProfileDocuments(ctx, tx, old, p); err != nil {
		return err
	}
	if err := tx.CoachChanged(ctx, coachID, old.shown(), p.shown()); err != nil {
		return err
	}
	if p.NamePending != "" && p.NamePending != old.NamePending {
		if err := tx.CoachRenaming(ctx, coachID, p.Name, p.NamePending, p.NameTakesEffectAt); err != nil {
			return err
		}
	}
	if err := ReindexListing(ctx, tx, coachID); err != nil {
		return err
	}
	return notice.Notify(ctx, tx, p.Events(old))
}

// shown returns what families see of the coach who asks them.
func (p Profile) shown() store.CoachShown {
	s := store.CoachShown{Name: p.Name, PictureShown: p.Visible && slices.Contains(p.Show, string(ProfilePicture))}
	if picture := p.Picture(); picture != nil {
		s.PictureHash = picture.File.SHA256
	}
	return s
}

// Shown returns what families see of a coach. A transaction that changes the picture calls it before, with the row of the
// coach locked, and ShownChanged after.
func Shown(ctx context.Context, q database.Querier, coachID string) (s store.CoachShown, err error) {
	var show []string
	err = q.QueryRow(ctx, `SELECT c.name, d.sha256, CASE WHEN c.visible = TRUE THEN c.shown END FROM coaches c LEFT JOIN documents d ON d.id = c.picture_id WHERE c.id = $1`, coachID).
		Scan(database.IntoText(&s.Name), database.IntoText(&s.PictureHash), database.IntoJSON(&show))
	s.PictureShown = slices.Contains(show, string(ProfilePicture))
	if err != nil {
		err = fmt.Errorf("read the name and picture of coach %s: %w", coachID, err)
	}
	return s, err
}

// ShownChanged runs what depends on the name and the picture of a coach, which were before.
func ShownChanged(ctx context.Context, tx *store.Tx, coachID string, before store.CoachShown) error {
	after, err := Shown(ctx, tx, coachID)
	if err != nil {
		return err
	}
	return tx.CoachChanged(ctx, coachID, before, after)
}

// saveProfileDocuments saves which documents the profile shows, if that has changed. The coach's
// row is locked, so no concurrent transaction adds or removes documents.
func saveProfileDocuments(ctx context.Context, tx *store.Tx, old, p Profile) error {
	was := map[string]bool{}
	for _, d := range old.Documents {
		was[d.ID] = d.InProfile
	}
	picture := ""
	for _, d := range p.Documents {
		if d.InProfile && d.Kind == ProfilePicture {
			picture = d.ID
		}
		if d.InProfile == was[d.ID] || d.Kind == ProfilePicture {
			continue
		}
		err := tx.Defer(ctx, `UPDATE documents SET in_profile = $3, version = version + 1 WHERE coach_id = $1 AND id = $2`, p.ID, d.ID, d.InProfile)
		if err != nil {
			return fmt.Errorf("name document %s: %w", d.ID, err)
		}
	}
	if before := old.Picture(); before == nil && picture == "" || before != nil && before.ID == picture {
		return nil
	}
	return SetPicture(ctx, tx, p.ID, picture)
}

// SetPicture sets the coach's profile picture; "" removes it.
func SetPicture(ctx context.Context, tx *store.Tx, coachID, id string) error {
	err := tx.Defer(ctx, `UPDATE coaches SET picture_id = $2 WHERE id = $1`, coachID, database.Text(id))
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		UPDATE documents SET in_profile = (id = $2), version = version + 1
		WHERE coach_id = $1 AND kind = 'profile_picture' AND in_profile <> (id = $2)`, coachID, id)
	return err
}

// DocumentColumns are the columns of ScanDocument.
const DocumentColumns = `d.id, d.coach_id, d.kind, d.title, d.issuer, d.issued_on, d.expires_on, d.file_name, d.media_type, d.size, d.sha256,
	d.width, d.height, d.variants, d.blob, d.in_profile, d.notice_at, d.version, d.created_at, d.updated_at`

// ScanDocument reads the DocumentColumns of a row.
func ScanDocument(s database.Scanner) (d Document, err error) {
	var width, height sql.NullInt64
	err = s.Scan(&d.ID, &d.CoachID, &d.Kind, &d.Title, database.IntoText(&d.Issuer), database.IntoText((*string)(&d.IssuedOn)), database.IntoText((*string)(&d.ExpiresOn)),
		&d.File.Name, &d.File.MediaType, &d.File.Size, &d.File.SHA256, &width, &height, database.IntoJSON(&d.File.Sizes), &d.File.Blob, &d.InProfile,
		database.IntoTime(&d.NotifyAt), &d.Version, database.IntoTime(&d.CreatedAt), database.IntoTime(&d.UpdatedAt))
	d.File.Width, d.File.Height = int(width.Int64), int(height.Int64)
	return d, err
}
