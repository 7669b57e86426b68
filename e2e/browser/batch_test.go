package browser_test

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

var (
	india        = time.FixedZone("IST", 5*3600+1800)
	requestField = regexp.MustCompile(`name="request" value="([0-9a-f-]+)"`)
)

// TestBatchPages takes a coach without a browser through a batch: make it, add players, take
// attendance, correct it, print its codes, archive it; and a family through what it may see.
func TestBatchPages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		c.get("/coach/batches").want(200, "No batches yet")
		c.post("/coach/batches/add", "name", "", "start1", "19:00", "end1", "18:00").want(422, "Name – Fill this in.", "Training times – Choose at least one day")
		c.post("/coach/batches/add", "name", "U12", "days1", "monday", "start1", "19:00", "end1", "18:00", "days2", "monday", "start2", "soon", "end2", "").want(422, "Write the time like 17:30.", `value="19:00"`)
		c.post("/coach/batches/add", "name", "U12", "days1", "monday", "start1", "19:00", "end1", "18:00").want(422, "The end must be after the start.")
		request := requestField.FindStringSubmatch(c.get("/coach/batches/add").body)[1]
		today := strings.ToLower(s.Clock.Now().In(india).Weekday().String())
		const hostile = `U12 <b>"Evening"</b>`
		form := []string{"request", request, "name", hostile, "venue", "North ground", "days1", today, "start1", "00:00", "end1", "23:59:00", "time_zone", "Asia/Kolkata"}
		first := c.post("/coach/batches/add", form...).want(200, "The batch is made.", "North ground", "00:00–23:59")
		if again := c.post("/coach/batches/add", form...).want(200); again.path != first.path {
			t.Errorf("the same form made %s and %s", first.path, again.path)
		}
		form[3] = "U14" // written after the button "back"
		refused := c.post("/coach/batches/add", form...).want(422, "sent before with other content", `value="U14"`)
		form[1] = requestField.FindStringSubmatch(refused.body)[1]
		c.post("/coach/batches/add", form...).want(200, "The batch is made.", "U14")
		if strings.Contains(first.raw, "<b>\"Evening") {
			t.Error("the name is markup")
		}
		path, _, _ := strings.Cut(first.path, "?")
		id := strings.TrimPrefix(path, "/coach/batches/")
		asha := coach.AddPlayer(t, named("Asha Rao", guardianNumber, studentNumber)).String("player_id")
		bela := coach.AddPlayer(t, named("Bela Das", "+919812345690", "")).String("player_id")
		c.get(path+"/players").want(200, "Asha Rao", "Bela Das")
		c.post(path+"/players", "player", asha, "player", bela).want(200, "The players are in the batch.")
		c.get("/coach/players?batch="+id).want(200, "Asha Rao", hostile)
		c.get("/coach/players/"+asha).want(200, hostile)
		c.get("/coach/players/add?batch="+id).want(200, `value="`+id+`" checked`)
		c.get("/coach").want(200, "Trainings today", hostile, "Take attendance")
		c.get("/coach/players/sheet?batch="+id).want(200, "Asha Rao", "Bela Das", "<svg")
		c.get("/coach/players/sheet?batch=" + asha).want(404)

		date := s.Clock.Now().In(india).Format(time.DateOnly)
		sheet := path + "/attendance/" + date
		if got := c.get(path + "/attendance"); got.path != sheet {
			t.Errorf("today's sheet is %s, want %s", got.path, sheet)
		}
		marks := func(version, first, second string, more ...string) []string {
			return append([]string{"version", version, "players", asha + " " + bela, "m-" + keyOf(asha), first, "m-" + keyOf(bela), second}, more...)
		}
		c.post(sheet, marks("0", "p", "", "rest", "late", "n-"+keyOf(bela), "<i>bus</i>")...).want(200, "Saved.", "<i>bus</i>", "Taken")
		c.post(sheet, marks("0", "p", "l", "n-"+keyOf(bela), "<i>bus</i>")...).want(200, "Saved.")
		c.post(sheet, marks("0", "a", "a")...).want(422, "changed elsewhere", `name="version" value="1"`, "now saved: late")
		if got := coach.Call(t, "GET", "/api/batches/"+id+"/attendance/"+date, nil).String("counts.absent"); got != "0" {
			t.Errorf("a refused form saved %s marks", got)
		}
		c.post(sheet, marks("1", "a", "e", "n-"+keyOf(bela), strings.Repeat("x", 501))...).want(422, "Bela Das – This is too long.", "xxx")
		c.post(sheet, marks("1", "a", "e", "t-"+keyOf(asha), "2099-01-01T00:00:00Z")...).want(200, "Saved.")
		// A body that the handler does not read would leave only the address, which names no account.
		values := url.Values{}
		for list := marks("2", "p", "p"); len(list) > 0; list = list[2:] {
			values.Add(list[0], list[1])
		}
		c.upload(sheet+"?"+values.Encode(), nil).want(422, "We could not read this form.")
		c.get("/coach").want(200, "Taken", "0 of 2 players there")
		c.get(path).want(200, "1 absent", "1 excused", `formaction="`+id+`/players/`+bela+`/remove"`)
		c.get("/coach/players/"+bela+"/attendance").want(200, "1 excused")
		c.post(path+"/players/"+bela+"/remove").want(200, "Take this player out of the batch?", "Bela").without("is out of the batch")
		c.post(path+"/players/"+bela+"/remove", "at_once", "yes").want(200, "The player is out of the batch.")
		c.get(sheet).want(200, "no longer in the batch")
		c.post(path+"/attendance/"+s.Clock.Now().In(india).AddDate(0, 0, 1).Format(time.DateOnly), marks("0", "p", "p")...).
			want(422, "This player was not in the batch on this day.")
		for _, bad := range []string{sheet + "x", path + "/attendance/1999-01-01", "/coach/batches/" + asha, "/coach/batches/x", "/coach/batches/" + asha + "/attendance/" + date} {
			c.get(bad).want(404)
		}

		// The family: closed, then open.
		family := newVisitor(t, s.URL)
		family.signIn(s, "guardian", guardianNumber)
		player := "/me/guardian/players/" + asha
		for _, page := range []string{"/schedule", "/attendance"} {
			family.get(player+page).want(403, "It opens when you say yes.", "Answer for Asha Rao").without("North ground", "absent:")
		}
		s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": asha, "action": "approved", "version": 2}).Want(t, 200) // the batch is new in the question
		family.get(player).want(200, "Training times")
		family.get(player+"/schedule").want(200, hostile, "North ground", "Next two weeks")
		family.get(player+"/attendance").want(200, "1 absent").without("bus")
		family.get("/me/guardian/players/" + bela + "/schedule").want(404)

		// The archive.
		c.get(path+"/edit").want(200, `value="00:00"`)
		c.post(path+"/edit", "name", "U12", "days1", "sunday", "start1", "10:00", "end1", "11:00").want(200, "Saved.", "Sunday 10:00–11:00")
		for range 2 {
			if got := c.post(path + "/archive"); got.path != "/coach/batches?done=archived" {
				t.Errorf("archiving led to %s", got.path)
			}
		}
		c.post(sheet, marks("2", "p", "p")...).want(422, "This batch is archived.")
		c.post(path+"/edit", "name", "U13").want(422, "This batch is archived.", "U13")
		c.get("/coach/batches?show=archived").want(200, "U12")
	})
}

