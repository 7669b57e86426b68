package message

import (
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/actor"
)

// SMSText renders m as an SMS.
func SMSText(m Message) string { return SMSOf(m).Body }

// SMSOf renders m as an SMS, in the language of its recipient.
func SMSOf(m Message) Text {
	switch m.Kind {
	case OTP:
		return otpText(m)
	case NotificationCopy:
		if m.Copy.Type.OfTraining() {
			return trainingSMS(m)
		}
		return readText(m.Copy.Text, templatePlayerRemoved, templateCoachLeft, templateTurningAdult, templateTurnedAdult, templateSecondMessage)
	case Team:
		text := TeamText(m.Team)
		return Text{Template: templateTeam, Language: language.English, Values: map[string]string{"text": text}, Body: text}
	}
	m.Language = language.Asked(m.Language)
	if len(m.More) > 0 {
		return questionsText(append([]Question{{m.Request, m.Link}}, m.More...), m)
	}
	return requestText(m)
}

// OTPEnding has the values of the last lines of an OTP, by which phones fill in the code.
type OTPEnding struct {
	// Host is the host of the pages, or empty if browsers cannot fill in the code there.
	Host string
	// AppHash identifies the Android app, or is empty.
	AppHash string
}

// OTPHost returns the host of a URL if browsers fill in OTPs there: they require https.
func OTPHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	return u.Hostname()
}

// lines returns the last lines. The one with the host lets browsers fill in the code there,
// and only there; it must be the last one (WICG, origin-bound one-time codes). The SMS
// Retriever of Android finds the hash anywhere.
func (e OTPEnding) lines(code string) string {
	var lines []string
	if e.AppHash != "" {
		lines = append(lines, e.AppHash)
	}
	if e.Host != "" {
		lines = append(lines, "@"+e.Host+" #"+code)
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n\n" + strings.Join(lines, "\n")
}

// OTPText returns the SMS for the OTP of m.
func OTPText(m Message) string { return otpText(m).Body }

func otpText(m Message) Text {
	name := templateOTPParty
	if m.Role == actor.Coach {
		name = templateOTPCoach
	}
	text := fill(name, m.Language, map[string]string{"code": m.Code, "brand": m.Brand, "validity": textsIn(m.Language).minutes(m.ValidFor)})
	text.Body += m.Ending.after(text.Body, m.Code).lines(m.Code)
	return text
}

// after returns the lines for which there is space after the text of an OTP: a text of the GSM alphabet stays one SMS, any
// other at most two.
func (e OTPEnding) after(text, code string) OTPEnding {
	most := 1
	if !IsGSM(text) {
		most = 2
	}
	for _, ending := range []OTPEnding{e, {Host: e.Host}, {AppHash: e.AppHash}} {
		if Segments(text+ending.lines(code)) <= most {
			return ending
		}
	}
	return OTPEnding{}
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

// requestText returns the SMS for an approval request or its reminder.
func requestText(m Message) Text {
	guardian, student := templateRequestGuardian, templateRequestStudent
	switch {
	case m.Kind == Reminder:
		guardian, student = templateReminderGuardian, templateReminderStudent
	case m.Request.Repeated:
		guardian, student = templateAgainGuardian, templateAgainStudent
	}
	template := student
	if m.Request.Party == actor.Guardian {
		template = guardian
	}
	r, w := m.Request, textsIn(m.Language)
	coach, student, batch := nameInRequest(r.CoachName), nameInRequest(r.StudentName), w.batches(r.BatchNames)
	return fillShort(template, m.Language, func(names int) (map[string]string, int) {
		coach, student := shortName(coach, names), shortName(student, names)
		return map[string]string{
			"brand": m.Brand, "link": m.Link, "page": codePage(m.Link), "short_code": r.ShortCode, "batch": batch,
			"coach": w.coach(coach, m.Kind == Reminder), "student": w.studentFor(r.Party, student),
		}, longestOf(coach, student)
	})
}
