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
// role (see RoleFacts), their passkeys, the confirmation of their addresses, and the proof of an adult. The number may get a new
// owner, who must not find a session or an address of the previous one. The access token remains valid for
// some minutes, but shows nothing of the player.
//
// The caller must hold the row locks of the accounts. So if two transactions remove the last
// two players that name an account, the second sees the change of the first. A login locks
// the same row: either its session is ended here, or it waits for this commit.
func EndSessionsWithoutRole(ctx context.Context, tx *store.Tx, accountIDs []string) error {
	return endSessions(ctx, tx, accountIDs, "disputes d WHERE d.approver_id", "former_guardians f WHERE f.account_id")
}

// EndSessionsOfUnnamed does the same for accounts that no player names and that the caller is about to name again, also if a dispute or
// an earlier answer kept the role: the number may have a new owner.
func EndSessionsOfUnnamed(ctx context.Context, tx *store.Tx, accountIDs []string) error {
	return endSessions(ctx, tx, accountIDs)
}

// endSessions skips the accounts that a player names, and those of which a row of kept exists: each ends with the column of the account.
func endSessions(ctx context.Context, tx *store.Tx, accountIDs []string, kept ...string) error {
	if len(accountIDs) == 0 {
		return nil
	}
	args := database.TextArgs(accountIDs)
	unheld := func(account string) string {
		condition := account + ` IN (` + database.Params(1, len(args)) + `) AND NOT EXISTS (SELECT 1 FROM parties p WHERE p.account_id = ` + account + ` AND p.deleted_at IS NULL)`
		for _, rows := range kept {
			condition += ` AND NOT EXISTS (SELECT 1 FROM ` + rows + ` = ` + account + `)`
		}
		return condition
	}
	for _, query := range []string{
		// 0 instead of now: expired by the clock of every replica, and for a refresh that
		// has read its clock already and waits for this row.
		`UPDATE sessions SET idle_at = 0 WHERE revoked_at IS NULL AND ` + unheld("sessions.account_id"),
		`DELETE FROM confirmed_addresses WHERE (mobile_number, role) IN (SELECT a.mobile_number, a.role FROM accounts a WHERE ` + unheld("a.id") + `)`,
		`DELETE FROM passkeys WHERE ` + unheld("passkeys.account_id"),
		`DELETE FROM proof_attempts WHERE ` + unheld("proof_attempts.account_id"),
		`DELETE FROM adult_proofs WHERE ` + unheld("adult_proofs.account_id"),
	} {
		if err := tx.Defer(ctx, query, args...); err != nil {
			return fmt.Errorf("end sessions without a role: %w", err)
		}
	}
	return nil
}
