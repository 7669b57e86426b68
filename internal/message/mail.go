package message

import (
	"strings"
	"time"
)

// Mail is the content of a mail, in plain text. Package mail renders it as text and as HTML.
type Mail struct {
	Language string
	Subject  string
	Heading  string
	// Paragraphs come before the links.
	Paragraphs []string
	// Links lead to questions or to the account. After holds the paragraphs that follow.
	Links []MailLink
	After []string
	// Footer says why the recipient gets the mail. NoticeLabel is the text of the link to the notice.
	Footer, NoticeLabel string
	// StopLabel is the text of the link that ends mail to the address. It is empty in a mail
	// that the recipient cannot end, because it is about the safety of the account.
	StopLabel string
}

// MailLink is a link with its label.
type MailLink struct{ Label, URL string }

// Required reports whether the mail is sent even if its recipient stopped mail to the address.
func (m Mail) Required() bool { return m.StopLabel == "" }

// MailOf renders m as a mail in the language of its recipient. Only guardians and coaches
// have an address.
func MailOf(m Message) Mail {
	w := mailWordsOf(m.Language)
	var mail Mail
	switch m.Kind {
	case OTP:
		mail = otpMail(m, w)
	case NotificationCopy:
		mail = copyMail(m, w)
	default:
		mail = questionMail(m, w)
	}
	mail.NoticeLabel = w.notice
	return mail
}

// otpMail renders a code. The subject does not contain it: screens show subjects while they are locked.
func otpMail(m Message, w mailWords) Mail {
	mail := Mail{
		Language: w.language, Subject: w.subjectCode, Heading: w.subjectCode, Paragraphs: []string{m.Code, w.codeValid}, After: []string{w.codeSecret}, Footer: w.addressConfirmed,
	}
	if m.ConfirmsAddress {
		mail.Subject, mail.Heading, mail.Footer = w.subjectConfirm, w.subjectConfirm, w.addressToConfirm
	}
	return mail.with("{brand}", m.Brand, "{validity}", minutesOf(max(1, int(m.ValidFor.Round(time.Minute)/time.Minute)), w.language))
}

// copyMail renders a notification.
func copyMail(m Message, w mailWords) Mail {
	mail := Mail{Language: w.language, Subject: m.Copy.Title, Heading: m.Copy.Title, Paragraphs: []string{m.Copy.Text}, Footer: w.addressOfGuardian, StopLabel: w.stop}
	if m.Copy.ToCoach {
		mail.Footer = w.addressOfCoach
	}
	if m.Link != "" {
		mail.Links = []MailLink{{w.open, m.Link}}
	}
	if m.Copy.Answer {
		mail.Links[0].Label = w.comes
	}
	if m.Copy.Type == SecurityNotice {
		mail.StopLabel = ""
	}
	return mail.with("{brand}", m.Brand)
}

// questionMail renders an approval request, its reminder, or several requests of one coach.
func questionMail(m Message, w mailWords) Mail {
	r := m.Request
	words := wordsOf(w.language)
	student := Name(r.StudentName, words.aStudent)
	mail := Mail{
		Language: w.language, Subject: w.subject, Heading: w.heading, Paragraphs: []string{w.who, w.yes}, Links: []MailLink{{w.answer, m.Link}},
		After: []string{w.both, w.shortCode, w.notMe}, Footer: w.addressOfGuardian, StopLabel: w.stop,
	}
	switch {
	case m.Kind == Reminder:
		mail.Subject, mail.Paragraphs[0] = w.subjectReminder, w.whoReminder
	case r.Repeated:
		mail.Subject, mail.Paragraphs[0] = w.subjectAgain, w.whoAgain
	}
	students := []string{r.StudentName}
	if len(m.More) > 0 {
		mail.Subject, mail.Heading, mail.Paragraphs[0] = w.subjectSeveral, w.headingSeveral, w.whoSeveral
		mail.Links = []MailLink{{w.answerAbout + " " + student, m.Link}}
		for _, q := range m.More {
			students = append(students, q.StudentName)
			mail.Links = append(mail.Links, MailLink{w.answerAbout + " " + Name(q.StudentName, words.aStudent), q.Link})
		}
	}
	if r.ShortCode == "" {
		mail.After = []string{w.both, w.notMe}
	}
	page, _, _ := strings.Cut(m.Link, "/a/")
	return mail.with("{brand}", m.Brand, "{coach}", words.coach(r.CoachName, false), "{the coach}", words.coach(r.CoachName, true),
		"{students}", words.list(students), "{student}", student,
		"{code}", r.ShortCode, "{page}", page+"/a")
}

// with replaces variables, given as names and values in turn. It leaves the URLs alone.
func (m Mail) with(variables ...string) Mail {
	replace := strings.NewReplacer(variables...).Replace
	all := func(texts []string) []string {
		replaced := make([]string, len(texts))
		for i, text := range texts {
			replaced[i] = replace(text)
		}
		return replaced
	}
	m.Subject, m.Heading, m.Footer, m.StopLabel = replace(m.Subject), replace(m.Heading), replace(m.Footer), replace(m.StopLabel)
	m.Paragraphs, m.After = all(m.Paragraphs), all(m.After)
	for i := range m.Links {
		m.Links[i].Label = replace(m.Links[i].Label)
	}
	return m
}
