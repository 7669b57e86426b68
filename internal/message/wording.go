package message

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// wording returns the title and body of a notification in a language (spec section 6), in words that a
// nine-year-old can read.
func wording(code string, to actor.Role, t Type, e event.Event, brand string) (title, body string) {
	words := textsIn(code)
	value := func(name string) string { return words.valueOf(name, e, brand) }
	key := "notification." + string(t)
	special := key + variant(to, t, e)
	title = cmp.Or(words.byKey[special+".title"], words.byKey[key+".title"])
	if t.OfTraining() || t == CoachLeft || t == TurningAdult || t == SecondMessage || t == TurnedAdult && to != actor.Coach || t == PlayerRemoved && e.Type == event.Removed {
		special = "sms." + string(t) // the copy by SMS is a registered template
	}
	return expand(title, value), strings.TrimSpace(expand(words.byKey[special], value))
}

// variant returns the end of the key of a text, if a type has several.
func variant(to actor.Role, t Type, e event.Event) string {
	switch {
	case t == GuardianRevoked && to == actor.Guardian, t == StudentRevoked && to == actor.Student:
		return ".own"
	case (t == PendingReminder || t == UnansweredEnding) && e.Count == 1:
		return ".one"
	case t == CoachRenamed && e.FormerCoach == e.CoachName:
		return ".picture." + string(to)
	case t == CoachRenamed, t == CoachRenaming:
		return "." + string(to)
	case t == StudentRequest && len(e.BatchNames) > 0:
		return ".batches"
	case t == GuardianRemoved && e.Reason == event.NowFirst:
		return ".first"
	case t == DeliveryFailed && Channel(e.Channel) == Email:
		return ".email"
	case t == SecurityNotice:
		return "." + string(e.Type)
	case (t == TurnedAdult || t == ProofEnded) && to == actor.Coach:
		return ".coach"
	case t == TierRefused && e.Reason != "":
		return ".reason"
	case t == TeamReplyType && e.Party == actor.Guardian:
		return ".guardian"
	}
	return ""
}

// valueOf returns the value of a variable of a notification. The names of a person differ by their place: coach,
// new_coach (whom the recipient may not know), guardian and student_start begin a sentence, the others stand inside one.
func (t texts) valueOf(name string, e event.Event, brand string) string {
	switch name {
	case "brand":
		return brand
	case "coach":
		return t.named("name.coach", e.CoachName, "name.coach.yours")
	case "coach_inside":
		return t.named("name.coach.inside", e.CoachName, "name.coach.yours.inside")
	case "coach_name":
		return t.yourCoach(e.CoachName)
	case "former_coach":
		return t.yourCoach(e.FormerCoach)
	case "new_coach":
		return t.coach(e.CoachName, false)
	case "guardian":
		return t.named("name.guardian", e.GuardianName, "name.guardian.none")
	case "student":
		return t.student(e.StudentName)
	case "student_start":
		return Name(e.StudentName, t.byKey["name.student.start"])
	case "students":
		return t.list(studentsOf(e))
	case "called": // stands after a pronoun
		if name := Name(e.StudentName, ""); name != "" {
			return language.Of(t.language).Comma + name
		}
	case "who":
		if e.Party == actor.Student {
			return t.valueOf("student_start", e, brand)
		}
		return t.valueOf("guardian", e, brand)
	case "to":
		if e.Party == actor.Student {
			return t.student(e.StudentName)
		}
		return t.named("name.guardian.inside", e.GuardianName, "name.guardian.none.inside")
	case "party":
		return t.byKey["notification.party."+string(e.Party)]
	case "by_channel":
		if channel := channelNames[Channel(e.Channel)]; channel != "" {
			return t.fill("notification.by_channel", map[string]string{"channel": channel})
		}
	case "batches":
		return t.batches(e.BatchNames)
	case "changes":
		return t.changes(e.Changes)
	case "other_guardian":
		relationship, name := Name(e.OtherRelationship, t.byKey["name.guardian.some"]), Name(e.OtherName, "")
		if name == "" {
			return relationship
		}
		return t.fill("notification.other_guardian", map[string]string{"relationship": relationship, "name": name})
	case "said_yes":
		return t.guardians(e.Yes)
	case "said_no":
		return t.guardians(e.No)
	case "count":
		return strconv.Itoa(e.Count)
	case "span":
		return t.span(e.Waited)
	case "title":
		return e.Title
	case "asked_name":
		return Name(e.Title, "–")
	case "fee":
		return Name(e.Title, t.byKey["notification.fee"])
	case "day":
		return t.day(e.Day)
	case "on_day":
		if e.Day == "" {
			return t.byKey["notification.soon"]
		}
		return t.fill("notification.on_day", map[string]string{"day": t.day(e.Day)})
	case "until":
		key := "notification.turned_18.until." + string(e.Party)
		if e.Day == "" {
			key += ".approved"
		}
		return t.fill(key, map[string]string{"day": t.day(e.Day), "student": t.student(e.StudentName)})
	case "why":
		return sentence(e.Reason)
	}
	return t.valueOfTraining(name, e)
}

// valueOfTraining returns the value of a variable of a notification of a training. Its texts name the coach and the student
// first, because an SMS shows little more on a locked screen.
func (t texts) valueOfTraining(name string, e event.Event) string {
	training := e.Training
	kind, title := training.Kind, Name(training.Title, "")
	if kind != "match" && title != "" {
		kind = "other"
	}
	switch name {
	case "kind":
		return t.byKey["notification.kind."+kind]
	case "what":
		opponent, what := Name(training.Opponent, ""), t.byKey["notification.what."+kind]
		switch {
		case kind == "match" && opponent != "":
			what = t.fill("notification.what.match.against", map[string]string{"opponent": opponent})
		case kind == "other" && title != "":
			return title
		}
		if e.Type == event.TrainingAsked && kind != "training" {
			what = t.fill("notification.what.asked", map[string]string{"what": what})
		}
		return what
	case "when":
		day, err := time.Parse(time.DateOnly, training.Day)
		if err != nil {
			return training.Day
		}
		l := language.Of(t.language)
		return l.Weekday(day) + " " + l.Date(day, false) + l.Comma + training.Start
	case "when_place": // one variable: the registry of India takes no two side by side
		return t.valueOfTraining("when", e) + t.valueOfTraining("place", e)
	case "place":
		if venue := Name(training.Venue, ""); venue != "" {
			return language.Of(t.language).Comma + venue
		}
	case "reason":
		if reason := Name(training.Reason, ""); reason != "" {
			return t.fill("notification.reason", map[string]string{"reason": sentence(reason)})
		}
	}
	return ""
}

// channelNames are the names of channels in the text about a request that did not arrive.
var channelNames = map[Channel]string{SMS: "SMS", Chat: "WhatsApp"}

// sentence adds a full stop to s unless s ends with a sentence mark.
func sentence(s string) string {
	if last, _ := utf8.DecodeLastRuneInString(s); strings.ContainsRune(".!?।۔؟", last) {
		return s
	}
	return s + "."
}
