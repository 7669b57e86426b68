package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestCoachMail: decisions about a coach's questions go to the address in the profile, unless the
// coach chose no mail. They do not use up what may go to families.
func TestCoachMail(t *testing.T) {
	const address = "coach@clubs.example"
	eachMail(t, mailtest.STARTTLS, func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server) {
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PATCH", "/api/coach/profile", object{"email": address}).Want(t, 200)
		added := coach.AddPlayer(t, child(0, guardianNumber))
		player := added.String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		ask := func() {
			coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": player}).Want(t, 201)
		}
		decide := func(action string) {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": action}).Want(t, 200)
		}
		want := func(n int, subject string) {
			t.Helper()
			m := server.Wait(t, address, n)
			if m.Subject != subject || !strings.Contains(m.Text, "Asha Rao 0") || !strings.Contains(m.Text, s.Config.PublicURL+"/coach") || !strings.Contains(m.Text, "Stop mail to this address") {
				t.Errorf("mail %d: got %q\n%s", n, m.Subject, m.Text)
			}
		}
		decide("approved")
		want(0, "Guardian said yes")
		decide("revoked")
		want(1, "Guardian took the yes back")
		ask()
		decide("rejected")
		want(2, "Guardian said no")
		ask()
		request := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200).String("guardian_request_id")
		guardian.Call(t, "POST", "/api/approval/requests/"+request+"/dispute", nil).Want(t, 200)
		want(3, "Wrong number")

		coach.Call(t, "PATCH", "/api/me/preferences", object{"channels": object{"notice": []string{}}}).Want(t, 200)
		guardian.Call(t, "DELETE", "/api/approval/requests/"+request+"/dispute", nil).Want(t, 204)
		decide("approved")
		eventually(t, "the coach is told in the app", func() bool { return countNotifications(t, coach, "guardian_approved") == 2 })
		if got := len(server.To(address)); got != 4 {
			t.Errorf("%d mails, want none after the coach chose no mail", got)
		}
	})
}

// TestRequestByMailIsInTray: a question that goes by mail alone is in the guardian's tray, too.
func TestRequestByMailIsInTray(t *testing.T) {
	eachMail(t, mailtest.STARTTLS, func(t *testing.T, s *touchlinetest.Service, _ *mailtest.Server) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, withMail(0, guardianNumber, "meera@families.example")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "rejected"}).Want(t, 200)
		for i, channels := range [][]string{{"email"}, {"sms"}, {"in_app", "email"}} {
			before := countNotifications(t, guardian, "guardian_request")
			sent := coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": player, "channels": channels}).Want(t, 201)
			if got := countNotifications(t, guardian, "guardian_request") - before; got != 1 {
				t.Errorf("%d: %v: %d notifications of the question, want 1", i, channels, got)
			}
			if got := strings.Join(channelsOf(sent), " "); got != strings.Join(channels, " ") {
				t.Errorf("%v: the request names %s", channels, got)
			}
			guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "rejected"}).Want(t, 200)
		}
	})
}
