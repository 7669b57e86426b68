package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestUndo removes a result, a report and a player of a batch. With scripts one tap removes, and Undo
// brings it back for 10 s; without scripts a page asks first. What the coach was writing stays.
func TestUndo(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]setting{"with scripts": nil, "without scripts": {withoutScripts()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
				f := newFamily(t, s)
				coach := f.coach
				guardian := s.SignIn(t, "guardian", guardianNumber)
				guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": f.player, "action": "approved"}).Want(t, 200)
				one := "/api/players/" + f.player
				today := s.Clock.Now() // the test may run over midnight
				day := today.Format(time.DateOnly)
				result := coach.Call(t, "POST", one+"/progress", map[string]any{"metric": "Sprint", "value": 11.5, "unit": "s", "on": day}).Want(t, 201)
				report := coach.Call(t, "POST", one+"/reports", map[string]any{"title": "Spring", "text": "She is quick.", "from": day, "to": day}).Want(t, 201)
				batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "Juniors"}).Want(t, 201).String("batch_id")
				coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+f.player, nil).Want(t, 204)
				p := newPhone(t, s.URL, settings...)
				s.Clock.Skip(2 * time.Minute)
				p.signIn(s, "coach", coachNumber)
				for _, x := range []struct {
					page, button, check, removed, undone string
					typed                                []string
					api, family                          string
				}{
					{
						"/coach/players/" + f.player + "/progress", "Delete Sprint " + today.Format("2 January 2006"), "Delete this result?", "The result is deleted.", "The result is back.",
						[]string{"metric", "Push-ups", "value", "12"},
						one + "/progress/" + result.String("measurement_id"), "/api/me/players/" + f.player + "/progress",
					},
					{
						"/coach/players/" + f.player + "/reports", "Delete Spring", "Delete this report?", "The report is deleted.", "The report is back.",
						[]string{"title", "Summer", "text", "First line\nsecond line"},
						one + "/reports/" + report.String("report_id"), "/api/me/players/" + f.player + "/reports",
					},
					{
						"/coach/batches/" + batch, "Take out: Asha Rao", "Take this player out of the batch?", "The player is out of the batch.", "The player is in the batch again.",
						nil, "/api/batches/" + batch, "/api/me/players/" + f.player + "/schedule",
					},
				} {
					before := string(coach.Call(t, "GET", x.api, nil).Want(t, 200).Body)
					seen := string(guardian.Call(t, "GET", x.family, nil).Want(t, 200).Body)
					p.open(x.page)
					p.set(x.typed...)
					p.press(x.button)
					if name == "without scripts" {
						p.wantHeading(x.check)
						if got := string(coach.Call(t, "GET", x.api, nil).Want(t, 200).Body); got != before {
							t.Errorf("%s: the check removed it: %s", x.page, got)
						}
						p.screenshot("removal-check")
						p.press("Yes, remove")
					}
					p.wantText(x.removed)
					if got := string(guardian.Call(t, "GET", x.family, nil).Want(t, 200).Body); got == seen {
						t.Errorf("%s: the family still sees it: %s", x.page, got)
					}
					p.screenshot("removed")
					for i := 0; i < len(x.typed); i += 2 {
						if got := p.value(x.typed[i]); strings.ReplaceAll(got, "\r", "") != x.typed[i+1] {
							t.Errorf("%s: the field %s has %q after the removal, want %q", x.page, x.typed[i], got, x.typed[i+1])
						}
					}
					p.press("Undo")
					p.wantText(x.undone)
					if got := string(coach.Call(t, "GET", x.api, nil).Want(t, 200).Body); got != before {
						t.Errorf("%s: after the undo %s, want %s", x.page, got, before)
					}
					if got := string(guardian.Call(t, "GET", x.family, nil).Want(t, 200).Body); got != seen {
						t.Errorf("%s: after the undo the family sees %s, want %s", x.page, got, seen)
					}
				}
				// A restored record has no second copy, and a late undo says so.
				c := newVisitor(t, s.URL)
				c.account = coach.ID
				s.Clock.Skip(2 * time.Minute)
				c.signIn(s, "coach", coachNumber)
				page := "/coach/players/" + f.player + "/progress"
				remove := page + "/" + result.String("measurement_id")
				c.post(remove+"/restore").want(200, "The result is back.")
				c.post(remove+"/delete", "at_once", "yes").want(200, "The result is deleted.", "Undo")
				s.Clock.Skip(11 * time.Minute)
				c.post(remove+"/restore").want(200, "could not be brought back").without("Undo<")
				c.post(remove+"/delete", "at_once", "yes").want(200, "The result is deleted.")
				c.get(page + "?done=removed&undo=" + result.String("measurement_id") + "&at=1").want(200).without("Undo<")
			})
		})
	}
}

// TestUndoEnds: the script of the page takes the offer away after 10 s.
func TestUndoEnds(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		today := s.Clock.Now()
		coach.Call(t, "POST", "/api/players/"+player+"/progress", map[string]any{"metric": "Sprint", "value": 11.5, "on": today.Format(time.DateOnly)}).Want(t, 201)
		p := newPhone(t, s.URL)
		s.Clock.Skip(2 * time.Minute)
		p.signIn(s, "coach", coachNumber)
		p.open("/coach/players/" + player + "/progress")
		p.press("Delete Sprint " + today.Format("2 January 2006"))
		p.wantText("The result is deleted.", "Undo")
		for end := time.Now().Add(25 * time.Second); strings.Contains(p.text(), "Undo"); time.Sleep(500 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("Undo is still offered after 25 s")
			}
		}
		p.wantText("The result is deleted.")
	})
}
