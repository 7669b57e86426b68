package signin_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const (
	coachNumber    = "+919812300001"
	guardianNumber = "+919812300011"
	studentNumber  = "+919812300021"
)

// challenge is an answer of one of the calls for options.
type challenge struct {
	id      string
	options map[string]any
}

func readChallenge(r *touchlinetest.Response) challenge {
	options, _ := r.JSON["options"].(map[string]any)
	return challenge{r.String("challenge_id"), options}
}

// addPasskey adds a passkey to the account of a token and returns its device.
func addPasskey(t *testing.T, s *touchlinetest.Service, token string) (a *authenticator, id string) {
	t.Helper()
	a = newAuthenticator(t, s)
	c := readChallenge(s.Call(t, "POST", "/auth/passkeys/options", token, nil).Want(t, 200))
	id = s.Call(t, "POST", "/auth/passkeys", token, map[string]any{"challenge_id": c.id, "name": "Phone", "credential": a.create(c.options)}).Want(t, 201).String("passkey_id")
	return a, id
}

func beginSignIn(t *testing.T, s *touchlinetest.Service) challenge {
	t.Helper()
	return readChallenge(s.Call(t, "POST", "/auth/passkeys/sign-in/options", "", nil).Want(t, 200))
}

// signInBy signs in with a passkey.
func signInBy(t *testing.T, s *touchlinetest.Service, a *authenticator) *touchlinetest.Response {
	t.Helper()
	c := beginSignIn(t, s)
	return s.Call(t, "POST", "/auth/passkeys/sign-in", "", map[string]any{"challenge_id": c.id, "credential": a.get(c.options), "device_name": "New phone"})
}

// TestPasskeys: every role adds a passkey after a code and signs in with it; it counts as a fresh sign-in.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		for role, number := range map[string]string{"coach": coachNumber, "guardian": guardianNumber, "student": studentNumber} {
			user := s.SignIn(t, role, number)
			a, id := addPasskey(t, s, user.Access)
			items := user.Call(t, "GET", "/auth/passkeys", nil).Want(t, 200).Items()
			if len(items) != 1 || items[0]["passkey_id"] != id || items[0]["name"] != "Phone" || items[0]["last_used_at"] != nil {
				t.Errorf("%s: got passkeys %v", role, items)
			}
			if notices := user.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items(); notices[0]["type"] != "security_notice" {
				t.Errorf("%s: the newest notification is %v", role, notices[0])
			}
			s.Clock.Advance(time.Hour)
			a.counter++
			in := signInBy(t, s, a).Want(t, 200)
			if in.String("account.role") != role || in.String("account.mobile_number") != number {
				t.Errorf("%s: signed in as %v", role, in.JSON["account"])
			}
			token := in.String("access_token")
			if used := s.Call(t, "GET", "/auth/passkeys", token, nil).Want(t, 200).Items()[0]["last_used_at"]; used == nil {
				t.Errorf("%s: the use is not saved", role)
			}
			s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": in.String("refresh_token")}).Want(t, 200)
			token = signInAgain(t, s, a)
			addPasskey(t, s, token) // as recent as with a code
			s.Call(t, "DELETE", "/auth/passkeys/"+id, token, nil).Want(t, 204)
			s.Call(t, "DELETE", "/auth/passkeys/"+id, token, nil).Want(t, 404, "not_found")
			a.counter++
			signInBy(t, s, a).Want(t, 422, "passkey_invalid")
			s.Call(t, "GET", "/api/me", token, nil).Want(t, 200) // its sessions stay
		}
	})
}

func signInAgain(t *testing.T, s *touchlinetest.Service, a *authenticator) string {
	t.Helper()
	a.counter++
	return signInBy(t, s, a).Want(t, 200).String("access_token")
}

