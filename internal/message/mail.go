package message

import (
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/language"
)

// Mail is the content of a mail, in plain text. Package mail renders it as text and as HTML.
type Mail struct {
	Language string
	Brand    string
	Subject  string
	Heading  string
	// Code is set off where a paragraph has it.
	Code string
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
	var mail Mail
	switch m.Kind {
	case OTP:
		mail = otpMail(m)
	case NotificationCopy:
		mail = copyMail(m)
	default:
		mail = questionMail(m)
	}
	mail.Brand = m.Brand
	mail.NoticeLabel = textsIn(m.Language).byKey["mail.notice"]
	return mail
}

// Direction returns the direction of the mail, for the attribute dir.
func (m Mail) Direction() string { return language.Of(m.Language).Direction() }

// otpMail renders a code. The subject does not contain it: screens show subjects while they are locked.
func otpMail(m Message) Mail {
	w := textsIn(m.Language)
	values := map[string]string{"brand": m.Brand, "validity": w.minutes(m.ValidFor)}
	subject, footer := "mail.code.subject", "mail.footer.code"
	if m.ConfirmsAddress {
		subject, footer = "mail.code.subject.confirm", "mail.footer.code.confirm"
	}
	return Mail{
		Language: w.language, Subject: w.fill(subject, values), Heading: w.fill(subject, values), Code: m.Code,
		Paragraphs: []string{m.Code, w.fill("mail.code.valid", values)}, After: []string{w.byKey["mail.code.secret"]}, Footer: w.fill(footer, values),
	}
}

// copyMail renders a notification.
func copyMail(m Message) Mail {
	w := textsIn(m.Language)
	values := map[string]string{"brand": m.Brand}
	mail := Mail{Language: w.language, Subject: m.Copy.Title, Heading: m.Copy.Title, Paragraphs: []string{m.Copy.Text}, Footer: w.byKey["mail.footer.guardian"], StopLabel: w.byKey["mail.stop"]}
	if m.Copy.ToCoach {
		mail.Footer = w.fill("mail.footer.coach", values)
	}
	if m.Link != "" {
		mail.Links = []MailLink{{w.fill("mail.open", values), m.Link}}
	}
	if m.Copy.Confirmed {
		mail.Footer = w.fill("mail.footer.confirmed", values)
	}
	if m.Link != "" && !m.Copy.ToCoach && m.Copy.Type.ofReceipt() {
		mail.Links = append(mail.Links, MailLink{w.byKey["mail.receipt"], m.Link + "/receipts"})
		mail.After = []string{w.byKey["mail.receipt.why"]}
	}
	if m.Copy.Answer {
		mail.Links[0].Label = w.byKey["mail.comes"]
	}
	if m.Copy.Type == SecurityNotice {
		mail.StopLabel = ""
	}
	return mail
}

// questionMail renders an approval request, its reminder, or several requests of one coach.
func questionMail(m Message) Mail {
	w, r := textsIn(language.Asked(m.Language)), m.Request
	page, _, _ := strings.Cut(m.Link, "/a/")
	values := map[string]string{
		"brand": m.Brand, "new_coach": w.coach(r.CoachName, false), "new_coach_inside": w.coach(r.CoachName, true),
		"student": Name(r.StudentName, w.byKey["name.student.some"]), "code": r.ShortCode, "page": page + "/a",
	}
	text := func(key string) string { return w.fill("mail."+key, values) }
	variant, heading, links := "", "heading", []MailLink{{text("answer"), m.Link}}
	switch {
	case len(m.More) > 0:
		variant, heading, links = ".several", "heading.several", nil
		var students []string
		for _, q := range append([]Question{{r, m.Link}}, m.More...) {
			students = append(students, q.StudentName)
			links = append(links, MailLink{text("answer.about") + " " + Name(q.StudentName, w.byKey["name.student.some"]), q.Link})
		}
		values["students"] = w.list(students)
	case m.Kind == Reminder:
		variant = ".reminder"
	case r.Repeated:
		variant = ".again"
	}
	mail := Mail{
		Language: w.language, Code: r.ShortCode, Subject: text("subject" + variant), Heading: text(heading), Paragraphs: []string{text("who" + variant), text("yes")}, Links: links,
		After: []string{text("both"), text("short_code"), text("not_me")}, Footer: text("footer.guardian"), StopLabel: text("stop"),
	}
	if r.ShortCode == "" {
		mail.After = []string{text("both"), text("not_me")}
	}
	return mail
}

// FoldAddress returns the spelling under which a stopped address is stored. Mail servers ignore
// the case, and a domain has several spellings: x@bücher.example is x@xn--bcher-kva.example.
func FoldAddress(address string) string {
	return strings.ToLower(ASCIIDomain(norm.NFKC.String(address)))
}

// ASCIIDomain returns an address whose domain is written in A-labels: bücher.example as
// xn--bcher-kva.example. An address without a valid domain stays as it is.
func ASCIIDomain(address string) string {
	at := strings.LastIndexByte(address, '@') + 1
	domain, err := idna.Lookup.ToASCII(address[at:])
	if err != nil {
		return address
	}
	return address[:at] + domain
}

// MaskAddress hides most of the part before the @.
func MaskAddress(address string) string {
	local, domain, _ := strings.Cut(address, "@")
	if local == "" {
		return "•••"
	}
	first := []rune(local)[0]
	return string(first) + "•••@" + domain
}
