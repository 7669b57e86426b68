package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestCoachDay tries the coach's day on a phone, as a new user would: a batch of three
// players, attendance, a fee with a payment, and a message by SMS. One guardian says yes and
// sees reports, reminders and the QR code; another sees what a yes opens. The first takes the
// yes back, and all of it is closed at once.
func TestCoachDay(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"upi_id": "meera@okbank"}).Want(t, 200)
	const second = "+919812345690"
	asha := coach.AddPlayer(t, named("Asha Rao", guardianNumber, "")).String("player_id")
	bela := coach.AddPlayer(t, named("Bela Das", second, "")).String("player_id")
	coach.AddPlayer(t, named("Chand Khan", "+919812345691", ""))
	s.Clock.Skip(2 * time.Minute)
	today := s.Clock.Now().In(india)
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)

	// A batch that trains today, with three players.
	p.open("/coach/batches")
	p.press("New batch")
	p.fill("name", "U14 Evening")
	p.tap(`[name=days1][value=` + strings.ToLower(today.Weekday().String()) + `]`)
	p.setValue("start1", "17:30")
	p.setValue("end1", "19:00")
	p.press("Save")
	p.waitForText("The batch is made.")
	batch, _, _ := strings.Cut(p.path(), "?")
	p.press("Choose from my players")
	p.do(chromedp.Evaluate(`document.querySelectorAll('[name=player]').forEach((box) => box.click())`, nil))
	p.press("Add to the batch")
	p.waitForText("The players are in the batch.")

	// Attendance.
	p.press("Take attendance for today")
	p.tap(`.marks fieldset:nth-child(3) [value=l]`)
	p.tap(`.rest`)
	p.waitForText("3 here · 0 absent")
	p.press("Save")
	p.waitForText("Saved.")

	// A fee for one player, and half of it in cash.
	p.open("/coach/fees/add")
	p.setValue("for", "player:"+asha)
	p.fill("title", "Training in May")
	p.fill("amount", "1500")
	p.setValue("due_on", day(-1))
	p.press("Add a fee")
	p.waitForText("The fee is added.")
	p.press("Asha Rao")
	p.setValue("amount", "500") // in place of what is left
	p.setValue("method", "cash")
	p.setValue("paid_on", day(0))
	p.press("Note the payment")
	p.waitForText("The payment is noted.")
	fee := p.path()
	fee, _, _ = strings.Cut(fee, "?")

	// A message to the batch by SMS.
	p.open(batch)
	p.press("Write a message")
	p.fill("text", "Training is at six today.")
	p.press("See how it arrives")
	p.waitForText("3 people get it. It takes 3 SMS.")
	p.screenshot("day-preview")
	p.press("Send to 3 people")
	p.waitForText("The message is on its way.")
	for _, number := range []string{guardianNumber, second} {
		if sms := s.SMS(number, "message", 1); !strings.HasPrefix(sms.Text, "Meera Nair: Training is at six today.") {
			t.Errorf("SMS: %q", sms.Text)
		}
	}

	// One guardian says yes, and then the coach writes a report and reminds of the fee.
	guardian := s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": asha, "action": "approved", "version": 2}).Want(t, 200) // the batch is new in the question
	for _, player := range []string{asha, bela} {
		coach.Call(t, "POST", "/api/players/"+player+"/reports", map[string]any{"title": "Spring term", "text": "She is quick.", "from": day(-9), "to": day(0)}).Want(t, 201)
	}
	p.open(fee)
	p.press("Remind the family in the app")
	p.waitForText("1 person was told: 1 in the app.")
	p.open("/coach")
	p.waitForText("Taken")
	p.screenshot("day-today")

	s.Clock.Skip(2 * time.Minute)
	g := newPhone(t, s.URL)
	g.signIn(s, "guardian", guardianNumber)
	own := "/me/guardian/players/" + asha
	open := map[string]string{
		"/reports": "She is quick.", "/attendance": "1 present", "/schedule": "U14 Evening", "/messages": "Messages with Meera Nair",
		"/fees" + strings.TrimPrefix(fee, "/coach/fees"): "Pay ₹1,000 in your UPI app",
	}
	for page, text := range open {
		g.open(own + page)
		g.waitForText(text)
	}
	if g.open(own + "/fees" + strings.TrimPrefix(fee, "/coach/fees")); g.count("main svg") == 0 {
		t.Error("the page of the fee has no QR code")
	}
	g.screenshot("day-pay")
	g.open("/me/guardian/messages")
	g.waitForText("reminds you of a fee for Asha Rao")
	g.press("Open")
	g.waitForText("Pay ₹1,000 in your UPI app")

	// Another guardian has not answered: each page says what a yes opens, and shows nothing.
	s.Clock.Skip(2 * time.Minute)
	other := s.Browser(t)
	signIn(t, s, other, "guardian", second)
	for page, text := range map[string]string{
		"/reports": "Here you will read what the coach writes", "/attendance": "Here you will see", "/schedule": "Here you will see", "/messages": "Here you will read",
		"/progress": "with a chart", "/fees": "You can see the fees here after you have said yes.",
	} {
		other.Open("/me/guardian/players/" + bela + page)
		wantText(t, other, text)
		for _, secret := range []string{"quick", "U14", "six"} {
			if strings.Contains(other.Page.Body, secret) {
				t.Errorf("%s shows %q before the answer", page, secret)
			}
		}
	}

	// The first guardian takes the yes back with the page of the fee open.
	g.open(own)
	g.press("Change: Take my yes back")
	g.press("Take my yes back")
	for page, text := range open {
		g.open(own + page)
		if strings.Contains(g.text(), text) {
			t.Errorf("%s is open after the yes was taken back", page)
		}
	}
}

// setValue sets the value of the field with this name.
func (p *phone) setValue(name, value string) {
	p.t.Helper()
	var set string
	p.script(`((e) => {
		e.value = b
		for (const event of ['input', 'change']) e.dispatchEvent(new Event(event, { bubbles: true }))
		return e.value
	})(document.querySelector('main [name="' + a + '"]'))`, &set, name, value)
	if set != value {
		p.t.Fatalf("the field %s takes %q for %q", name, set, value)
	}
}
