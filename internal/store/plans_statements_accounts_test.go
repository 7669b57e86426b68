package store_test

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/server"
)

// challenges opens a challenge, exceeds the send limits, and verifies wrong codes until
// the number is blocked, then a correct code.
func (p *fixture) challenges() {
	p.Helper()
	once := auth.Limit{Name: "once", Key: "once", Max: 1, Per: time.Hour}
	p.occur(once)
	p.occur(auth.Limit{Name: "total", Key: "total", Max: 1000, Per: time.Hour, Total: true})
	p.occur(auth.Limit{Name: "other", Key: "other", Max: 1, Per: time.Hour}, once) // refused
	now := p.clock.Now()
	key := auth.ChallengeKey{Number: number(60), Role: actor.Coach}
	open := auth.ChallengeRequest{
		Challenge:   auth.Challenge{ChallengeKey: key, ID: "challenge", Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
		Destination: auth.Destination{Block: "+9198", Country: "GB", Network: "198.51.100.7"},
		MaxAttempts: 2, LastSentBefore: now.Add(-time.Minute), Channel: "sms",
		Limits: func(auth.RoleFacts) []auth.Limit {
			return []auth.Limit{{Name: "one", Key: "one", Max: 1, Per: time.Hour}, {Name: "two", Key: "two", Max: 100, Per: time.Hour}}
		},
	}
	_, err := p.accounts().OpenChallenge(bg, open)
	ok(p, err)
	_, _ = p.accounts().OpenChallenge(bg, open) // limited, and too soon
	asked := &auth.Service{Store: p.accounts(), Keys: &auth.Keys{Vault: p.vault}, Settings: auth.Settings{OTPTries: 9}}
	_, _, _ = asked.OpenCode(bg, key.Number, time.Time{}) // the code is not sealed
	correct := false
	attempt := auth.Attempt{
		Keys: []auth.ChallengeKey{key}, MaxAttempts: 3, MaxFailures: func(auth.ChallengeKey) int { return 2 }, Now: now,
		Matches: func(auth.Challenge) bool { return correct },
	}
	for range 4 { // two wrong codes, then blocked
		_, err := p.accounts().VerifyOTP(bg, attempt)
		ok(p, err)
	}
	ok(p, run(p.db, `DELETE FROM otp_failures`)) // as after a day
	attempt.MaxAttempts = 0
	_, err = p.accounts().VerifyOTP(bg, attempt)
	ok(p, err)
	attempt.MaxAttempts, attempt.MaxFailures, correct = 9, func(auth.ChallengeKey) int { return 9 }, true
	s := &auth.Session{
		ID: "session", AccountID: "account-60", Role: key.Role, Number: key.Number, DeviceID: "device", Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour),
	}
	attempt.SignIn = &auth.SignIn{Session: s, RefreshHash: []byte("1"), DeviceHash: []byte("d"), DeviceEnds: now.Add(time.Hour)}
	login := idempotency.Holder{Owner: "login", Key: "k", LeaseID: "l"}
	_, err = p.keys().ClaimKey(bg, idempotency.Claim{Holder: login, Now: now, Fingerprint: []byte("f"), LeaseEndsAt: now.Add(time.Second), EndsAt: now.Add(time.Hour)})
	ok(p, err)
	_, err = p.accounts().VerifyOTP(idempotency.WithHolder(bg, login), attempt)
	ok(p, err)
	_, err = p.accounts().RepeatLogin(bg, attempt, false)
	ok(p, err)
	_, err = p.accounts().Device(bg, []byte("d"), key.Number, now)
	ok(p, err)
	_, _, err = player.LinkedRequest(bg, p.db, []byte("l"), key.Number, key.Role, now)
	ok(p, err)
}

// emailCodes confirms an address, finds a code that was sent to it and removes the address.
func (p *fixture) emailCodes() {
	p.Helper()
	s, key := p.emailSignIn(), auth.ChallengeKey{Number: number(63), Role: actor.Coach}
	by := p.pageLogin(s, key.Role, key.Number, auth.PageLifetime, 0).Session.Actor()
	p.confirm(s, by, "meera@club.example")
	p.requestByEmail(s, key)
	ok(p, pageLogin(s, key, testCode, auth.Proof{}))
	_, err := s.Store.ConfirmedAddress(bg, by.Number, by.Role)
	ok(p, err)
	ok(p, s.Store.RemoveAddress(bg, by.Number, by.Role))
}

