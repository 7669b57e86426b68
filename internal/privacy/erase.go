package privacy

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// eraseBatch limits the rows that one transaction erases, so that it holds its locks only briefly.
const eraseBatch = 500

// playerErasures erase at most $2 rows of the player $1 each. Each ends with "key IN (SELECT …)". docs/privacy.md names
// what stays.
var playerErasures = []string{
	// The counts that name a recipient of a message about the player, while the messages still say who that is.
	`DELETE FROM message_counts WHERE (counter, counted_at) IN (
		SELECT c.counter, c.counted_at FROM requests r JOIN deliveries d ON d.request_id = r.id
			JOIN message_counts c ON c.counter IN (` + countersOfDelivery + `)
		WHERE r.player_id = $1 AND d.recipient <> '' LIMIT $2)`,
	// A mail of a notification does not name the player. Its address stays while another child has it.
	`DELETE FROM message_counts WHERE (counter, counted_at) IN (
		SELECT c.counter, c.counted_at FROM parties p JOIN deliveries d ON d.recipient = p.email AND d.recipient <> '' AND d.account_id = p.account_id
			JOIN message_counts c ON c.counter IN (` + countersOfDelivery + `)
		WHERE p.player_id = $1 AND ` + lastWithAddress + ` LIMIT $2)`,
	`DELETE FROM deliveries WHERE id IN (
		SELECT d.id FROM parties p JOIN deliveries d ON d.recipient = p.email AND d.recipient <> '' AND d.account_id = p.account_id
		WHERE p.player_id = $1 AND ` + lastWithAddress + ` LIMIT $2)`,
	`DELETE FROM deliveries WHERE id IN (
		SELECT d.id FROM requests r JOIN deliveries d ON d.request_id = r.id WHERE r.player_id = $1 LIMIT $2)`,
	`DELETE FROM deliveries WHERE id IN (
		SELECT d.id FROM team_recipients t JOIN deliveries d ON d.team_message_id = t.message_id AND d.team_position = t.position
		WHERE t.player_id = $1 LIMIT $2)`,
	`DELETE FROM request_links WHERE hash IN (
		SELECT l.hash FROM requests r JOIN request_links l ON l.request_id = r.id
		WHERE r.player_id = $1 AND l.address IS NOT NULL LIMIT $2)`,
	`UPDATE requests SET follow_up_note = NULL, student_key = NULL, date_of_birth = NULL WHERE id IN (
		SELECT id FROM requests
		WHERE player_id = $1 AND (follow_up_note IS NOT NULL OR student_key IS NOT NULL OR date_of_birth IS NOT NULL) LIMIT $2)`,
	`UPDATE approval_history SET reason = NULL WHERE id IN (
		SELECT id FROM approval_history WHERE player_id = $1 AND reason IS NOT NULL LIMIT $2)`,
	`DELETE FROM notifications WHERE (account_id, seq) IN (
		SELECT account_id, seq FROM notifications WHERE player_id = $1 AND account_id IN (
			SELECT coach_id FROM players WHERE id = $1
			UNION ALL SELECT account_id FROM parties WHERE player_id = $1
			UNION ALL SELECT approver_id FROM requests WHERE player_id = $1) LIMIT $2)`,
	// Some name the player only in their text.
	`DELETE FROM notifications WHERE (account_id, seq) IN (
		SELECT n.account_id, n.seq FROM players p JOIN notifications n ON n.account_id = p.coach_id
		WHERE p.id = $1 AND ` + namedInText + ` LIMIT $2)`,
	`DELETE FROM notifications WHERE (account_id, seq) IN (
		SELECT n.account_id, n.seq FROM players p JOIN parties a ON a.player_id = p.id JOIN notifications n ON n.account_id = a.account_id
		WHERE p.id = $1 AND ` + namedInText + ` LIMIT $2)`,
	`UPDATE attendance_marks SET note = NULL WHERE (batch_id, date, player_id) IN (
		SELECT batch_id, date, player_id FROM attendance_marks WHERE player_id = $1 AND note IS NOT NULL LIMIT $2)`,
	`UPDATE superseded_marks SET note = NULL WHERE (batch_id, date, player_id, marked_at, mark) IN (
		SELECT batch_id, date, player_id, marked_at, mark FROM superseded_marks WHERE player_id = $1 AND note IS NOT NULL LIMIT $2)`,
	`UPDATE fees SET reason = NULL WHERE id IN (
		SELECT id FROM fees WHERE player_id = $1 AND reason IS NOT NULL LIMIT $2)`,
	`UPDATE fee_payments SET note = NULL, reason = NULL WHERE id IN (
		SELECT p.id FROM fees f JOIN fee_payments p ON p.fee_id = f.id
		WHERE f.player_id = $1 AND (p.note IS NOT NULL OR p.reason IS NOT NULL) LIMIT $2)`,
	`DELETE FROM team_replies WHERE id IN (
		SELECT id FROM team_replies WHERE player_id = $1 LIMIT $2)`,
	teamMessageErasure,
	`DELETE FROM conversations WHERE player_id = $1 AND (player_id, party, guardian_id) IN (
		SELECT player_id, party, guardian_id FROM conversations WHERE player_id = $1 LIMIT $2)`,
	`DELETE FROM import_rows WHERE (coach_id, import_id, number) IN (
		SELECT i.coach_id, i.import_id, i.number FROM players p JOIN import_rows i ON i.coach_id = p.coach_id AND i.player_id = p.id
		WHERE p.id = $1 LIMIT $2)`,
	// A repeated call of the coach gets its response from what is left. Which of the stored ones name the player is unknown: they are sealed.
	`UPDATE kept_answers SET status = 1, answer = NULL WHERE (owner, key) IN (
		SELECT k.owner, k.key FROM players p JOIN kept_answers k ON k.owner = p.coach_id
		WHERE p.id = $1 AND k.work IS NOT NULL AND k.answer IS NOT NULL LIMIT $2)`,
	// Without the key the record of a consent names no person; its proof still verifies.
	`UPDATE record_keys SET sealed = NULL WHERE record_id IN (
		SELECT record_id FROM record_keys WHERE player_id = $1 AND sealed IS NOT NULL LIMIT $2)`,
}

