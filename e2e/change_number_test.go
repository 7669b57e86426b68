package e2e_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// requestCoachOTP requests an OTP for a coach's number and returns it.
func requestCoachOTP(t *testing.T, s *touchlinetest.Service, number string) string {
	t.Helper()
	s.Clock.Advance(61 * time.Second) // the minimum time between two codes
	before := s.Sent(number, "otp")
	s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number}).Want(t, 202)
	return s.OTP(number, before)
}

// changeNumberBody returns the body of a request to change the number.
func changeNumberBody(otp, number, newOTP string) map[string]any {
	return map[string]any{"otp": otp, "new_mobile_number": number, "new_otp": newOTP}
}

// concurrently runs the calls at the same time and returns their responses in
// order.
func concurrently(t *testing.T, calls ...func() (*touchlinetest.Response, error)) []*touchlinetest.Response {
	t.Helper()
	responses := make([]*touchlinetest.Response, len(calls))
	start := make(chan struct{})
	var all sync.WaitGroup
	for i, ask := range calls {
		all.Go(func() {
			<-start
			a, err := ask()
			if err != nil {
				t.Error(err)
				a = &touchlinetest.Response{}
			}
			if a.Status >= 500 {
				t.Errorf("got status %d: %s", a.Status, a.Body)
			}
			responses[i] = a
		})
	}
	close(start)
	all.Wait()
	return responses
}

// callLater returns a call for concurrently.
func callLater(s *touchlinetest.Service, method, path, token string, body any) func() (*touchlinetest.Response, error) {
	return func() (*touchlinetest.Response, error) {
		return s.Do(context.Background(), method, path, token, body)
	}
}

const newNumber = "+919812300091"

// TestChangeNumber: the account, its session and its players stay; only the
// number changes.
func TestChangeNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		elsewhere := s.Coach(t, coachNumber)
		player := elsewhere.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
		s.Clock.Advance(61 * time.Second)
		coach := s.SignIn(t, "coach", coachNumber)
		body := changeNumberBody(requestCoachOTP(t, s, coachNumber), "098123 00091", requestCoachOTP(t, s, newNumber))
		done := coach.Call(t, "POST", "/auth/change-number", body, "Idempotency-Key: k").Want(t, 200)
		if done.String("account.id") != coach.ID || done.String("account.mobile_number") != newNumber || done.String("sessions_ended") != "1" {
			t.Errorf("change: got %s", done.Body)
		}
		if again := coach.Call(t, "POST", "/auth/change-number", body, "Idempotency-Key: k").Want(t, 200); string(again.Body) != string(done.Body) {
			t.Errorf("repeated change: got %s", again.Body)
		}
		if me := coach.Call(t, "GET", "/api/me", nil).Want(t, 200); me.String("account.mobile_number") != newNumber {
			t.Errorf("/api/me: got %s", me.Body)
		}
		elsewhere.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
		refresh(t, s, elsewhere.Refresh).Want(t, 401, "session_revoked")
		if a := refresh(t, s, coach.Refresh).Want(t, 200); a.String("account.mobile_number") != newNumber {
			t.Errorf("refresh: got %s", a.Body)
		}
		if countNotifications(t, coach, "security_notice") != 1 {
			t.Error("got no security notification")
		}
		status := coach.Call(t, "GET", "/api/players/approval-status/"+player, nil).Want(t, 200)
		if status.String("guardian_status") != "approved" || len(status.JSON["history"].([]any)) != 1 {
			t.Errorf("approval status: got %s", status.Body)
		}
		// Both numbers belong to their current owners.
		own := map[string]any{"guardian": map[string]any{"mobile_number": newNumber}}
		coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(newNumber, "")).Want(t, 422, "contact_conflict")
		coach.Call(t, "PATCH", "/api/players/"+player, own).Want(t, 422, "contact_conflict")
		own["player_id"] = player
		coach.Call(t, "POST", "/api/approval/send-guardian-request", own).Want(t, 422, "contact_conflict")
		coach.Call(t, "PATCH", "/api/players/"+player, map[string]any{"student": map[string]any{"contact_number": coachNumber}}).Want(t, 422, "contact_conflict")
		s.Clock.Advance(61 * time.Second)
		if p := s.SignIn(t, "coach", newNumber); p.ID != coach.ID {
			t.Error("sign-in with the new number opens another account")
		}
		if p := s.SignIn(t, "coach", coachNumber); p.ID == coach.ID || p.Login.String("next") != "complete_profile" {
			t.Errorf("sign-in with the old number: got %s", p.Login.Body)
		}
	})
}

