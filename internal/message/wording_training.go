package message

import (
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message/event"
)

// trainingBody returns the body of a notification about a training, without its link. It names the
// coach and the student first, because an SMS shows little more on a locked screen. The template has the
// name of the event and of the notification.
func trainingBody(e event.Event, language string, values map[string]string) string {
	return strings.TrimSpace(fill(string(e.Type), language, values).Body)
}

// trainingSMS returns the SMS for a notification about a training, with its link.
func trainingSMS(m Message) Text {
	template := string(m.Copy.Type)
	if !m.Copy.Type.Answerable() {
		return readText(m.Copy.Text, template)
	}
	text := readText(m.Copy.Text+" "+m.Link, template)
	text.Body = strings.TrimSpace(text.Body)
	return text
}

// englishTraining returns the title and body of a notification about a training.
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
	when := t.Day
	if day, err := time.Parse(time.DateOnly, t.Day); err == nil {
		when = day.Format("Monday 2 January") + ", " + t.Start
	}
	if e.Type == event.TrainingAsked && (t.Kind == "match" || t.Kind == "other" && name == "") {
		what = "the " + what
	}
	values := map[string]string{"coach": coach, "student": student, "what": what, "when": when, "place": at(t.Venue)}
	if reason := Name(t.Reason, ""); reason != "" {
		values["reason"] = " Reason: " + sentence(reason)
	}
	title = map[event.Type]string{
		event.TrainingAdded: "New: " + titled, event.TrainingChanged: titled + " changed", event.TrainingRestored: titled + " takes place",
		event.TrainingAsked: "Please answer", event.TrainingCancelled: titled + " cancelled",
	}[e.Type]
	return title, trainingBody(e, english, values)
}

// at returns ", " and the venue, or "".
func at(venue string) string {
	if venue = Name(venue, ""); venue != "" {
		return ", " + venue
	}
	return ""
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
	values := map[string]string{"coach": coach, "student": student, "what": what, "when": when, "place": at(t.Venue)}
	if reason := Name(t.Reason, ""); reason != "" {
		values["reason"] = " कारण: " + sentence(reason)
	}
	title = map[event.Type]string{
		event.TrainingAdded: "नया: " + titled, event.TrainingChanged: titled + ": बदलाव", event.TrainingRestored: titled + ": होगा",
		event.TrainingAsked: "कृपया जवाब दें", event.TrainingCancelled: titled + ": रद्द",
	}[e.Type]
	return title, trainingBody(e, hindi, values)
}