// passkeys adds a passkey, signs in with it and removes it.
func (p *fixture) passkeys() {
	p.Helper()
	now := p.clock.Now()
	s, db := p.emailSignIn(), p.accounts()
	by := p.pageLogin(s, actor.Coach, number(64), auth.PageLifetime, 0).Session.Actor()
	challenge := webauthn.SessionData{Challenge: "c"}
	ok(p, db.AddPasskeyChallenge(bg, "registration", by.AccountID, challenge, nil))
	ok(p, db.AddPasskey(bg, by, "registration", &auth.Passkey{ID: "passkey", CreatedAt: now}, func(webauthn.SessionData) (*webauthn.Credential, error) {
		return &webauthn.Credential{ID: []byte("credential")}, nil
	}))
	_, err := db.Passkeys(bg, by.AccountID, "", 5)
	ok(p, err)
	_, err = db.Passkey(bg, by.AccountID, "passkey")
	ok(p, err)
	n, err := db.PasskeyNumber(bg, []byte("credential"))
	ok(p, err)
	ok(p, db.AddPasskeyChallenge(bg, "sign-in", "", challenge, nil))
	session := &auth.Session{ID: "by-passkey", Number: n, DeviceID: "d64", Generation: 1, CreatedAt: now, IdleAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour)}
	in := &auth.SignIn{Session: session, RefreshHash: []byte("h"), DeviceHash: []byte("d64"), DeviceEnds: now.Add(time.Hour)}
	ok(p, db.SignInByPasskey(bg, "sign-in", []byte("credential"), in, func(webauthn.SessionData, *auth.Passkey) (*webauthn.Credential, error) {
		return &webauthn.Credential{ID: []byte("credential")}, nil
	}))
	_, err = db.RemovePasskey(bg, by, "passkey")
	ok(p, err)
}