// TestChangeNumberDevices: all devices of the coach move to the new number.
// Devices of other accounts with the same number do not change.
func TestChangeNumberDevices(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		signIn := func(role, number, device string) *touchlinetest.User {
			t.Helper()
			s.Clock.Advance(61 * time.Second)
			ask := map[string]any{"mobile_number": number, "role": role}
			if device != "" {
				ask["device_token"] = device
			}
			before := s.Sent(number, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 202)
			ask["otp"] = s.OTP(number, before)
			a := s.Call(t, "POST", "/auth/login", "", ask).Want(t, 200)
			return &touchlinetest.User{Service: s, Number: number, Role: role, Access: a.String("access_token"), Device: a.String("device_token")}
		}
		s.Coach(t, "+919812300092").AddPlayer(t, touchlinetest.Minor(coachNumber, ""))
		s.Coach(t, coachNumber)
		tablet, lent, out := signIn("coach", coachNumber, ""), signIn("coach", coachNumber, ""), signIn("coach", coachNumber, "")
		out.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		family, old := signIn("guardian", coachNumber, ""), signIn("guardian", coachNumber, "")
		old.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		if shared := signIn("guardian", coachNumber, lent.Device); shared.Device != lent.Device {
			t.Fatal("the device got a second token")
		}
		forgotten := signIn("coach", coachNumber, "")
		inHand := signIn("coach", coachNumber, "")
		if both := signIn("guardian", coachNumber, inHand.Device); both.Device != inHand.Device {
			t.Fatal("the device got a second token")
		}
		deleteDeviceSessions(t, db, forgotten.Device)
		inHand.Call(t, "POST", "/auth/change-number", changeNumberBody(requestCoachOTP(t, s, coachNumber), newNumber, requestCoachOTP(t, s, newNumber))).Want(t, 200)
		for name, tt := range map[string]struct {
			token string
			want  string
		}{
			"the one in hand": {inHand.Device, newNumber}, "elsewhere": {tablet.Device, newNumber}, "signed out": {out.Device, newNumber},
			"a guardian's too": {lent.Device, coachNumber}, "a guardian's": {family.Device, coachNumber}, "a guardian's who signed out": {old.Device, coachNumber},
			"forgotten": {forgotten.Device, ""},
		} {
			if got := deviceNumber(t, db, tt.token); got != tt.want {
				t.Errorf("device %s: got number %q, want %q", name, got, tt.want)
			}
		}
		// The device has its own send limit, at the new number only.
		s.Clock.Advance(61 * time.Second)
		for _, tt := range []struct {
			number, token string
			want          int
		}{
			{newNumber, "", 202},
			{newNumber, "", 429},
			{newNumber, tablet.Device, 202},
			{newNumber, tablet.Device, 429},
			{coachNumber, "", 202},
			{coachNumber, tablet.Device, 429},
		} {
			body := map[string]any{"mobile_number": tt.number}
			if tt.token != "" {
				body["device_token"] = tt.token
			}
			s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, tt.want)
		}
	}, func(c *config.Config) { c.OTPSendsPerHour, c.OTPSendsPerDay = 0, 0 })
}

// deviceNumber returns the number that a device has verified, or "".
func deviceNumber(t *testing.T, db *sql.DB, token string) string {
	t.Helper()
	hash := sha256.Sum256([]byte(token))
	return queryOne[string](t, db, `SELECT COALESCE((SELECT mobile_number FROM devices WHERE token_hash = $1), '')`, hash[:])
}

// deleteDeviceSessions deletes the sessions of a device, as the cleanup job does.
func deleteDeviceSessions(t *testing.T, db *sql.DB, token string) {
	t.Helper()
	hash := sha256.Sum256([]byte(token))
	if _, err := db.Exec(`DELETE FROM sessions WHERE device_id IN (SELECT id FROM devices WHERE token_hash = $1)`, hash[:]); err != nil {
		t.Fatal(err)
	}
}

