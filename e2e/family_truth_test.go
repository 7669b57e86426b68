package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// signInPages returns a browser that is signed in.
func signInPages(t *testing.T, s *touchlinetest.Service, role, number string) *touchlinetest.Browser {
	t.Helper()
	b := s.Browser(t)
	s.Clock.Skip(s.Config.OTPResendAfter)
	codes := s.Sent(number, "otp")
	b.Open("/sign-in/" + role)
	b.Press("Send me a code", "number", number)
	b.Press("Continue", "code", s.OTP(number, codes))
	return b
}

// wantText checks which texts a page has and which it lacks, whatever the case.
func wantText(t *testing.T, what string, page *touchlinetest.Page, has, lacks []string) {
	t.Helper()
	text := strings.ToLower(page.Text())
	for _, want := range has {
		if !strings.Contains(text, strings.ToLower(want)) {
			t.Errorf("%s lacks %q: %s", what, want, page.Text())
		}
	}
	for _, wrong := range lacks {
		if strings.Contains(text, strings.ToLower(wrong)) {
			t.Errorf("%s says %q: %s", what, wrong, page.Text())
		}
	}
}

// TestFamilyPagesAreTrue: pages say what works for their reader: chat only with a transport, training
// times, attendance and fees only with a yes, and nothing about parents to an adult.
func TestFamilyPagesAreTrue(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		id := player.String("player_id")
		if a := coach.Call(t, "GET", "/api/services/availability/"+id, nil).Want(t, 200); a.JSON["chat_available"] != false || a.JSON["chat_enabled"] != true {
			t.Errorf("availability without a chat: %s", a.Body)
		}
		works := []string{"The coach can write to you by SMS.", "You also see training times, attendance and fees here."}
		wantText(t, "the question", s.Browser(t).Open(linkPath(t, s, guardianNumber, 0)), works, []string{"chat"})
		wantText(t, "the question to the student", s.Browser(t).Open(linkPath(t, s, studentNumber, 0)), append(works, "your parents"), []string{"chat"})

		one := "/me/guardian/players/" + id
		b := signInPages(t, s, "guardian", guardianNumber)
		guardian := s.SignIn(t, "guardian", guardianNumber)
		answer := func(action string) {
			t.Helper()
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": action}).Want(t, 200)
		}
		only, above := "attendance and fees here only after a yes", "attendance and fees on the pages above"
		wantText(t, "the answer page", b.Open(one+"/answer"), works, []string{"chat"})
		wantText(t, "the child before an answer", b.Open(one), []string{works[0], only}, []string{"chat", "with a no", above})
		wantText(t, "attendance before an answer", b.Open(one+"/attendance"), []string{"It opens when you say yes."}, nil)
		answer("approved")
		wantText(t, "the child after a yes", b.Open(one), []string{works[0], above}, []string{"chat", "with a no", only})
		answer("revoked")
		wantText(t, "the child after the yes was taken back", b.Open(one), []string{works[0], only}, []string{"chat", "with a no", above})
		wantText(t, "attendance then", b.Open(one+"/attendance"), []string{"You took your yes back, so this page shows you nothing."}, []string{"you said no"})
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": id}).Want(t, 201)
		answer("rejected")
		wantText(t, "the child after a no", b.Open(one), []string{works[0], only}, []string{"chat", "with a no", above})
		wantText(t, "attendance after a no", b.Open(one+"/attendance"), []string{"You said no, so this page shows you nothing."}, []string{"took your yes back"})
		b.Open(one)
		b.Press("Stop messages from this coach")
		wantText(t, "the child without messages of the coach", b.Open(one), []string{"You stopped the coach’s messages", only}, []string{works[0]})

		adult := touchlinetest.Minor(otherNumber, "+919812300022")
		adult["student"].(map[string]any)["date_of_birth"] = "2000-01-31"
		adult["student"].(map[string]any)["full_name"] = "Bela Rao"
		adultID := coach.AddPlayer(t, adult).String("player_id")
		parents := []string{"parent", "guardian"}
		wantText(t, "the question to an adult", s.Browser(t).Open(linkPath(t, s, "+919812300022", 0)), []string{"It does not answer for anyone else.", "You answer for yourself."}, parents)
		wantText(t, "the answer page of an adult", signInPages(t, s, "student", "+919812300022").Open("/me/student/players/"+adultID+"/answer"), []string{"It does not answer for anyone else."}, parents)
	})
}
