package store

import (
	"context"
	"fmt"
)

// endRoles ends the refresh tokens of those accounts that hold their role no
// more: no live player names them, and no dispute is theirs to lift. A number may
// change hands, and its next holder must not meet a session of the last. What is
// left is the access token, which sees nothing of the player and ends by itself
// within minutes.
//
// The caller has locked the rows of the accounts. So of two transactions that end
// the last two links of one, the later sees what the earlier did; and a login,
// which locks that row too, has its session seen here, or waits.
func (tx *tx) endRoles(ctx context.Context, accountIDs []string) error {
	if len(accountIDs) == 0 {
		return nil
	}
	var args []any
	for _, id := range accountIDs {
		args = append(args, id)
	}
	// 0 and not now: over by the clock of any replica, and for a refresh that has
	// looked at its clock already and waits for this row.
	err := tx.Defer(ctx, `
		UPDATE sessions SET idle_at = 0
		WHERE account_id IN (`+params(1, len(args))+`) AND revoked_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM players p WHERE p.guardian_id = sessions.account_id AND p.deleted_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM players p WHERE p.student_id = sessions.account_id AND p.deleted_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.approver_id = sessions.account_id)`, args...)
	if err != nil {
		return fmt.Errorf("end sessions without a role: %w", err)
	}
	return nil
}
