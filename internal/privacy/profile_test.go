package privacy_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestFreshApproval: with APPROVAL_FRESHNESS the API takes a yes only from a session that began a short time
// ago, and with its request. A no, a revocation and a repeated yes need neither.
func TestFreshApproval(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		id, request := added.String("player_id"), added.String("guardian_request_id")
		old := s.SignIn(t, "guardian", guardianNumber)
		answer := func(u *touchlinetest.User, action, request string) *touchlinetest.Response {
			body := map[string]any{"player_id": id, "action": action}
			if request != "" {
				body["request_id"] = request
			}
			return u.Call(t, "PUT", "/api/approval/guardian-response", body)
		}
		answer(old, "approved", "").Want(t, 422)
		s.Clock.Advance(10*time.Minute + time.Second)
		answer(old, "approved", request).Want(t, 403, "fresh_otp_required")
		other := touchlinetest.Minor("+919812300099", "")
		other["student"].(map[string]any)["full_name"] = "Bela Khan"
		coach.AddPlayer(t, other)
		stranger := s.SignIn(t, "guardian", "+919812300099")
		s.Clock.Advance(10 * time.Minute)
		answer(stranger, "approved", request).Want(t, 404)
		answer(stranger, "approved", "").Want(t, 404)

		fresh := s.SignIn(t, "guardian", guardianNumber)
		answer(fresh, "approved", request).Want(t, 200)
		s.Clock.Advance(11 * time.Minute)
		answer(fresh, "approved", request).Want(t, 200)
		answer(fresh, "revoked", "").Want(t, 200)
		coach = s.SignIn(t, "coach", coachNumber)
		request = coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": id}).Want(t, 201).String("request_id")
		answer(fresh, "approved", request).Want(t, 403, "fresh_otp_required")
		answer(fresh, "rejected", "").Want(t, 200)
	}, func(c *config.Config) { c.ApprovalFreshness = 10 * time.Minute })
}

// TestProfileAge: below the age of the profile a student's yes is an assent; the guardian's yes enables the app. A
// birthday changes that, and other services read it.
func TestProfileAge(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		enabled := func(u *touchlinetest.User, id string) any {
			t.Helper()
			return u.Call(t, "GET", "/api/services/availability/"+id, nil).Want(t, 200).JSON["student_app_enabled"]
		}
		for i, tt := range []struct {
			years, days int
			want        bool
		}{{-16, 1, false}, {-16, 0, true}, {-17, 0, true}} {
			number := "+91981230002" + string(rune('0'+i))
			body := touchlinetest.Minor(guardianNumber, number)
			body["student"].(map[string]any)["full_name"] = "Asha " + string(rune('A'+i))
			body["student"].(map[string]any)["date_of_birth"] = s.Clock.Now().AddDate(tt.years, 0, tt.days).Format(time.DateOnly)
			id := coach.AddPlayer(t, body).String("player_id")
			student := s.SignIn(t, "student", number)
			student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
			if got := enabled(student, id); got != tt.want {
				t.Errorf("%d years and %d days: the app is on: %v, want %t", tt.years, tt.days, got, tt.want)
			}
			if tt.want {
				continue
			}
			s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
			if enabled(student, id) != true {
				t.Error("the app is off after both agreed")
			}
		}
	}, func(c *config.Config) { c.PrivacyProfile = "eu" })
}
