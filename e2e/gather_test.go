package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestGatheredSMS: the first question of a coach to a number is sent at once. Those of the
// next two minutes are sent in one SMS, which names the coach and the students and has one
// link, and counts once.
func TestGatheredSMS(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		first := coach.AddPlayer(t, child(0, guardianNumber)).String("guardian_request_id")
		if m := s.SMS(guardianNumber, "message", 0); !strings.Contains(m.Text, "Coach Meera Nair added Asha Rao 0. ") {
			t.Errorf("first SMS: got %q", m.Text)
		}
		var later []string
		for i := range 3 {
			later = append(later, coach.AddPlayer(t, child(1+i, guardianNumber)).String("guardian_request_id"))
		}
		for _, id := range later {
			eventually(t, "the request waits", func() bool {
				state, reason := smsDelivery(getRequest(t, coach, id))
				return state == "queued" && reason == "gathering"
			})
		}
		if detail := smsDetail(getRequest(t, coach, later[0])); detail == "" {
			t.Error("the coach does not see why the request waits")
		}
		coach.Call(t, "POST", "/api/approval/requests/"+later[1]+"/cancel", nil).Want(t, 200)
		never(t, s, "a second SMS was sent early", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > 1 })
		s.Clock.Advance(2*time.Minute + time.Second)
		m := s.SMS(guardianNumber, "message", 1)
		if !strings.HasPrefix(m.Text, "Coach Meera Nair added Asha Rao 1 and Asha Rao 3.") {
			t.Errorf("second SMS: got %q", m.Text)
		}
		links := linkPattern.FindAllString(m.Text, -1)
		if len(links) != 1 {
			t.Fatalf("got links %q, want one", links)
		}
		s.Call(t, "GET", strings.TrimPrefix(links[0], s.Config.PublicURL), "", nil).Want(t, 200)
		for _, id := range []string{first, later[0], later[2]} {
			eventually(t, "the delivery is sent", func() bool {
				state, reason := smsDelivery(getRequest(t, coach, id))
				return state == "sent" && reason == ""
			})
		}
		never(t, s, "a third SMS was sent", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > 2 })
		// The limit of three has counted two SMS.
		coach.AddPlayer(t, child(5, guardianNumber))
		s.SMS(guardianNumber, "message", 2)
		held := coach.AddPlayer(t, child(6, guardianNumber)).String("guardian_request_id")
		eventually(t, "the request waits", func() bool {
			_, reason := smsDelivery(getRequest(t, coach, held))
			return reason == "gathering"
		})
		s.Clock.Advance(2*time.Minute + time.Second)
		waitForHeld(t, coach, held, heldByNumber)
	}, func(c *config.Config) { c.MessagesGather, c.MessagesPerNumberFromCoach = 2*time.Minute, 3 })
}
