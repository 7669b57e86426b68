package training_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// linkIn finds the link in an SMS.
var linkIn = regexp.MustCompile(`https?://\S+(/t/[A-Za-z0-9_-]+)`)

// link returns the path of the link in the next SMS to the guardian, after skip of them.
func (q squad) link(skip int) string {
	q.t.Helper()
	sms := q.SMS(guardianNumber, "message", skip).Text
	found := linkIn.FindStringSubmatch(sms)
	if found == nil {
		q.t.Fatalf("the SMS has no link: %s", sms)
	}
	return found[1]
}

// TestAnswerLink: the link in an SMS answers about one training for one party, without a sign-in. Opening
// it changes nothing. It ends when the training begins.
func TestAnswerLink(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		sent := s.Sent(guardianNumber, "message")
		match := q.coach.Call(t, "POST", "/api/batches/"+q.batch+"/trainings", map[string]any{
			"date": q.day(1), "start": "09:00", "end": "10:30", "kind": "match", "opponent": "Tigers", "venue": "City stadium",
		}).Want(t, 201).String("training_id")
		sms := s.SMS(guardianNumber, "message", sent).Text
		if !strings.HasPrefix(sms, "Coach Meera Nair plans match against Tigers for Asha Rao on ") {
			t.Errorf("the SMS is %s", sms)
		}
		path := q.link(sent)
		b := s.Browser(t)
		for range 2 {
			if page := b.Open(path); page.Status != 200 || !strings.Contains(page.Text(), "Does Asha come?") || strings.Contains(page.Text(), "Rao") {
				t.Fatalf("%d: %s", page.Status, page.Text())
			}
		}
		if got := q.counts(match); got != "0 0 1" {
			t.Errorf("opening the link answered: %s", got)
		}
		if page := b.Send("POST", path, url.Values{"attending": {"no"}}); page.Status != 200 || !strings.Contains(page.Text(), "The coach knows: cannot come.") {
			t.Errorf("%d: %s", page.Status, page.Text())
		}
		b.Send("POST", path, url.Values{"attending": {"no"}, "reason": {"School trip"}})
		if seen := q.guardian.Call(t, "GET", q.family(match), nil).Want(t, 200); seen.String("answer.reason") != "School trip" || seen.String("answer.answered_by") != "guardian" {
			t.Errorf("got %s", seen.Body)
		}
		if page := b.Send("POST", path, url.Values{"attending": {"perhaps"}}); !strings.Contains(page.Text(), "Your answer was not saved.") {
			t.Errorf("%d: %s", page.Status, page.Text())
		}
		b.Send("POST", path, url.Values{"attending": {"yes"}})
		if got := q.counts(match) + ", " + q.counts(q.slot(1)); got != "1 0 0, 0 0 1" {
			t.Errorf("counts of the match and of another training: %s", got)
		}

		q.coach.Call(t, "DELETE", "/api/trainings/"+match, map[string]any{"reason": "Rain"}).Want(t, 200)
		if cancelled := s.SMS(guardianNumber, "message", sent+1).Text; !strings.HasPrefix(cancelled, "Coach Meera Nair: no match against Tigers for Asha Rao on ") || !strings.HasSuffix(cancelled, "Reason: Rain.") {
			t.Errorf("the SMS is %s", cancelled)
		}
		if page := b.Send("POST", path, url.Values{"attending": {"no"}}); page.Status != 200 || !strings.Contains(page.Text(), "Cancelled") || strings.Contains(page.Text(), "Cannot come") {
			t.Errorf("a cancelled training: %d: %s", page.Status, page.Text())
		}
		q.coach.Call(t, "PATCH", "/api/trainings/"+match, map[string]any{"state": "planned"}).Want(t, 200)
		if again := q.link(sent + 2); again != path {
			t.Errorf("the link changed during one approval: %s, %s", path, again)
		}

		s.Clock.Skip(q.day(1).At(9*60, kolkata).Sub(s.Clock.Now()) + time.Second)
		unknown := b.Open("/t/" + strings.Repeat("x", 24))
		for _, page := range []*touchlinetest.Page{b.Open(path), b.Send("POST", path, url.Values{"attending": {"no"}})} {
			if page.Status != 404 || page.Text() != unknown.Text() {
				t.Errorf("after the start: %d: %s", page.Status, page.Text())
			}
		}
	}, func(c *config.Config) { c.AccessTokenLifetime = 72 * time.Hour })
}

