package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestCloseAccount: all data of the coach ends at once. Approvers are notified,
// parties without an approval are not, and the approval history is retained.
func TestCloseAccount(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		coach := s.Coach(t, coachNumber)
		approved := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "+919812300021")).String("player_id")
		pending := coach.AddPlayer(t, child(2, "+919812300012"))
		guardian, undecided := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "guardian", "+919812300012")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": approved, "action": "approved"}).Want(t, 200)
		disputed := coach.AddPlayer(t, child(3, "+919812300013"))
		disputer := s.SignIn(t, "guardian", "+919812300013")
		disputer.Call(t, "POST", "/api/approval/requests/"+disputed.String("guardian_request_id")+"/dispute", nil).Want(t, 200)
		other := s.Coach(t, "+919812300009")
		otherPlayer := other.AddPlayer(t, child(4, guardianNumber)).String("player_id")
		coach.Upload(t, "certification", "first-aid.pdf", touchlinetest.PDF(500, 1)).Want(t, 201)
		coach.Call(t, "PUT", "/api/coach/visibility", map[string]any{"visible": true, "show": []string{"name"}}).Want(t, 200)
		s.Clock.Advance(61 * time.Second)
		otherSession := s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(61 * time.Second)
		loggedOut := s.SignIn(t, "coach", coachNumber)
		loggedOut.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		s.Clock.Advance(61 * time.Second)
		link := strings.TrimPrefix(linkPattern.FindString(s.SMS("+919812300012", "message", 0).Text), s.Config.PublicURL)
		s.Call(t, "GET", link, "", nil).Want(t, 200)
		// The closure cancels deliveries of pending requests; the worker finishes the others.
		eventually(t, "deliveries of decided requests are done", func() bool {
			return queryOne[int](t, db, `SELECT count(*) FROM deliveries d JOIN requests r ON r.id = d.request_id WHERE r.state <> 'pending' AND d.state = 'queued'`) == 0
		})

		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": "x"}).Want(t, 422, "validation_failed")
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": "123456", "why": "x"}).Want(t, 422, "validation_failed")
		coach.Call(t, "DELETE", "/api/me", map[string]any{}).Want(t, 422, "validation_failed")
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": "123456"}).Want(t, 410, "otp_expired")
		otp := requestCoachOTP(t, s, coachNumber)
		if a := coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": wrongOTP(otp, 0)}).Want(t, 422, "otp_incorrect"); a.String("attempts_left") != "4" {
			t.Errorf("wrong code: got %s", a.Body)
		}
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": otp}).Want(t, 204)

		for _, p := range []*touchlinetest.User{coach, otherSession} {
			p.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
			refresh(t, s, p.Refresh).Want(t, 401, "session_revoked")
		}
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": otp}).Want(t, 401, "session_revoked")
		s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Want(t, 404)
		s.Call(t, "GET", link, "", nil).Want(t, 404)
		if countNotifications(t, guardian, "coach_left") != 1 || countNotifications(t, guardian, "guardian_request") != 1 || countNotifications(t, guardian, "guardian_approval_confirmed") != 0 {
			t.Error("guardian's notifications: want one each of coach_left and guardian_request, and no confirmation")
		}
		if n := len(undecided.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items()); n != 0 {
			t.Errorf("a party without an approval got %d notifications", n)
		}
		for _, p := range []*touchlinetest.User{guardian, undecided} {
			p.Call(t, "GET", "/api/players/approval-status/"+approved, nil).Want(t, 404)
			p.Call(t, "GET", "/api/players/approval-status/"+pending.String("player_id"), nil).Want(t, 404)
		}
		guardian.Call(t, "GET", "/api/players/approval-status/"+otherPlayer, nil).Want(t, 200)
		refresh(t, s, guardian.Refresh).Want(t, 200) // the guardian still has a player of the other coach
		refresh(t, s, undecided.Refresh).Want(t, 401, "refresh_token_expired")
		refresh(t, s, disputer.Refresh).Want(t, 401, "refresh_token_expired")

		// The history is retained; all other data is deleted.
		for query, want := range map[string]int{
			`SELECT count(*) FROM approval_history WHERE player_id = '` + approved + `'`:                                            1,
			`SELECT count(*) FROM requests WHERE coach_id = $1`:                                                                     4,
			`SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending'`:                                               0,
			`SELECT count(*) FROM deliveries d JOIN requests r ON r.id = d.request_id WHERE r.coach_id = $1 AND d.state = 'queued'`: 0,
			`SELECT count(*) FROM players WHERE coach_id = $1 AND deleted_at IS NULL`:                                               0,
			`SELECT count(*) FROM coaches WHERE id = $1`:                                                                            0,
			`SELECT count(*) FROM documents WHERE coach_id = $1`:                                                                    0,
			`SELECT count(*) FROM blobs WHERE coach_id = $1 AND ends_at IS NULL`:                                                    0,
			`SELECT count(*) FROM listings WHERE coach_id = $1`:                                                                     0,
			`SELECT count(*) FROM notifications WHERE account_id = $1`:                                                              0,
			`SELECT count(*) FROM deliveries WHERE account_id = $1`:                                                                 0,
			`SELECT count(*) FROM deliveries WHERE recipient = '` + coachNumber + `'`:                                               0,
			`SELECT count(*) FROM accounts WHERE id = $1 AND closed_number IS NOT NULL AND closed_at IS NOT NULL`:                   1,
		} {
			args := []any{coach.ID}
			if !strings.Contains(query, "$1") {
				args = nil
			}
			if got := queryOne[int](t, db, query, args...); got != want {
				t.Errorf("%s: got %d, want %d", query, got, want)
			}
		}
		for _, table := range []string{"devices", "sessions", "accounts"} {
			if n := queryOne[int](t, db, `SELECT count(*) FROM `+table+` WHERE mobile_number = $1`, coachNumber); n != 0 {
				t.Errorf("got %d %s with the closed number", n, table)
			}
		}

		// The number can register again.
		s.Clock.Advance(time.Hour)
		newAccount := s.SignIn(t, "coach", coachNumber)
		if newAccount.ID == coach.ID || newAccount.Login.String("next") != "complete_profile" || len(newAccount.Call(t, "GET", "/api/players", nil).Want(t, 200).Items()) != 0 {
			t.Errorf("new account: got %s", newAccount.Login.Body)
		}
		s.Clock.Advance(61 * time.Second)
		newAccount.Call(t, "DELETE", "/api/me", map[string]any{"otp": requestCoachOTP(t, s, coachNumber)}).Want(t, 204) // closing an empty account
	})
}