// numberChangeAndClosure changes a coach's number and then closes the account.
func (p *fixture) numberChangeAndClosure() {
	p.Helper()
	now := p.clock.Now()
	by := p.coach(80)
	by.SessionID = "session-80"
	ok(p, run(p.db, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
		VALUES ('session-80', $1, 'coach', $2, 'd', 1, $3, 1, 1, $4, $4)`, by.AccountID, string(by.Number), []byte{1}, now.Add(time.Hour).UnixMicro()))
	newAttempt := func(n phone.Number) auth.Attempt {
		key := auth.ChallengeKey{Number: n, Role: actor.Coach}
		_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{
			Challenge:   auth.Challenge{ChallengeKey: key, ID: string(n), Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
			MaxAttempts: 2, LastSentBefore: now.Add(-time.Minute), Channel: "sms",
		})
		ok(p, err)
		return auth.Attempt{
			Keys: []auth.ChallengeKey{key}, MaxAttempts: 3, MaxFailures: func(auth.ChallengeKey) int { return 2 }, Now: now,
			Matches: func(auth.Challenge) bool { return true },
		}
	}
	_, err := p.accounts().ChangeNumber(bg, auth.NumberChange{By: by, To: number(81), Current: newAttempt(by.Number), New: newAttempt(number(81))})
	ok(p, err)
	by.Number = number(81)
	a := p.add(by, "Asha Rao", number(82), number(83))
	ok(p, p.decide(p.as(actor.Guardian, number(82)), a.ID, approval.Approve))
	p.clock.advance(2 * time.Minute)
	now = p.clock.Now()
	_, err = p.accounts().CloseAccount(bg, auth.CloseRequest{By: by, Attempt: newAttempt(by.Number)})
	ok(p, err)
	if got := p.statusChanges(a.ID); got[len(got)-1] != "4 removed - approved/pending" {
		p.Fatalf("after the closure: got changes %q", got)
	}
	copies, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.NotificationCopy), "lease", now.Add(time.Minute), 10)
	if err != nil || len(copies) != 2 { // p.consents queued one, the closure the other
		p.Fatalf("claimed %v, %v; want two copies", copies, err)
	}
	for _, d := range copies {
		_, _, found, err := p.notices().NotificationCopy(bg, d)
		if err != nil || !found {
			p.Errorf("NotificationCopy = %t, %v; want true", found, err)
		}
		_, err = p.db.Outbox.AdmitMessages(bg, outgoing(1, d))
		ok(p, err)
	}
}

// sessions rotates, lists and ends the session that p.challenges opened.
func (p *fixture) sessions() {
	p.Helper()
	now := p.clock.Now()
	_, err := p.accounts().SessionOfToken(bg, "session")
	ok(p, err)
	s, err := p.accounts().Session(bg, "session")
	ok(p, err)
	_, err = p.accounts().Rotate(bg, auth.Rotation{SessionID: s.ID, Generation: 1, OldHash: []byte("1"), NewHash: []byte("2"), Now: now, IdleAt: now})
	ok(p, err)
	ok(p, p.accounts().MarkUsed(bg, s.ID, 2, now))
	_, err = p.accounts().PageSession(bg, s.ID, []byte("2"))
	ok(p, err)
	ok(p, p.accounts().ExtendPageSession(bg, s.ID, now, now, now))
	_, err = p.db.FilledFields(bg, s.AccountID)
	ok(p, err)
	_, err = p.accounts().Sessions(bg, s.AccountID, now, "", 5)
	ok(p, err)
	_, err = p.accounts().Roles(bg, s.Number)
	ok(p, err)
	ok(p, p.accounts().Revoke(bg, s, event.Event{Type: event.TokenReused, PartyID: s.AccountID, Party: s.Role, SessionID: s.ID}))
	_, err = p.accounts().EndSession(bg, s.AccountID, s.ID)
	ok(p, err)
	ok(p, p.accounts().EndAllSessions(bg, s.Actor()))
}

// installation stores a response under an idempotency key, a secret and a value.
func (p *fixture) installation() {
	p.Helper()
	now := p.clock.Now()
	holder := idempotency.Holder{Owner: "o", Key: "k", LeaseID: "l"}
	claim := idempotency.Claim{Holder: holder, Fingerprint: []byte("f"), Now: now, LeaseEndsAt: now.Add(time.Second), EndsAt: now.Add(time.Hour)}
	for range 2 {
		_, err := p.keys().ClaimKey(bg, claim)
		ok(p, err)
	}
	ok(p, p.keys().RenewKey(bg, holder, now.Add(time.Minute)))
	ok(p, p.keys().SaveResponse(bg, holder, 200, []byte("sealed")))
	_, err := p.keys().ReleaseKey(bg, holder)
	ok(p, err)
	installation := auth.NewInstallation(p.sql)
	ok(p, installation.DropSecrets(bg, now.AddDate(2000, 0, 0))) // of another master key
	masters, next := [][]byte{make([]byte, 32)}, bytes.Repeat([]byte{1}, 32)
	_, err = auth.OpenKeys(bg, installation, func() ([][]byte, error) { return masters, nil }, p.clock.Now)
	ok(p, err)
	_, err = installation.RotateMasterKey(bg, actor.Operator{Name: "shell"}, "rotation-1", masters, next, false)
	ok(p, err)
	_, err = installation.RotateSigningKey(bg, actor.Operator{Name: "shell"}, "rotation-2", [][]byte{next}, now)
	ok(p, err)
	_, err = installation.SetValue(bg, "n", "v")
	ok(p, err)
	p.lastMaster = next
}

// secretRotation replaces the service secret, which ends all sessions.
func (p *fixture) secretRotation() {
	p.Helper()
	_, err := auth.SecretRotation{
		Installation: auth.NewInstallation(p.sql), By: actor.Operator{Name: "shell"}, EntryID: "rotation-3", Masters: [][]byte{p.lastMaster},
		Sealed: server.Sealed(), Ended: server.EndedWithSecret(), Now: p.clock.Now(),
	}.Run(bg)
	ok(p, err)
	for _, s := range server.Sealed() { // the values of the fixture have another secret
		key := []any{[]byte("old"), []byte("new"), "k", "k"}
		if !strings.Contains(s.Write, "$4") {
			key = key[:3]
		}
		_, err := p.sql.Exec(bg, s.Write, key...)
		ok(p, err)
	}
}