// TestAnswerLinkAfterRevocation: a revocation ends the link at once. A later approval does not open it
// again; the next message has another link.
func TestAnswerLinkAfterRevocation(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		id := q.slot(2)
		sent := s.Sent(guardianNumber, "message")
		key := "Idempotency-Key: " + uuid.NewString()
		asked := q.coach.Call(t, "POST", "/api/trainings/"+id+"/ask", nil, key).Want(t, 200)
		if again := q.coach.Call(t, "POST", "/api/trainings/"+id+"/ask", nil, key).Want(t, 200); asked.String("asked") != "1" || string(again.Body) != string(asked.Body) {
			t.Errorf("asked %s, then %s", asked.Body, again.Body)
		}
		first := q.link(sent)
		q.coach.Call(t, "POST", "/api/trainings/"+id+"/ask", nil).Want(t, 429, "reminder_limit")
		b := s.Browser(t)
		q.decide("revoked")
		if page := b.Open(first); page.Status != 404 {
			t.Errorf("after the revocation: %d", page.Status)
		}
		if page := b.Send("POST", first, url.Values{"attending": {"no"}}); page.Status != 404 {
			t.Errorf("after the revocation: %d", page.Status)
		}
		if got := q.counts(id); got != "0 0 1" {
			t.Errorf("an answer by an ended link: %s", got)
		}
		sent = s.Sent(guardianNumber, "message")
		q.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": q.player}).Want(t, 201)
		s.SMS(guardianNumber, "message", sent)
		q.decide("approved")
		if page := b.Open(first); page.Status != 404 {
			t.Errorf("after another approval: %d", page.Status)
		}
		sent = s.Sent(guardianNumber, "message")
		s.Clock.Skip(12 * time.Hour)
		q.coach = s.SignIn(t, "coach", coachNumber)
		q.coach.Call(t, "POST", "/api/trainings/"+id+"/ask", nil).Want(t, 200)
		if second := q.link(sent); second == first || b.Open(second).Status != 200 {
			t.Errorf("the next link is %s", second)
		}
		q.guardian = s.SignIn(t, "guardian", guardianNumber)
		q.answer(id, true, "").Want(t, 200)
		s.Clock.Skip(12 * time.Hour)
		q.coach = s.SignIn(t, "coach", coachNumber)
		if a := q.coach.Call(t, "POST", "/api/trainings/"+id+"/ask", nil).Want(t, 200); a.String("asked") != "0" {
			t.Errorf("all have answered: %s", a.Body)
		}
		s.Coach(t, otherCoach).Call(t, "POST", "/api/trainings/"+id+"/ask", nil).Want(t, 404, "not_found")
		q.coach.Call(t, "DELETE", "/api/trainings/"+id, nil).Want(t, 200)
		q.coach.Call(t, "POST", "/api/trainings/"+id+"/ask", nil).Want(t, 409, "training_cancelled")
	})
}

// TestLateMessage: a message that waited for the end of quiet hours is not sent after the training began.
func TestLateMessage(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		if now := s.Clock.Now().In(kolkata); now.Hour() >= 20 {
			s.Clock.Skip(12 * time.Hour) // the training is today
		}
		q := newSquad(t, s)
		now := s.Clock.Now().In(kolkata)
		quiet := map[string]any{"start": now.Add(-time.Hour).Format("15:04"), "end": now.Add(-2 * time.Hour).Format("15:04")}
		q.guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"quiet_hours": quiet, "time_zone": "Asia/Kolkata"}).Want(t, 200)
		sent := s.Sent(guardianNumber, "message")
		soon := now.Add(3 * time.Hour)
		match := q.coach.Call(t, "POST", "/api/batches/"+q.batch+"/trainings", map[string]any{
			"date": q.day(0), "start": soon.Format("15:04"), "end": soon.Add(30 * time.Minute).Format("15:04"), "kind": "match",
		}).Want(t, 201).String("training_id")
		s.Clock.Skip(22*time.Hour + 10*time.Minute) // in the hour that is not quiet
		q.coach = s.SignIn(t, "coach", coachNumber)
		q.coach.Call(t, "DELETE", "/api/trainings/"+q.slot(1), nil).Want(t, 200)
		if sms := s.SMS(guardianNumber, "message", sent).Text; !strings.Contains(sms, "no training for Asha Rao") {
			t.Errorf("the first SMS after quiet hours is %s, about the match %s", sms, match)
		}
	})
}

// TestToldOnChosenChannels: a family that chose no SMS for news gets none, and reads it in the app.
func TestToldOnChosenChannels(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		q.guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"channels": map[string]any{"notice": []string{}}, "language": "hi"}).Want(t, 200)
		sent := s.Sent(guardianNumber, "message")
		q.coach.Call(t, "DELETE", "/api/trainings/"+q.slot(1), map[string]any{"reason": "Rain"}).Want(t, 200)
		if got := fmt.Sprint(q.types(q.guardian)); got != "[training_cancelled]" {
			t.Errorf("the guardian has %s", got)
		}
		q.guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"channels": map[string]any{"notice": []string{"sms"}}}).Want(t, 200)
		q.coach.Call(t, "PATCH", "/api/trainings/"+q.slot(1), map[string]any{"state": "planned"}).Want(t, 200)
		sms := s.SMS(guardianNumber, "message", sent).Text
		if !strings.Contains(sms, "अब होगा") {
			t.Errorf("the first SMS is %s, want that of the second change in Hindi", sms)
		}
	})
}
