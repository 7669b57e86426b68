package message

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/language"
)

// ChatProvider is the name of WhatsApp in the address that Meta calls; the channel is Chat.
const ChatProvider = "whatsapp"

// templateOTP is the template of OTPs for WhatsApp. WhatsApp writes its text.
const templateOTP = "otp"

// templateTeamStop is templateTeam for a recipient that never approved.
const templateTeamStop = "team_stop"

// ChatWindow is how long after a person wrote by WhatsApp messages without a template may leave.
const ChatWindow = 24 * time.Hour

// WhatsAppTemplate is a template of a WhatsApp message. Its key in Texts begins with whatsapp; it has the name of the
// SMS template with the same values. A text neither begins nor ends with a variable, and links are buttons: WhatsApp
// requires both.
type WhatsAppTemplate struct {
	Name, Language string
	// Code is true for OTPs. WhatsApp writes their text, so Body is empty.
	Code bool
	// Body has the variables in braces. Answers are the texts of the buttons that answer, and Buttons those
	// of the buttons with a link, which follow.
	Body             string
	Answers, Buttons []string
}

// Variables returns the names of the variables of t in their order.
func (t WhatsAppTemplate) Variables() []string {
	var names []string
	for _, m := range variable.FindAllStringSubmatch(t.Body, -1) {
		names = append(names, m[1])
	}
	return names
}

// WhatsAppText is a WhatsApp message.
type WhatsAppText struct {
	Template WhatsAppTemplate
	// Values has the value of each variable of the template. Code is the OTP, or "".
	Values map[string]string
	Code   string
	// Links has the link of each button.
	Links []string
	// Body is a text without a template, for a person who wrote less than ChatWindow ago.
	Body string
	// Answers are the buttons with which a question can be answered.
	Answers []ChatButton
}

// String returns the text as a person reads it, with the links of its buttons.
func (w WhatsAppText) String() string {
	text := w.Body + w.Code
	if w.Template.Body != "" {
		text = variable.ReplaceAllStringFunc(w.Template.Body, func(name string) string { return w.Values[strings.Trim(name, "{}")] })
	}
	for i, link := range w.Links {
		text += "\n" + w.Template.Buttons[i] + ": " + link
	}
	return text
}

// maxTemplateText is how many characters the text of a template has at most with its values.
const maxTemplateText = 1024

// teamWhatsApp returns a coach's message, in several parts if it is too long for one template.
func teamWhatsApp(m Message) []WhatsAppText {
	if m.Team.Replied {
		return []WhatsAppText{{Body: TeamText(m.Team)}}
	}
	name := templateTeam
	if m.Team.Restricted {
		name = templateTeamStop
	}
	template := whatsAppTemplate(name, textsIn(language.OnWhatsApp(m.Language)))
	who, text := m.Team.parts()
	words, room := strings.Fields(text), maxTemplateText-utf8.RuneCountInString(template.Body)-utf8.RuneCountInString(who)
	var parts []WhatsAppText
	for len(words) > 0 {
		part := words[0]
		for words = words[1:]; len(words) > 0 && utf8.RuneCountInString(part+" "+words[0]) <= room; words = words[1:] {
			part += " " + words[0]
		}
		for rest := []rune(part); len(rest) > 0; rest = rest[min(len(rest), room):] {
			values := map[string]string{"coach": who, "text": string(rest[:min(len(rest), room)])}
			parts = append(parts, WhatsAppText{Template: template, Values: values})
		}
	}
	return parts
}

// WhatsAppOf returns the WhatsApp messages for m, in the language of its recipient: one, or the parts of
// a long text. It is empty if WhatsApp has no template for messages of this kind.
func WhatsAppOf(m Message) []WhatsAppText {
	if m.Kind == Team {
		return teamWhatsApp(m)
	}
	if w, ok := whatsAppOf(m); ok {
		return []WhatsAppText{w}
	}
	return nil
}

func whatsAppOf(m Message) (w WhatsAppText, ok bool) {
	if m.Kind == OTP {
		return WhatsAppText{Template: WhatsAppTemplate{Name: templateOTP, Language: language.Of(language.OnWhatsApp(m.Language)).WhatsApp, Code: true}, Code: m.Code}, true
	}
	m.Language = language.OnWhatsApp(m.Language)
	text := SMSOf(m)
	template := whatsAppTemplate(text.Template, textsIn(text.Language))
	if template.Body == "" {
		return w, false
	}
	w = WhatsAppText{Template: template, Values: text.Values, Links: []string{text.Values["link"]}}
	switch len(w.Template.Answers) {
	case 0:
	case 1:
		w.Answers = []ChatButton{{ChatPress{Action: ChatAsk, ID: m.ID}.String(), w.Template.Answers[0]}}
	default:
		w.Answers = questionButtons(text.Language, m.ID, m.Request.Version)
	}
	if len(w.Template.Buttons) > 1 {
		w.Links = append(w.Links, text.Values["other_link"])
	}
	return w, true
}

func whatsAppTemplate(name string, words texts) WhatsAppTemplate {
	buttons := []string{words.byKey["whatsapp_button.answer"]}
	switch name {
	case templateQuestionsBoth:
		buttons = []string{words.byKey["whatsapp_button.guardian"], words.byKey["whatsapp_button.student"]}
	case templateTeam, templateTeamStop:
		buttons = nil
	}
	t := WhatsAppTemplate{Name: name, Language: language.Of(words.language).WhatsApp, Body: words.byKey["whatsapp."+name], Buttons: buttons}
	if t.Language == "" {
		return WhatsAppTemplate{Name: name} // Meta has no templates in this language
	}
	switch name {
	case templateRequestGuardian, templateRequestStudent, templateAgainGuardian, templateAgainStudent, templateReminderGuardian, templateReminderStudent:
		t.Answers = []string{words.byKey["chat.yes"], words.byKey["chat.no"], words.byKey["chat.not_me"]}
	case templateQuestionsGuardian, templateQuestionsStudent, templateQuestionsBoth:
		t.Answers = []string{words.byKey["chat.answer"]}
	}
	return t
}

// WhatsAppTemplates returns the templates of all WhatsApp messages by name and language, with
// brand filled in.
func WhatsAppTemplates(brand string) []WhatsAppTemplate {
	var all []WhatsAppTemplate
	for _, code := range language.Offered() {
		words, meta := textsIn(code), language.Of(code).WhatsApp
		if meta == "" {
			continue
		}
		all = append(all, WhatsAppTemplate{Name: templateOTP, Language: meta, Code: true})
		for _, name := range words.keys("whatsapp.") {
			t := whatsAppTemplate(name, words)
			t.Body = strings.ReplaceAll(t.Body, "{brand}", brand)
			all = append(all, t)
		}
	}
	return all
}
