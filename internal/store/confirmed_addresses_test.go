package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

const coachAddress = "meera@club.example"

var byEmail = auth.Proof{ByEmail: true}

// emailSignIn is p.signIn for a service that sends mail.
func (p *fixture) emailSignIn() *auth.Service {
	s := p.signIn()
	s.Settings.OTPByEmail = true
	return s
}

// confirm confirms the address of a caller.
func (p *fixture) confirm(s *auth.Service, by actor.Actor, address string) {
	p.Helper()
	_, err := s.RequestOTP(bg, auth.OTPRequest{Number: by.Number, Role: by.Role, Network: network, ConfirmAddress: address})
	ok(p, err)
	ok(p, s.ConfirmAddress(bg, by, address, testCode))
}

// requestByEmail asks for a code by mail.
func (p *fixture) requestByEmail(s *auth.Service, key auth.ChallengeKey) {
	p.Helper()
	p.clock.advance(2 * time.Minute)
	_, err := s.RequestOTP(bg, auth.OTPRequest{Number: key.Number, Role: key.Role, Network: network, Proof: byEmail})
	ok(p, err)
}

// pageLogin signs in with a code.
func pageLogin(s *auth.Service, key auth.ChallengeKey, otp string, proof auth.Proof) error {
	_, err := s.PageLogin(bg, auth.PageSignIn{Key: key, OTP: otp, Proof: proof, Lifetime: auth.PageLifetime})
	return err
}

// block enters wrong codes until the number of a key is blocked.
func (p *fixture) block(s *auth.Service, key auth.ChallengeKey) {
	p.Helper()
	for range 2 {
		p.clock.advance(2 * time.Minute)
		_, err := s.RequestOTP(bg, auth.OTPRequest{Number: key.Number, Role: key.Role, Network: network})
		ok(p, err)
		for range 5 {
			_, err := s.VerifyOTP(bg, key, "000000", auth.Proof{})
			p.wantCode("a wrong code", err, "otp_incorrect")
		}
	}
	p.clock.advance(6 * time.Minute)
}

func (p *fixture) wantCode(what string, err error, code string) {
	p.Helper()
	if got := fault.CodeOf(err); got != code {
		p.Errorf("%s: got %q (%v), want %q", what, got, err, code)
	}
}

// TestSignInByEmail: the owner of a blocked number signs in with a code that goes to the confirmed
// address. The code works without the channel, too, but only while no other code can be used. Ten
// wrong codes block the mail, and not the number.
func TestSignInByEmail(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, key := p.emailSignIn(), auth.ChallengeKey{Number: number(1), Role: actor.Coach}
		by := p.pageLogin(s, key.Role, key.Number, auth.PageLifetime, 0).Session.Actor()
		_, err := s.RequestOTP(bg, auth.OTPRequest{Number: key.Number, Role: key.Role, Network: network, ConfirmAddress: coachAddress})
		ok(p, err)
		p.wantCode("the code of another address", s.ConfirmAddress(bg, by, "eve@club.example", testCode), "otp_expired")
		p.wantCode("a wrong code", s.ConfirmAddress(bg, by, coachAddress, "000000"), "otp_incorrect")
		ok(p, s.ConfirmAddress(bg, by, coachAddress, testCode))
		if got, err := s.Store.ConfirmedAddress(bg, by.Number, by.Role); got != coachAddress || err != nil {
			p.Errorf("confirmed: %q, %v", got, err)
		}

		p.block(s, key)
		err = pageLogin(s, key, testCode, auth.Proof{})
		p.wantCode("a code of a blocked number", err, "otp_attempts_exceeded")
		p.requestByEmail(s, key)
		_, err = s.VerifyOTP(bg, key, testCode, byEmail)
		ok(p, err)
		err = pageLogin(s, key, testCode, auth.Proof{})
		ok(p, err)
		err = pageLogin(s, key, testCode, auth.Proof{})
		p.wantCode("a used code", err, "otp_expired")

		p.clock.advance(day)
		_, err = s.RequestOTP(bg, auth.OTPRequest{Number: key.Number, Role: key.Role, Network: network})
		ok(p, err)
		for range 2 {
			p.requestByEmail(s, key)
			for range 5 {
				_, err := s.VerifyOTP(bg, key, "000000", byEmail)
				p.wantCode("a wrong code by mail", err, "otp_incorrect")
			}
		}
		p.clock.advance(2 * time.Minute)
		issued, err := s.RequestOTP(bg, auth.OTPRequest{Number: key.Number, Role: key.Role, Network: network, Proof: byEmail})
		if err != nil || issued.BlockedUntil.IsZero() {
			p.Errorf("after ten wrong codes by mail: %+v, %v", issued, err)
		}
		err = pageLogin(s, key, testCode, byEmail)
		p.wantCode("after ten wrong codes by mail", err, "otp_attempts_exceeded")
		_, err = s.RequestOTP(bg, auth.OTPRequest{Number: key.Number, Role: key.Role, Network: network})
		ok(p, err)
		err = pageLogin(s, key, testCode, auth.Proof{})
		ok(p, err)
	})
}

