package e2e_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestPendingPartyReadsOutlineOnly: a party that has not approved may be a wrong number. No response,
// page or message shows it more of the player than ids, statuses and the names of student and coach
// (contract section 4), also after mail to the family's address was stopped.
func TestPendingPartyReadsOutlineOnly(t *testing.T) {
	const address = "secretmailbox@families.example"
	eachMail(t, mailtest.Plain, func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server) {
		coach := s.Coach(t, coachNumber)
		batch := addBatch(t, coach, "U12")
		player := coach.AddPlayer(t, map[string]any{
			"student":   map[string]any{"full_name": "Asha Rao", "date_of_birth": "2013-07-09", "contact_number": studentNumber, "medical_information": "Secretallergy"},
			"guardian":  map[string]any{"name": "Secretname Rao", "relationship": "secretaunt", "mobile_number": guardianNumber, "email": address},
			"batch_ids": []string{batch},
		})
		id := player.String("player_id")
		coach.Call(t, "POST", "/api/fees", map[string]any{"player_id": id, "title": "Secretfee", "amount": 50000, "currency": "INR", "due_on": "2027-01-05"}).Want(t, 201)
		question := server.Wait(t, address, 0)
		anyone := s.Browser(t)
		anyone.Open(pathOf(s, linkPattern.FindString(question.Text)))
		anyone.Press("This isn’t me")
		anyone.Press("Yes, this isn’t me")

		// No times or weekdays: the time of the test could be one of them.
		secrets := []string{"secret", "families.example", "2013-07-09", "9 July 2013", "North ground"}
		check := func(where, content string) {
			t.Helper()
			for _, secret := range secrets {
				if strings.Contains(strings.ToLower(content), strings.ToLower(secret)) {
					t.Errorf("%s shows %q:\n%.600s", where, secret, content)
				}
			}
		}
		for role, number := range map[string]string{"guardian": guardianNumber, "student": studentNumber} {
			other := map[string]string{"guardian": studentNumber, "student": guardianNumber}[role]
			check("the SMS to the "+role, s.SMS(number, "message", 0).Text)
			party := s.SignIn(t, role, number)
			for _, path := range []string{
				"/api/me", "/api/me/players", "/api/me/preferences", "/api/notifications", "/auth/sessions", "/api/players/" + id,
				"/api/players/approval-status/" + id, "/api/services/availability/" + id, "/api/approval/requests/" + player.String(role+"_request_id"),
				"/api/me/players/" + id + "/schedule", "/api/me/players/" + id + "/attendance", "/api/me/players/" + id + "/fees",
				"/api/players/" + id + "/medical", "/api/me/players/" + id + "/access-log",
				"/api/me/players/" + id + "/messages", "/api/me/players/" + id + "/progress", "/api/me/players/" + id + "/reports",
			} {
				content := string(party.Call(t, "GET", path, nil).Body)
				check(role+" GET "+path, content)
				if strings.Contains(content, other) {
					t.Errorf("%s GET %s shows the other number: %s", role, path, content)
				}
			}
			for name, content := range ownExport(t, party.Call(t, "GET", "/api/me/export", nil).Want(t, 200).Body) {
				if check(role+" export "+name, content); strings.Contains(content, other) {
					t.Errorf("the export of the %s shows the other number: %s", role, content)
				}
			}
			b := s.Browser(t)
			codes := s.Sent(number, "otp")
			s.Clock.Skip(s.Config.OTPResendAfter)
			b.Open("/sign-in/" + role)
			b.Press("Send me a code", "number", number)
			b.Press("Continue", "code", s.OTP(number, codes))
			home := "/me/" + role
			one := home + "/players/" + id
			for _, path := range []string{
				home, home + "/messages", home + "/settings", home + "/devices", home + "/number", home + "/disputes", one, one + "/answer", one + "/not-me",
				one + "/schedule", one + "/attendance", one + "/messages", one + "/progress", one + "/reports", one + "/fees", one + "/medical",
			} {
				check(role+" page "+path, b.Open(path).Text())
			}
		}
		b := s.Browser(t)
		stop := pathOf(s, strings.Trim(question.Header.Get("List-Unsubscribe"), "<>"))
		check("the link of the mail", s.Browser(t).Open(pathOf(s, linkPattern.FindString(question.Text))).Text())
		for _, page := range []*touchlinetest.Page{b.Open(stop), b.Send("POST", stop, url.Values{})} {
			if strings.Contains(page.Text(), address) {
				t.Errorf("the page to stop mail shows the whole address: %s", page.Text())
			}
		}
	})
}
