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
		return OTPText(m.Code, m.ValidFor)
	case NotificationCopy:
		return m.Copy.Text
	}
	return RequestText(m.Request, m.Link, m.Kind == Reminder)
}

// OTPText returns the SMS for an OTP.
func OTPText(code string, validity time.Duration) string {
	minutes := max(1, int(validity.Round(time.Minute)/time.Minute))
	unit := "minutes"
	if minutes == 1 {
		unit = "minute"
	}
	return fmt.Sprintf("%s is your Touchline code. It works for %d %s. Never share it. Touchline will never ask for it.", code, minutes, unit)
}

// RequestText returns the SMS for an approval request.
func RequestText(r RequestDetails, link string, reminder bool) string {
	who := titled("Coach", r.CoachName, "A coach")
	if reminder {
		who = "Reminder: " + titled("coach", r.CoachName, "a coach")
	}
	if r.Party == actor.Guardian {
		return fmt.Sprintf("%s added %s and asks if Touchline may serve you. Say yes or no: %s", who, Name(r.StudentName, "a student"), link)
	}
	return fmt.Sprintf("%s added you%s. Say yes or no to Touchline: %s", who, apposition(r.StudentName), link)
}
