package store_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/player"
)

// signIn returns a service that signs in with the code 246810.
func (p *fixture) signIn() *auth.Service {
	return &auth.Service{
		LinkedRequest: func(ctx context.Context, linkHash []byte, number phone.Number, role actor.Role, now time.Time) (string, bool, error) {
			return player.LinkedRequest(ctx, p.db, linkHash, number, role, now)
		},
		Store: p.accounts(), Keys: &auth.Keys{Vault: p.vault}, Now: p.clock.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Rand: rand.Reader,
		Settings: auth.Settings{
			OTPLength: 6, OTPValidity: 5 * time.Minute, OTPTries: 5, OTPResendAfter: time.Minute, OTPWrongPerDay: 10,
			SendsPerHour: 5, SendsPerDay: 10, SendsPerAddressHour: 20, SendsTotalHour: 1000,
			RefreshIdle: 14 * day, RefreshLifetime: 30 * day, OTPChannel: "sms",
			Reachable: func(phone.Number) bool { return true },
			TestCode:  func(phone.Number, time.Time) string { return testCode },
		},
	}
}

const testCode = "246810"

// pageLogin signs the number in on a page.
func (p *fixture) pageLogin(s *auth.Service, role actor.Role, n phone.Number, lifetime, idle time.Duration) *auth.PageGrant {
	p.Helper()
	_, err := s.RequestOTP(bg, auth.OTPRequest{Number: n, Role: role, Network: network})
	ok(p, err)
	grant, err := s.PageLogin(bg, auth.PageSignIn{
		Key: auth.ChallengeKey{Number: n, Role: role}, OTP: testCode, DeviceName: "Firefox", Lifetime: lifetime, Idle: idle,
	})
	ok(p, err)
	return grant
}

func TestPageSessionLifetimes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		a := p.add(p.coach(1), "Asha Rao", number(2), "")
		s := p.signIn()
		for name, tt := range map[string]struct {
			lifetime, idle time.Duration // of the sign-in
			useEvery       time.Duration
			ends           time.Duration
		}{
			"used each hour":             {auth.PageLifetime, 0, time.Hour, 12 * time.Hour},
			"from a link, unused":        {auth.PageLifetime, auth.LinkIdle, 30 * time.Minute, 30 * time.Minute},
			"from a link, used":          {auth.PageLifetime, auth.LinkIdle, 20 * time.Minute, 12 * time.Hour},
			"remembered, used each week": {auth.RememberedLifetime, 0, 7 * day, 30 * day},
			"remembered, unused":         {auth.RememberedLifetime, 0, 14 * day, 14 * day},
			"longer than the settings":   {365 * day, 365 * day, 7 * day, 30 * day},
		} {
			grant := p.pageLogin(s, actor.Guardian, number(2), tt.lifetime, tt.idle)
			begun := p.clock.Now()
			if !grant.Session.OTPAt().Equal(begun) || !grant.Session.HasRecentOTP(begun.Add(15*time.Minute)) || grant.Session.HasRecentOTP(begun.Add(16*time.Minute)) {
				p.Errorf("%s: the OTP was entered at %s, want %s", name, grant.Session.OTPAt(), begun)
			}
			for {
				p.clock.advance(tt.useEvery)
				age := p.clock.Now().Sub(begun)
				session, err := s.PageSession(bg, grant.Token)
				if age >= tt.ends {
					p.refused(err, "session_revoked")
					break
				}
				if err != nil {
					p.Fatalf("%s: after %s: %v, want %s", name, age, err, tt.ends)
				}
				if by := session.Actor(); by.AccountID != a.Party(actor.Guardian).AccountID || by.Role != actor.Guardian || by.Number != number(2) || by.SessionID != grant.Session.ID {
					p.Fatalf("%s: the session is of %+v", name, by)
				}
			}
		}
	})
}

// A page session ends at once with everything that ends other sessions, and the extension
// of its idle time cannot revive it.
func TestPageSessionEnds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		s := p.signIn()
		for name, end := range map[string]func(by actor.Actor) error{
			"logout":           func(by actor.Actor) error { return s.Logout(bg, by, false) },
			"logout of all":    func(by actor.Actor) error { return s.Logout(bg, by, true) },
			"ended as another": func(by actor.Actor) error { return s.EndSession(bg, by, by.SessionID) },
		} {
			grant := p.pageLogin(s, actor.Guardian, number(2), auth.PageLifetime, auth.LinkIdle)
			p.clock.advance(2 * time.Minute)
			live, err := s.PageSession(bg, grant.Token)
			ok(p, err)
			listed, err := s.Sessions(bg, live.Actor(), "", 10)
			ok(p, err)
			if len(listed) != 1 || listed[0].ID != live.ID || listed[0].DeviceName != "Firefox" || !listed[0].LastUsedAt.Equal(p.clock.Now()) {
				p.Errorf("%s: listed %+v", name, listed)
			}
			ok(p, end(live.Actor()))
			now := p.clock.Now()
			ok(p, p.accounts().ExtendPageSession(bg, live.ID, now, now.Add(time.Hour), now))
			_, err = s.PageSession(bg, grant.Token)
			p.refused(err, "session_revoked")
		}

		grant := p.pageLogin(s, actor.Guardian, number(2), auth.PageLifetime, 0)
		ok(p, p.Remove(bg, coach, a.ID)) // the number holds the role no longer
		now := p.clock.Now()
		ok(p, p.accounts().ExtendPageSession(bg, grant.Session.ID, now, now.Add(time.Hour), now))
		_, err := s.PageSession(bg, grant.Token)
		p.refused(err, "session_revoked")
	})
}