// TestPasskeyRegistration: only a recent session adds a passkey, with its challenge, once.
func TestPasskeyRegistration(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, coachNumber), s.Coach(t, "+919812300002")
		begin := func() challenge {
			return readChallenge(coach.Call(t, "POST", "/auth/passkeys/options", nil).Want(t, 200))
		}
		add := func(by *touchlinetest.User, c challenge, a *authenticator) *touchlinetest.Response {
			return by.Call(t, "POST", "/auth/passkeys", map[string]any{"challenge_id": c.id, "credential": a.create(c.options)})
		}
		a := newAuthenticator(t, s)
		c := begin()
		add(other, c, a).Want(t, 410, "passkey_expired")
		add(coach, c, a).Want(t, 201)
		add(coach, c, newAuthenticator(t, s)).Want(t, 410, "passkey_expired")
		if excluded, _ := begin().options["excludeCredentials"].([]any); len(excluded) != 1 {
			t.Errorf("got %v as excluded passkeys, want one", excluded)
		}
		add(coach, begin(), a).Want(t, 422, "passkey_invalid") // known already
		for name, change := range map[string]func(*authenticator){
			"not verified":   func(a *authenticator) { a.verified = false },
			"another origin": func(a *authenticator) { a.origin = "http://localhost.example" },
			"another domain": func(a *authenticator) { a.domain = "example.com" },
		} {
			a := newAuthenticator(t, s)
			change(a)
			if r := add(coach, begin(), a); r.Code() != "passkey_invalid" {
				t.Errorf("%s: got %d %s", name, r.Status, r.Code())
			}
		}
		earlier := begin()
		begin()
		add(coach, earlier, newAuthenticator(t, s)).Want(t, 410, "passkey_expired")
		coach.Call(t, "POST", "/auth/passkeys", map[string]any{"challenge_id": begin().id, "credential": map[string]any{"id": "x"}}).Want(t, 422, "passkey_invalid")
		coach.Call(t, "POST", "/auth/passkeys", map[string]any{"challenge_id": begin().id, "credential": "x"}).Want(t, 422, "validation_failed")

		key := "Idempotency-Key: once"
		c = begin()
		body := map[string]any{"challenge_id": c.id, "credential": newAuthenticator(t, s).create(c.options)}
		first := coach.Call(t, "POST", "/auth/passkeys", body, key).Want(t, 201).String("passkey_id")
		if again := coach.Call(t, "POST", "/auth/passkeys", body, key).Want(t, 201).String("passkey_id"); again != first {
			t.Errorf("the same key added %s and %s", first, again)
		}
		c = begin()
		s.Clock.Advance(6 * time.Minute)
		add(coach, c, newAuthenticator(t, s)).Want(t, 410, "passkey_expired")
		c = begin()
		s.Clock.Advance(10 * time.Minute)
		coach.Access = s.SignIn(t, "coach", coachNumber).Access
		s.Clock.Advance(14 * time.Minute)
		begin()
		s.Clock.Advance(2 * time.Minute)
		coach.Access = s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": coach.Refresh}).Want(t, 200).String("access_token")
		coach.Call(t, "POST", "/auth/passkeys/options", nil).Want(t, 403, "fresh_otp_required")
		add(coach, c, newAuthenticator(t, s)).Want(t, 403, "fresh_otp_required")
	})
}

// TestPasskeySignInRefused: an answer counts once, for its challenge, from this domain, with the person verified.
func TestPasskeySignInRefused(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		a, _ := addPasskey(t, s, coach.Access)
		send := func(id string, answer map[string]any) *touchlinetest.Response {
			return s.Call(t, "POST", "/auth/passkeys/sign-in", "", map[string]any{"challenge_id": id, "credential": answer})
		}
		for name, change := range map[string]func(*authenticator){
			"not verified":    func(a *authenticator) { a.verified = false },
			"another origin":  func(a *authenticator) { a.origin = "https://phish.example" },
			"another domain":  func(a *authenticator) { a.domain = "phish.example" },
			"another key":     func(a *authenticator) { a.key = newAuthenticator(t, s).key },
			"another account": func(a *authenticator) { a.user = encoded([]byte("0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21")) },
			"unknown":         func(a *authenticator) { a.id = []byte("unknown passkey!") },
		} {
			forged := *a
			change(&forged)
			c := beginSignIn(t, s)
			if r := send(c.id, forged.get(c.options)); r.Status != 422 || r.Code() != "passkey_invalid" {
				t.Errorf("%s: got %d %s", name, r.Status, r.Code())
			}
			send(c.id, a.get(c.options)).Want(t, 410, "passkey_expired") // used up
		}
		first, second := beginSignIn(t, s), beginSignIn(t, s)
		send(first.id, a.get(second.options)).Want(t, 422, "passkey_invalid")
		c := beginSignIn(t, s)
		s.Clock.Advance(6 * time.Minute)
		send(c.id, a.get(c.options)).Want(t, 410, "passkey_expired")
		registration := readChallenge(s.Call(t, "POST", "/auth/passkeys/options", coach.Access, nil).Want(t, 200))
		send(registration.id, a.get(registration.options)).Want(t, 410, "passkey_expired")

		// A copy of the passkey: the counter goes back.
		a.counter = 5
		signInBy(t, s, a).Want(t, 200)
		signInBy(t, s, a).Want(t, 422, "passkey_invalid")
		a.counter = 6
		signInBy(t, s, a).Want(t, 200)

		// One answer, sent at the same time, opens one session.
		a.counter = 7
		c = beginSignIn(t, s)
		answer := a.get(c.options)
		var wait sync.WaitGroup
		var mu sync.Mutex
		statuses := map[int]int{}
		for range 8 {
			wait.Go(func() {
				r := send(c.id, answer)
				mu.Lock()
				defer mu.Unlock()
				statuses[r.Status]++
			})
		}
		wait.Wait()
		if statuses[200] != 1 || statuses[410] != 7 {
			t.Errorf("eight times the same answer: %v", statuses)
		}
	})
}

