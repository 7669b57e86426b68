package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// insertPlayer adds p without its requests. It returns false if the coach has a live player
// of that name and birth date.
func (s *Service) insertPlayer(ctx context.Context, tx *store.Tx, p *Player) (bool, error) {
	sealed, err := s.DB.Seal(vault.ForMedical, p.Student.Medical, p.ID)
	if err != nil {
		return false, err
	}
	g := guardianOf(p)
	step, stepAt := p.Student.DateOfBirth.firstAdultStep(tx.Now)
	n, err := tx.Exec(ctx, `
		INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, medical,
			student_number, student_id, student_state, student_changed_at, student_pending_since,
			guardian_name, guardian_relationship, guardian_email, guardian_number,
			guardian_id, guardian_state, guardian_changed_at, guardian_pending_since, created_at, student_pending_reason, guardian_pending_reason,
			student_language, guardian_language, adult_step, adult_step_at, basis, basis_note, medical_at, student_hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32)
		ON CONFLICT (coach_id, student_key, date_of_birth) WHERE deleted_at IS NULL DO NOTHING`,
		p.ID, p.CoachID, p.Version, p.Student.FullName, p.Identity().NameKey, p.Student.DateOfBirth.String(), p.SearchKey(), sealed,
		database.Text(string(p.Student.Number)), database.Text(p.StudentApprover.AccountID), string(p.StudentApprover.Consent.State),
		database.Micros(p.StudentApprover.Consent.ChangedAt), database.Micros(p.StudentApprover.Consent.PendingSince),
		database.Text(g.Name), database.Text(g.Relationship), database.Text(g.Email), database.Text(string(g.Number)),
		database.Text(p.GuardianApprover.AccountID), string(p.GuardianApprover.Consent.State),
		database.Micros(p.GuardianApprover.Consent.ChangedAt), database.Micros(p.GuardianApprover.Consent.PendingSince), database.Micros(p.CreatedAt),
		database.Text(string(p.StudentApprover.Consent.PendingReason)), database.Text(string(p.GuardianApprover.Consent.PendingReason)),
		database.Text(p.Student.Language), database.Text(g.Language), database.Text(string(step)), database.Micros(stepAt), string(p.Student.Basis.Kind), database.Text(p.Student.Basis.Note),
		database.Micros(medicalAt(sealed, tx.Now)), studentHash(s.DB, p))
	if err != nil {
		return false, fmt.Errorf("add player: %w", err)
	}
	return n == 1, nil
}

// medicalAt returns when a medical text was entered; zero without one.
func medicalAt(sealed []byte, now time.Time) time.Time {
	if sealed == nil {
		return time.Time{}
	}
	return now
}

// setRequests sets the newest requests of a new player and counts its first status changes.
func setRequests(ctx context.Context, tx *store.Tx, p *Player, statusChanges int) error {
	return tx.DeferOne(ctx, `UPDATE players SET guardian_request_id = $2, student_request_id = $3, changes = $4 WHERE id = $1`,
		p.ID, database.Text(requestID(p.GuardianApprover)), database.Text(requestID(p.StudentApprover)), statusChanges)
}

