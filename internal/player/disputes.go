package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// disputes loads the coach's name and numbers and the contacts that refuse requests
// about this student: of this record, or of a removed record that had the same name and
// birth date when it was disputed or when it was removed. The accounts of p must exist. It keeps
// the coach's number unchanged until the commit. It returns an error if the coach has closed the account.
//
// The second statement begins when the first has the lock, so it sees what a concurrent change
// of the coach's number committed.
func (s *Service) loadDisputes(ctx context.Context, tx *store.Tx, p *approval.Player) error {
	p.Disputes, p.CoachHeld = nil, nil
	var closed time.Time
	err := tx.DeferRow(ctx, func(row database.Scanner) error {
		return row.Scan(database.IntoText(&p.CoachName), &p.CoachNumber, database.IntoTime(&closed))
	}, `
		SELECT c.name, owner.mobile_number, owner.closed_at
		FROM accounts owner LEFT JOIN coaches c ON c.id = owner.id
		WHERE owner.id = $1 `+tx.ForKeyShare("owner"), p.CoachID)
	if err != nil {
		return fmt.Errorf("lock number of coach %s: %w", p.CoachID, err)
	}
	rs, err := tx.Query(ctx, `
		SELECT a.role, a.mobile_number, NULL
		FROM disputes d JOIN accounts a ON a.id = d.approver_id
		WHERE d.coach_id = $1 AND (d.player_id = $2 OR d.student_hash = $3
			OR EXISTS (SELECT 1 FROM players q WHERE q.id = d.player_id AND q.student_hash = $3))
		UNION ALL SELECT NULL, NULL, f.number_hash FROM former_numbers f WHERE f.account_id = $1 AND f.left_at > $4`,
		p.CoachID, p.ID, studentHash(s.DB, p), database.Micros(tx.Now.Add(-auth.FormerNumbersKept)))
	former := map[string]bool{}
	_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
		var role, number string
		var hash []byte
		err := row.Scan(database.IntoText(&role), database.IntoText(&number), &hash)
		if number != "" {
			p.Disputes = append(p.Disputes, contact(role, number))
		}
		if len(hash) > 0 {
			former[string(hash)] = true
			p.CoachHeld = func(n phone.Number) bool { return former[string(s.DB.NumberHash(n))] }
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("load disputes: %w", err)
	}
	if !closed.IsZero() {
		return fault.SessionEnded()
	}
	return nil
}

// studentHash is the hash under which players and disputes have the student of a coach.
func studentHash(db *store.DB, p *approval.Player) []byte {
	return db.DisputeHash("student", p.CoachID, p.Identity().NameKey, p.Student.DateOfBirth.String())
}

// numberHash is the hash under which disputes have a number in a role.
func numberHash(db *store.DB, role actor.Role, n phone.Number) []byte {
	return db.DisputeHash("number", string(role), string(n))
}

// addDispute saves that the recipient of r refuses further requests.
func (w *saving) addDispute(ctx context.Context) error {
	tx, p, r := w.tx, w.p, w.c.Dispute
	if r == nil {
		return nil
	}
	return tx.Defer(ctx, `
		INSERT INTO disputes (coach_id, approver_id, player_id, student_hash, number_hash, created_at, request_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (coach_id, approver_id, player_id) DO UPDATE SET student_hash = excluded.student_hash,
			created_at = excluded.created_at, request_id = excluded.request_id`,
		p.CoachID, r.PartyID, p.ID, studentHash(tx.DB(), p), numberHash(tx.DB(), r.Party, p.Asked(r).Number), database.Micros(tx.Now), r.ID)
}

func (w *saving) liftDispute(ctx context.Context) error {
	if w.c.Lift == nil {
		return nil
	}
	return liftDispute(ctx, w.tx, w.p, w.c.Lift, w.c.LiftedBy)
}

// liftDispute deletes every dispute of the party that r asked that disputes would find. by is the operator
// who lifts it, or nil.
func liftDispute(ctx context.Context, tx *store.Tx, p *approval.Player, r *approval.Request, by *actor.Operator) error {
	err := tx.Defer(ctx, `
		DELETE FROM disputes
		WHERE coach_id = $1 AND approver_id = $2 AND (player_id = $3 OR student_hash = $4
			OR student_hash IN (SELECT o.student_hash FROM disputes o WHERE o.request_id = $5)
			OR EXISTS (SELECT 1 FROM players q WHERE q.id = disputes.player_id AND q.student_hash = $4))`,
		p.CoachID, p.Asked(r).AccountID, p.ID, studentHash(tx.DB(), p), r.ID)
	if err != nil {
		return fmt.Errorf("lift dispute: %w", err)
	}
	if by == nil {
		return nil
	}
	return tx.Record(ctx, *by, operator.DisputeLifted, "request", r.ID, "of coach "+p.CoachID)
}

