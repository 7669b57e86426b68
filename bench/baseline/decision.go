package baseline

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/bench"
)

const updatePlayer = `UPDATE players SET guardian_changed_at = $2 WHERE id = $1`

// The statements of a guardian's approval, in their order.
const (
	selectSession = `
		SELECT id, account_id, role, mobile_number, device_id, device_name, generation,
			used_at, used_before, created_at, last_used_at, idle_at, ends_at, revoked_at
		FROM sessions WHERE id = $1`
	loadPlayer = `
		SELECT p.id, p.coach_id, c.name, p.version, p.student_name, p.date_of_birth, p.medical, p.student_number,
			p.guardian_name, p.guardian_relationship, p.guardian_number, p.guardian_email, p.created_at, p.deleted_at,
			p.guardian_id, p.guardian_state, p.guardian_changed_at, p.guardian_pending_since,
			p.student_id, p.student_state, p.student_changed_at, p.student_pending_since,
			g.id, g.approver_id, g.state, g.channels, g.requested_at, g.last_sent_at, g.delivery_failed, g.closed_at,
			s.id, s.approver_id, s.state, s.channels, s.requested_at, s.last_sent_at, s.delivery_failed, s.closed_at
		FROM players p
		LEFT JOIN coaches c ON c.id = p.coach_id
		LEFT JOIN requests g ON g.id = p.guardian_request_id
		LEFT JOIN requests s ON s.id = p.student_request_id WHERE p.id = $1`
	savePlayer = `
		UPDATE players SET version = version + 1,
			student_name = $3, student_key = $4, date_of_birth = $5, search_key = $6, medical = $7, student_number = $8,
			student_id = $9, student_state = $10, student_changed_at = $11, student_pending_since = $12, student_request_id = $13,
			guardian_name = $14, guardian_relationship = $15, guardian_email = $16, guardian_number = $17,
			guardian_id = $18, guardian_state = $19, guardian_changed_at = $20, guardian_pending_since = $21, guardian_request_id = $22,
			deleted_at = $23
		WHERE id = $1 AND version = $2`
	closeRequest = `UPDATE requests SET state = $2, closed_at = $3 WHERE id = $1`
	addHistory   = `
		INSERT INTO approval_history (id, player_id, approver_type, approver_id, action, reason, request_id, decided_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	growTray = `
		UPDATE accounts SET tray_seq = tray_seq + CASE id WHEN $1 THEN CAST($2 AS BIGINT) ELSE 0 END
		WHERE id IN ($1) RETURNING id, tray_seq`
	addNotification = `
		INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	selectHistory = `
		SELECT id, player_id, approver_type, approver_id, action, reason, request_id, decided_at
		FROM approval_history WHERE player_id = $1 ORDER BY decided_at, id`
	selectDeliveries = `
		SELECT request_id, channel, state, reason, updated_at FROM deliveries
		WHERE request_id IN ($1, $2) ORDER BY id`
)

// decisionsPerSecond is the largest number of decisions that a turn can make: it has a pending player for each.
const decisionsPerSecond = 4000

