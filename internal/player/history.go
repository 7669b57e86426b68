package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// addHistory saves a decision about p, and sets CoachDevice in r once the statement was sent.
func (w *saving) addHistory(ctx context.Context) error {
	r := w.c.History
	if r == nil {
		return nil
	}
	return w.tx.DeferRow(ctx, func(row database.Scanner) error { return row.Scan(&r.CoachDevice) }, `
		INSERT INTO approval_history (id, player_id, approver_type, approver_id, action, reason, request_id, decided_at, via, notice_hash, text_hash, guardian_id, coach_device)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $11, $12, $13, $14, (
			SELECT c.coach_id FROM sessions s
			JOIN devices d ON d.id = s.device_id
			JOIN coach_devices c ON c.token_hash = d.token_hash AND c.coach_id = $10
			WHERE s.id = $9))
		RETURNING coach_device IS NOT NULL`,
		r.ID, r.PlayerID, string(r.Party), r.ApproverID, string(r.Action), database.Text(r.Reason), database.Text(r.RequestID), database.Micros(r.At), r.SessionID, w.p.CoachID, string(r.Via),
		database.Text(r.Wording.NoticeHash), database.Text(r.Wording.TextHash), r.GuardianID)
}

// readHistory lists the decisions about a player, oldest first. The caller must have checked access to the player, and
// opens what the records say was shown with openShown, outside of the transaction.
func readHistory(ctx context.Context, q database.Querier, playerID string) ([]approval.Record, error) {
	rs, err := q.Query(ctx, `
		SELECT h.id, h.player_id, h.approver_type, h.guardian_id, h.approver_id, h.action, h.reason, h.request_id, h.decided_at, h.via, h.coach_device IS NOT NULL, h.notice_hash, h.text_hash, k.sealed
		FROM approval_history h LEFT JOIN record_keys k ON k.record_id = h.id
		WHERE h.player_id = $1 ORDER BY h.decided_at, h.id`, playerID)
	return database.Collect(rs, err, func(row database.Scanner) (r approval.Record, err error) {
		var sealed []byte
		err = row.Scan(&r.ID, &r.PlayerID, &r.Party, &r.GuardianID, &r.ApproverID, &r.Action, database.IntoText(&r.Reason), database.IntoText(&r.RequestID), database.IntoTime(&r.At), &r.Via, &r.CoachDevice,
			database.IntoText(&r.Wording.NoticeHash), database.IntoText(&r.Wording.TextHash), &sealed)
		r.Sealed = string(sealed)
		return r, err
	})
}

// openShown sets what the party of each record was shown. A record that cannot be decrypted shows nothing of it: a decision was saved
// before, and its party must be able to read and revoke it. Sample and an audit report the record. It runs when no transaction waits.
func (s *Service) openShown(history []approval.Record) {
	for i := range history {
		r := &history[i]
		if r.Sealed == "" || s.Hooks.OpenShown == nil {
			continue
		}
		shown, err := s.Hooks.OpenShown(s.DB, r.ID, []byte(r.Sealed))
		if err == nil {
			shown.NoticeHash, shown.TextHash = r.Wording.NoticeHash, r.Wording.TextHash
			r.Wording = shown
		}
		r.Sealed = ""
	}
}

// addReminder stores a reminder of the request r, which counts against the reminder window.
func (w *saving) addReminder(ctx context.Context) error {
	r := w.c.Reminded
	if r == nil {
		return nil
	}
	err := w.tx.Defer(ctx, `INSERT INTO reminders (id, player_id, approver_type, guardian_id, sent_at) VALUES ($1, $2, $3, $4, $5)`,
		w.s.DB.NewID(), w.p.ID, string(r.Party), r.GuardianID, database.Micros(w.tx.Now))
	if err != nil {
		return fmt.Errorf("add reminder: %w", err)
	}
	return w.tx.DeferOne(ctx, `UPDATE requests SET followed_up_at = COALESCE(followed_up_at, $2), sent_version = $3 WHERE id = $1 AND version = $3`,
		r.ID, database.Micros(r.FollowedUpAt), r.Version)
}

// maxDeviceApprovals is how many of these approvals an operator sees of one coach.
const maxDeviceApprovals = 50

// DeviceApprovals is coach.AccountAdmin.DeviceApprovals.
func DeviceApprovals(ctx context.Context, db *store.DB, id string) ([]coach.DeviceApproval, error) {
	rs, err := db.Query(ctx, `
		SELECT player_id, approver_type, decided_at FROM approval_history
		WHERE coach_device = $1 ORDER BY decided_at DESC, id DESC LIMIT $2`, id, maxDeviceApprovals)
	found, err := database.Collect(rs, err, func(s database.Scanner) (d coach.DeviceApproval, err error) {
		return d, s.Scan(&d.PlayerID, &d.Party, database.IntoTime(&d.At))
	})
	return found, fault.Wrap(err, "list approvals on devices of coach %s", id)
}
