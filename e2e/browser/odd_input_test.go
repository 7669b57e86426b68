package browser_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestOddInputOfTeamPages checks that no error of the server comes from the addresses and
// forms of the pages of batches, fees, messages and records.
func TestOddInputOfTeamPages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "Juniors"}).Want(t, 201).String("batch_id")
		coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
		today := s.Clock.Now().Format("2006-01-02")
		fee := coach.Call(t, "POST", "/api/fees", map[string]any{"player_id": player, "title": "Kit", "amount": 500, "due_on": today}).Want(t, 201).String("fee_id")
		message := coach.Call(t, "POST", "/api/messages", map[string]any{
			"to": map[string]any{"all": true}, "audience": "guardian", "text": "Hi", "channels": []string{"sms"},
		}).Want(t, 201).String("message_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved", "version": 2}).Want(t, 200) // the batch is new in the question
		s.Clock.Skip(s.Config.OTPResendAfter * 2)
		family := newVisitor(t, s.URL)
		family.account = guardian.ID
		family.signIn(s, "guardian", guardianNumber)

		training := coach.Call(t, "POST", "/api/batches/"+batch+"/trainings", map[string]any{"date": s.Clock.Now().AddDate(0, 0, 2).Format("2006-01-02"), "start": "09:00", "end": "10:00"}).Want(t, 201).String("training_id")

		ofCoach := []string{
			"/coach/trainings/add", "/coach/trainings/" + training, "/coach/trainings/" + training + "/edit", "/coach/trainings/" + training + "/cancel", "/coach/batches/" + batch + "/trainings/add", "/coach/calendar",
			"/coach/batches", "/coach/batches/" + batch, "/coach/batches/" + batch + "/players", "/coach/batches/" + batch + "/attendance", "/coach/batches/" + batch + "/attendance/" + today,
			"/coach/fees", "/coach/fees/add", "/coach/fees/export", "/coach/fees/" + fee, "/coach/messages", "/coach/messages/write", "/coach/messages/replies", "/coach/messages/templates", "/coach/conversations", "/coach/conversations/" + player + "/guardian", "/coach/conversations/" + player + "/x",
			"/coach/messages/" + message, "/coach/messages/replies/read", "/coach/players/" + player + "/attendance", "/coach/players/" + player + "/progress", "/coach/players/" + player + "/reports",
		}
		ofFamily := []string{"", "/schedule", "/calendar", "/trainings/" + training + "/attending", "/attendance", "/fees", "/fees/" + fee, "/messages", "/progress", "/reports", "/medical"}
		names := []string{"at", "party", "after", "after_day", "before", "batch", "player", "template", "date", "month", "state", "metric", "archived", "q", "done", "answered"}
		for _, value := range []string{"%00", "9999-12-31", "2147483648", "9223372036854775807"} {
			query := "?"
			for _, name := range names {
				query += name + "=" + value + "&"
			}
			for _, path := range ofCoach {
				if got := c.get(path + query); got.status >= 500 {
					t.Errorf("%s: got status %d", got.path, got.status)
				}
			}
			for _, path := range ofFamily {
				if got := family.get("/me/guardian/players/" + player + path + query); got.status >= 500 {
					t.Errorf("%s: got status %d", got.path, got.status)
				}
			}
		}
		for _, value := range []string{"\x00", "\u202e", strings.Repeat("9", 400), "9999-12-31"} {
			var form []string
			for _, name := range []string{
				"name", "sport", "venue", "time_zone", "monday_start", "monday_end", "start", "end", "weekday", "for", "title", "amount", "currency", "due_on", "until", "repeat", "method", "paid_on", "note",
				"reason", "date", "kind", "opponent", "attending", "back", "end", "text", "audience", "channels", "channel", "player", "players", "player_id", "metric", "value", "unit", "on", "from", "to", "upi_id", "code", "version", "mark", "mark_" + player, "note_" + player, "q", "id", "language", "quiet_start",
			} {
				form = append(form, name, value)
			}
			for _, path := range append(ofCoach, "/coach/batches/add", "/coach/batches/"+batch+"/edit", "/coach/fees/upi", "/coach/fees/end-repeat", "/coach/fees/"+fee+"/pay", "/coach/fees/"+fee+"/reverse", "/coach/fees/"+fee+"/waive", "/coach/fees/"+fee+"/void") {
				if got := c.post(path, form...); got.status >= 500 {
					t.Errorf("POST %s with %.20q: got status %d", path, value, got.status)
				}
			}
			for _, path := range append(ofFamily, "/messages") {
				if got := family.post("/me/guardian/players/"+player+path, form...); got.status >= 500 {
					t.Errorf("POST %s with %.20q: got status %d", path, value, got.status)
				}
			}
		}
	})
}