// A page token is neither a refresh token nor made from one, and the other way round.
func TestPageTokenIsNoRefreshToken(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.add(p.coach(1), "Asha Rao", number(2), "")
		s := p.signIn()
		grant := p.pageLogin(s, actor.Guardian, number(2), auth.PageLifetime, 0)
		_, err := s.Refresh(bg, grant.Token)
		p.refused(err, "refresh_token_invalid")
		for _, token := range []string{"", "x", grant.Token + "A", grant.DeviceToken, grant.Token[:len(grant.Token)-1] + "A"} {
			if token == grant.Token {
				continue // the last letter was an A
			}
			_, err := s.PageSession(bg, token)
			p.refused(err, "session_revoked")
		}
		// The session of an app cannot be used on pages, even with a valid token for its id.
		ok(p, run(p.db, `UPDATE sessions SET page_idle = NULL`))
		_, err = s.PageSession(bg, grant.Token)
		p.refused(err, "session_revoked")
	})
}

// The form of a sign-in that is sent twice, or again after a lost response, leads to one
// session.
func TestRepeatedPageLogin(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.add(p.coach(1), "Asha Rao", number(2), "")
		s := p.signIn()
		key := auth.ChallengeKey{Number: number(2), Role: actor.Guardian}
		request := func() {
			_, err := s.RequestOTP(bg, auth.OTPRequest{Number: key.Number, Role: key.Role, Network: network})
			ok(p, err)
		}
		login := func(key auth.ChallengeKey, sessionID string) (*auth.PageGrant, error) {
			return s.PageLogin(bg, auth.PageSignIn{Key: key, OTP: testCode, Lifetime: auth.PageLifetime, SessionID: sessionID})
		}
		id, other := s.NewID(), s.NewID()
		request()
		grants := make([]*auth.PageGrant, 4)
		var wait sync.WaitGroup
		for i := range grants {
			wait.Go(func() {
				var err error
				if grants[i], err = login(key, id); err != nil {
					p.Error(err)
				}
			})
		}
		wait.Wait()
		later, err := login(key, id)
		ok(p, err)
		for _, grant := range append(grants, later) {
			if grant != nil && (grant.Session.ID != id || grant.Token != grants[0].Token || grant.DeviceToken != grants[0].DeviceToken) {
				p.Errorf("got session %s, want %s with the same tokens", grant.Session.ID, id)
			}
		}
		if n := p.count(`SELECT count(*) FROM sessions`); n != 1 {
			p.Errorf("%d sessions, want 1", n)
		}
		_, err = login(key, other)
		p.refused(err, "otp_expired")
		_, err = login(auth.ChallengeKey{Number: number(2), Role: actor.Student}, id)
		p.refused(err, "otp_expired")
		_, err = login(auth.ChallengeKey{Number: number(3), Role: actor.Guardian}, id)
		p.refused(err, "otp_expired")

		// Another code with the same form is no error.
		p.clock.advance(time.Minute)
		request()
		grant, err := login(key, id)
		ok(p, err)
		_, err = s.PageSession(bg, grant.Token)
		ok(p, err)

		p.clock.advance(time.Second)
		_, err = login(key, id)
		p.refused(err, "otp_expired") // the session began more than a minute ago
		p.clock.advance(time.Minute)
		request()
		again, err := login(key, other)
		ok(p, err)
		ok(p, s.Logout(bg, again.Session.Actor(), false))
		_, err = login(key, other)
		p.refused(err, "otp_expired")
	})
}

// Requests at the same time extend a page session once.
func TestPageSessionIsExtendedOnceAMinute(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.add(p.coach(1), "Asha Rao", number(2), "")
		s := p.signIn()
		grant := p.pageLogin(s, actor.Guardian, number(2), auth.PageLifetime, auth.LinkIdle)
		begun := p.clock.Now()
		lastUsed := func() time.Time {
			session, err := p.accounts().Session(bg, grant.Session.ID)
			ok(p, err)
			if !session.IdleAt.Equal(session.LastUsedAt.Add(auth.LinkIdle)) {
				p.Errorf("used at %s, ends at %s", session.LastUsedAt, session.IdleAt)
			}
			return session.LastUsedAt
		}
		p.clock.advance(59 * time.Second)
		_, err := s.PageSession(bg, grant.Token)
		ok(p, err)
		if at := lastUsed(); !at.Equal(begun) {
			p.Errorf("used at %s, want %s", at, begun)
		}
		p.clock.advance(time.Second)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if _, err := s.PageSession(bg, grant.Token); err != nil {
					p.Error(err)
				}
			})
		}
		wait.Wait()
		if at := lastUsed(); !at.Equal(p.clock.Now()) {
			p.Errorf("used at %s, want %s", at, p.clock.Now())
		}
	})
}

