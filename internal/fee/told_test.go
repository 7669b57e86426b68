package fee_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

type object = map[string]any

// TestTold: a family says that it has paid, the coach confirms by noting the payment or ends it. Neither
// changes the balance alone.
func TestTold(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, "+919812360001"), s.Coach(t, "+919812360002")
		player := coach.AddPlayer(t, touchlinetest.Minor("+919812360003", "+919812360004")).String("player_id")
		guardian, student := s.SignIn(t, "guardian", "+919812360003"), s.SignIn(t, "student", "+919812360004")
		today := s.Clock.Now().UTC().Format(time.DateOnly)
		due := s.Clock.Now().AddDate(0, 0, 2).Format(time.DateOnly) // not overdue in any time zone
		id := coach.Call(t, "POST", "/api/fees", object{"player_id": player, "title": "Training in May", "amount": 150000, "due_on": due}).Want(t, 201).String("fee_id")
		own, family := "/api/fees/"+id, "/api/me/players/"+player+"/fees/"+id

		guardian.Call(t, "PUT", family+"/told", nil).Want(t, 403, "approval_pending")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		student.Call(t, "PUT", family+"/told", nil).Want(t, 403, "approval_pending") // each party alone
		coach.Call(t, "PUT", family+"/told", nil).Want(t, 403, "role_not_allowed")
		other.Call(t, "DELETE", own+"/told", nil).Want(t, 404, "not_found")

		// Of concurrent calls one notifies the coach.
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got := guardian.Call(t, "PUT", family+"/told", nil).Want(t, 200); got.String("told_at") == "" || got.String("balance") != "150000" {
					t.Errorf("told: %s", got.Body)
				}
			})
		}
		all.Wait()
		told := 0
		for _, n := range coach.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items() {
			if n["type"] == "fee_told" {
				told++
			}
		}
		if got := coach.Call(t, "GET", own, nil).Want(t, 200); told != 1 || got.String("told_at") == "" || got.String("state") != "due" {
			t.Errorf("%d notifications, want 1: %s", told, got.Body)
		}
		if got := coach.Call(t, "DELETE", own+"/told", nil).Want(t, 200); got.String("told_at") != "" {
			t.Errorf("not received: %s", got.Body)
		}
		guardian.Call(t, "PUT", family+"/told", nil).Want(t, 200)
		if got := guardian.Call(t, "DELETE", family+"/told", nil).Want(t, 200); got.String("told_at") != "" {
			t.Errorf("taken back: %s", got.Body)
		}
		guardian.Call(t, "PUT", family+"/told", nil).Want(t, 200)
		coach.Call(t, "POST", own+"/payments", object{"amount": 150000, "method": "upi", "paid_on": today}).Want(t, 201)
		if got := guardian.Call(t, "GET", family, nil).Want(t, 200); got.String("told_at") != "" || got.String("state") != "paid" {
			t.Errorf("confirmed: %s", got.Body)
		}
		guardian.Call(t, "PUT", family+"/told", nil).Want(t, 409, "invalid_transition")

		// With two guardians the coach reads which one it was.
		coach.Call(t, "POST", "/api/players/"+player+"/guardians", object{"name": "Anita Rao", "relationship": "mother", "mobile_number": "+919812360005"}).Want(t, 201)
		anita := s.SignIn(t, "guardian", "+919812360005")
		anita.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		id = coach.Call(t, "POST", "/api/fees", object{"player_id": player, "title": "Training in June", "amount": 150000, "due_on": due}).Want(t, 201).String("fee_id")
		anita.Call(t, "PUT", "/api/me/players/"+player+"/fees/"+id+"/told", nil).Want(t, 200)
		if got := coach.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items()[0]; got["type"] != "fee_told" || !strings.HasPrefix(got["body"].(string), "Guardian Anita Rao says that") {
			t.Errorf("the coach reads %v", got)
		}
		b := s.Browser(t)
		s.Clock.Skip(s.Config.OTPResendAfter)
		codes := s.Sent(coach.Number, "otp")
		b.Open("/sign-in/coach")
		b.Press("Send me a code", "number", coach.Number)
		b.Press("Continue", "code", s.OTP(coach.Number, codes))
		if page := b.Open("/coach/fees/" + id); !strings.Contains(page.Text(), "Anita Rao said on") {
			t.Errorf("the page of the fee does not name the guardian: %s", page.Text())
		}
	})
}
