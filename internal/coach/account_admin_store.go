package coach

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// accountColumns are the columns of Account, and the search key of the name.
const accountColumns = `a.id, a.mobile_number, c.name, c.tier, c.kyc_state, a.created_at, a.suspended_at, a.suspended_why, c.name_key`

func scanAccount(s database.Scanner) (AccountMatch, error) {
	var f AccountMatch
	err := s.Scan(&f.ID, &f.Number, database.IntoText(&f.Name), database.IntoText(&f.Tier), &f.KYC, database.IntoTime(&f.CreatedAt),
		database.IntoTime(&f.SuspendedAt), database.IntoText(&f.SuspendedReason), &f.Cursor.Name)
	f.Cursor.ID = f.ID
	return f, err
}

// FindCoaches searches coach accounts and audits the search.
func (db Store) FindCoaches(ctx context.Context, by actor.Operator, s AccountSearch, limit int) ([]AccountMatch, error) {
	var found []AccountMatch
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		var how string
		var err error
		found, how, err = findCoaches(ctx, tx, s, limit)
		if err != nil {
			return err
		}
		object := ""
		if len(found) == 1 {
			object = found[0].ID
		}
		return tx.Record(ctx, by, operator.CoachFound, "coach", object, fmt.Sprintf("by %s, %d found", how, len(found)))
	})
	return found, err
}

func findCoaches(ctx context.Context, tx *store.Tx, s AccountSearch, limit int) (found []AccountMatch, how string, err error) {
	var rs *database.Rows
	switch {
	case s.Number != "":
		how = "number"
		rs, err = tx.Query(ctx, `
			SELECT `+accountColumns+` FROM accounts a JOIN coaches c ON c.id = a.id
			WHERE a.mobile_number = $1 AND a.role = 'coach'`, string(s.Number))
	case s.ID != "":
		how = "id"
		rs, err = tx.Query(ctx, `
			SELECT `+accountColumns+` FROM accounts a JOIN coaches c ON c.id = a.id WHERE a.id = $1`, s.ID)
	case s.Name == "":
		how = "registration"
		rs, err = tx.Query(ctx, `
			SELECT `+accountColumns+` FROM coaches c JOIN accounts a ON a.id = c.id
			WHERE c.id < $1 ORDER BY c.id DESC LIMIT $2`, database.Before(s.After.ID), limit)
	default:
		how = "name"
		from := nameKey(s.Name)
		if len(from) == 0 {
			return []AccountMatch{}, how, nil
		}
		after := s.After
		if len(after.Name) == 0 {
			after.Name = from
		}
		rs, err = tx.Query(ctx, `
			SELECT `+accountColumns+` FROM coaches c JOIN accounts a ON a.id = c.id
			WHERE c.name_key >= $1 AND c.name_key < $2 AND (c.name_key, c.id) > ($3, $4)
			ORDER BY c.name_key, c.id LIMIT $5`, from, prefixEnd(from), after.Name, after.ID, limit)
	}
	found, err = database.Collect(rs, err, scanAccount)
	return found, how, err
}

// nameKey is the search key of a name: bytes, which both engines compare alike
// whatever the collation of the database.
func nameKey(name string) []byte { return []byte(team.SearchText(name)) }

// prefixEnd returns a key above every key with this prefix: UTF-8 has no byte 0xff.
func prefixEnd(key []byte) []byte { return append(append([]byte{}, key...), 0xff) }

// ReadCoach returns a coach's account and profile and audits the access.
func (db Store) ReadCoach(ctx context.Context, by actor.Operator, id string) (Account, Profile, error) {
	var a Account
	var p Profile
	err := db.DB.Write(ctx, func(tx *store.Tx) (err error) {
		a, err = coachAccount(ctx, tx, id)
		if err != nil {
			return err
		}
		p, err = profile(ctx, tx, id)
		if err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.CoachRead, "coach", id, "")
	})
	return a, p, err
}

// CheckCoach returns not_found if there is no such coach.
func (db Store) CheckCoach(ctx context.Context, id string) error {
	return database.OrMissing(db.DB.QueryRow(ctx, `SELECT 1 FROM coaches WHERE id = $1`, id).Scan(new(int)), "find a coach")
}

func coachAccount(ctx context.Context, tx *store.Tx, id string) (Account, error) {
	f, err := scanAccount(tx.QueryRow(ctx, `
		SELECT `+accountColumns+` FROM accounts a JOIN coaches c ON c.id = a.id WHERE a.id = $1`, id))
	if database.IsNoRows(err) {
		err = fault.Missing()
	}
	return f.Account, err
}

// checkCoachAccount locks a coach's row and calls check with the account.
func checkCoachAccount(ctx context.Context, tx *store.Tx, id string, check func(Account) error) error {
	if _, err := tx.LockCoach(ctx, id); err != nil { // lock order: coach, then account
		return err
	}
	a, err := coachAccount(ctx, tx, id)
	if err != nil {
		return err
	}
	return check(a)
}

// Suspend suspends a coach's account, ends its sessions and deletes its listing. A
// concurrent login shares the lock of the account's row until its session is saved:
// either this sees the session, or the login sees the suspension.
func (db Store) Suspend(ctx context.Context, by actor.Operator, id, reason string, check func(Account) error) error {
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		if err := checkCoachAccount(ctx, tx, id, check); err != nil {
			return err
		}
		err := tx.ExecOne(ctx, `
			UPDATE accounts SET suspended_at = $2, suspended_why = $3
			WHERE id = $1 AND suspended_at IS NULL`, id, database.Micros(tx.Now), reason)
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `UPDATE sessions SET revoked_at = $2 WHERE account_id = $1 AND revoked_at IS NULL`, id, database.Micros(tx.Now))
		if err != nil {
			return fmt.Errorf("end sessions of coach %s: %w", id, err)
		}
		if err := notice.EndPushOfAccount(ctx, tx.Tx, id, ""); err != nil {
			return err
		}
		if err := ReindexListing(ctx, tx, id); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.CoachSuspended, "coach", id, "")
	})
	if err == nil {
		db.event(ctx, "coach_suspended", slog.String("operator_id", by.ID), slog.String("account_id", id))
	}
	return err
}

// Restore ends the suspension of a coach's account.
func (db Store) Restore(ctx context.Context, by actor.Operator, id string, check func(Account) error) error {
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		if err := checkCoachAccount(ctx, tx, id, check); err != nil {
			return err
		}
		err := tx.ExecOne(ctx, `
			UPDATE accounts SET suspended_at = NULL, suspended_why = NULL WHERE id = $1 AND suspended_at IS NOT NULL`, id)
		if err != nil {
			return err
		}
		if err := ReindexListing(ctx, tx, id); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.CoachRestored, "coach", id, "")
	})
	if err == nil {
		db.event(ctx, "coach_restored", slog.String("operator_id", by.ID), slog.String("account_id", id))
	}
	return err
}