// namedInText says that the notification n names the player p in its text alone.
const namedInText = `n.player_id IS NULL AND p.student_name <> '' AND n.data LIKE '%' || p.coach_id || '%' AND n.body LIKE '%' || p.student_name || '%'`

// countersOfDelivery are the counters of the message limits that name the recipient of the delivery d: see message.Counted.
const countersOfDelivery = `'number/' || d.recipient, 'coach/' || d.coach_id || '/' || d.recipient, 'training/' || d.coach_id || '/' || d.recipient,
	'number/' || lower(d.recipient), 'coach/' || d.coach_id || '/' || lower(d.recipient), 'training/' || d.coach_id || '/' || lower(d.recipient)`

// lastWithAddress says that no other child of the party p has the same address. An erased player has none.
const lastWithAddress = `NOT EXISTS (SELECT 1 FROM parties o
	WHERE o.account_id = p.account_id AND o.player_id <> p.player_id AND o.email = p.email AND o.deleted_at IS NULL)
	AND NOT EXISTS (SELECT 1 FROM parties o
	WHERE o.account_id = p.account_id AND o.player_id <> p.player_id AND o.email = p.email AND o.deleted_at IS NOT NULL)`

// teamMessageErasure erases the text of a message unless another player has it.
const teamMessageErasure = `UPDATE team_messages SET body = '' WHERE id IN (
		SELECT m.id FROM team_recipients t JOIN team_messages m ON m.id = t.message_id
		WHERE t.player_id = $1 AND m.body <> '' AND NOT EXISTS (
			SELECT 1 FROM team_recipients o JOIN players p ON p.id = o.player_id
			WHERE o.message_id = m.id AND o.player_id <> $1 AND p.erased_at IS NULL)
		LIMIT $2)`

// numberInUse says that another person of a family has the number to which the delivery d went. The messages that left count for the
// limits of that person, who may answer one with STOP, so they go with the last account of the number.
const numberInUse = `EXISTS (SELECT 1 FROM accounts o WHERE o.mobile_number = d.recipient AND o.role <> 'coach')`

// settled says that the delivery d waits no longer, and is no code.
const settled = `d.state <> 'queued' AND d.kind <> 'otp'`

// accountErasures erase at most $2 rows of the account $1 each. It has no number any more.
var accountErasures = []string{
	// Also those to an address, or to an earlier number.
	`DELETE FROM deliveries WHERE id IN (
		SELECT d.id FROM deliveries d WHERE d.account_id = $1 AND d.request_id IS NULL AND NOT (` + settled + ` AND ` + numberInUse + `) LIMIT $2)`,
	`DELETE FROM deliveries WHERE id IN (
		SELECT d.id FROM requests r JOIN deliveries d ON d.request_id = r.id
		WHERE r.approver_id = $1 AND NOT (` + settled + ` AND ` + numberInUse + `) LIMIT $2)`,
	`DELETE FROM notifications WHERE (account_id, seq) IN (
		SELECT account_id, seq FROM notifications WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM sessions WHERE id IN (
		SELECT id FROM sessions WHERE account_id = $1 AND revoked_at IS NULL LIMIT $2)`,
	`DELETE FROM sessions WHERE id IN (
		SELECT id FROM sessions WHERE account_id = $1 AND revoked_at IS NOT NULL LIMIT $2)`,
	`DELETE FROM calendars WHERE (account_id, player_id) IN (
		SELECT account_id, player_id FROM calendars WHERE account_id = $1 LIMIT $2)`,
	`UPDATE record_keys SET sealed = NULL WHERE record_id IN (
		SELECT record_id FROM record_keys WHERE account_id = $1 AND sealed IS NOT NULL LIMIT $2)`,
	`DELETE FROM passkeys WHERE id IN (
		SELECT id FROM passkeys WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM proof_attempts WHERE id IN (
		SELECT id FROM proof_attempts WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM adult_proofs WHERE account_id IN (
		SELECT account_id FROM adult_proofs WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM kept_answers WHERE (owner, key) IN (
		SELECT owner, key FROM kept_answers WHERE owner = $1 LIMIT $2)`,
	`DELETE FROM former_guardians WHERE (account_id, player_id) IN (
		SELECT account_id, player_id FROM former_guardians WHERE account_id = $1 LIMIT $2)`,
}

