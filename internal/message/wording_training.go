package message

import (
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/event"
)

// TrainingText returns the text of a notification about a training in a language, with the names of a
// page, or "" for another one.
func (n Notification) TrainingText(language, coachName, studentName string) (title, body string) {
	w := n.Data.Words
	if w.Training.ID == "" {
		return "", ""
	}
	e := event.Event{Type: w.Event, CoachName: coachName, StudentName: studentName, Training: w.Training}
	if language == hindi {
		return hindiWording("", n.Type, e, "")
	}
	return englishWording("", n.Type, e, "")
}

// englishTraining returns the title and body of a notification about a training. The body names the
// coach and the student first, because an SMS shows little more on a locked screen.
func englishTraining(e event.Event, coach, student string) (title, body string) {
	what, titled := "training", "Training"
	t := e.Training
	name, opponent := Name(t.Title, ""), Name(t.Opponent, "")
	switch {
	case t.Kind == "match" && opponent != "":
		what, titled = "match against "+opponent, "Match"
	case t.Kind == "match":
		what, titled = "match", "Match"
	case name != "":
		what, titled = name, "Event"
	case t.Kind == "other":
		what, titled = "event", "Event"
	}
	when := englishWhen(t)
	switch e.Type {
	case event.TrainingAdded:
		return "New: " + titled, fmt.Sprintf("%s: %s for %s on %s%s. Please say whether %s comes.", coach, what, student, when, at(t.Venue), student)
	case event.TrainingChanged:
		return titled + " changed", fmt.Sprintf("%s: %s for %s is now on %s%s.", coach, what, student, when, at(t.Venue))
	case event.TrainingRestored:
		return titled + " takes place", fmt.Sprintf("%s: %s for %s on %s takes place after all.", coach, what, student, when)
	case event.TrainingAsked:
		return "Please answer", fmt.Sprintf("%s: does %s come on %s? %s%s.", coach, student, when, upperFirst(what), at(t.Venue))
	}
	body = fmt.Sprintf("%s: no %s for %s on %s. It is cancelled.", coach, what, student, when)
	if reason := Name(t.Reason, ""); reason != "" {
		body += " Reason: " + sentence(reason)
	}
	return titled + " cancelled", body
}

// upperFirst returns a text with its first letter as at the start of a sentence.
func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// at returns ", " and the venue, or "".
func at(venue string) string {
	if venue = Name(venue, ""); venue != "" {
		return ", " + venue
	}
	return ""
}

// englishWhen returns the day and the time of a training: "Thursday 26 November, 17:30".
func englishWhen(t event.Training) string {
	day, err := time.Parse(time.DateOnly, t.Day)
	if err != nil {
		return t.Day
	}
	return day.Format("Monday 2 January") + ", " + t.Start
}

var hindiWeekdays = []string{"रविवार", "सोमवार", "मंगलवार", "बुधवार", "गुरुवार", "शुक्रवार", "शनिवार"}

// hindiTraining is englishTraining in Hindi.
func hindiTraining(e event.Event, coach, student string) (title, body string) {
	what, titled := "अभ्यास", "अभ्यास"
	t := e.Training
	name, opponent := Name(t.Title, ""), Name(t.Opponent, "")
	switch {
	case t.Kind == "match" && opponent != "":
		what, titled = opponent+" से मैच", "मैच"
	case t.Kind == "match":
		what, titled = "मैच", "मैच"
	case name != "":
		what, titled = name, "कार्यक्रम"
	case t.Kind == "other":
		what, titled = "कार्यक्रम", "कार्यक्रम"
	}
	when := t.Day
	if day, err := time.Parse(time.DateOnly, t.Day); err == nil {
		when = hindiWeekdays[day.Weekday()] + " " + strconv.Itoa(day.Day()) + " " + hindiMonths[day.Month()-1] + ", " + t.Start
	}
	switch e.Type {
	case event.TrainingAdded:
		return "नया: " + titled, fmt.Sprintf("%s: %s के लिए %s, %s%s। कृपया बताएँ कि %s आएँगे या नहीं।", coach, student, what, when, at(t.Venue), student)
	case event.TrainingChanged:
		return titled + ": बदलाव", fmt.Sprintf("%s: %s के लिए %s अब %s%s।", coach, student, what, when, at(t.Venue))
	case event.TrainingRestored:
		return titled + ": होगा", fmt.Sprintf("%s: %s के लिए %s, %s, अब होगा।", coach, student, what, when)
	case event.TrainingAsked:
		return "कृपया जवाब दें", fmt.Sprintf("%s: क्या %s आएँगे? %s, %s%s।", coach, student, what, when, at(t.Venue))
	}
	body = fmt.Sprintf("%s: %s के लिए %s नहीं होगा, %s।", coach, student, what, when)
	if reason := Name(t.Reason, ""); reason != "" {
		body += " कारण: " + sentence(reason)
	}
	return titled + ": रद्द", body
}
