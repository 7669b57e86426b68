package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// wording returns the title and body of a notification in a language; in the default one if it has none in that.
func wording(language string, to actor.Role, t Type, e event.Event, brand string) (title, body string) {
	if language == hindi {
		if title, body = hindiWording(to, t, e, brand); title != "" {
			return title, body
		}
	}
	return englishWording(to, t, e, brand)
}

// englishWording returns the title and body of a notification in English (spec section 6),
// in words that a nine-year-old can read.
func englishWording(to actor.Role, t Type, e event.Event, brand string) (title, body string) {
	coach, student, guardian := coachAtStart(e), Name(e.StudentName, "the student"), titled("Guardian", e.GuardianName, "The guardian")
	switch t {
	case GuardianApproved:
		return "Guardian approved", fmt.Sprintf("%s approved app access for %s.", guardian, student)
	case GuardianRejected:
		return "Guardian said no", fmt.Sprintf("%s rejected app access for %s. Update the details, then send the request again. Chat and SMS still work.", guardian, student)
	case GuardianRevoked:
		if to == actor.Guardian {
			return "You took your yes back", fmt.Sprintf("App access for you is off for %s with %s. The coach has been told.", student, coachInSentence(e))
		}
		return "Guardian took the yes back", fmt.Sprintf("%s revoked app access for %s. Chat and SMS still work.", guardian, student)
	case StudentApproved:
		return "Student approved", fmt.Sprintf("%s approved their profile.", Name(e.StudentName, "The student"))
	case StudentRejected:
		return "Student said no", fmt.Sprintf("%s rejected their profile. Verify the details with them, then send the request again. Chat and SMS still work.", Name(e.StudentName, "The student"))
	case StudentRevoked:
		if to == actor.Student {
			return "You took your yes back", fmt.Sprintf("The app is off for you with %s. The coach has been told.", coachInSentence(e))
		}
		return "Student took the yes back", fmt.Sprintf("%s revoked app access. Chat and SMS still work.", Name(e.StudentName, "The student"))
	case PendingReminder:
		if e.Count == 1 {
			return "Waiting for an answer", fmt.Sprintf("You have 1 approval request pending for more than %s.", span(e.Waited))
		}
		return "Waiting for answers", fmt.Sprintf("You have %d approval requests pending for more than %s.", e.Count, span(e.Waited))
	case GuardianRequest:
		return "Your answer is needed", fmt.Sprintf("%s added %s to %s. Approve to turn on the app features, or reject.", unknownCoach(e), student, wordsOf(english).batches(e.BatchNames))
	case GuardianApprovalConfirmed:
		return "You approved", fmt.Sprintf("You approved app access for %s with %s. You can take this back at any time.", student, coachInSentence(e))
	case GuardianRejectConfirmed:
		return "You said no", fmt.Sprintf("You rejected app access for %s. The coach has been notified.", student)
	case StudentRequest:
		return "Your profile is ready", fmt.Sprintf("%s added you%s%s. Approve to use all features, or reject.", unknownCoach(e), apposition(e.StudentName), toBatches(e.BatchNames))
	case StudentApprovalConfirmed:
		return "You approved", "Your profile is approved. All features are available. You can take this back at any time."
	case StudentRejectConfirmed:
		return "You said no", "You rejected your profile. Your coach will update the details."
	case RequestReminder:
		return "Your answer is still needed", fmt.Sprintf("%s asks again about %s. Approve to turn on the app features, or reject.", unknownCoach(e), student)
	case RequestDisputed:
		return "Wrong number", fmt.Sprintf("The number that you gave for the %s of %s belongs to someone else. Ask for the right one and correct it.", partyNoun(e.Party), student)
	case DisputeLifted:
		return "You may ask again", fmt.Sprintf("The number that you gave for the %s of %s is right after all. You can send the request again.", partyNoun(e.Party), student)
	case DeliveryFailed:
		if Channel(e.Channel) == Email {
			return "A mail did not arrive", fmt.Sprintf("The request to %s could not be sent by mail. Check the e-mail address and send it again, or use SMS.", partyName(e, student))
		}
		return "A message did not arrive", fmt.Sprintf("The request to %s could not be sent%s. Check the number and send it again.", partyName(e, student), byChannel(e))
	case FeeReminder:
		return "A fee to pay", fmt.Sprintf("%s reminds you of a fee for %s: %s. It is due on %s. Open the fees to see the amount.", coach, student, Name(e.Title, "a fee"), day(e.Day))
	case SecurityNotice:
		if e.Type == event.UPIChanged {
			return "Your UPI ID was changed", "Families now pay to another UPI ID, and see that it is new for 7 days. If this was not you, set it back, sign out everywhere and tell the people who run this service."
		}
		if e.Type == event.NumberChanged {
			return "Your number was changed", "You now sign in with your new number, and we signed you out everywhere else. If this was not you, sign out everywhere and tell the people who run this service."
		}
		if e.Type == event.PasskeyAdded {
			return "A passkey was added", "A new passkey can now sign in for you. If this was not you, sign out everywhere: that removes all passkeys, too."
		}
		return "You were signed out for safety", "An old sign-in was used a second time, so we ended that session. If this was not you, sign out everywhere and sign in again."
	case CertificateExpiring:
		return "A certificate ends soon", fmt.Sprintf("“%s” is good until %s. Upload the new one, or change the date.", e.Title, day(e.Day))
	case KYCVerified:
		return "Your identity is verified", "You can now use everything that needs a verified coach."
	case KYCRejected:
		return "Your identity could not be verified", fmt.Sprintf("The reason: %s You can submit again.", sentence(e.Reason))
	case TierApproved:
		return "You have a new plan", fmt.Sprintf("You asked for the plan %s. You have it now.", e.Title)
	case TierRefused:
		if e.Reason == "" {
			return "Your plan stays the same", fmt.Sprintf("You asked for the plan %s. You cannot have it now.", e.Title)
		}
		return "Your plan stays the same", fmt.Sprintf("You asked for the plan %s. You cannot have it now. The reason: %s", e.Title, sentence(e.Reason))
	case TeamMessageType:
		return "A message from your coach", fmt.Sprintf("%s wrote to you about %s.", coach, student)
	case FeeTold:
		who := guardian
		if e.Party == actor.Student {
			who = Name(e.StudentName, "The student")
		}
		return "A fee was paid, says the family", fmt.Sprintf("%s says that %s is paid. Note the payment if you have the money.", who, Name(e.Title, "a fee"))
	case TeamReplyType:
		if e.Party == actor.Guardian {
			return "A reply", fmt.Sprintf("%s wrote to you about %s.", guardian, student)
		}
		return "A reply", fmt.Sprintf("%s wrote to you.", Name(e.StudentName, "The student"))
	case ProgressUpdate:
		return "New progress", fmt.Sprintf("%s added a new result of %s.", coach, student)
	case PerformanceReport:
		return "A new report", fmt.Sprintf("%s wrote a report about %s.", coach, student)
	case TrainingAdded, TrainingChanged, TrainingCancelled, TrainingRestored, TrainingAsked:
		return englishTraining(e, coach, student)
	case PlayerChanged:
		return "Details have changed", fmt.Sprintf("%s changed details of %s: %s. Please check them.", coach, student, changeList(english, e.Changes))
	case PlayerRemoved:
		if e.Type == event.Removed {
			return "You are no longer linked", fill(templatePlayerRemoved, english, map[string]string{"coach": coach, "student": student, "brand": brand}).Body
		}
		return "You are no longer linked", fmt.Sprintf("%s ended the link with you. The app is off for you there.", coach)
	case CoachLeft:
		return "Your coach has left", fill(templateCoachLeft, english, map[string]string{"coach": coach, "brand": brand, "students": wordsOf(english).list(studentsOf(e))}).Body
	}
	return string(t), ""
}