// Decision compares a guardian's approval, with its history record, its notification and its response.
func (f *Fixture) Decision(ctx context.Context, o bench.Options) ([]bench.Contender, error) {
	coaches, err := f.coaches(ctx, 50)
	if err != nil {
		return nil, err
	}
	n := int(o.Round.Seconds()*decisionsPerSecond)/o.Workers + 1
	var ofOperation, ofBaseline []family // one for each worker
	for range o.Workers {
		for _, list := range []*[]family{&ofOperation, &ofBaseline} {
			family, err := f.family(ctx, coaches, n)
			if err != nil {
				return nil, err
			}
			*list = append(*list, family)
		}
	}
	if err := f.analyze(ctx); err != nil {
		return nil, err
	}
	if err := f.bare.prepare(ctx, updatePlayer, loadPlayer, savePlayer, closeRequest, addHistory, growTray, addNotification); err != nil {
		return nil, err
	}
	floor := func(w http.ResponseWriter, r *http.Request) {
		s := f.bare.writing(r)
		s.begin()
		s.exec(updatePlayer, r.URL.Query().Get("p"), time.Now().UnixMicro())
		s.commit()
		s.respond(w)
	}
	same := func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		f.sameDecision(w, r, q.Get("s"), q.Get("p"))
	}
	eachPlayer := func(families []family, decide func(family, player) *http.Request) func(int) func() *http.Request {
		return func(worker int) func() *http.Request {
			family, i := families[worker], 0
			return func() *http.Request {
				if i == len(family.players) {
					return nil
				}
				i++
				return decide(family, family.players[i-1])
			}
		}
	}
	baseline := eachPlayer(ofBaseline, func(f family, p player) *http.Request {
		return bench.NewRequest(http.MethodPost, "/?s="+f.guardian.session+"&p="+p.id, nil, "")
	})
	operation := eachPlayer(ofOperation, func(f family, p player) *http.Request {
		return bench.NewRequest(http.MethodPut, "/api/approval/guardian-response", f.header,
			`{"player_id":"`+p.id+`","action":"approved","request_id":"`+p.guardianRequest+`"}`)
	})
	return []bench.Contender{
		{Name: Floor, Handler: http.HandlerFunc(floor), Requests: baseline},
		{Name: Same, Handler: http.HandlerFunc(same), Requests: baseline, Before: f.resetDecisions},
		{Name: Operation, Handler: f.app.Handler(), Requests: operation, Before: f.resetDecisions},
	}, nil
}

// sameDecision runs the statements of an approval.
func (f *Fixture) sameDecision(w http.ResponseWriter, r *http.Request, sid, pid string) {
	now := time.Now().UnixMicro()
	session, pointers := columns(14)
	reads := f.bare.reading(r)
	reads.row(selectSession, []any{sid}, pointers...)

	s := f.bare.writing(r)
	s.err = reads.err
	if s.err == nil {
		s.begin()
	}
	v, pointers := columns(38)
	s.row(loadPlayer, []any{pid}, pointers...)
	if s.err == nil {
		name, _ := v[4].(string)
		key := strings.ToLower(name)
		coach, _ := v[1].(string)
		var seq int64
		s.exec(savePlayer, v[0], v[3], v[4], key, v[5], key+"\nravi rao", v[6], v[7], v[18], v[19], v[20], v[21], v[30],
			v[8], v[9], v[11], v[10], v[14], "approved", now, v[17], v[22], v[13])
		s.exec(closeRequest, v[22], "approved", now)
		s.exec(addHistory, newID(), pid, "guardian", session[1], "approved", nil, v[22], now)
		s.row(growTray, []any{coach, 1}, new(string), &seq)
		s.exec(addNotification, coach, seq, newID(), "guardian_approved", "Ravi Rao said yes", name+" may use the guardian's app services.",
			`{"player_id":"`+pid+`"}`, pid, now)
	}
	s.commit()

	reads.err = s.err
	var text [7]string
	var at int64
	var reason, more sql.NullString
	reads.rows(selectHistory, []any{pid}, 1, &text[0], &text[1], &text[2], &text[3], &text[4], &reason, &more, &at)
	reads.rows(selectDeliveries, []any{v[22], v[30]}, 4, &text[0], &text[1], &text[2], &reason, &at)
	reads.respond(w)
}

// columns returns n values and the pointers to scan into them.
func columns(n int) (values, pointers []any) {
	values, pointers = make([]any, n), make([]any, n)
	for i := range values {
		pointers[i] = &values[i]
	}
	return values, pointers
}

// resetDecisions returns every player to pending.
func (f *Fixture) resetDecisions(ctx context.Context) error {
	for _, statement := range []string{
		`UPDATE players SET guardian_state = 'pending', guardian_changed_at = NULL WHERE guardian_state <> 'pending'`,
		`UPDATE requests SET state = 'pending', closed_at = NULL WHERE state <> 'pending'`,
		`DELETE FROM approval_history`,
		`DELETE FROM notifications`,
	} {
		if _, err := f.bare.writes.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if !f.bare.sqlite {
		_, err := f.bare.writes.ExecContext(ctx, `VACUUM players, requests, approval_history, notifications, accounts`)
		return err
	}
	_, err := f.bare.writes.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}
