package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

// everyDay is a schedule with one training on each day.
func everyDay(start, end string) []map[string]any {
	var schedule []map[string]any
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		schedule = append(schedule, map[string]any{"weekday": day, "start": start, "end": end})
	}
	return schedule
}

// dailyBatch adds a batch that trains at a time of each day, and a player whose guardian said yes.
func dailyBatch(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User, start, end string) (batch, player string, guardian *touchlinetest.User) {
	t.Helper()
	batch = coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12 Evening", "venue": "North ground", "schedule": everyDay(start, end)}).Want(t, 201).String("batch_id")
	body := named("Asha Rao", guardianNumber, "")
	body["batch_ids"] = []string{batch}
	player = coach.AddPlayer(t, body).String("player_id")
	guardian = s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
	return batch, player, guardian
}

// TestTrainingPages takes a coach and a family without a browser through a training: a match is added and
// changed, the family answers, the sheet starts from the answer, and the day is cancelled.
func TestTrainingPages(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		batch, player, guardian := dailyBatch(t, s, coach, "00:00", "23:59")
		bela := named("Bela <i>Das</i>", "+919812345690", "")
		bela["batch_ids"] = []string{batch}
		coach.AddPlayer(t, bela)
		day := func(n int) team.Date { return team.DateOf(s.Clock.Now(), india).AddDays(n) }
		c.get("/coach").want(200, "U12 Evening", "2 no answer", "The next days")

		add := "/coach/batches/" + batch + "/trainings/add"
		c.get("/coach/batches/"+batch).want(200, "Add a match or training", "2 no answer", `href="`+add)
		c.get("/coach").want(200, `href="/coach/trainings/add"`)
		c.get("/coach/trainings/add").want(200, "Add a match or training").pathIs(t, add)
		coach.Call(t, "POST", "/api/batches", map[string]any{"name": "<b>Juniors</b>"}).Want(t, 201)
		c.get("/coach/trainings/add").want(200, "For which batch?", "<b>Juniors</b>", `href="`+add)
		request := requestField.FindStringSubmatch(c.get(add).want(200, "Next you see who was told, and to whom").body)[1]
		form := []string{"request", request, "kind", "match", "date", string(day(3)), "start", "09:00", "end", "08:00:00", "opponent", "<b>Tigers</b>", "venue", "", "title", ""}
		c.post(add, form...).want(422, "The end must be after the start.", `value="09:00"`)
		form[9] = "10:30:00"
		match := c.post(add, form...).want(200, "The training is added.", "Match against <b>Tigers</b>", "North ground", "2 no answer")
		if strings.Contains(match.raw, "<b>Tigers") {
			t.Error("the opponent is markup")
		}
		if again := c.post(add, form...).want(200); again.path != match.path {
			t.Errorf("the same form added %s and %s", match.path, again.path)
		}
		path, _, _ := strings.Cut(match.path, "?")
		c.get(path+"/edit").want(200, `value="09:00"`, `value="North ground"`)
		c.post(path+"/edit", "kind", "match", "date", string(day(2)), "start", "09:30", "end", "10:30", "opponent", "Lions", "venue", "City stadium").want(200, "Saved.", "Lions", "City stadium", "09:30")
		c.post(path+"/edit", "kind", "match", "date", string(day(-2)), "start", "09:30", "end", "10:30").want(422, "This time is over.")

		family := newVisitor(t, s.URL)
		family.signIn(s, "guardian", guardianNumber)
		family.account = guardian.ID
		home, mine := "/me/guardian", "/me/guardian/players/"+player
		family.get(home).want(200, "Next training", "U12 Evening", "North ground")
		schedule := family.get(mine+"/schedule").want(200, "Match against Lions", "City stadium", "Comes", "Cannot come")
		if n := strings.Count(schedule.raw, `aria-pressed="false"`); n != 2*15 {
			t.Errorf("the schedule has %d buttons, want two for each of 15 trainings", n)
		}
		id := strings.TrimPrefix(path, "/coach/trainings/")
		family.post(mine+"/trainings/"+id+"/attending", "attending", "yes").want(200, `value="yes" aria-pressed="true"`)
		tomorrow := batch + "." + string(day(1))
		family.post(mine+"/trainings/"+tomorrow+"/attending", "attending", "no", "back", home).want(200, "Next training").pathIs(t, home)
		family.post(mine+"/trainings/"+tomorrow+"/attending", "attending", "no", "reason", "School <b>trip</b>", "back", "https://evil.example/").want(200, "School <b>trip</b>")
		family.post(mine+"/trainings/"+tomorrow+"/attending", "attending", "no", "reason", strings.Repeat("x", 501)).want(200, "Your answer was not saved.")
		family.post(mine+"/trainings/"+tomorrow+"/attending", "attending", "perhaps").want(200, "Your answer was not saved.")
		today := batch + "." + string(day(0))
		family.post(mine+"/trainings/"+today+"/attending", "attending", "yes").want(200, "This training has begun.")
		family.post(mine+"/trainings/"+batch+".x/attending", "attending", "yes").want(404)
		c.get("/coach/trainings/"+tomorrow).want(200, "1 cannot", "1 no answer", "School <b>trip</b>", "Bela <i>Das</i>")

		// The sheet starts from the answer.
		s.Clock.Advance(24 * time.Hour)
		_, c = newFormClient(t, s, coachNumber)
		sheet := "/coach/batches/" + batch + "/attendance/" + string(day(0))
		if page := c.get(sheet).want(200, "cannot come"); !strings.Contains(page.raw, `checked name=m-`+keyOf(player)+` value=e`) {
			t.Errorf("Asha is not excused: %s", page.raw)
		}

		cancel := "/coach/trainings/" + batch + "." + string(day(1)) + "/cancel"
		c.get(cancel).want(200, "Cancel the training")
		c.post(cancel, "reason", strings.Repeat("x", 501)).want(422, "This is too long.")
		c.post(cancel, "reason", "The ground is under water").want(200, "The training is cancelled.", "The ground is under water", "It takes place after all").without("Cancel it")
		c.post(cancel, "reason", "The ground is under water").want(200, "The training is cancelled.")
		c.get(cancel).want(200, "It takes place after all")
		family = newVisitor(t, s.URL)
		family.signIn(s, "guardian", guardianNumber)
		family.account = guardian.ID
		family.get(mine+"/schedule").want(200, "Cancelled", "The ground is under water")
		family.get(home+"/messages").want(200, "no training for Asha Rao")
		c.post(strings.TrimSuffix(cancel, "/cancel")+"/restore").want(200, "The training takes place.")
		c.get("/coach/trainings/" + batch + ".2026-02-30").want(404)
	})
}

