package browser_test

import (
	"net/url"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// codeOf waits for a code on a phone of the service and returns it.
func (p *phone) codeOf(number string) (code string) {
	p.t.Helper()
	p.open("/dev/phones?number=" + url.QueryEscape(number))
	p.waitUntil(`document.querySelector('[data-copy]') !== null`)
	p.script(`document.querySelector('[data-copy]').dataset.copy`, &code)
	return code
}

// TestFirstDayOnPhones is the first day of README.md in development: the coach's pages beside /dev/phones. Each
// answer and message is on the coach's open page at once.
func TestFirstDayOnPhones(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.SMS, c.WhatsApp = "log", []string{"log"} })
	coach, phones, student := newPhone(t, s.URL, width(1280)), newPhone(t, s.URL, width(1280)), newPhone(t, s.URL)
	coach.open("/")
	coach.press("Sign in or register")
	coach.press("Send me a code", "number", "98123 45678")
	coach.fill("code", phones.codeOf(coachNumber))
	coach.submit()
	coach.press("Complete my profile")
	coach.press("Save", "name", "Meera Nair", "bio", "Hockey for every child.", "experience_years", "7", "sports", "hockey")
	coach.open("/coach/players/add")
	coach.press("Add and ask", "student_name", "Asha Rao", "date_of_birth", "2014-04-30", "student_number", "98123 45679",
		"guardian_name", "Ravi Rao", "relationship", "father", "guardian_number", "98123 45680")
	player := coach.path()
	coach.wantText("Waiting")

	guardian := "/dev/phones?number=" + url.QueryEscape(guardianNumber)
	phones.open("/dev/phones")
	phones.screenshot("first-day-phones")
	phones.open(guardian)
	phones.press("Yes")
	coach.waitForText("Waiting")
	phones.waitForText("You are about to say yes for Asha Rao to coach Meera Nair.")
	phones.press("Yes, for Asha")
	coach.waitForText("said yes")

	phones.open("/dev/phones?number=" + url.QueryEscape(studentNumber))
	var link string
	phones.script(`document.querySelector('.bubble a').href`, &link)
	student.open(link)
	student.press("Answer")
	student.fill("code", phones.codeOf(studentNumber))
	student.submit()
	student.press("Yes, for me")

	coach.open("/coach/messages")
	coach.press("Write a message")
	coach.press("See how it arrives", "for", "all", "text", "Training is at six.", "channels", "chat")
	coach.press("Send to 1 person")
	phones.open(guardian)
	phones.waitForText("Meera Nair: Training is at six.")
	coach.open(player)
	coach.click(`a[href$="/guardian"]`)
	coach.wantText("Training is at six.")
	phones.press("Send by WhatsApp", "text", "We come.")
	coach.waitForText("We come.")
	coach.screenshot("first-day-conversation")
	coach.press("Send", "text", "See you.")
	phones.waitForText("See you.")
}
