package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// overdueFollowUps returns the overdue list of the dashboard.
func overdueFollowUps(t *testing.T, coach *touchlinetest.User) []map[string]any {
	t.Helper()
	list, listed := getDashboard(t, coach).JSON["overdue_follow_ups"].([]any)
	if !listed {
		t.Fatal("the dashboard has no overdue_follow_ups")
	}
	items := make([]map[string]any, len(list))
	for i := range list {
		items[i] = list[i].(map[string]any)
	}
	return items
}

// TestFollowUp: a noted phone call is a follow-up; overdue requests are listed, the
// oldest first.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		called := coach.AddPlayer(t, child(1, "+919812300061"))
		s.Clock.Advance(time.Minute)
		first := coach.AddPlayer(t, child(2, "+919812300062"))
		s.Clock.Advance(time.Minute)
		second := coach.AddPlayer(t, child(3, "+919812300063"))
		followUp := "/api/approval/requests/" + called.String("guardian_request_id") + "/follow-up"
		note := object{"note": "They ask for a day."}
		for range 2 {
			a := coach.Call(t, "POST", followUp, note, "Idempotency-Key: call-1").Want(t, 200)
			if a.String("state") != "pending" || a.String("follow_up_note") != "They ask for a day." || a.String("followed_up_at") == "" {
				t.Errorf("follow-up: got %s", a.Body)
			}
		}
		coach.Call(t, "POST", followUp, nil).Want(t, 200)
		if a := getRequest(t, coach, called.String("guardian_request_id")); a.String("follow_up_note") != "They ask for a day." {
			t.Errorf("a follow-up without a note: got %s", a.Body)
		}
		coach.Call(t, "POST", followUp, object{"note": strings.Repeat("a", 501)}).Want(t, 422, "validation_failed")
		guardian := s.SignIn(t, "guardian", "+919812300061")
		if a := getRequest(t, guardian, called.String("guardian_request_id")); strings.Contains(string(a.Body), "follow") {
			t.Errorf("the guardian reads the coach's note: %s", a.Body)
		}
		if got := s.Sent("+919812300061", "message"); got > 1 {
			t.Errorf("a follow-up sent a message: got %d messages, want 1", got)
		}
		s.Clock.Advance(47 * time.Hour)
		if got := overdueFollowUps(t, coach); len(got) != 0 {
			t.Errorf("after 47 h: got %v", got)
		}
		s.Clock.Advance(2 * time.Hour)
		got := overdueFollowUps(t, coach)
		if len(got) != 2 || got[0]["request_id"] != first.String("guardian_request_id") || got[1]["request_id"] != second.String("guardian_request_id") {
			t.Fatalf("after 49 h: got %v", got)
		}
		if o := got[0]; o["player_id"] != first.String("player_id") || o["student_name"] != "Asha Rao 2" || o["approver_type"] != "guardian" || o["requested_at"] == "" {
			t.Errorf("overdue: got %v", o)
		}
		wantValues(t, "after 49 h", getDashboard(t, coach), map[string]string{"follow_up.overdue": "2", "follow_up.reached_target": "3", "follow_up.followed_up": "1"})
		coach = renewTokens(t, coach)
		coach.Call(t, "POST", "/api/approval/requests/"+first.String("guardian_request_id")+"/follow-up", nil).Want(t, 200)
		if got := overdueFollowUps(t, coach); len(got) != 1 {
			t.Errorf("after a late follow-up: got %v", got)
		}
		coach.Call(t, "POST", "/api/approval/requests/"+first.String("guardian_request_id")+"/cancel", nil).Want(t, 200)
		coach.Call(t, "POST", "/api/approval/requests/"+first.String("guardian_request_id")+"/follow-up", nil).Want(t, 409, "no_open_request")
	})
}

// TestPlayersByNumberAndState: the list of players finds the end of a number and a state.
func TestPlayersByNumberAndState(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		a := coach.AddPlayer(t, child(1, "+919812300071"))
		body := touchlinetest.Minor("+919812300072", "+919812345678")
		b := coach.AddPlayer(t, body)
		guardian := s.SignIn(t, "guardian", "+919812300071")
		for _, action := range []string{"approved", "revoked"} {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": a.String("player_id"), "action": action}).Want(t, 200)
		}
		for query, want := range map[string]string{
			"q=0071": a.String("player_id"), "q=5678": b.String("player_id"), "q=345678": b.String("player_id"), "q=12345": "", "q=72": "",
			"guardian_state=revoked": a.String("player_id"), "guardian_state=rejected": "", "guardian_status=rejected": a.String("player_id"),
			"student_state=revoked": "", "guardian_state=pending": b.String("player_id"),
		} {
			items := coach.Call(t, "GET", "/api/players?"+query, nil).Want(t, 200).Items()
			if want == "" && len(items) > 0 || want != "" && (len(items) != 1 || items[0]["player_id"] != want) {
				t.Errorf("%s: got %v, want %q", query, items, want)
			}
		}
	})
}

// TestNameOfParties: a guardian's name shows after approval, a student's at once.
func TestNameOfParties(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		wantName := func(p *touchlinetest.User, want string) {
			t.Helper()
			if got := p.Call(t, "GET", "/api/me", nil).Want(t, 200).String("name"); got != want {
				t.Errorf("%s: name = %q, want %q", p.Role, got, want)
			}
		}
		wantName(guardian, "")
		wantName(student, "Asha Rao")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		wantName(guardian, "Ravi Rao")
	})
}
