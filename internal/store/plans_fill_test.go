package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// fillTables inserts a thousand rows per table, so that the planner of PostgreSQL
// chooses as in production: on a table of one page it does not care which index it uses.
// SQLite plans by the schema alone.
func fillTables(t *testing.T, url string) {
	t.Helper()
	if !strings.HasPrefix(url, "postgres") {
		return
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	ok(t, err)
	defer conn.Close(ctx)
	for _, statement := range []string{
		`SET session_replication_role = replica`, // turns foreign keys off
		`INSERT INTO accounts SELECT 'a' || i, 'n' || i, 'guardian', 0, i FROM generate_series(1, 1000) i`,
		`INSERT INTO coaches SELECT 'a' || i, 'n', NULL, NULL, 1, '[]', 1, i, i FROM generate_series(1, 500) i`,
		`INSERT INTO devices SELECT 'd' || i, ('d' || i)::bytea, 'n' || i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO sessions SELECT 's' || i, 'a' || i % 2000, 'guardian', 'n' || i, 'd', NULL, 1, '\x01', NULL, NULL, NULL, i, i, i, i,
			CASE WHEN i % 2 = 0 THEN i END FROM generate_series(1, 1000) i`,
		`INSERT INTO streams SELECT 'a' || i / 10, i % 10, 't' || i, 'w' || i % 500, '', i, i, 's' || i FROM generate_series(1, 1000) i`,
		`INSERT INTO stream_processes SELECT 'w' || i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO otp_challenges SELECT 'n' || i, 'coach', '', 'c' || i, '\x01', 0, i, i, NULL, i, '' FROM generate_series(1, 1000) i`,
		`INSERT INTO otp_sends SELECT 'c' || i, 'b' || i % 100, CASE WHEN i % 50 = 0 THEN 'X' || i % 3 ELSE '' END, 'n', i, FALSE FROM generate_series(1, 1000) i`,
		`INSERT INTO otp_failures SELECT 'n' || i, 0, i FROM generate_series(1, 1000) i`,
		`INSERT INTO otp_failure_times SELECT 'n' || i % 200, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO limits SELECT 'k' || i, 1, i FROM generate_series(1, 1000) i`,
		`INSERT INTO limit_occurrences SELECT 'k' || i % 500, i / 500, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO limit_minutes SELECT 'k' || i % 100, i / 4, i % 4, 1, i FROM generate_series(1, 1000) i`,
		`INSERT INTO gather_windows SELECT 'c' || i % 500, '+91' || i / 500, i FROM generate_series(1, 1000) i`,
		`INSERT INTO kept_answers (owner, key, fingerprint, status, lease, lease_ends_at, ends_at) SELECT 'o' || i, 'k', '\x01', 0, 'l', i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, unanswered_since, created_at)
			SELECT 'p' || i, 'a' || i % 100, 1, 'n', 'n' || i, '2014-01-01', 'n', CASE WHEN i % 2 = 0 THEN i END, i FROM generate_series(1, 1000) i`,
		`INSERT INTO parties (player_id, role, position, coach_id, name, number, account_id, state, pending_since, request_id)
			SELECT 'p' || i, 'guardian', 1, 'a' || i % 100, 'n', 'n', 'a' || i % 1000, 'pending', i, 'r' || i FROM generate_series(1, 1000) i`,
		`INSERT INTO parties (player_id, role, position, coach_id, number, account_id, state, pending_since)
			SELECT 'p' || i, 'student', 1, 'a' || i % 100, 'n', 'a' || i, CASE WHEN i % 2 = 0 THEN 'pending' ELSE 'approved' END, i FROM generate_series(1, 1000) i`,
		`INSERT INTO requests SELECT 'r' || i, 'p' || i, 'a' || i % 100, 'guardian', 'a' || i % 1000, CASE WHEN i % 5 = 0 THEN 'disputed' ELSE 'pending' END, 'sms', i, i, FALSE, NULL, 'c' || i
			FROM generate_series(1, 1000) i`,
		`INSERT INTO request_links SELECT ('l' || i)::bytea, 'r' || i, i, TRUE FROM generate_series(1, 1000) i`,
		`INSERT INTO trainings SELECT 't' || i, 'a' || i % 100, 'b' || i % 50, 1, 'd' || i % 100, i, i, 'match', NULL, NULL, NULL, NULL, NULL, NULL, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO training_answers SELECT 't' || i % 100, 'p' || i, 'a' || i % 100, 'b' || i % 50, 'd' || i % 100, TRUE, NULL, 'guardian', 'a' || i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO training_links SELECT 't' || i % 100, 'p' || i, 'a' || i % 500, 'l' || i, ('l' || i)::bytea, 'guardian', 'a' || i % 100, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO calendars SELECT 'a' || i % 500, 'p' || i, 'c' || i, ('c' || i)::bytea, 'guardian', 'a' || i % 100, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO reminders SELECT 'm' || i, 'p' || i % 500, 'guardian', i FROM generate_series(1, 1000) i`,
		`INSERT INTO approval_history SELECT 'h' || i, 'p' || i % 2000, 'guardian', 'a' || i, 'approved', NULL, NULL, i FROM generate_series(1, 1000) i`,
		`INSERT INTO changes SELECT 'p' || i % 2000, i, 'approved', 'guardian', 'approved', 'pending', i, CASE WHEN i < 900 THEN 10000 + i END, CASE WHEN i < 900 THEN i END
			FROM generate_series(1, 1000) i`,
		`INSERT INTO adult_proofs SELECT 'a' || i, 'oidc', 'p', i, i, NULL, 'same', ('s' || i)::bytea FROM generate_series(1, 1000) i`,
		`INSERT INTO proof_attempts SELECT 't' || i, 'a' || i % 500, 'p' || i, 'p', ('s' || i)::bytea, 'valid', NULL, NULL, NULL, 'page', i FROM generate_series(1, 1000) i`,
		`INSERT INTO second_messages (record_id, player_id, guardian_id, approved_at, due_at) SELECT 'h' || i, 'p' || i, '', i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO erasures SELECT 'e' || i, 'player', i FROM generate_series(1, 2000) i`,
		`INSERT INTO disputes SELECT 'a' || i % 100, 'a' || i, 'p' || i, ('s' || i)::bytea, ('n' || i)::bytea, i, 'r' || i FROM generate_series(1, 1000) i`,
		`INSERT INTO tellings SELECT 'a' || i % 500, 'training/' || i, 'w', '{}', i FROM generate_series(1, 1000) i`,
		`INSERT INTO digests SELECT 'a' || i, i, 1 FROM generate_series(1, 1000) i`,
		`INSERT INTO notifications SELECT 'a' || i % 50, i, 't' || i, 'k', 't', 'b', '{}', 'p' || i, i, CASE WHEN i % 2 = 0 THEN i END
			FROM generate_series(1, 1000) i`,
		`INSERT INTO deliveries SELECT 'v' || i, CASE WHEN i % 3 = 0 THEN 'otp' ELSE 'request' END, 'sms', CASE WHEN i % 10 = 0 THEN 'queued' ELSE 'sent' END,
				NULL, 'a', 'n', 'guardian', 'a', CASE WHEN i % 3 <> 0 THEN 'r' || i END, NULL, NULL, NULL, 0, i, i, NULL, NULL, NULL, i, i, NULL, i % 2 = 0,
				CASE WHEN i % 10 = 0 AND i % 3 <> 0 THEN 'coach/' || i % 100 END FROM generate_series(1, 1000) i`,
		`INSERT INTO team_messages SELECT 'tm' || i, 'a' || i % 100, NULL, FALSE, '[]', 'both', 'sms', 'b', NULL, 1, 0, 1, 1, 1, i, CASE WHEN i % 100 <> 0 THEN i END
			FROM generate_series(1, 1000) i`,
		`INSERT INTO team_recipients SELECT 'tm' || i % 500, i, 'p' || i % 2000, 'guardian', 'a' || i % 1000, FALSE FROM generate_series(1, 1000) i`,
		`INSERT INTO deliveries (id, kind, channel, state, recipient, role, coach_id, attempts, due_at, gives_up_at, created_at, updated_at, team_message_id, team_position)
			SELECT 'tv' || i, 'team', 'sms', CASE WHEN i % 10 = 0 THEN 'left_out' ELSE 'sent' END, 'n' || i % 1000, 'guardian', 'a' || i % 100, 1, i, i, i, i, 'tm' || i % 500, i
			FROM generate_series(1, 1000) i`,
		`INSERT INTO team_replies SELECT 'tr' || i, 'a' || i % 100, 'p' || i % 2000, 'guardian', 'a' || i % 1000, 'b', i, CASE WHEN i % 10 <> 0 THEN i END
			FROM generate_series(1, 1000) i`,
		`INSERT INTO message_templates SELECT 'mt' || i, 'a' || i % 100, 't', 'b', i FROM generate_series(1, 1000) i`,
		`INSERT INTO measurements SELECT 'ms' || i, 'a' || i % 100, 'p' || i % 500, 'm' || i % 3, i, 's', '2026-01-01', 1, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO performance_reports SELECT 'pr' || i, 'a' || i % 100, 'p' || i % 500, 't', 'b', '2026-01-01', '2026-01-31', 1, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO webhooks SELECT 'w' || i, 'u', '', '', '\x01', NULL, NULL, i, 1, NULL, NULL, NULL, CASE WHEN i % 100 <> 0 THEN i END, NULL, i, i, NULL, NULL, NULL FROM generate_series(1, 1000) i`,
		`INSERT INTO webhook_messages SELECT 'w' || i % 50, 'm' || i, 'p' || i % 1000, i, 'approved', 'guardian', 'approved', 'pending', i,
				CASE WHEN i % 10 = 0 THEN 'queued' WHEN i % 10 = 1 THEN 'failed' ELSE 'delivered' END, 1, i, NULL, 200, '', i, i, NULL FROM generate_series(1, 1000) i`,
		`INSERT INTO message_costs SELECT i, 'a' || i % 100, 'sms', 1, 1, 1 FROM generate_series(1, 1000) i`,
		`INSERT INTO message_counts SELECT 'number/' || i % 500, i, 1, i FROM generate_series(1, 1000) i`,
		`INSERT INTO preferences SELECT 'n' || i, 'hi', NULL, i FROM generate_series(1, 1000) i`,
		`INSERT INTO push_subscriptions SELECT 's' || i, 'ps' || i, 'a' || i % 1000, 'guardian', CAST('e' || i AS BYTEA), '\x01', FALSE, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO chat_numbers (mobile_number, wrote_at) SELECT '+91' || i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO chat_users SELECT 'XX.' || i, '+91' || i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO chat_held SELECT 'h' || i, '+91' || i, 'chat', 'x', i FROM generate_series(1, 1000) i`,
		`INSERT INTO handled_replies SELECT CAST('r' || i AS BYTEA), i FROM generate_series(1, 1000) i`,
		`INSERT INTO stopped_addresses SELECT 'a' || i || '@x.example', i FROM generate_series(1, 1000) i`,
		`INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at) SELECT 'n' || i, 'a' || i % 100, i FROM generate_series(1, 1000) i`,
		`INSERT INTO documents SELECT 'd' || i, 'a' || i % 200, CASE WHEN i % 4 = 0 THEN 'identity' ELSE 'certification' END, 't', NULL, NULL, NULL, 'f', 'm', 1, 's',
				NULL, NULL, '[]', 'b' || i, i % 2 = 0, CASE WHEN i % 10 = 0 THEN i END, 1, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO blobs SELECT 'b' || i, 'a' || i % 200, 1, i, CASE WHEN i % 10 = 0 THEN i END FROM generate_series(1, 1000) i`,
		`INSERT INTO kyc_submissions SELECT 'k' || i, 'a' || i, CASE WHEN i % 10 = 0 THEN 'submitted' ELSE 'verified' END, '\x01', NULL, i, NULL, 'n', NULL FROM generate_series(1, 1000) i`,
		`INSERT INTO kyc_documents SELECT 'k' || i, 'd' || i FROM generate_series(1, 1000) i`,
		`INSERT INTO listings SELECT 'a' || i, '{}', i FROM generate_series(1, 1000) i`,
		`INSERT INTO listing_terms SELECT 'w:' || i % 7, 'a' || i FROM generate_series(1, 1000) i`,
		`INSERT INTO imports SELECT 'i' || i, 'a' || i % 500, '[]', NULL, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO import_rows SELECT 'a' || i % 50, 'i' || i % 50, i, CASE WHEN i % 3 = 0 THEN 'waiting' ELSE 'added' END, '{}', '[]', NULL, i
			FROM generate_series(1, 4000) i`,
		`INSERT INTO listing_terms SELECT 's:' || i % 3, 'a' || i FROM generate_series(1, 1000) i`,
		`INSERT INTO batches SELECT 'b' || i, 'a' || i % 100, 1, 'n', NULL, NULL, '[]', 'UTC', i, i, CASE WHEN i % 5 = 0 THEN i END FROM generate_series(1, 1000) i`,
		`INSERT INTO batch_players SELECT 'a' || i % 100, 'b' || i % 500, 'p' || i % 3000, i, CASE WHEN i % 5 = 0 THEN i END FROM generate_series(1, 1000) i ON CONFLICT DO NOTHING`,
		`INSERT INTO earlier_memberships SELECT coach_id, batch_id, player_id, 0, 1 FROM batch_players`,
		`INSERT INTO removed_records SELECT 'removed' || i, 'a' || i % 100, 'p' || i % 3000, 'report', '{}', i FROM generate_series(1, 1000) i`,
		`INSERT INTO attendance_sheets SELECT 'b' || i % 500, '2026-01-' || i / 500, 'a' || i % 100, 1, FALSE, 1, 0, 0, 0, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO attendance_marks SELECT 'a' || i % 100, 'b' || i % 500, '2026-01-' || i / 2000, 'p' || i % 3000, 'late', NULL, i, i, 'a', NULL FROM generate_series(1, 4000) i ON CONFLICT DO NOTHING`,
		`INSERT INTO superseded_marks SELECT 'a' || i % 100, 'b' || i % 500, '2026-01-' || i / 2000, 'p' || i % 3000, 'late', NULL, i, i, 'a', NULL, i FROM generate_series(1, 4000) i`,
		`INSERT INTO fees (id, coach_id, player_id, batch_id, series_id, period, title, amount, currency, due_on, status, paid, remind_at, reminded_count, created_at, version)
			SELECT 'f' || i, 'a' || i % 100, 'p' || i % 500, 'b' || i % 200, 's' || i % 900, i, 't', 9, 'INR', (date '2026-01-01' + i % 365)::text,
				CASE WHEN i % 3 = 0 THEN 'open' ELSE 'paid' END, 0, CASE WHEN i % 3 = 0 THEN i END, 0, i, 1 FROM generate_series(1, 1000) i`,
		`INSERT INTO fee_payments SELECT 'y' || i, 'a' || i % 100, 'f' || i % 2000, i, 1, 'cash', '2026-01-01', NULL, i FROM generate_series(1, 1000) i`,
		`INSERT INTO fee_receipts SELECT 'a' || i, i FROM generate_series(1, 500) i`,
		`INSERT INTO fee_repeats SELECT 'r' || i, 'a' || i % 100, 'p' || i % 500, NULL, 't', 1, 'INR', '2026-01-01', NULL, 1, CASE WHEN i % 3 = 0 THEN i END, NULL, i, 1
			FROM generate_series(1, 1000) i`,
		`INSERT INTO operator_tokens SELECT 't' || i, 'n', ('t' || i)::bytea, 'kyc,', i, i FROM generate_series(1, 500) i`,
		`INSERT INTO operator_sessions SELECT 's' || i, ('s' || i)::bytea, 't' || i % 500, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO former_guardians SELECT 'a' || i % 400, 'p' || i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO former_numbers SELECT 'a' || i % 400, ('n' || i)::bytea, i, i % 3 = 0 FROM generate_series(1, 1000) i`,
		`INSERT INTO coach_devices SELECT ('d' || i)::bytea, 'a' || i % 400, i FROM generate_series(1, 1000) i`,
		`INSERT INTO passkeys SELECT 'k' || i, 'a' || i, ('k' || i)::bytea, NULL, '{}', 0, i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO passkey_challenges SELECT 'c' || i, 'a' || i, '{}', i FROM generate_series(1, 1000) i`,
		`INSERT INTO confirmed_addresses SELECT 'n' || i, 'coach', 'a' || i, i FROM generate_series(1, 1000) i`,
		`INSERT INTO consent_records SELECT 'h' || i, '\x01', i, 1000000 + i FROM generate_series(1, 4000) i`,
		`INSERT INTO record_keys SELECT 'h' || i, 'p' || i % 2000, 'guardian', 'a' || i % 1000, 1, '\x01' FROM generate_series(1, 4000) i`,
		`ANALYZE`,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%v\n\tin %s", err, statement)
		}
	}
}