// TestCloseAccountRaces: a player, a decision, a login and a refresh race with a
// closure. Each one finishes completely before the closure or finds the account
// closed.
func TestCloseAccountRaces(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		r, db := s.Replica(), openTables(t, s)
		next := 0
		number := func() string { next++; return fmt.Sprint("+9198125", 10000+next) }
		for range raceRounds {
			coach, guardianAt, otherAt := s.Coach(t, number()), number(), number()
			player := coach.AddPlayer(t, child(1, guardianAt)).String("player_id")
			guardian := s.SignIn(t, "guardian", guardianAt)
			s.Clock.Advance(61 * time.Second)
			otherSession := s.SignIn(t, "coach", coach.Number)
			s.Clock.Advance(61 * time.Second)
			before := s.Sent(coach.Number, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coach.Number, "device_token": coach.Device}).Want(t, 202)
			deviceCode := s.OTP(coach.Number, before)
			otp := requestCoachOTP(t, s, coach.Number)
			got := concurrently(t,
				callLater(s, "DELETE", "/api/me", coach.Access, map[string]any{"otp": otp}),
				callLater(r, "POST", "/api/players/add", otherSession.Access, child(2, otherAt)),
				callLater(r, "PUT", "/api/approval/guardian-response", guardian.Access, map[string]any{"player_id": player, "action": "approved"}),
				callLater(s, "POST", "/auth/refresh", "", map[string]any{"refresh_token": otherSession.Refresh}),
				callLater(r, "POST", "/auth/login", "", map[string]any{"mobile_number": coach.Number, "otp": deviceCode, "device_token": coach.Device}))
			closed, added, decided, refreshed, login := got[0], got[1], got[2], got[3], got[4]
			closed.Want(t, 204)
			if added.Status != 201 && added.Status != 401 {
				t.Errorf("add player: got %s", added.Body)
			}
			if n := queryOne[int](t, db, `SELECT count(*) FROM players WHERE coach_id = $1 AND deleted_at IS NULL`, coach.ID); n != 0 {
				t.Errorf("got %d players after the closure", n)
			}
			history := queryOne[int](t, db, `SELECT count(*) FROM approval_history WHERE player_id = $1`, player)
			if (decided.Status == 200) != (history == 1) || decided.Status != 200 && decided.Status != 404 {
				t.Errorf("decision: got status %d with %d history records: %s", decided.Status, history, decided.Body)
			}
			if notified := countNotifications(t, guardian, "coach_left"); notified != history {
				t.Errorf("got %d notifications after %d decisions", notified, history)
			}
			if refreshed.Status == 200 {
				r.Call(t, "GET", "/api/me", refreshed.String("access_token"), nil).Want(t, 401, "session_revoked")
			}
			if login.Status == 200 && login.String("account.id") == coach.ID {
				r.Call(t, "GET", "/api/me", login.String("access_token"), nil).Want(t, 401, "session_revoked")
			}
			if n := queryOne[int](t, db, `SELECT count(*) FROM sessions WHERE account_id = $1 AND revoked_at IS NULL`, coach.ID); n != 0 {
				t.Errorf("got %d live sessions after the closure", n)
			}
			if n := queryOne[int](t, db, `SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending'`, coach.ID); n != 0 {
				t.Errorf("got %d pending requests after the closure", n)
			}
		}
	}, func(c *config.Config) { c.OTPValidity = time.Hour }, touchlinetest.ManyConnections)
}
