package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestSendsAreRecorded: one row per code that is sent, also if it is sent again, none for
// a request that sends nothing, and none an hour after the validity has ended.
func TestSendsAreRecorded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(f *fixture) {
		send := func(role actor.Role, channel string) {
			f.Helper()
			now := f.clock.Now()
			_, err := f.accounts().OpenChallenge(bg, auth.ChallengeRequest{
				Challenge: auth.Challenge{
					ChallengeKey: auth.ChallengeKey{Number: number(1), Role: role},
					ID:           f.db.NewID(), Code: []byte("x"), SentAt: now, EndsAt: now.Add(5 * time.Minute),
				},
				MaxAttempts: 5, LastSentBefore: now, Channel: channel,
				Destination: auth.Destination{Block: "+9198", Network: "198.51.100.7"},
			})
			ok(f, err)
		}
		want := func(rows int) {
			f.Helper()
			ok(f, f.db.SweepAt(bg, f.clock.Now()))
			if n := f.count(`SELECT count(*) FROM otp_sends`); n != rows {
				f.Fatalf("%d sends are recorded, want %d", n, rows)
			}
		}
		send(actor.Guardian, "sms")
		send(actor.Student, "")
		want(0)
		send(actor.Coach, "sms")
		f.clock.advance(time.Minute)
		send(actor.Coach, "sms")
		want(1)
		f.clock.advance(5 * time.Minute)
		send(actor.Coach, "sms")
		want(2)
		f.clock.advance(58 * time.Minute)
		want(2)
		f.clock.advance(2 * time.Minute)
		want(1)
	})
}