// TestChangeNumberRefused: each error names its cause and does not use up a code.
func TestChangeNumberRefused(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		const path = "/auth/change-number"
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "POST", path, changeNumberBody("123456", newNumber, "123456")).Want(t, 403, "role_not_allowed")
		s.Call(t, "POST", path, "", changeNumberBody("123456", newNumber, "123456")).Want(t, 401, "token_missing")
		if a := coach.Call(t, "POST", path, changeNumberBody("x", "12", "1")).Want(t, 422, "validation_failed"); fmt.Sprint(faultPointers(a)) != "[/new_mobile_number /new_otp /otp]" {
			t.Errorf("invalid fields: got %s", a.Body)
		}
		coach.Call(t, "POST", path, changeNumberBody("123456", "+61412345678", "123456")).Want(t, 403, "destination_blocked")
		if a := coach.Call(t, "POST", path, changeNumberBody("123456", coachNumber, "123456")).Want(t, 422, "validation_failed"); fmt.Sprint(faultPointers(a)) != "[/new_mobile_number]" {
			t.Errorf("same number: got %s", a.Body)
		}
		if a := coach.Call(t, "POST", path, changeNumberBody("123456", newNumber, "123456")).Want(t, 410, "otp_expired"); a.String("number") != "current" {
			t.Errorf("no code requested for the old number: got %s", a.Body)
		}
		otp := requestCoachOTP(t, s, coachNumber)
		if a := coach.Call(t, "POST", path, changeNumberBody(otp, newNumber, "123456")).Want(t, 410, "otp_expired"); a.String("number") != "new" {
			t.Errorf("no code requested for the new number: got %s", a.Body)
		}
		newOTP := requestCoachOTP(t, s, newNumber)
		for range 2 {
			if a := coach.Call(t, "POST", path, changeNumberBody(otp, newNumber, wrongOTP(newOTP, 0))).Want(t, 422, "otp_incorrect"); a.String("number") != "new" {
				t.Errorf("wrong code of the new number: got %s", a.Body)
			}
		}
		if a := coach.Call(t, "POST", path, changeNumberBody(wrongOTP(otp, 0), newNumber, wrongOTP(newOTP, 0))).Want(t, 422, "otp_incorrect"); a.String("number") != "current" || a.String("attempts_left") != "4" {
			t.Errorf("both codes wrong: got %s", a.Body)
		}
		if a := coach.Call(t, "POST", path, changeNumberBody(otp, newNumber, wrongOTP(newOTP, 0))).Want(t, 422, "otp_incorrect"); a.String("attempts_left") != "2" {
			t.Errorf("third wrong code: got %s", a.Body)
		}
		for _, contact := range []string{guardianNumber, studentNumber} {
			coach.Call(t, "POST", path, changeNumberBody(otp, contact, requestCoachOTP(t, s, contact))).Want(t, 422, "contact_conflict")
		}
		taken := s.SignIn(t, "coach", "+919812300092")
		coach.Call(t, "POST", path, changeNumberBody(otp, taken.Number, requestCoachOTP(t, s, taken.Number))).Want(t, 409, "number_in_use")
		// None of these requests used up a correct code.
		coach.Call(t, "POST", path, changeNumberBody(otp, newNumber, newOTP)).Want(t, 200)
		coach.Call(t, "POST", path, changeNumberBody(otp, coachNumber, newOTP)).Want(t, 410, "otp_expired")
		exhausted := requestCoachOTP(t, s, newNumber)
		for range 5 {
			coach.Call(t, "POST", path, changeNumberBody(wrongOTP(exhausted, 0), coachNumber, "123456"))
		}
		if a := coach.Call(t, "POST", path, changeNumberBody(exhausted, coachNumber, "123456")).Want(t, 429, "otp_attempts_exceeded"); a.String("number") != "current" {
			t.Errorf("exhausted code: got %s", a.Body)
		}
	}, func(c *config.Config) { c.Countries = []string{"IN"}; c.OTPValidity = time.Hour })
}

// TestChangeNumberToContact: with a setting, a coach may be a contact of a player they
// coach.
func TestChangeNumberToContact(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		coach.Call(t, "POST", "/auth/change-number", changeNumberBody(requestCoachOTP(t, s, coachNumber), guardianNumber, requestCoachOTP(t, s, guardianNumber))).Want(t, 200)
	}, func(c *config.Config) { c.AllowCoachAsContact = true })
}

// raceRounds is the number of rounds of each race.
var raceRounds = storetest.Rounds(3, 8)