// Disputes lists the disputed requests of the calling guardian or student, newest first, also
// about players that by can no longer see. Lift ends such a dispute. It names a student only while
// by is a party of the player.
func (s *Service) Disputes(ctx context.Context, by actor.Actor, page approval.Page) ([]approval.DisputedRequest, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT r.id, r.closed_at, c.name, p.id, p.student_name
		FROM disputes d
		JOIN requests r ON r.id = d.request_id
		LEFT JOIN coaches c ON c.id = d.coach_id
		LEFT JOIN players p ON p.id = d.player_id AND p.deleted_at IS NULL AND EXISTS (SELECT 1 FROM parties a WHERE a.player_id = p.id AND a.account_id = $1)
		WHERE d.approver_id = $1 AND d.request_id < $2
		ORDER BY d.request_id DESC LIMIT $3`, by.AccountID, database.Before(page.After.ID), page.Limit)
	disputes, err := database.Collect(rs, err, func(s database.Scanner) (d approval.DisputedRequest, err error) {
		return d, s.Scan(&d.RequestID, database.IntoTime(&d.DisputedAt), database.IntoText(&d.CoachName), database.IntoText(&d.PlayerID), database.IntoText(&d.StudentName))
	})
	return disputes, fault.Wrap(err, "list disputes")
}

// liftOutdated ends the dispute of an account about a request that the account can
// no longer see, because the coach removed the player or changed the number. It
// notifies the coach. by is the operator who ends it, or nil if the account does. It returns
// ErrDisputedAgain if shown is not nil and not the time of the dispute.
func (s *Service) liftOutdated(ctx context.Context, by *actor.Operator, approverID, requestID string, shown *time.Time) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		p := &approval.Player{}
		var party actor.Role
		var guardianID, born string
		var state approval.RequestState
		var disputedAt, coachLeft time.Time
		var version int64
		var consent approval.State
		err := tx.QueryRow(ctx, `
			SELECT p.id, p.coach_id, p.student_name, p.date_of_birth, r.approver_type, r.guardian_id, r.state, r.closed_at, c.closed_at, p.version,
				CASE WHEN p.deleted_at IS NOT NULL OR a.state IS NULL THEN 'removed' ELSE a.state END
			FROM requests r JOIN players p ON p.id = r.player_id LEFT JOIN parties a ON a.player_id = p.id AND a.role = r.approver_type AND a.guardian_id = r.guardian_id JOIN accounts c ON c.id = p.coach_id
			WHERE r.id = $1 AND r.state IN ('disputed', 'cancelled')
				AND coalesce((SELECT d.approver_id FROM disputes d WHERE d.request_id = r.id), r.approver_id) = $2`, requestID, approverID).
			Scan(&p.ID, &p.CoachID, &p.Student.FullName, &born, &party, &guardianID, &state, database.IntoTime(&disputedAt), database.IntoTime(&coachLeft), &version, &consent)
		if err != nil {
			return database.OrMissing(err, "read disputed request "+requestID)
		}
		p.Student.DateOfBirth, err = approval.ParseDate(born)
		if err != nil {
			return err
		}
		request := &approval.Request{ID: requestID, Party: party, GuardianID: guardianID}
		p.Parties = []approval.Party{{Role: actor.Guardian, GuardianID: guardianID}, {Role: actor.Student}}
		a := p.Party(party)
		a.AccountID, a.Request = approverID, request
		lifted, events := p.LiftOutdated(a, state, !coachLeft.IsZero())
		if !lifted {
			return nil
		}
		if shown != nil && !disputedAt.Equal(*shown) {
			return approval.ErrDisputedAgain()
		}
		err = tx.ExecOne(ctx, `UPDATE requests SET state = 'cancelled' WHERE id = $1 AND state = 'disputed' AND closed_at = $2`, requestID, database.Micros(disputedAt))
		if err != nil {
			return err
		}
		change := approval.ConsentChange{
			ID: s.DB.NewID(), Kind: approval.ConsentOldDisputeLifted, Party: party, GuardianID: guardianID, Before: consent, After: consent, Player: p, Version: version, RequestID: requestID, At: tx.Now,
		}
		if by == nil {
			change.By = actor.Actor{AccountID: approverID, Role: party}
		}
		if err := s.Hooks.recordConsents(ctx, tx, []approval.ConsentChange{change}); err != nil {
			return err
		}
		if err := liftDispute(ctx, tx, p, request, by); err != nil {
			return err
		}
		// notify also locks the account for endSessionsWithoutRole.
		if err := notice.Notify(ctx, tx, events, approverID); err != nil {
			return err
		}
		return auth.EndSessionsWithoutRole(ctx, tx, []string{approverID})
	})
}