// keyOf returns the end of the names of the fields of a player on a sheet.
func keyOf(playerID string) string { return playerID[len(playerID)-8:] }

// TestSheetOnAPhone marks 30 players on one screen of 360 px, with and without JavaScript, and
// finds marks again that were not sent.
func TestSheetOnAPhone(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12 Evening"}).Want(t, 201).String("batch_id")
	var first string
	for i := range 30 {
		body := named(fmt.Sprintf("Venkatasubramanian Player %02d", i), fmt.Sprintf("+9198124%05d", i), "")
		body["batch_ids"] = []string{batch}
		if id := coach.AddPlayer(t, body).String("player_id"); i == 0 {
			first = id
		}
	}
	path := "/coach/batches/" + batch + "/attendance/" + s.Clock.Now().In(india).Format(time.DateOnly)
	plain := newPhone(t, s.URL, withoutScripts())
	s.Clock.Skip(2 * time.Minute)
	plain.signIn(s, "coach", coachNumber)
	plain.open(path)
	plain.tap(`.marks fieldset:nth-child(2) [value=a]`)
	plain.tap(`.marks fieldset:nth-child(3) [value=l]`)
	plain.screenshot("attendance")
	plain.press("All here")
	if got := coach.Call(t, "GET", strings.Replace(path, "/coach/", "/api/", 1), nil).Want(t, 200); got.String("counts.present") != "28" || got.String("counts.absent") != "1" || got.String("counts.late") != "1" {
		t.Errorf("without JavaScript: %s", got.Body)
	}

	p := newPhone(t, s.URL)
	s.Clock.Skip(2 * time.Minute)
	p.signIn(s, "coach", coachNumber)
	p.open(path)
	var layout []float64
	p.do(chromedp.Evaluate(`[document.documentElement.scrollWidth, ...['height', 'width'].map((side) => Math.min(...[...document.querySelectorAll('.marks b')].map((l) => l.getBoundingClientRect()[side]))),
		Math.max(...[...document.querySelectorAll('.marks fieldset')].map((l) => l.getBoundingClientRect().height))]`, &layout))
	if layout[0] > 360 || layout[1] < 44 || layout[2] < 44 || layout[3] > 80 {
		t.Errorf("page of %v px, targets of %v x %v px, rows of %v px; want 360, 44 x 44 and at most 80", layout[0], layout[1], layout[2], layout[3])
	}
	checked := func(row int) (mark string) {
		p.do(chromedp.Evaluate(fmt.Sprintf(`(document.querySelector('.marks fieldset:nth-child(%d) input:checked') || {value: ''}).value`, row), &mark))
		return mark
	}
	p.tap(`.marks fieldset:nth-child(1) [value=e]`)
	p.tap(`#notes summary`)
	p.write(`.marks fieldset:nth-child(1) [name^=n-]`, "Doctor")
	p.screenshot("attendance-notes")
	p.tap(`.marks fieldset:nth-child(1) legend button`) // the marks are not sent
	p.waitForText("Medical notes about Venkatasubramanian Player 00")
	p.screenshot("medical")
	p.open(path)
	p.waitForText("These marks are not sent yet.")
	if got := checked(1); got != "e" {
		t.Errorf("the unsent mark is %q, want e", got)
	}
	p.press("Save")
	p.waitForText("Saved.")
	p.tap(`.marks fieldset:nth-child(2) [value=l]`)
	p.open(path + "?done=saved") // the phone loads the page of the saved sheet again
	p.waitForText("These marks are not sent yet.")
	if got := checked(2); got != "l" {
		t.Errorf("the mark after the first ones were sent is %q, want l", got)
	}
	p.press("Save")
	p.waitForText("Saved.")
	p.open(path)
	var hidden bool
	var note string
	p.do(chromedp.Evaluate(`document.getElementById('unsent').hidden`, &hidden), chromedp.Evaluate(`(([field]) => field.checkVisibility() && field.value)(document.getElementsByName('n-`+keyOf(first)+`'))`, &note))
	if got := checked(1); got != "e" || note != "Doctor" || !hidden {
		t.Errorf("after sending: %q, note %q, notice hidden %t", got, note, hidden)
	}

	// A browser that blocks storage still waits for the connection before it sends the sheet.
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`Object.defineProperty(window, 'localStorage', { get () { throw new Error('blocked') } })
			Object.defineProperty(navigator, 'onLine', { get: () => false })`).Do(ctx)
		return err
	}))
	p.open(path)
	p.do(chromedp.Evaluate(`document.querySelector('.save-bar button').click()`, nil))
	p.waitForText("No connection. Your answer is kept")
}