// TestPasskeyOfLockedNumber: wrong codes of strangers block the codes of a number, not its passkey.
func TestPasskeyOfLockedNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		a, _ := addPasskey(t, s, coach.Access)
		for range 2 {
			s.Clock.Advance(10 * time.Minute)
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
			for range 5 {
				s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "0000"}).Want(t, 422)
			}
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "0000"}).Want(t, 429, "otp_attempts_exceeded")
		signInBy(t, s, a).Want(t, 200)
	}, func(c *config.Config) { c.OTPLength = 6 })
}

// TestPasskeysEnd: a passkey ends with the account, the role and a sign-out everywhere, and waits for the
// end of a suspension.
func TestPasskeysEnd(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		ofGuardian, _ := addPasskey(t, s, guardian.Access)
		ofCoach, _ := addPasskey(t, s, coach.Access)

		op := s.Operator(t, operator.Coaches)
		op.Call(t, "POST", "/api/admin/coaches/"+coach.ID+"/suspend", map[string]any{"reason": "A complaint."}).Want(t, 200)
		signInBy(t, s, ofCoach).Want(t, 403, "account_suspended")
		op.Call(t, "POST", "/api/admin/coaches/"+coach.ID+"/restore", nil).Want(t, 200)
		token := signInBy(t, s, ofCoach).Want(t, 200).String("access_token")

		s.Call(t, "DELETE", "/api/players/"+player, token, nil).Want(t, 204)
		signInBy(t, s, ofGuardian).Want(t, 422, "passkey_invalid")
		body := touchlinetest.Minor(guardianNumber, "")
		s.Call(t, "POST", "/api/players/add", token, body).Want(t, 201)
		signInBy(t, s, ofGuardian).Want(t, 422, "passkey_invalid") // the number may have a new owner

		s.Call(t, "POST", "/auth/logout", token, map[string]any{"all": true}).Want(t, 204)
		signInBy(t, s, ofCoach).Want(t, 422, "passkey_invalid")
	})
}

// TestPasskeysEndWithNumber: a change of the number ends the passkeys, as it ends the other sessions, and so
// does the closing of the account.
func TestPasskeysEndWithNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		a, _ := addPasskey(t, s, coach.Access)
		code := func(number string) string {
			s.Clock.Advance(2 * time.Minute)
			before := s.Sent(number, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number}).Want(t, 202)
			return s.OTP(number, before)
		}
		const other = "+919812300091"
		current := code(coachNumber)
		coach.Call(t, "POST", "/auth/change-number", map[string]any{"otp": current, "new_mobile_number": other, "new_otp": code(other)}).Want(t, 200)
		signInBy(t, s, a).Want(t, 422, "passkey_invalid")

		coach = s.SignIn(t, "coach", other)
		a, _ = addPasskey(t, s, coach.Access)
		signInBy(t, s, a).Want(t, 200)
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": code(other)}).Want(t, 204)
		signInBy(t, s, a).Want(t, 422, "passkey_invalid")
	})
}

