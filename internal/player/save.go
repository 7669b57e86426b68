package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// insertPlayer adds p without its requests. It returns false if the coach has a live player
// of that name and birth date.
func (s *Service) insertPlayer(ctx context.Context, tx *store.Tx, p *approval.Player) (bool, error) {
	sealed, err := s.DB.Seal(vault.ForMedical, p.Student.Medical, p.ID)
	if err != nil {
		return false, err
	}
	step, stepAt := p.Student.DateOfBirth.FirstAdultStep(tx.Now)
	n, err := tx.Exec(ctx, `
		INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, medical, created_at,
			adult_step, adult_step_at, basis, basis_note, medical_at, student_hash, unanswered_since, changes, guardian_rule, sort_key)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (coach_id, sort_key, student_key, date_of_birth) WHERE deleted_at IS NULL DO NOTHING`,
		p.ID, p.CoachID, p.Version, p.Student.FullName, p.Identity().NameKey, p.Student.DateOfBirth.String(), p.SearchKey(), sealed, database.Micros(p.CreatedAt),
		database.Text(string(step)), database.Micros(stepAt), string(p.Student.Basis.Kind), database.Text(p.Student.Basis.Note),
		database.Micros(medicalAt(sealed, tx.Now)), studentHash(s.DB, p), database.Micros(p.UnansweredSince()), len(p.FirstChanges(tx.Now)), string(p.Rule), p.Identity().SortKey())
	return n == 1, fault.Wrap(err, "add player")
}

// insertParties adds parties of a player, by their indexes, with their newest requests.
func insertParties(ctx context.Context, tx *store.Tx, p *approval.Player, indexes []int) error {
	var args []any
	for _, i := range indexes {
		a := &p.Parties[i]
		args = append(args, p.ID, string(a.Role), a.GuardianID, p.Position(i), p.CoachID, database.Text(a.Name), database.Text(a.Relationship), database.Text(a.Email), database.Text(string(a.Number)),
			database.Text(a.AccountID), database.Text(a.Language), string(a.Consent.State), database.Micros(a.Consent.PendingSince), database.Text(string(a.Consent.PendingReason)),
			a.Consent.Refused, database.Text(a.RequestID()))
	}
	err := tx.Defer(ctx, `
		INSERT INTO parties (player_id, role, guardian_id, position, coach_id, name, relationship, email, number, account_id, language, state, pending_since, pending_reason, refused, request_id)
		VALUES `+database.RowsOf(len(indexes), 16), args...)
	if err != nil {
		return fmt.Errorf("add the parties of player %s: %w", p.ID, err)
	}
	return nil
}

// medicalAt returns when a medical text was entered; zero without one.
func medicalAt(sealed []byte, now time.Time) time.Time {
	if sealed == nil {
		return time.Time{}
	}
	return now
}

// savePlayer saves p and counts its status changes; ErrStale if it has changed since it was read. SQLite writes each
// index of a column that a statement sets, even if the value stays the same: so each statement sets only what changed.
func (s *Service) savePlayer(ctx context.Context, tx *store.Tx, p *storedPlayer, statusChanges int) error {
	read := p.read
	p.read = p.Copy()
	var err error
	if since := p.UnansweredSince(); since.Equal(read.UnansweredSince()) {
		err = tx.DeferOne(ctx, `UPDATE players SET version = version + 1, changes = changes + $3 WHERE id = $1 AND version = $2`, p.ID, p.Version, statusChanges)
	} else {
		err = tx.DeferOne(ctx, `UPDATE players SET version = version + 1, changes = changes + $3, unanswered_since = $4 WHERE id = $1 AND version = $2`,
			p.ID, p.Version, statusChanges, database.Micros(since))
	}
	if err != nil {
		return fmt.Errorf("save player %s: %w", p.ID, err)
	}
	p.Version++
	if p.Rule != read.Rule {
		if err := tx.Defer(ctx, `UPDATE players SET guardian_rule = $2 WHERE id = $1`, p.ID, string(p.Rule)); err != nil {
			return fmt.Errorf("save the guardian rule of player %s: %w", p.ID, err)
		}
	}
	if p.Student != read.Student || p.SearchKey() != read.SearchKey() || !p.DeletedAt.Equal(read.DeletedAt) {
		if err := s.saveDetails(ctx, tx, p, read); err != nil {
			return err
		}
	}
	if err := placeGuardians(ctx, tx, p.Player, read); err != nil {
		return fmt.Errorf("place the guardians of player %s: %w", p.ID, err)
	}
	for i := range p.Parties {
		a := &p.Parties[i]
		was := read.Find(a.Role, a.GuardianID)
		if was == nil {
			if err := insertParties(ctx, tx, p.Player, []int{i}); err != nil {
				return err
			}
			continue
		}
		if err := saveParty(ctx, tx, p.Player, a, was, p.Position(i), !p.DeletedAt.Equal(read.DeletedAt)); err != nil {
			return fmt.Errorf("save the %s of player %s: %w", a.Role, p.ID, err)
		}
	}
	return nil
}