// pathIs fails the test unless the page has a path.
func (a answer) pathIs(t *testing.T, want string) {
	t.Helper()
	if path, _, _ := strings.Cut(a.path, "#"); path != want {
		t.Errorf("the page is %s, want %s", a.path, want)
	}
}

// TestCancelledTrainingReachesOpenPage: the open page of a family shows that a training is cancelled
// without a reload, and keeps the answer.
func TestCancelledTrainingReachesOpenPage(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	batch, player, _ := dailyBatch(t, s, coach, "23:58", "23:59")
	p := newPhone(t, s.URL)
	p.signIn(s, "guardian", guardianNumber)
	p.open("/me/guardian")
	p.press("Comes")
	p.waitUntil(`document.querySelector('[aria-pressed=true]')?.value === 'yes'`)
	p.script(`(() => { document.activeElement.blur(); window.stays = true })()`, nil)
	today := team.DateOf(s.Clock.Now(), india)
	coach.Call(t, "DELETE", "/api/trainings/"+batch+"."+string(today), map[string]any{"reason": "The ground is under water"}).Want(t, 200)
	p.waitForText("The ground is under water")
	var stays bool
	if p.script(`window.stays === true`, &stays); !stays {
		t.Error("the page was loaded again")
	}
	p.open("/me/guardian/players/" + player + "/schedule")
	p.screenshot("training-family-cancelled")
	for _, pixels := range screenshotWidths() {
		p.do(width(pixels)(p))
		for i, path := range []string{"/me/guardian", "/me/guardian/players/" + player, "/me/guardian/players/" + player + "/schedule"} {
			p.open(path)
			p.screenshot(fmt.Sprintf("training-family-%d", i))
		}
	}
}