// TestSynchronisedPasskey: a passkey says later that it is synchronised, or stops to say so, and its counter falls to 0 in a synchronised
// store. That of one on a single device does not.
func TestSynchronisedPasskey(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		a, _ := addPasskey(t, s, s.Coach(t, coachNumber).Access)
		const be, bs = 8, 16
		for _, use := range []struct {
			backup  byte
			counter uint32
			status  int
		}{
			{0, 0, 200},
			{be | bs, 0, 200},
			{be, 0, 200},
			{0, 0, 200},
			{bs, 0, 422},
			{0, 5, 200},
			{0, 0, 422},
			{be | bs, 5, 422},
			{be | bs, 0, 200},
			{be | bs, 0, 200},
			{0, 7, 200},
			{0, 7, 422},
		} {
			a.backup, a.counter = use.backup, use.counter
			if r := signInBy(t, s, a); r.Status != use.status {
				t.Errorf("flags %#x, counter %d: got %d %s, want %d", use.backup, use.counter, r.Status, r.Code(), use.status)
			}
		}
	})
}

// TestPasskeyWithoutUserHandle: Android leaves the account out of the answer of a passkey on another phone.
func TestPasskeyWithoutUserHandle(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	a, _ := addPasskey(t, s, coach.Access)
	a.user = ""
	if in := signInBy(t, s, a).Want(t, 200); in.String("account.mobile_number") != coachNumber {
		t.Errorf("signed in as %v", in.JSON["account"])
	}
}

// TestPasskeyApps: Android apps and pages below the domain use passkeys, others do not, and both systems find their association files.
func TestPasskeyApps(t *testing.T) {
	t.Parallel()
	certificate := bytes.Repeat([]byte{0x14}, 32)
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) {
		c.CORSOrigins = []string{"http://localhost:5173", "http://app.localhost", "https://other.example"}
		c.PasskeyApps = []config.PasskeyApp{{ID: "com.example.coach", Certificate: certificate}, {ID: "ABCDE12345.com.example.coach"}}
	})
	coach := s.Coach(t, coachNumber)
	a, _ := addPasskey(t, s, coach.Access)
	for origin, status := range map[string]int{
		"android:apk-key-hash:FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQ": 200,
		"android:apk-key-hash:FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBU": 422,
		"http://localhost:5173": 200, "http://app.localhost": 200, "https://other.example": 422, "http://localhost:5174": 422,
	} {
		used := *a
		used.origin = origin
		if r := signInBy(t, s, &used); r.Status != status {
			t.Errorf("%s: got %d %s, want %d", origin, r.Status, r.Code(), status)
		}
	}
	if log := s.Log.String(); !strings.Contains(log, `"reason":"Error validating origin: Expected Values: [`) || !strings.Contains(log, "Received: https://other.example") {
		t.Error("the log does not say which origin was refused")
	}
	for path, want := range map[string]string{
		"/.well-known/assetlinks.json":            `[{"relation":["delegate_permission/common.get_login_creds"],"target":{"namespace":"android_app","package_name":"com.example.coach","sha256_cert_fingerprints":["14` + strings.Repeat(":14", 31) + `"]}}]`,
		"/.well-known/apple-app-site-association": `{"webcredentials":{"apps":["ABCDE12345.com.example.coach"]}}`,
	} {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if got, err := io.ReadAll(r.Body); strings.TrimSpace(string(got)) != want || r.Header.Get("Content-Type") != "application/json" || err != nil {
			t.Errorf("%s: %s of %s, %v; want %s", path, got, r.Header.Get("Content-Type"), err, want)
		}
	}
}

// TestPasskeySignInLimit: an address begins so many sign-ins an hour, on any number of replicas.
func TestPasskeySignInLimit(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	for range 1000 {
		beginSignIn(t, s)
	}
	s.Call(t, "POST", "/auth/passkeys/sign-in/options", "", nil).Want(t, 429, "rate_limited")
	s.Clock.Advance(time.Hour + time.Minute)
	beginSignIn(t, s)
}

// TestPasskeyDomains: browsers refuse passkeys for an IP address; development uses localhost.
func TestPasskeyDomains(t *testing.T) {
	for url, want := range map[string]string{
		"https://touchline.example":      "touchline.example",
		"https://touchline.example:8443": "touchline.example",
		"http://127.0.0.1:8080":          "localhost",
		"http://[::1]:8080":              "localhost",
		"http://localhost:8080":          "localhost",
		"https://192.0.2.1":              "",
	} {
		rp, err := auth.NewRelyingParty(url, "Touchline", auth.PasskeyAccess{})
		if got := (&auth.Passkeys{RelyingParty: rp}).Domain(); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", url, got, err, want)
		}
	}
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.PublicURL = "https://192.0.2.1" })
	s.Call(t, "POST", "/auth/passkeys/sign-in/options", "", nil).Want(t, 404, "not_found")
}