// TestConfirmationEnds: the confirmation ends with a change of number, the closing of the account, a
// sign-out everywhere, its removal, and after 180 days without use. A code that was sent before
// then no longer works, and none leaves.
func TestConfirmationEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(p *fixture, s *auth.Service, by actor.Actor)
		ends bool
	}{
		"number changed": {func(p *fixture, s *auth.Service, by actor.Actor) {
			for _, n := range []phone.Number{by.Number, number(2)} {
				_, err := s.RequestOTP(bg, auth.OTPRequest{Number: n, Role: by.Role, Network: network})
				ok(p, err)
			}
			_, _, err := s.ChangeNumber(bg, by, "", testCode, number(2), testCode)
			ok(p, err)
		}, true},
		"account closed": {func(p *fixture, s *auth.Service, by actor.Actor) {
			_, err := s.RequestOTP(bg, auth.OTPRequest{Number: by.Number, Role: by.Role, Network: network})
			ok(p, err)
			ok(p, s.Close(bg, by, "", testCode))
		}, true},
		"signed out everywhere": {func(p *fixture, s *auth.Service, by actor.Actor) { ok(p, s.Logout(bg, by, true)) }, true},
		"removed": {func(p *fixture, s *auth.Service, by actor.Actor) {
			ok(p, s.Store.RemoveAddress(bg, by.Number, by.Role))
		}, true},
		"not used": {func(p *fixture, s *auth.Service, by actor.Actor) {
			p.clock.advance(180*day - time.Minute)
		}, true},
		"signed out here": {func(p *fixture, s *auth.Service, by actor.Actor) { ok(p, s.Logout(bg, by, false)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(p *fixture) {
				s := p.emailSignIn()
				s.Settings.OTPValidity = 200 * day
				by := p.pageLogin(s, actor.Coach, number(1), auth.PageLifetime, 0).Session.Actor()
				p.confirm(s, by, coachAddress)
				s.Settings.TestCode = func(phone.Number, time.Time) string { return "" } // the code leaves
				s.Rand = zeros{}
				p.requestByEmail(s, auth.ChallengeKey{Number: by.Number, Role: by.Role})
				s.Settings.TestCode = p.signIn().Settings.TestCode
				tt.end(p, s, by)
				deliveries, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: message.Email, Kind: message.OTP}, "lease", p.clock.Now().Add(time.Minute), 10)
				if name == "account closed" { // nothing that was sent to the coach is left
					if err != nil || len(deliveries) != 0 {
						p.Errorf("claimed %+v, %v", deliveries, err)
					}
					return
				}
				if err != nil || len(deliveries) != 1 || deliveries[0].To != string(by.Number) {
					p.Fatalf("claimed %+v, %v", deliveries, err)
				}
				c, _, live, err := p.accounts().LiveChallenge(bg, deliveries[0], 5)
				if err != nil || live == tt.ends || live && c.Address != coachAddress {
					p.Errorf("the code leaves: %t to %q, %v", live, c.Address, err)
				}
				err = pageLogin(s, auth.ChallengeKey{Number: by.Number, Role: by.Role}, "000000", byEmail)
				want := ""
				if tt.ends {
					want = "otp_expired"
				}
				p.wantCode("the code that was sent before", err, want)
			})
		})
	}
}

// TestConfirmationEndsWithTheRole: the number of a guardian whom no player names any more may get a new
// owner before a coach names it again.
func TestConfirmationEndsWithTheRole(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, coach := p.emailSignIn(), p.coach(1)
		asha, bela := p.add(coach, "Asha Rao", number(2), ""), p.add(coach, "Bela Rao", number(2), "")
		by := p.pageLogin(s, actor.Guardian, number(2), auth.PageLifetime, 0).Session.Actor()
		p.confirm(s, by, coachAddress)
		for i, id := range []string{asha.ID, bela.ID} {
			ok(p, p.Remove(bg, coach, id))
			if n := p.count(`SELECT count(*) FROM confirmed_addresses`); n != 1-i {
				p.Errorf("after removal %d: %d addresses, want %d", i+1, n, 1-i)
			}
		}
		p.add(coach, "Asha Rao", number(2), "")
		key := auth.ChallengeKey{Number: number(2), Role: actor.Guardian}
		p.requestByEmail(s, key)
		p.wantCode("a code to the address of the earlier owner", pageLogin(s, key, testCode, byEmail), "otp_expired")
	})
}

// zeros is a source of randomness for codes of zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestConfirmationIsExtended: a code by mail extends the confirmation, one by SMS does not.
func TestConfirmationIsExtended(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, key := p.emailSignIn(), auth.ChallengeKey{Number: number(1), Role: actor.Coach}
		by := p.pageLogin(s, key.Role, key.Number, auth.PageLifetime, 0).Session.Actor()
		p.confirm(s, by, coachAddress)
		p.clock.advance(179 * day)
		p.requestByEmail(s, key)
		err := pageLogin(s, key, testCode, byEmail)
		ok(p, err)
		p.clock.advance(179 * day)
		p.pageLogin(s, key.Role, key.Number, auth.PageLifetime, 0)
		for _, want := range []string{coachAddress, ""} {
			if got, err := s.Store.ConfirmedAddress(bg, by.Number, by.Role); got != want || err != nil {
				p.Errorf("confirmed: %q, %v; want %q", got, err, want)
			}
			p.clock.advance(2 * day)
		}
		_, err = p.db.Sweep(bg, p.clock.Now())
		ok(p, err)
		if n := p.count(`SELECT count(*) FROM confirmed_addresses`); n != 0 {
			p.Errorf("%d addresses remain after the sweep", n)
		}
	})
}
