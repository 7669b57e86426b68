package notify

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// SMSText renders m as an SMS.
func SMSText(m Message) string {
	switch m.Kind {
	case OTP:
		return OTPText(m)
	case NotificationCopy:
		return m.Copy.Text
	case Team:
		return TeamText(m.Team)
	}
	if len(m.More) > 0 {
		return questionsText(append([]Question{{m.Request, m.Link}}, m.More...), m.Brand)
	}
	return requestText(m)
}

// OTPText returns the SMS for the OTP of m. If it fits into one SMS, its last line lets the
// browser fill in the code on the pages of m.Host, and only there (WICG, origin-bound
// one-time codes).
func OTPText(m Message) string {
	minutes := max(1, int(m.ValidFor.Round(time.Minute)/time.Minute))
	unit := "minutes"
	if minutes == 1 {
		unit = "minute"
	}
	text := fmt.Sprintf("%s is your %s code. It works for %d %s. ", m.Code, m.Brand, minutes, unit)
	if m.Role == actor.Coach {
		text += fmt.Sprintf("Never share it. %s will never ask for it.", m.Brand)
	} else {
		text += "Do not tell it to anyone, not even the coach."
	}
	if bound := fmt.Sprintf("%s\n\n@%s #%s", text, m.Host, m.Code); m.Host != "" && Segments(bound) == 1 {
		return bound
	}
	return text
}

// requestText returns the SMS for an approval request or its reminder.
func requestText(m Message) string {
	r := m.Request
	who := titled("Coach", r.CoachName, "A coach")
	if m.Kind == Reminder {
		who = "Reminder: " + titled("coach", r.CoachName, "a coach")
	}
	if r.Party == actor.Guardian {
		return fmt.Sprintf("%s added %s to %s and asks if %s may serve you. Say yes or no: %s", who, Name(r.StudentName, "a student"), batches(r.BatchNames), m.Brand, m.Link)
	}
	return fmt.Sprintf("%s added you%s%s. Say yes or no to %s: %s", who, apposition(r.StudentName), toBatches(r.BatchNames), m.Brand, m.Link)
}
