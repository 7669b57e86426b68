package auth

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// RoleFacts are the reasons for which a number holds a role, and whether it gets a code.
type RoleFacts struct {
	// Registered: a coach who has signed in before and not closed the account.
	Registered bool
	// Linked: a player names the number as its guardian or student.
	Linked bool
	// Kept: the number has disputed a request, and must be able to lift that, or a coach removed it as a guardian who had
	// answered: what is the guardian's own stays readable.
	Kept bool
	// Blocked: too many wrong codes block the number or device, so that no code leaves.
	Blocked bool
}

// Held reports whether the number holds the role.
func (f RoleFacts) Held() bool { return f.Registered || f.Linked || f.Kept }

// MaySignIn reports whether the number may sign in as role. Every number may sign in
// as coach: the first sign-in registers the coach.
func (f RoleFacts) MaySignIn(role actor.Role) bool { return role == actor.Coach || f.Held() }

// EndSessionsWithoutRole ends the refresh tokens of those accounts that no longer hold their
// role (see RoleFacts), their passkeys, and the confirmation of their addresses. The number may get a new
// owner, who must not find a session or an address of the previous one. The access token remains valid for
// some minutes, but shows nothing of the player.
//
// The caller must hold the row locks of the accounts. So if two transactions remove the last
// two players that name an account, the second sees the change of the first. A login locks
// the same row: either its session is ended here, or it waits for this commit.
func EndSessionsWithoutRole(ctx context.Context, tx *store.Tx, accountIDs []string) error {
	if len(accountIDs) == 0 {
		return nil
	}
	args := database.TextArgs(accountIDs)
	// 0 instead of now: expired by the clock of every replica, and for a refresh that
	// has read its clock already and waits for this row.
	err := tx.Defer(ctx, `
		UPDATE sessions SET idle_at = 0
		WHERE account_id IN (`+database.Params(1, len(args))+`) AND revoked_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM parties p WHERE p.account_id = sessions.account_id AND p.deleted_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.approver_id = sessions.account_id)
			AND NOT EXISTS (SELECT 1 FROM former_guardians f WHERE f.account_id = sessions.account_id)`, args...)
	if err != nil {
		return fmt.Errorf("end sessions without a role: %w", err)
	}
	err = tx.Defer(ctx, `
		DELETE FROM confirmed_addresses
		WHERE (mobile_number, role) IN (
			SELECT a.mobile_number, a.role FROM accounts a
			WHERE a.id IN (`+database.Params(1, len(args))+`)
				AND NOT EXISTS (SELECT 1 FROM parties p WHERE p.account_id = a.id AND p.deleted_at IS NULL)
				AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.approver_id = a.id)
				AND NOT EXISTS (SELECT 1 FROM former_guardians f WHERE f.account_id = a.id))`, args...)
	if err != nil {
		return fmt.Errorf("remove addresses without a role: %w", err)
	}
	err = tx.Defer(ctx, `
		DELETE FROM passkeys
		WHERE account_id IN (`+database.Params(1, len(args))+`)
			AND NOT EXISTS (SELECT 1 FROM parties p WHERE p.account_id = passkeys.account_id AND p.deleted_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.approver_id = passkeys.account_id)
			AND NOT EXISTS (SELECT 1 FROM former_guardians f WHERE f.account_id = passkeys.account_id)`, args...)
	if err != nil {
		return fmt.Errorf("remove passkeys without a role: %w", err)
	}
	return nil
}