// The link in an SMS is a known device for the challenge of its number and role: strangers
// who spend the limits of the number and the network do not lock its holder out.
func TestLinkProvesDevice(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		s := p.signIn()
		guardian := auth.ChallengeKey{Number: number(2), Role: actor.Guardian}
		proof := auth.Proof{DeviceToken: "of another number", LinkHash: p.link(a.Party(actor.Guardian).Request.ID)}
		request := func(proof auth.Proof, n phone.Number, role actor.Role) error {
			_, err := s.RequestOTP(bg, auth.OTPRequest{Number: n, Role: role, Proof: proof, Network: network})
			return err
		}
		for range 5 { // strangers
			ok(p, request(auth.Proof{}, number(2), actor.Guardian))
			p.clock.advance(time.Minute)
		}
		p.refused(request(auth.Proof{}, number(2), actor.Guardian), "otp_send_limit")
		for range 10 {
			_, _ = s.VerifyOTP(bg, guardian, "000000", auth.Proof{})
		}

		for range 5 {
			ok(p, request(proof, number(2), actor.Guardian))
			p.clock.advance(time.Minute)
		}
		f := p.refused(request(proof, number(2), actor.Guardian), "otp_send_limit")
		if f.Extra["limit"] != "otp_sends_per_device_day" {
			p.Errorf("the limit of the link: %+v", f)
		}
		// It proves neither another number, nor another role.
		p.refused(request(proof, number(2), actor.Student), "otp_send_limit")
		otherRequest, err := p.Request(bg, coach, a.Party(actor.Student).Request.ID)
		ok(p, err)
		p.refused(request(auth.Proof{LinkHash: p.link(otherRequest.ID)}, number(2), actor.Guardian), "otp_send_limit")

		// A link in a mail proves nothing.
		ok(p, run(p.db, `UPDATE request_links SET to_number = FALSE WHERE hash = $1`, proof.LinkHash))
		p.refused(request(proof, number(2), actor.Guardian), "otp_send_limit")
		ok(p, run(p.db, `UPDATE request_links SET to_number = TRUE WHERE hash = $1`, proof.LinkHash))

		// The question is answered elsewhere: the code that was sent still signs in, and the
		// session has a device that is not the link.
		p.clock.advance(day)
		ok(p, request(proof, number(2), actor.Guardian))
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
		grant, err := s.PageLogin(bg, auth.PageSignIn{Key: guardian, OTP: testCode, Proof: proof, Lifetime: auth.PageLifetime})
		ok(p, err)
		if uuid.Validate(grant.Session.DeviceID) != nil {
			p.Errorf("the device of the session is %q", grant.Session.DeviceID)
		}
		p.clock.advance(time.Minute)
		for range 5 {
			ok(p, request(proof, number(2), actor.Guardian)) // now like an unknown device
			p.clock.advance(time.Minute)
		}
		f = p.refused(request(proof, number(2), actor.Guardian), "otp_send_limit")
		if f.Extra["limit"] != "otp_sends_per_hour" {
			p.Errorf("the limit of a closed link: %+v", f)
		}
		_, err = s.RequestOTP(bg, auth.OTPRequest{Number: number(2), Role: actor.Guardian, Proof: auth.Proof{DeviceToken: grant.DeviceToken, LinkHash: proof.LinkHash}, Network: network})
		ok(p, err)
	})
}

// A silent request sends nothing, also to a number that holds the role. Its limits are
// the same as for a number that does not hold the role.
func TestSilentOTPRequest(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.add(p.coach(1), "Asha Rao", number(2), "")
		s := p.signIn()
		s.Settings.TestCode = func(phone.Number, time.Time) string { return "" }
		request := func(silent bool) error {
			_, err := s.RequestOTP(bg, auth.OTPRequest{Number: number(2), Role: actor.Guardian, Network: network, Silent: silent})
			return err
		}
		sent := func() int { return p.count(`SELECT count(*) FROM deliveries WHERE kind = 'otp'`) }
		for range 5 {
			ok(p, request(true))
			p.clock.advance(time.Minute)
		}
		if n := sent(); n != 0 {
			p.Errorf("%d OTPs were queued, want none", n)
		}
		p.refused(request(true), "otp_send_limit")
		ok(p, request(false))
		if n := sent(); n != 1 {
			p.Errorf("%d OTPs were queued, want 1", n)
		}
	})
}