// TestChangeNumberRaces: a change of number races with other requests. Two
// coaches never share a number, and no session continues under another account's
// number.
func TestChangeNumberRaces(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		r, db := s.Replica(), openTables(t, s)
		const path = "/auth/change-number"
		next := 0
		number := func() string { next++; return fmt.Sprint("+9198124", 10000+next) }
		checkSessions := func(what string) {
			t.Helper()
			if n := queryOne[int](t, db, `SELECT count(*) FROM sessions s JOIN accounts a ON a.id = s.account_id
				WHERE s.revoked_at IS NULL AND s.mobile_number <> a.mobile_number`); n != 0 {
				t.Errorf("%s: got %d live sessions under another number", what, n)
			}
		}
		for range raceRounds {
			// Two coaches change to one number.
			a, b, to := s.Coach(t, number()), s.Coach(t, number()), number()
			codeA, codeB, codeTo := requestCoachOTP(t, s, a.Number), requestCoachOTP(t, s, b.Number), requestCoachOTP(t, s, to)
			got := concurrently(t, callLater(s, "POST", path, a.Access, changeNumberBody(codeA, to, codeTo)), callLater(r, "POST", path, b.Access, changeNumberBody(codeB, to, codeTo)))
			if (got[0].Status == 200) == (got[1].Status == 200) {
				t.Errorf("two changes to one number: got %s and %s", got[0].Body, got[1].Body)
			}
			checkSessions("two to one number")

			// A login with the same code registers another coach, or finds the
			// code used.
			c, to := s.Coach(t, number()), number()
			codeC, codeTo := requestCoachOTP(t, s, c.Number), requestCoachOTP(t, s, to)
			got = concurrently(t, callLater(s, "POST", path, c.Access, changeNumberBody(codeC, to, codeTo)),
				callLater(r, "POST", "/auth/login", "", map[string]any{"mobile_number": to, "otp": codeTo}))
			if (got[0].Status == 200) == (got[1].Status == 200) {
				t.Errorf("login with the new number: got %s and %s", got[0].Body, got[1].Body)
			}
			checkSessions("a login with the new number")

			// A login with the old number and another code is ended by the
			// change, or opens a new account.
			d, to := s.Coach(t, number()), number()
			s.Clock.Advance(61 * time.Second)
			before := s.Sent(d.Number, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": d.Number, "device_token": d.Device}).Want(t, 202)
			deviceCode := s.OTP(d.Number, before)
			codeD, codeTo := requestCoachOTP(t, s, d.Number), requestCoachOTP(t, s, to)
			got = concurrently(t, callLater(s, "POST", path, d.Access, changeNumberBody(codeD, to, codeTo)),
				callLater(r, "POST", "/auth/login", "", map[string]any{"mobile_number": d.Number, "otp": deviceCode, "device_token": d.Device}))
			if got[0].Status != 200 {
				t.Errorf("change during a login: got %s", got[0].Body)
			}
			if got[1].Status == 200 && got[1].String("account.id") == d.ID {
				r.Call(t, "GET", "/api/me", got[1].String("access_token"), nil).Want(t, 401, "session_revoked")
			}
			checkSessions("a login with the old number")

			// A refresh on another replica.
			e, to := s.Coach(t, number()), number()
			s.Clock.Advance(61 * time.Second)
			other := s.SignIn(t, "coach", e.Number)
			codeE, codeTo := requestCoachOTP(t, s, e.Number), requestCoachOTP(t, s, to)
			got = concurrently(t, callLater(s, "POST", path, e.Access, changeNumberBody(codeE, to, codeTo)),
				callLater(r, "POST", "/auth/refresh", "", map[string]any{"refresh_token": other.Refresh}),
				callLater(r, "POST", "/auth/refresh", "", map[string]any{"refresh_token": e.Refresh}))
			if got[0].Status != 200 || got[2].Status != 200 {
				t.Errorf("changes during refreshes: got %s and %s", got[0].Body, got[2].Body)
			}
			if got[1].Status == 200 {
				r.Call(t, "GET", "/api/me", got[1].String("access_token"), nil).Want(t, 401, "session_revoked")
			}
			checkSessions("a refresh")

			// A player whose guardian has the new number.
			f, to := s.Coach(t, number()), number()
			codeF, codeTo := requestCoachOTP(t, s, f.Number), requestCoachOTP(t, s, to)
			got = concurrently(t, callLater(s, "POST", path, f.Access, changeNumberBody(codeF, to, codeTo)), callLater(r, "POST", "/api/players/add", f.Access, touchlinetest.Minor(to, "")))
			if got[0].Status == 200 && got[1].Status == 201 {
				t.Error("the coach became the guardian of a player they coach")
			}
			if got[0].Status != 200 && got[1].Status != 201 {
				t.Errorf("both failed: got %s and %s", got[0].Body, got[1].Body)
			}
		}
	}, func(c *config.Config) { c.OTPValidity = time.Hour }, touchlinetest.ManyConnections)
}