// repeat runs a statement in one transaction after the other, until fewer than eraseBatch rows are left.
func repeat(ctx context.Context, db *store.DB, query string, arg any) (total int64, err error) {
	for {
		n, err := db.Exec(ctx, query, arg, eraseBatch)
		if total += n; err != nil || n < eraseBatch {
			return total, err
		}
	}
}

// erasePlayer erases a removed player, and the accounts of its family that no other player names. A removal is final, so
// nothing adds rows meanwhile. The row of the player is last: if the process stops before, the next sweep continues.
func erasePlayer(ctx context.Context, db *store.DB, id string) (total int64, err error) {
	return erasePlayerAlso(ctx, db, id, nil)
}

// erasePlayerAlso runs also in the transaction that completes the erasure, unless another process did.
func erasePlayerAlso(ctx context.Context, db *store.DB, id string, also Also) (total int64, err error) {
	for _, query := range playerErasures {
		n, err := repeat(ctx, db, query, id)
		if total += n; err != nil {
			return total, err
		}
	}
	accounts, err := accountsOf(ctx, db, id)
	if err != nil {
		return total, err
	}
	for _, account := range accounts {
		n, err := eraseAccount(ctx, db, account, id)
		if total += n; err != nil {
			return total, fmt.Errorf("account %s: %w", account, err)
		}
	}
	var n int64
	err = db.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.Exec(ctx, `
			UPDATE players SET student_name = '', student_key = '', date_of_birth = '1900-01-01', search_key = '', sort_key = '', medical = NULL, medical_at = NULL,
				basis_note = NULL, erased_at = $2,
				student_hash = CASE WHEN EXISTS (SELECT 1 FROM disputes d WHERE d.coach_id = players.coach_id AND d.player_id = players.id) THEN student_hash END
			WHERE id = $1 AND deleted_at IS NOT NULL AND erased_at IS NULL`, id, database.Micros(tx.Now))
		if err != nil || n == 0 {
			return err
		}
		err = tx.Defer(ctx, `UPDATE parties SET name = NULL, relationship = NULL, email = NULL, number = NULL, language = NULL WHERE player_id = $1`, id)
		if err != nil {
			return err
		}
		if err := tx.Defer(ctx, `DELETE FROM former_guardians WHERE player_id = $1`, id); err != nil {
			return err
		}
		if err := tx.RecordPlayerErasure(ctx, id); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `SELECT role, guardian_id FROM parties WHERE player_id = $1 ORDER BY role, position`, id)
		parties, err := database.Collect(rs, err, func(row database.Scanner) (p store.ErasedParty, err error) {
			return p, row.Scan(&p.Role, &p.GuardianID)
		})
		if err != nil {
			return fmt.Errorf("read the parties of player %s: %w", id, err)
		}
		if err := recordErased(ctx, tx, store.PlayerErased, id, parties...); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	return total + n, err
}

// accountsOf returns the accounts that a player names, and those of its former guardians.
func accountsOf(ctx context.Context, db *store.DB, id string) ([]string, error) {
	rs, err := db.Query(ctx, `SELECT account_id FROM parties WHERE player_id = $1 AND account_id IS NOT NULL ORDER BY role, position`, id)
	accounts, err := database.CollectTexts(rs, err)
	if err != nil {
		return nil, err
	}
	rs, err = db.Query(ctx, `SELECT account_id FROM former_guardians WHERE player_id = $1 ORDER BY account_id`, id)
	former, err := database.CollectTexts(rs, err)
	return append(accounts, former...), err
}

// recordErased runs the hook of an erasure.
func recordErased(ctx context.Context, tx *store.Tx, kind, id string, parties ...store.ErasedParty) error {
	record := tx.DB().Hooks().Erased
	if record == nil {
		return nil
	}
	return record(ctx, tx, kind, id, parties)
}

// errInUse rolls back the erasure of an account that a player names.
var errInUse = errors.New("the account is in use")