// placeGuardians deletes the rows of removed guardians, and gives the others their positions. It moves them in
// two steps, because a position is unique at all times. The caller has locked the player.
func placeGuardians(ctx context.Context, tx *store.Tx, p, read *approval.Player) error {
	moved := false
	for i := range read.Parties {
		a := &read.Parties[i]
		if p.Find(a.Role, a.GuardianID) == nil {
			if err := tx.DeferOne(ctx, `DELETE FROM parties WHERE player_id = $1 AND role = 'guardian' AND guardian_id = $2`, p.ID, a.GuardianID); err != nil {
				return err
			}
		}
	}
	for i := range p.Parties {
		a := &p.Parties[i]
		if was := read.Index(a); a.Role != actor.Guardian || was < 0 || was == i {
			continue
		}
		moved = true
		err := tx.DeferOne(ctx, `UPDATE parties SET position = $3 WHERE player_id = $1 AND role = 'guardian' AND guardian_id = $2`, p.ID, a.GuardianID, -(i + 1))
		if err != nil {
			return err
		}
	}
	if !moved {
		return nil
	}
	return tx.Defer(ctx, `UPDATE parties SET position = -position WHERE player_id = $1 AND role = 'guardian' AND position < 0`, p.ID)
}

// saveDetails saves what the coach entered about the student, and the removal. read is the player as it was read.
func (s *Service) saveDetails(ctx context.Context, tx *store.Tx, p *storedPlayer, read *approval.Player) error {
	if p.Student.Medical != read.Student.Medical {
		sealed, err := s.DB.Seal(vault.ForMedical, p.Student.Medical, p.ID)
		if err != nil {
			return err
		}
		p.sealed = sealed
		if err := tx.Defer(ctx, `UPDATE players SET medical_at = $2 WHERE id = $1`, p.ID, database.Micros(medicalAt(sealed, tx.Now))); err != nil {
			return fmt.Errorf("note when the medical text of player %s was entered: %w", p.ID, err)
		}
	}
	if born := p.Student.DateOfBirth; born != read.Student.DateOfBirth {
		step, at := born.FirstAdultStep(tx.Now)
		if err := tx.Defer(ctx, `UPDATE players SET adult_step = $2, adult_step_at = $3 WHERE id = $1`, p.ID, database.Text(string(step)), database.Micros(at)); err != nil {
			return fmt.Errorf("plan when player %s is an adult: %w", p.ID, err)
		}
	}
	err := tx.Defer(ctx, `
		UPDATE players SET student_name = $2, student_key = $3, date_of_birth = $4, search_key = $5, medical = $6, deleted_at = $7, student_hash = $8, sort_key = $9 WHERE id = $1`,
		p.ID, p.Student.FullName, p.Identity().NameKey, p.Student.DateOfBirth.String(), p.SearchKey(), p.sealed, database.Micros(p.DeletedAt), studentHash(s.DB, p.Player), p.Identity().SortKey())
	return fault.Wrap(err, "save the details of player %s", p.ID)
}

// saveParty saves what differs from read, the party as it was read. The caller has locked the player.
func saveParty(ctx context.Context, tx *store.Tx, p *approval.Player, a, read *approval.Party, position int, removed bool) error {
	if a.Person != read.Person || a.AccountID != read.AccountID || removed {
		err := tx.DeferOne(ctx, `
			UPDATE parties SET name = $3, relationship = $4, email = $5, number = $6, account_id = $7, language = $8, deleted_at = $9
			WHERE player_id = $1 AND role = $2 AND position = $10`,
			p.ID, string(a.Role), database.Text(a.Name), database.Text(a.Relationship), database.Text(a.Email), database.Text(string(a.Number)), database.Text(a.AccountID),
			database.Text(a.Language), database.Micros(p.DeletedAt), position)
		if err != nil {
			return err
		}
	}
	if a.Consent.Equal(read.Consent) && a.RequestID() == read.RequestID() {
		return nil
	}
	return tx.DeferOne(ctx, `
		UPDATE parties SET state = $3, changed_at = $4, pending_since = $5, pending_reason = $6, refused = $9, request_id = $7 WHERE player_id = $1 AND role = $2 AND position = $8`,
		p.ID, string(a.Role), string(a.Consent.State), database.Micros(a.Consent.ChangedAt), database.Micros(a.Consent.PendingSince),
		database.Text(string(a.Consent.PendingReason)), database.Text(a.RequestID()), position, a.Consent.Refused)
}

// samePlayer returns the id of the coach's live player with the name and birth date of p.
func samePlayer(ctx context.Context, q database.Querier, p *approval.Player) (string, error) {
	var id string
	err := q.QueryRow(ctx, `
		SELECT id FROM players
		WHERE coach_id = $1 AND sort_key = $4 AND student_key = $2 AND date_of_birth = $3 AND deleted_at IS NULL`,
		p.CoachID, p.Identity().NameKey, p.Student.DateOfBirth.String(), p.Identity().SortKey()).Scan(&id)
	return id, err
}