// savePlayer saves p and counts its status changes; ErrStale if it has changed since it
// was read.
func (s *Service) savePlayer(ctx context.Context, tx *store.Tx, p *storedPlayer, statusChanges int) error {
	if p.detailsOf() == p.details {
		return saveConsents(ctx, tx, p, statusChanges)
	}
	if p.Student.Medical != p.details.student.Medical {
		sealed, err := s.DB.Seal(vault.ForMedical, p.Student.Medical, p.ID)
		if err != nil {
			return err
		}
		p.sealed = sealed
		if err := tx.Defer(ctx, `UPDATE players SET medical_at = $2 WHERE id = $1`, p.ID, database.Micros(medicalAt(sealed, tx.Now))); err != nil {
			return fmt.Errorf("note when the medical text of player %s was entered: %w", p.ID, err)
		}
	}
	if born := p.Student.DateOfBirth; born != p.details.student.DateOfBirth {
		step, at := born.firstAdultStep(tx.Now)
		if err := tx.Defer(ctx, `UPDATE players SET adult_step = $2, adult_step_at = $3 WHERE id = $1`, p.ID, database.Text(string(step)), database.Micros(at)); err != nil {
			return fmt.Errorf("plan when player %s is an adult: %w", p.ID, err)
		}
	}
	p.details = p.detailsOf()
	g := guardianOf(p.Player)
	err := tx.DeferOne(ctx, `
		UPDATE players SET version = version + 1,
			student_name = $3, student_key = $4, date_of_birth = $5, search_key = $6, medical = $7, student_number = $8,
			student_id = $9, student_state = $10, student_changed_at = $11, student_pending_since = $12, student_request_id = $13,
			guardian_name = $14, guardian_relationship = $15, guardian_email = $16, guardian_number = $17,
			guardian_id = $18, guardian_state = $19, guardian_changed_at = $20, guardian_pending_since = $21, guardian_request_id = $22,
			deleted_at = $23, student_pending_reason = $24, guardian_pending_reason = $25,
			student_language = $26, guardian_language = $27, changes = changes + $28, student_hash = $29
		WHERE id = $1 AND version = $2`,
		p.ID, p.Version,
		p.Student.FullName, p.Identity().NameKey, p.Student.DateOfBirth.String(), p.SearchKey(), p.sealed, database.Text(string(p.Student.Number)),
		database.Text(p.StudentApprover.AccountID), string(p.StudentApprover.Consent.State),
		database.Micros(p.StudentApprover.Consent.ChangedAt), database.Micros(p.StudentApprover.Consent.PendingSince), database.Text(requestID(p.StudentApprover)),
		database.Text(g.Name), database.Text(g.Relationship), database.Text(g.Email), database.Text(string(g.Number)),
		database.Text(p.GuardianApprover.AccountID), string(p.GuardianApprover.Consent.State),
		database.Micros(p.GuardianApprover.Consent.ChangedAt), database.Micros(p.GuardianApprover.Consent.PendingSince), database.Text(requestID(p.GuardianApprover)),
		database.Micros(p.DeletedAt),
		database.Text(string(p.StudentApprover.Consent.PendingReason)), database.Text(string(p.GuardianApprover.Consent.PendingReason)),
		database.Text(p.Student.Language), database.Text(g.Language), statusChanges, studentHash(s.DB, p.Player))
	if err != nil {
		return fmt.Errorf("save player %s: %w", p.ID, err)
	}
	p.Version++
	return nil
}

// saveConsents is savePlayer for a player whose details have not changed. SQLite writes each
// index of a column that the statement sets, even if the value stays the same.
func saveConsents(ctx context.Context, tx *store.Tx, p *storedPlayer, statusChanges int) error {
	g, s := p.GuardianApprover, p.StudentApprover
	err := tx.DeferOne(ctx, `
		UPDATE players SET version = version + 1,
			guardian_state = $3, guardian_changed_at = $4, guardian_pending_since = $5, guardian_pending_reason = $6, guardian_request_id = $7,
			student_state = $8, student_changed_at = $9, student_pending_since = $10, student_pending_reason = $11, student_request_id = $12,
			changes = changes + $13
		WHERE id = $1 AND version = $2`,
		p.ID, p.Version,
		string(g.Consent.State), database.Micros(g.Consent.ChangedAt), database.Micros(g.Consent.PendingSince), database.Text(string(g.Consent.PendingReason)), database.Text(requestID(g)),
		string(s.Consent.State), database.Micros(s.Consent.ChangedAt), database.Micros(s.Consent.PendingSince), database.Text(string(s.Consent.PendingReason)), database.Text(requestID(s)),
		statusChanges)
	if err != nil {
		return fmt.Errorf("save consents of player %s: %w", p.ID, err)
	}
	p.Version++
	return nil
}

// samePlayer returns the id of the coach's live player with the name and birth date of p.
func samePlayer(ctx context.Context, q database.Querier, p *Player) (string, error) {
	var id string
	err := q.QueryRow(ctx, `
		SELECT id FROM players
		WHERE coach_id = $1 AND student_key = $2 AND date_of_birth = $3 AND deleted_at IS NULL`,
		p.CoachID, p.Identity().NameKey, p.Student.DateOfBirth.String()).Scan(&id)
	return id, err
}

// playerDetails are the columns of a player that are not about a consent.
type playerDetails struct {
	student                         Student
	guardian                        Guardian
	studentAccount, guardianAccount string
	deletedAt                       time.Time
}

func (p *storedPlayer) detailsOf() playerDetails {
	return playerDetails{p.Student, guardianOf(p.Player), p.StudentApprover.AccountID, p.GuardianApprover.AccountID, p.DeletedAt}
}

func guardianOf(p *Player) Guardian {
	if p.Guardian == nil {
		return Guardian{}
	}
	return *p.Guardian
}

func requestID(s Approver) string {
	if s.Request == nil {
		return ""
	}
	return s.Request.ID
}