// accountInUse says whether a player other than $2 names the account $1, or has it as a former guardian. $2 is empty for a person who
// deletes the account: then only live players that name it count.
const accountInUse = `(EXISTS (SELECT 1 FROM parties a WHERE a.account_id = $1 AND a.deleted_at IS NULL)
	OR CAST($2 AS TEXT) <> '' AND EXISTS (SELECT 1 FROM parties a JOIN players p ON p.id = a.player_id AND p.erased_at IS NULL
		WHERE a.account_id = $1 AND a.deleted_at IS NOT NULL AND a.player_id <> $2)
	OR CAST($2 AS TEXT) <> '' AND EXISTS (SELECT 1 FROM former_guardians f WHERE f.account_id = $1 AND f.player_id <> $2))`

// eraseAccount erases an account that no player but this one names. The next person with its number gets a new account, to which its
// disputes go.
func eraseAccount(ctx context.Context, db *store.DB, account, playerID string) (total int64, err error) {
	err = db.Write(ctx, func(tx *store.Tx) error { return releaseNumber(ctx, tx, account, playerID) })
	if errors.Is(err, errInUse) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, query := range accountErasures {
		n, err := repeat(ctx, db, query, account)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

// releaseNumber takes the number from an account, and deletes what it has by its number. It returns errInUse for an account
// that is in use, and does nothing the second time.
func releaseNumber(ctx context.Context, tx *store.Tx, account, playerID string) error {
	var number, role string
	err := tx.QueryRow(ctx, `SELECT mobile_number, role FROM accounts WHERE id = $1`, account).Scan(&number, &role)
	if err != nil || number == "erased:"+account {
		return err
	}
	n, err := tx.Exec(ctx, `
		UPDATE accounts SET mobile_number = 'erased:' || id, closed_at = $4
		WHERE id = $1 AND mobile_number = $3 AND closed_at IS NULL AND suspended_at IS NULL AND NOT `+accountInUse,
		account, playerID, number, database.Micros(tx.Now))
	if err != nil {
		return err
	}
	// A transaction that adds a player locks the account too: it has committed here, or finds the number released.
	used := n == 0
	if !used {
		if err := tx.QueryRow(ctx, `SELECT `+accountInUse, account, playerID).Scan(&used); err != nil {
			return err
		}
	}
	if used {
		return errInUse
	}
	if n == 1 {
		if err := tx.RecordErasure(ctx, actor.Role(role), account); err != nil {
			return err
		}
		if err := recordErased(ctx, tx, role, account, store.ErasedParty{Role: actor.Role(role)}); err != nil {
			return err
		}
	}
	for _, query := range []string{
		`DELETE FROM message_counts WHERE (counter, counted_at) IN (
			SELECT c.counter, c.counted_at FROM deliveries d JOIN message_counts c ON c.counter IN (` + countersOfDelivery + `)
			WHERE d.account_id = $1 AND d.request_id IS NULL AND d.recipient <> '' AND NOT ` + numberInUse + `)`,
		`DELETE FROM message_counts WHERE (counter, counted_at) IN (
			SELECT c.counter, c.counted_at FROM requests r JOIN deliveries d ON d.request_id = r.id JOIN message_counts c ON c.counter IN (` + countersOfDelivery + `)
			WHERE r.approver_id = $1 AND d.recipient <> '' AND NOT ` + numberInUse + `)`,
	} {
		if err := tx.Defer(ctx, query, account); err != nil {
			return err
		}
	}
	for _, query := range []string{
		`DELETE FROM message_counts WHERE (counter, counted_at) IN (
			SELECT c.counter, c.counted_at FROM deliveries d JOIN message_counts c ON c.counter IN (` + countersOfDelivery + `)
			WHERE d.recipient = $1 AND d.recipient <> '' AND NOT ` + numberInUse + `)`,
		`DELETE FROM devices WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)`,
		`DELETE FROM chat_numbers WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)`,
		`DELETE FROM chat_users WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)`,
		`DELETE FROM chat_held WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1)`,
	} {
		if err := tx.Defer(ctx, query, number); err != nil {
			return err
		}
	}
	for _, query := range []string{
		`DELETE FROM confirmed_addresses WHERE mobile_number = $1 AND role = $2`,
		`DELETE FROM deliveries WHERE id IN (
			SELECT d.id FROM deliveries d
			WHERE d.recipient = $1 AND d.recipient <> '' AND (d.role = $2 AND NOT (` + settled + `) OR d.role <> 'coach' AND NOT ` + numberInUse + `))`,
	} {
		if err := tx.Defer(ctx, query, number, role); err != nil {
			return err
		}
	}
	return outbox.DeleteUnusedPreferences(ctx, tx.Tx, phone.Number(number), tx.DB().KeptNumber(phone.Number(number)))
}