// titled returns a title and a safe name, as in "Coach Meera", or fallback if nothing
// is left of the name.
func titled(title, name, fallback string) string {
	if name = Name(name, ""); name != "" {
		return title + " " + name
	}
	return fallback
}

// coachAtStart names the coach at the start of a sentence.
func coachAtStart(e event.Event) string { return titled("Coach", e.CoachName, "Your coach") }

// coachInSentence names the coach inside a sentence.
func coachInSentence(e event.Event) string { return titled("coach", e.CoachName, "your coach") }

// unknownCoach names the coach at the start of a sentence, for a recipient who may
// not know the coach.
func unknownCoach(e event.Event) string { return titled("Coach", e.CoachName, "A coach") }

// toBatches returns " to " and the batches, or "" if there are none.
func toBatches(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " to " + wordsOf(english).batches(names)
}

// apposition returns ", name" for use after a pronoun, or "" without a safe name.
func apposition(name string) string {
	if name = Name(name, ""); name != "" {
		return ", " + name
	}
	return ""
}

// span formats d in the largest unit of which it is a whole number: "3 days",
// "36 hours".
func span(d time.Duration) string {
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		switch n := d / unit.length; {
		case d <= 0 || d%unit.length != 0:
		case n == 1:
			return "1 " + unit.name
		default:
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}

// day formats YYYY-MM-DD as "2 January 2006".
func day(date string) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return t.Format("2 January 2006")
}

// sentence adds a full stop to s unless s ends with a sentence mark.
func sentence(s string) string {
	if strings.ContainsAny(s[max(0, len(s)-1):], ".!?") {
		return s
	}
	return s + "."
}

// channelNames are the names of channels in the text about a request that did not arrive.
var channelNames = map[Channel]string{SMS: "SMS", WhatsApp: "WhatsApp"}

// byChannel returns " by SMS", or "" for a channel without a name here.
func byChannel(e event.Event) string {
	if name := channelNames[Channel(e.Channel)]; name != "" {
		return " by " + name
	}
	return ""
}

func partyNoun(party actor.Role) string {
	if party == actor.Guardian {
		return "guardian"
	}
	return "profile"
}

func partyName(e event.Event, student string) string {
	if e.Party == actor.Guardian {
		return titled("guardian", e.GuardianName, "the guardian")
	}
	return student
}
