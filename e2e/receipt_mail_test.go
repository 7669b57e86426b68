package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// confirmAddress confirms a mail address in the settings pages.
func confirmAddress(t *testing.T, s *touchlinetest.Service, server *mailtest.Server, role, number, address string) {
	t.Helper()
	b := signInPages(t, s, role, number)
	b.Open("/me/" + role + "/settings/email")
	wantText(t, "settings", b.Page, []string{"your receipts"}, nil)
	b.Press("Send a code to this address", "email", address)
	b.Press("Confirm", "code", codeInMail.FindString(server.Wait(t, address, 0).Text))
	wantText(t, "confirmed", b.Page, []string{"The address is confirmed"}, nil)
}

// TestReceiptByMail: a guardian and a student get a mail about their decision at the address that they confirmed, with the way to
// their receipts, unless they want no such mail. A guardian who confirmed none gets it at the address that the coach entered.
func TestReceiptByMail(t *testing.T) {
	eachMail(t, mailtest.Plain, func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server) {
		const ofCoach, ofGuardian, ofStudent = "noted@families.example", "meera@families.example", "asha@families.example"
		coach := s.Coach(t, coachNumber)
		body := withMail(0, guardianNumber, ofCoach)
		body["student"].(map[string]any)["contact_number"] = studentNumber
		id := coach.AddPlayer(t, body).String("player_id")
		server.Wait(t, ofCoach, 0) // the question
		decide := func(role, action string) {
			t.Helper()
			number := map[string]string{"guardian": guardianNumber, "student": studentNumber}[role]
			s.SignIn(t, role, number).Call(t, "PUT", "/api/approval/"+role+"-response", object{"player_id": id, "action": action}).Want(t, 200)
		}
		wantReceipt := func(mail mailtest.Mail, subject, role, why string) {
			t.Helper()
			for _, part := range []string{s.Config.PublicURL + "/me/" + role + "/receipts", "proves what you answered", why} {
				if mail.Subject != subject || !strings.Contains(mail.Text, part) || !strings.Contains(mail.HTML, part) {
					t.Errorf("%q has no %q:\n%s", mail.Subject, part, mail.Text)
				}
			}
			for _, private := range []string{guardianNumber[3:], studentNumber[3:], "2014", "tlog-proof"} {
				if strings.Contains(mail.Text, private) {
					t.Errorf("the mail has %q:\n%s", private, mail.Text)
				}
			}
		}
		decide("guardian", "approved")
		wantReceipt(server.Wait(t, ofCoach, 1), "You said yes", "guardian", "because a coach gave this address")

		confirmAddress(t, s, server, "guardian", guardianNumber, ofGuardian)
		confirmAddress(t, s, server, "student", studentNumber, ofStudent)
		decide("guardian", "revoked")
		wantReceipt(server.Wait(t, ofGuardian, 1), "You took your yes back", "guardian", "because you confirmed this address")
		decide("student", "approved")
		wantReceipt(server.Wait(t, ofStudent, 1), "You said yes", "student", "because you confirmed this address")

		// The page that the mail leads to.
		b := signInPages(t, s, "student", studentNumber)
		b.Open("/receipts")
		wantText(t, "receipts", b.Page, []string{"Your receipts", "You said yes", "The coach asked you", "Asha Rao 0", "Check a receipt"}, []string{studentNumber[3:]})
		_, rest, _ := strings.Cut(b.Page.Body, `href="/me/student/receipts/`)
		record, _, _ := strings.Cut(rest, `"`)
		if file := b.Open("/me/student/receipts/" + record); file.Status != 200 || !strings.HasPrefix(file.Body, "c2sp.org/tlog-proof@v1\n") {
			t.Errorf("%d %.100s", file.Status, file.Body)
		}
		if page := b.Open("/me/student/receipts?after=x"); page.Status != 404 {
			t.Errorf("after a wrong id: %d", page.Status)
		}
		if page := signInPages(t, s, "guardian", guardianNumber).Open("/me/guardian/receipts/" + record); page.Status != 404 {
			t.Errorf("the receipt of the other party: %d", page.Status)
		}
		wantText(t, "without a sign-in", s.Browser(t).Open("/receipts"), []string{"I am a parent or guardian", "I am the player"}, nil)

		// A party that wants no such mail gets none; one that removed the address neither.
		student := s.SignIn(t, "student", studentNumber)
		student.Call(t, "PATCH", "/api/me/preferences", object{"channels": object{"notice": []string{}}}).Want(t, 200)
		decide("student", "revoked")
		if n := queryOne[int](t, openTables(t, s), `SELECT count(*) FROM deliveries WHERE account_id = $1 AND channel = 'email'`, student.ID); n != 1 {
			t.Errorf("%d mails to the student, want 1", n)
		}
		if got := len(server.To(ofCoach)); got != 2 {
			t.Errorf("%d mails to the address of the coach, want the question and the first answer", got)
		}
	})
}
