package store_test

import (
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/player"
)

// coachDevices signs a guardian in on a device of a coach, approves, and revokes while a worker sends
// a message of an app service.
func (p *fixture) coachDevices() {
	p.Helper()
	now := p.clock.Now()
	c := p.coach(61)
	a := p.add(c, "Chitra Rao", number(62), "")
	key := auth.ChallengeKey{Number: number(62), Role: actor.Guardian}
	_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{
		Challenge:   auth.Challenge{ChallengeKey: key, ID: "challenge-62", Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
		MaxAttempts: 2, LastSentBefore: now.Add(-time.Minute), Channel: "sms",
	})
	ok(p, err)
	s := &auth.Session{
		ID: "session-62", AccountID: "account-62", Role: key.Role, Number: key.Number, DeviceID: "device-62", Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour),
	}
	_, err = p.accounts().VerifyOTP(bg, auth.Attempt{
		Keys: []auth.ChallengeKey{key}, MaxAttempts: 3, MaxFailures: func(auth.ChallengeKey) int { return 9 }, Now: now,
		Matches: func(auth.Challenge) bool { return true },
		SignIn: &auth.SignIn{
			Session: s, RefreshHash: []byte("62"), DeviceHash: []byte("d62"), DeviceEnds: now.Add(time.Hour), OtherDevices: [][]byte{[]byte("d")},
		},
	})
	ok(p, err)
	_, err = player.DeviceApprovals(bg, p.db, c.AccountID)
	ok(p, err)
	guardian := p.as(actor.Guardian, number(62))
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	ok(p, run(p.db, `
		INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at)
		VALUES ($1, 900, 'progress', $2, 't', 'b', '{}', $3, 1)`, guardian.AccountID, string(message.ProgressUpdate), a.ID))
	ok(p, run(p.db, `
		INSERT INTO deliveries (id, kind, channel, state, account_id, notification_id, recipient, role, attempts, due_at, gives_up_at, lease, lease_ends_at, created_at, updated_at)
		VALUES ('copy', 'notice', 'push', 'queued', $1, 'progress', 'r', 'guardian', 1, $2, $2, 'lease', $2, 1, 1)`, guardian.AccountID, now.Add(time.Hour).UnixMicro()))
	_, err = p.db.Outbox.MarkSending(bg, []message.Outgoing{{Deliveries: []message.Delivery{{ID: "copy", Lease: "lease"}}}})
	ok(p, err)
	ok(p, p.decide(guardian, a.ID, approval.Revoke))
}
