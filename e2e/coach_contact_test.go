package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// changeNumberTo gives a coach another number.
func changeNumberTo(t *testing.T, coach *touchlinetest.User, number string) {
	t.Helper()
	s := coach.Service
	coach.Call(t, "POST", "/auth/change-number", changeNumberBody(requestCoachOTP(t, s, coach.Number), number, requestCoachOTP(t, s, number))).Want(t, 200)
	coach.Number = number
}

// TestFormerNumberIsNoContact: for a year after a coach gave up a number, the coach cannot name it as
// a guardian or student, because the coach may still read its SMS.
func TestFormerNumberIsNoContact(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers), func(c *config.Config) { c.OTPSendsPerHour, c.OTPSendsPerDay = 0, 0 })
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		changeNumberTo(t, coach, newNumber)
		refused := func(coach *touchlinetest.User, playerID string) {
			t.Helper()
			a := coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(coachNumber, "")).Want(t, 422, "contact_conflict")
			if !strings.Contains(string(a.Body), `"former_number"`) || !strings.Contains(string(a.Body), `"/guardian/mobile_number"`) {
				t.Errorf("adding a player: got %s", a.Body)
			}
			coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor("+919812300093", coachNumber)).Want(t, 422, "contact_conflict")
			corrected := map[string]any{"guardian": map[string]any{"mobile_number": coachNumber}}
			coach.Call(t, "PATCH", "/api/players/"+playerID, corrected).Want(t, 422, "contact_conflict")
			coach.Call(t, "PATCH", "/api/players/"+playerID, map[string]any{"student": map[string]any{"contact_number": coachNumber}}).Want(t, 422, "contact_conflict")
			corrected["player_id"] = playerID
			coach.Call(t, "POST", "/api/approval/send-guardian-request", corrected).Want(t, 422, "contact_conflict")
		}
		refused(coach, player)

		// The rows of an import are refused, too.
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "club"}).Want(t, 200)
		csv := "student_name,date_of_birth,guardian_name,relationship,guardian_number\nIla Rao,2014-05-01,Ravi Rao,father," + coachNumber + "\n"
		path := coach.Call(t, "POST", "/api/players/import", csv, csvType).Want(t, 201).Header.Get("Location")
		runImport(t, coach, path)
		if rows := coach.Call(t, "GET", path+"/rows", nil).Want(t, 200); !strings.Contains(string(rows.Body), `"former_number"`) {
			t.Errorf("the row of an import that names the former number: got %s", rows.Body)
		}

		// Closing the account and registering again changes nothing.
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": requestCoachOTP(t, s, newNumber)}).Want(t, 204)
		s.Clock.Advance(61 * time.Second)
		again := s.Coach(t, newNumber)
		refused(again, again.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id"))

		// Another coach may name the number, and this coach may after a year.
		other := s.Coach(t, "+919812300094")
		other.AddPlayer(t, touchlinetest.Minor(coachNumber, ""))
		s.Clock.Advance(366 * 24 * time.Hour)
		late := touchlinetest.Minor(coachNumber, coachNumber)
		late["student"].(map[string]any)["full_name"] = "Jaya Rao"
		s.SignIn(t, "coach", newNumber).AddPlayer(t, late)
	})
}

// TestFormerNumberAllowed: the setting that allows the current number allows a former one.
func TestFormerNumberAllowed(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		changeNumberTo(t, coach, newNumber)
		coach.AddPlayer(t, touchlinetest.Minor(coachNumber, ""))
	}, func(c *config.Config) { c.AllowCoachAsContact = true })
}

// TestFormerNumberRace: players that are added while the coach changes the number name either the
// current or the former number. Both are refused.
func TestFormerNumberRace(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		body := changeNumberBody(requestCoachOTP(t, s, coachNumber), newNumber, requestCoachOTP(t, s, newNumber))
		calls := []func() (*touchlinetest.Response, error){callLater(s, "POST", "/auth/change-number", coach.Access, body)}
		for i := range 12 {
			child := touchlinetest.Minor(coachNumber, "")
			child["student"].(map[string]any)["full_name"] = fmt.Sprintf("Child %d", i)
			calls = append(calls, callLater(s, "POST", "/api/players/add", coach.Access, child))
		}
		got := concurrently(t, calls...)
		got[0].Want(t, http.StatusOK)
		for _, added := range got[1:] {
			added.Want(t, 422, "contact_conflict")
		}
	})
}
